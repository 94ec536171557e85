//! `Gpu`: wgpu's device and queue, and the errors that wgpu raises beside its results.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use vyre_driver::BackendError;
use vyre_driver::backend::{DeviceInfo, DeviceKind, Limits};
use vyre_driver::kernel::Capability;
use wgpu::{ErrorFilter, Features};

use crate::error::failed;

/// What each capability of vyre is called in wgpu. Subgroups are not among them: wgpu's WGSL front end
/// refuses `enable subgroups`, which WGSL demands of kernels that use them.
const CAPABILITIES: [(Capability, Features); 3] = [
    (Capability::Float16, Features::SHADER_F16),
    (Capability::Int64, Features::SHADER_INT64),
    (
        Capability::Int64Atomics,
        Features::SHADER_INT64_ATOMIC_ALL_OPS,
    ),
];

pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// Why the device is gone.
    lost: Arc<Mutex<Option<String>>>,
    /// The first error outside of all error scopes.
    stray: Arc<Mutex<Option<wgpu::Error>>>,
}

impl Gpu {
    /// The adapter that wgpu prefers, with all that it offers.
    pub(crate) fn open() -> Result<(Self, DeviceInfo), BackendError> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(descriptor);
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter =
            wait(instance.request_adapter(&options)).map_err(|error| BackendError::NoDevice {
                wanted: "wgpu over Vulkan".to_owned(),
                found: error.to_string(),
                remedy: "install a Vulkan driver (Debian: apt-get install mesa-vulkan-drivers)",
            })?;
        let info = describe(&adapter);
        let (device, queue) = wait(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("vyre"),
            required_features: features(&adapter),
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        }))
        .map_err(|error| failed("request_device", error))?;
        let gpu = Self {
            device,
            queue,
            lost: Arc::default(),
            stray: Arc::default(),
        };
        gpu.listen();
        Ok((gpu, info))
    }

    /// Keeps what wgpu would panic for, or only say to a callback.
    fn listen(&self) {
        let (lost, stray) = (Arc::clone(&self.lost), Arc::clone(&self.stray));
        self.device.set_device_lost_callback(move |reason, text| {
            let mut lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert_with(|| format!("{reason:?}: {text}"));
        });
        self.device.on_uncaptured_error(Arc::new(move |error| {
            let mut stray = stray.lock().unwrap_or_else(PoisonError::into_inner);
            stray.get_or_insert(error);
        }));
    }

    /// Fails if the device is gone, or if an error of no known call has come up.
    pub(crate) fn check(&self, call: &'static str) -> Result<(), BackendError> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = &*lost {
            return Err(BackendError::DeviceLost {
                call,
                source: reason.clone().into(),
            });
        }
        let mut stray = self.stray.lock().unwrap_or_else(PoisonError::into_inner);
        stray
            .take()
            .map_or(Ok(()), |error| Err(failed(call, error)))
    }

    /// `error`, unless the device was lost meanwhile, which is its cause then.
    pub(crate) fn explain(&self, call: &'static str, error: BackendError) -> BackendError {
        // wgpu says that a device is lost by a callback, and calls back when it is polled.
        drop(self.device.poll(wgpu::PollType::Poll));
        match self.check(call) {
            Err(lost @ BackendError::DeviceLost { .. }) => lost,
            _ => error,
        }
    }

    /// Does `work`, and gives the first error that wgpu raises in it on this thread.
    pub(crate) fn guarded<T>(&self, work: impl FnOnce() -> T) -> Result<T, wgpu::Error> {
        let filters = [
            ErrorFilter::OutOfMemory,
            ErrorFilter::Internal,
            ErrorFilter::Validation,
        ];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let done = work();
        // In reverse order, as wgpu demands.
        let [memory, internal, validation] = scopes;
        let errors = [validation, internal, memory].map(|scope| wait(scope.pop()));
        match errors.into_iter().flatten().next() {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }
}

/// The value of a future of wgpu's native backends, which are all ready at once.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// What of [`CAPABILITIES`] the adapter has.
fn features(adapter: &wgpu::Adapter) -> Features {
    let wanted = CAPABILITIES.iter().map(|(_, feature)| *feature);
    adapter.features() & wanted.fold(Features::empty(), Features::union)
}

fn describe(adapter: &wgpu::Adapter) -> DeviceInfo {
    let adapter_info = adapter.get_info();
    let kind = match adapter_info.device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::DiscreteGpu,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::IntegratedGpu,
        wgpu::DeviceType::VirtualGpu => DeviceKind::VirtualGpu,
        wgpu::DeviceType::Cpu => DeviceKind::Cpu,
        wgpu::DeviceType::Other => DeviceKind::Other,
    };
    let mut info = DeviceInfo::new(adapter_info.name, kind);
    info.driver = format!("{} {}", adapter_info.driver, adapter_info.driver_info);
    info.limits = limits(&adapter.limits());
    let features = features(adapter);
    let has = CAPABILITIES
        .iter()
        .filter(|(_, feature)| features.contains(*feature));
    info.capabilities = has.map(|(capability, _)| *capability).collect();
    info
}

fn limits(wgpu: &wgpu::Limits) -> Limits {
    let mut limits = Limits::default();
    limits.max_grid = [wgpu.max_compute_workgroups_per_dimension; 3];
    limits.max_workgroup_size = [
        wgpu.max_compute_workgroup_size_x,
        wgpu.max_compute_workgroup_size_y,
        wgpu.max_compute_workgroup_size_z,
    ];
    limits.max_workgroup_invocations = wgpu.max_compute_invocations_per_workgroup;
    limits.max_workgroup_memory = wgpu.max_compute_workgroup_storage_size;
    limits.max_storage_range = wgpu
        .max_storage_buffer_binding_size
        .min(wgpu.max_buffer_size);
    limits.max_uniform_range = wgpu
        .max_uniform_buffer_binding_size
        .min(wgpu.max_buffer_size);
    limits
}
