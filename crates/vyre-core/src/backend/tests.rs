//! The trait's defaults, over a backend that has only the required methods and a host store.

use super::*;
use crate::kernel::Kernel;

/// Runs the one kernel it knows on the host: `y[i] = 2 * x[i]`.
struct Doubler {
    info: DeviceInfo,
    residents: Option<HostResidents>,
}

impl Doubler {
    fn new(residents: Option<HostResidents>) -> Self {
        let info = DeviceInfo::new("host", DeviceKind::Cpu);
        Self { info, residents }
    }
}

impl VyreBackend for Doubler {
    fn id(&self) -> &str {
        "doubler"
    }

    fn device_info(&self) -> &DeviceInfo {
        &self.info
    }

    fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        _config: &DispatchConfig,
    ) -> Result<OutputBuffers, BackendError> {
        program.check_inputs(inputs)?;
        let (words, _) = inputs[0].as_chunks();
        let doubled = words.iter().map(|word| u32::from_le_bytes(*word) * 2);
        Ok(vec![doubled.flat_map(u32::to_le_bytes).collect()])
    }

    fn host_residents(&self) -> Option<&HostResidents> {
        self.residents.as_ref()
    }
}

fn program() -> Program {
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
         @group(0) @binding(1) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1)
         fn double(@builtin(global_invocation_id) id: vec3u) { y[id.x] = 2u * x[id.x]; }",
    );
    let mut builder = Program::builder("double");
    let x = builder.input("x", 8);
    let y = builder.output("y", 8);
    builder
        .op(&kernel.unwrap(), [2, 1, 1])
        .bind("x", x)
        .bind("y", y);
    builder.build().unwrap()
}

fn bytes(words: [u32; 2]) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A resident buffer that holds `words`.
fn resident(backend: &Doubler, words: [u32; 2]) -> Resource {
    let resource = backend.allocate_resident(8).unwrap();
    let bytes = &bytes(words);
    let write = ResidentWrite {
        resource,
        offset: 0,
        bytes,
    };
    backend.upload_resident(&[write]).unwrap();
    resource
}

fn contents(backend: &Doubler, resource: Resource) -> Vec<u8> {
    let mut bytes = vec![0xAA; 8];
    let read = ResidentRead {
        resource,
        offset: 0,
        bytes: &mut bytes,
    };
    backend.download_resident(&mut [read]).unwrap();
    bytes
}

#[test]
fn default_report_counts_what_crosses_the_border() {
    let backend = Doubler::new(None);
    let mut outputs = OutputBuffers::new();
    let input = bytes([1, 2]);
    let config = DispatchConfig::default();
    let report = backend
        .dispatch_reported(&program(), &[&input], &config, &mut outputs)
        .unwrap();
    assert_eq!(outputs, [bytes([2, 4])]);
    let expected = MegakernelDispatchStats {
        input_bytes: 8,
        output_bytes: 8,
        readback_bytes: 8,
        bytes_moved: 16,
        output_buffers: 1,
        latency_ns: report.wall_ns,
        ..MegakernelDispatchStats::default()
    };
    assert_eq!(report.stats, expected);
}

#[test]
fn default_timing_has_wall_time_only() {
    let backend = Doubler::new(None);
    let input = bytes([1, 2]);
    let timed = backend
        .dispatch_timed(&program(), &[&input], &DispatchConfig::default())
        .unwrap();
    assert_eq!(timed.outputs, [bytes([2, 4])]);
    assert!(timed.wall_ns > 0);
    assert_eq!(timed.device_ns, None);
}

#[test]
fn default_dispatch_into_keeps_the_slot() {
    let backend = Doubler::new(None);
    let mut outputs = vec![Vec::with_capacity(8)];
    let slot = outputs[0].as_ptr();
    let config = DispatchConfig::default();
    let replaced = backend
        .dispatch_into(&program(), &[&bytes([1, 2])], &config, &mut outputs)
        .unwrap();
    assert_eq!(replaced.slots.reused_slots, 1);
    assert_eq!(outputs[0].as_ptr(), slot);
}

#[test]
fn resident_buffers_need_a_store() {
    let error = Doubler::new(None).allocate_resident(8).unwrap_err();
    assert!(
        matches!(error, BackendError::UnsupportedOperation { backend, .. } if backend == "doubler")
    );
}

#[test]
fn resident_buffer_starts_as_zeros() {
    let backend = Doubler::new(Some(HostResidents::new()));
    let resource = backend.allocate_resident(8).unwrap();
    assert_eq!(backend.resident_byte_len(resource).unwrap(), 8);
    assert_eq!(contents(&backend, resource), [0; 8]);
}

#[test]
fn resident_length_is_a_positive_number_of_words() {
    let backend = Doubler::new(Some(HostResidents::new()));
    for byte_len in [0, 7] {
        let refused = backend.allocate_resident(byte_len).unwrap_err();
        assert!(
            matches!(refused, BackendError::InvalidResidentLength { byte_len: len } if len == byte_len)
        );
    }
}

#[test]
fn rows_run_each_on_its_own_buffers() {
    let backend = Doubler::new(Some(HostResidents::new()));
    let [a, b] = [[1, 2], [3, 4]].map(|words| resident(&backend, words));
    let [c, d] = [[9, 9]; 2].map(|words| resident(&backend, words));
    let rows: [&[Resource]; 2] = [&[a, c], &[b, d]];
    let report = backend
        .dispatch_resident(&program(), &rows, &DispatchConfig::default())
        .unwrap();
    assert_eq!(contents(&backend, c), bytes([2, 4]));
    assert_eq!(contents(&backend, d), bytes([6, 8]));
    assert_eq!(report.stats.resident_resource_rows, 2);
    assert_eq!(report.stats.resident_resource_handles, 4);
}

#[test]
fn failed_upload_writes_nothing() {
    let backend = Doubler::new(Some(HostResidents::new()));
    let resource = resident(&backend, [1, 2]);
    let ones = [0xFF; 8];
    let write = |offset, len| ResidentWrite {
        resource,
        offset,
        bytes: &ones[..len],
    };
    for bad in [
        write(4, 8),
        write(u64::MAX - 3, 8),
        write(2, 4),
        write(0, 3),
    ] {
        let refused = backend.upload_resident(&[write(0, 8), bad]).unwrap_err();
        assert!(matches!(
            refused,
            BackendError::ResourceRange { capacity: 8, .. }
        ));
    }
    assert_eq!(contents(&backend, resource), bytes([1, 2]));
}

#[test]
fn freed_handle_is_stale() {
    let backend = Doubler::new(Some(HostResidents::new()));
    let resource = resident(&backend, [1, 2]);
    backend.free_resident(resource).unwrap();
    let refused = backend.resident_byte_len(resource).unwrap_err();
    assert!(matches!(refused, BackendError::StaleResource { .. }));
}

/// The refusal of these rows of the doubling program.
fn refusal(backend: &Doubler, rows: &[&[Resource]]) -> BackendError {
    let config = DispatchConfig::default();
    backend
        .dispatch_resident(&program(), rows, &config)
        .unwrap_err()
}

#[test]
fn row_with_a_handle_missing_is_refused() {
    let backend = Doubler::new(Some(HostResidents::new()));
    let a = resident(&backend, [1, 2]);
    let refused = refusal(&backend, &[&[a]]);
    assert!(matches!(
        refused,
        BackendError::RowShape {
            row: 0,
            expected: 2,
            given: 1
        }
    ));
}

#[test]
fn row_with_another_length_is_refused() {
    let backend = Doubler::new(Some(HostResidents::new()));
    let a = resident(&backend, [1, 2]);
    let short = backend.allocate_resident(4).unwrap();
    let refused = refusal(&backend, &[&[a, short]]);
    assert!(
        matches!(refused, BackendError::RowLength { name, expected: 8, given: 4, .. } if name == "y")
    );
}

#[test]
fn written_buffer_in_two_rows_is_refused() {
    let backend = Doubler::new(Some(HostResidents::new()));
    let [a, b, c] = [[1, 2]; 3].map(|words| resident(&backend, words));
    let refused = refusal(&backend, &[&[a, c], &[b, c]]);
    assert!(
        matches!(refused, BackendError::RowAlias { resource, first: 0, second: 1 } if resource == c)
    );
    let within = refusal(&backend, &[&[a, a]]);
    assert!(matches!(
        within,
        BackendError::RowAlias {
            first: 0,
            second: 0,
            ..
        }
    ));
}

#[test]
fn input_may_be_shared_by_rows() {
    let backend = Doubler::new(Some(HostResidents::new()));
    let [a, b, c] = [[1, 2]; 3].map(|words| resident(&backend, words));
    let rows: [&[Resource]; 2] = [&[a, b], &[a, c]];
    let done = backend.dispatch_resident(&program(), &rows, &DispatchConfig::default());
    assert!(done.is_ok());
}

#[test]
fn backend_without_recovery_says_what_to_do() {
    let error = Doubler::new(None).recover().unwrap_err();
    assert!(error.to_string().ends_with("open the backend again"));
}

#[test]
fn program_is_held_against_the_device() {
    let mut info = DeviceInfo::new("host", DeviceKind::Cpu);
    info.limits.max_grid = [1; 3];
    let error = info.check_program(&program()).unwrap_err();
    assert!(matches!(error, BackendError::InvalidProgram(_)), "{error}");
}

#[test]
fn missing_capability_is_named_with_kernel_and_device() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> y: array<u64>;
        @compute @workgroup_size(1) fn wide() { y[0] += 1lu; }";
    let kernel = Kernel::from_wgsl(source).unwrap();
    let mut info = DeviceInfo::new("abacus", DeviceKind::Other);
    let error = info.check_kernel(&kernel).unwrap_err().to_string();
    assert!(
        error.starts_with("kernel `wide` needs 64-bit integers, which abacus lacks"),
        "{error}"
    );
    info.capabilities = kernel.capabilities().to_vec();
    assert!(info.check_kernel(&kernel).is_ok());
}
