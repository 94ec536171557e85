//! Prints which backend is opened on this machine, and what Vulkan offers: its devices, and which
//! launch modes each can run.

#![expect(clippy::print_stdout, reason = "the report is the program's purpose")]

use vyre_driver::Registry;
use vyre_driver::vulkan::{Survey, SurveyedDevice};

fn main() {
    println!(
        "backends: {}",
        Registry::default().names().collect::<Vec<_>>().join(", ")
    );
    match vyre_driver::open() {
        Ok(backend) => println!("opened: {}, {}", backend.id(), backend.device_info().name),
        Err(error) => println!("opened: none, since {error}"),
    }
    match Survey::take() {
        Ok(survey) => print_survey(&survey),
        Err(error) => println!("Vulkan: {error}"),
    }
}

fn print_survey(survey: &Survey) {
    println!("Vulkan loader {}", survey.loader_version);
    println!("layers: {}", list(&survey.layers));
    if survey.devices.is_empty() {
        println!("no device: no driver is installed (Debian: apt-get install mesa-vulkan-drivers)");
    }
    for (index, device) in survey.devices.iter().enumerate() {
        println!();
        print_device(index, device);
    }
}

fn print_device(index: usize, device: &SurveyedDevice) {
    let (info, limits) = (&device.info, &device.info.limits);
    println!("[{index}] {} ({:?})", info.name, info.kind);
    println!(
        "  driver               {}, Vulkan {}",
        info.driver, device.api_version
    );
    println!("  memory               {} MiB", info.memory_bytes >> 20);
    println!(
        "  largest allocation   {} MiB",
        device.max_allocation_bytes >> 20
    );
    println!(
        "  storage binding      {} MiB",
        limits.max_storage_range >> 20
    );
    println!(
        "  uniform binding      {} KiB",
        limits.max_uniform_range >> 10
    );
    println!("  grid                 {:?} workgroups", limits.max_grid);
    let invocations = limits.max_workgroup_invocations;
    println!(
        "  workgroup            {:?}, {invocations} in all",
        limits.max_workgroup_size
    );
    println!(
        "  workgroup memory     {} KiB",
        limits.max_workgroup_memory >> 10
    );
    let timer = device
        .timestamp_period_ns
        .map_or("none".to_owned(), |ns| format!("{ns} ns a tick"));
    println!("  timestamps           {timer}");
    let capabilities: Vec<_> = info.capabilities.iter().map(ToString::to_string).collect();
    println!("  kernels may use      {}", list(&capabilities));
    for (mode, missing) in &device.launch_modes {
        let verdict = missing
            .as_ref()
            .map_or("yes".to_owned(), |reason| format!("no: {reason}"));
        println!("  {:<20} {verdict}", format!("{mode:?} mode"));
    }
}

fn list(items: &[String]) -> String {
    if items.is_empty() {
        "none".to_owned()
    } else {
        items.join(", ")
    }
}
