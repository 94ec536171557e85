//! Where the parts of a Vulkan installation lie on Linux.
//!
//! The folders of drivers and layers are those of the Vulkan loader's documents "Driver interface
//! to the Vulkan Loader" and "Layer interface to the Vulkan Loader", section Linux.

use std::env::{consts, split_paths};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const LOADER: &str = "libvulkan.so.1";

/// One thing that vyre's tests need on the machine.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    is_its_file: fn(&str) -> bool,
    /// Files and folders, in the order in which they are looked at.
    places: Vec<PathBuf>,
}

impl Part {
    /// The first file of this part, if there is one.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        self.places.iter().find_map(|place| {
            let mut files = if place.is_dir() {
                files_in(place)
            } else {
                vec![place.clone()]
            };
            files.retain(|file| file.is_file() && self.owns(file));
            files.into_iter().min()
        })
    }

    fn owns(&self, file: &Path) -> bool {
        file.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(self.is_its_file)
    }
}

/// The loader, a driver for the CPU and the validation layer, looked for as `variable` says.
pub(crate) fn parts(variable: impl Fn(&str) -> Option<OsString>) -> [Part; 3] {
    [
        Part {
            name: "Vulkan loader",
            package: "libvulkan1",
            is_its_file: |name| name == LOADER,
            places: library_places(&variable),
        },
        Part {
            name: "Mesa's CPU driver",
            package: "mesa-vulkan-drivers",
            is_its_file: |name| name.starts_with("lvp_icd") && name.ends_with(".json"),
            places: paths(variable("VK_DRIVER_FILES").or_else(|| variable("VK_ICD_FILENAMES")))
                .unwrap_or_else(|| manifest_places(&variable, "VK_ADD_DRIVER_FILES", "icd.d")),
        },
        Part {
            name: "Khronos validation layer",
            package: "vulkan-validationlayers",
            is_its_file: |name| name == "VkLayer_khronos_validation.json",
            places: paths(variable("VK_LAYER_PATH")).unwrap_or_else(|| {
                manifest_places(&variable, "VK_ADD_LAYER_PATH", "explicit_layer.d")
            }),
        },
    ]
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The places that a variable lists; none when it is not set or empty.
fn paths(list: Option<OsString>) -> Option<Vec<PathBuf>> {
    list.filter(|list| !list.is_empty())
        .map(|list| split_paths(&list).collect())
}

/// Where the dynamic linker finds the loader: its variable, its cache, its usual folders.
fn library_places(variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut places = paths(variable("LD_LIBRARY_PATH")).unwrap_or_default();
    // An ordinary user's path often lacks the folder of ldconfig.
    let ldconfig = |program| Command::new(program).arg("-p").output();
    if let Ok(cache) = ldconfig("ldconfig").or_else(|_| ldconfig("/sbin/ldconfig")) {
        places.extend(cached_loader(&String::from_utf8_lossy(&cache.stdout)));
    }
    for folder in ["/usr/local/lib", "/usr/lib", "/lib", "/usr/lib64", "/lib64"] {
        places.push(folder.into());
        places.push(format!("{folder}/{}-linux-gnu", consts::ARCH).into());
    }
    places
}

/// The loader's path in the listing of `ldconfig -p`: `NAME (KIND) => PATH` on each line.
fn cached_loader(listing: &str) -> Option<PathBuf> {
    let line = listing
        .lines()
        .find(|line| line.split_whitespace().next() == Some(LOADER))?;
    line.split_once("=> ").map(|(_, path)| path.into())
}

/// The manifest folders: those that `added` lists, then the user's, then the system's.
fn manifest_places(
    variable: &impl Fn(&str) -> Option<OsString>,
    added: &str,
    folder: &str,
) -> Vec<PathBuf> {
    let home = PathBuf::from(variable("HOME").unwrap_or_default());
    let or = |name: &str, default: &str| {
        paths(variable(name)).unwrap_or_else(|| split_paths(default).collect())
    };
    let one = |name: &str, default: &str| {
        paths(variable(name)).unwrap_or_else(|| vec![home.join(default)])
    };
    let bases = [
        one("XDG_CONFIG_HOME", ".config"),
        or("XDG_CONFIG_DIRS", "/etc/xdg"),
        vec!["/usr/local/etc".into(), "/etc".into()],
        one("XDG_DATA_HOME", ".local/share"),
        or("XDG_DATA_DIRS", "/usr/local/share:/usr/share"),
    ];
    let mut places = paths(variable(added)).unwrap_or_default();
    places.extend(
        bases
            .iter()
            .flatten()
            .map(|base| base.join("vulkan").join(folder)),
    );
    places
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The driver part as found in a machine whose only variable is `name`.
    fn driver(name: &'static str, value: &Path) -> Part {
        let value = value.as_os_str().to_owned();
        let [_, driver, _] = parts(move |asked| (asked == name).then(|| value.clone()));
        driver
    }

    /// A fresh data folder that holds `manifest` among the drivers, and the manifest's path.
    fn machine(test: &str, manifest: &str) -> (PathBuf, PathBuf) {
        let data = std::env::temp_dir().join(format!("vyre-xtask-{test}-{}", std::process::id()));
        let folder = data.join("vulkan/icd.d");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("radeon_icd.json"), "{}").unwrap();
        fs::write(folder.join(manifest), "{}").unwrap();
        (data, folder.join(manifest))
    }

    #[test]
    fn the_cpu_driver_is_found_among_others() {
        let (data, manifest) = machine("found", "lvp_icd.riscv64.json");
        assert_eq!(driver("XDG_DATA_HOME", &data).find(), Some(manifest));
        fs::remove_dir_all(data).unwrap();
    }

    #[test]
    fn a_listed_driver_replaces_the_folders() {
        let (data, manifest) = machine("listed", "lvp_icd.json");
        assert_eq!(
            driver("VK_ICD_FILENAMES", &manifest).find(),
            Some(manifest.clone())
        );
        let other = manifest.with_file_name("radeon_icd.json");
        assert_eq!(driver("VK_DRIVER_FILES", &other).find(), None);
        fs::remove_dir_all(data).unwrap();
    }

    #[test]
    fn the_loader_is_read_from_the_linker_cache() {
        let listing = "2 libs found in cache `/etc/ld.so.cache'\n\
            \tlibvulkan_lvp.so (libc6,x86-64) => /lib/libvulkan_lvp.so\n\
            \tlibvulkan.so.1 (libc6,x86-64) => /lib/libvulkan.so.1\n";
        assert_eq!(cached_loader(listing), Some("/lib/libvulkan.so.1".into()));
        assert_eq!(cached_loader(""), None);
    }
}
