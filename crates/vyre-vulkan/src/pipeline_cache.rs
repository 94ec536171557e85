//! Pipelines kept in the process, and what the driver keeps of them on disk.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;

use crate::cache_file::{self, CacheFile, CacheKey};
use crate::config::PipelineCacheLocation;
use crate::device::Device;
use crate::error::driver;
use crate::owned::Owned;
use crate::pipeline::KernelPipeline;

/// Pipelines kept at most while no program uses them.
const UNUSED_LIMIT: usize = 256;

/// The pipelines of one device, by kernel.
pub(crate) struct PipelineCache {
    pipelines: Mutex<HashMap<Kernel, Arc<KernelPipeline>>>,
    raw: Owned<vk::PipelineCache>,
    file: Option<CacheFile>,
    /// Bytes of the driver's cache when it was loaded; more means that it is worth storing.
    loaded_bytes: usize,
}

impl PipelineCache {
    pub(crate) fn new(
        device: &Arc<Device>,
        location: &PipelineCacheLocation,
    ) -> Result<Self, BackendError> {
        let file = cache_file(device, location);
        let stored = file.as_ref().and_then(CacheFile::load).unwrap_or_default();
        let raw = create(device, &stored).or_else(|_| create(device, &[]))?;
        // Not what was stored: a driver may refuse that and start empty.
        let loaded_bytes = if stored.is_empty() {
            0
        } else {
            data(&raw)?.len()
        };
        Ok(Self {
            pipelines: Mutex::default(),
            raw,
            file,
            loaded_bytes,
        })
    }

    /// The pipeline of `kernel`, compiled if need be.
    pub(crate) fn get(&self, kernel: &Kernel) -> Result<Arc<KernelPipeline>, BackendError> {
        let found = self.pipelines().get(kernel).cloned();
        if let Some(pipeline) = found {
            return Ok(pipeline);
        }
        // Compiled without the lock: another thread's kernel need not wait for this one.
        let span = tracing::debug_span!("compile", kernel = kernel.entry_point()).entered();
        let pipeline = Arc::new(KernelPipeline::new(self.raw.device(), *self.raw, kernel)?);
        drop(span);
        let mut pipelines = self.pipelines();
        if pipelines.len() >= UNUSED_LIMIT {
            pipelines.retain(|_, pipeline| Arc::strong_count(pipeline) > 1);
        }
        Ok(Arc::clone(
            pipelines.entry(kernel.clone()).or_insert(pipeline),
        ))
    }

    fn pipelines(&self) -> std::sync::MutexGuard<'_, HashMap<Kernel, Arc<KernelPipeline>>> {
        self.pipelines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self) {
        let Some(file) = &self.file else { return };
        let data = match data(&self.raw) {
            Ok(data) => data,
            Err(error) => return tracing::warn!(%error, "the pipeline cache can't be read"),
        };
        if data.len() <= self.loaded_bytes {
            return;
        }
        if let Err(error) = file.store(&data) {
            tracing::warn!(%error, "the pipeline cache could not be stored");
        }
    }
}

/// What the driver wants kept.
fn data(cache: &Owned<vk::PipelineCache>) -> Result<Vec<u8>, BackendError> {
    // SAFETY: the cache is alive.
    unsafe { cache.device().raw().get_pipeline_cache_data(**cache) }
        .map_err(driver("vkGetPipelineCacheData"))
}

fn cache_file(device: &Device, location: &PipelineCacheLocation) -> Option<CacheFile> {
    let directory = match location {
        PipelineCacheLocation::Default => cache_file::default_directory()?,
        PipelineCacheLocation::Directory(directory) => directory.clone(),
        PipelineCacheLocation::None => return None,
    };
    let snapshot = &device.snapshot;
    let key = CacheKey {
        vendor_id: snapshot.vendor_id,
        device_id: snapshot.device_id,
        driver_version: snapshot.driver_version,
        pipeline_cache_uuid: snapshot.pipeline_cache_uuid,
    };
    Some(CacheFile::new(&directory, &key))
}

fn create(device: &Arc<Device>, stored: &[u8]) -> Result<Owned<vk::PipelineCache>, BackendError> {
    let info = vk::PipelineCacheCreateInfo::default().initial_data(stored);
    // SAFETY: the data is empty or what this driver stored for this device: `CacheFile` has checked
    // key and checksum.
    let cache = unsafe { device.raw().create_pipeline_cache(&info, None) }
        .map_err(driver("vkCreatePipelineCache"))?;
    Ok(Owned::new(device, cache, "pipelines"))
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        self.store();
    }
}
