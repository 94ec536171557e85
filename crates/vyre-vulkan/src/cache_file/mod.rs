//! The pipeline cache on disk: one file per device and driver, trusted only when intact.
//!
//! Drivers differ in what they do with damaged cache data, so none reaches them: the file says
//! for which device it was written and carries a checksum over everything else in it, and the
//! driver's own header inside must name the same device.
//!
//! | bytes | little-endian |
//! |---|---|
//! | 0..8 | `vyrecach` |
//! | 8..12 | format version |
//! | 12..40 | the [`CacheKey`]: vendor, device, driver version, UUID |
//! | 40..48 | length of the payload |
//! | 48..52 | CRC-32 of bytes 0..48 and of the payload |
//! | 52.. | the payload: what `vkGetPipelineCacheData` gave |

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

const MAGIC: [u8; 8] = *b"vyrecach";
const FORMAT_VERSION: u32 = 1;
const HEADER_LEN: usize = 52;
/// `VkPipelineCacheHeaderVersionOne`: its length, its version, then vendor, device and UUID.
const VULKAN_HEADER_LEN: u32 = 32;
const VULKAN_HEADER_VERSION: u32 = 1;

/// The device and driver that a pipeline cache belongs to, from `VkPhysicalDeviceProperties`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheKey {
    pub(crate) vendor_id: u32,
    pub(crate) device_id: u32,
    pub(crate) driver_version: u32,
    pub(crate) pipeline_cache_uuid: [u8; 16],
}

/// Where the pipeline cache of one device is kept between processes.
#[derive(Debug)]
pub(crate) struct CacheFile {
    key: CacheKey,
    path: PathBuf,
}

/// Why a file is not used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
enum Refusal {
    #[error("it is no pipeline cache of vyre")]
    Magic,
    #[error("it is of another format than version {FORMAT_VERSION}")]
    Version,
    #[error("it was written for another device or driver")]
    Foreign,
    #[error("it is longer or shorter than it was written")]
    Length,
    #[error("its contents are damaged")]
    Checksum,
    #[error("the driver's data in it is damaged or for another device")]
    VulkanHeader,
}

impl CacheFile {
    /// The file for `key` in `directory`. Touches no disk.
    pub(crate) fn new(directory: &Path, key: &CacheKey) -> Self {
        let uuid = u128::from_be_bytes(key.pipeline_cache_uuid);
        let name = format!(
            "{:08x}-{:08x}-{:08x}-{uuid:032x}.pipelines",
            key.vendor_id, key.device_id, key.driver_version,
        );
        CacheFile {
            key: *key,
            path: directory.join(name),
        }
    }

    /// What [`CacheFile::store`] last stored, fit to be handed to the driver. `None`, and an
    /// event that says why, if there is no file, or one that is damaged or foreign.
    pub(crate) fn load(&self) -> Option<Vec<u8>> {
        let path = self.path.display();
        // Anything but a regular file could block the reader or have no end.
        if fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file()) {
            tracing::warn!(%path, "the pipeline cache is no file");
            return None;
        }
        let mut bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                tracing::info!(%path, "no pipeline cache yet");
                return None;
            }
            Err(error) => {
                tracing::warn!(%path, %error, "the pipeline cache can't be read");
                return None;
            }
        };
        match self.key.check(&bytes) {
            Ok(()) => Some(bytes.split_off(HEADER_LEN)),
            Err(refusal) => {
                tracing::warn!(%path, %refusal, "the pipeline cache is ignored");
                None
            }
        }
    }

    /// Replaces the file by one that holds `payload`, which only this user can read. Whoever
    /// reads at the same time sees the old file or the new one, never a part.
    ///
    /// # Errors
    ///
    /// If the directory or the file can't be written. The old file then is as it was.
    pub(crate) fn store(&self, payload: &[u8]) -> Result<(), io::Error> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        create_private_directory(directory)?;
        // Temporary files are created for this user alone.
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(&self.key.header(payload))?;
        file.write_all(payload)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }
}

impl CacheKey {
    /// The header of a file that holds `payload`.
    fn header(&self, payload: &[u8]) -> Vec<u8> {
        let mut header = Vec::with_capacity(HEADER_LEN);
        header.extend(MAGIC);
        header.extend(FORMAT_VERSION.to_le_bytes());
        header.extend(self.vendor_id.to_le_bytes());
        header.extend(self.device_id.to_le_bytes());
        header.extend(self.driver_version.to_le_bytes());
        header.extend(self.pipeline_cache_uuid);
        header.extend((payload.len() as u64).to_le_bytes());
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&header);
        checksum.update(payload);
        header.extend(checksum.finalize().to_le_bytes());
        header
    }

    /// Whether `file` is intact and for this device and driver.
    fn check(&self, file: &[u8]) -> Result<(), Refusal> {
        let (header, payload) = file.split_at(HEADER_LEN.min(file.len()));
        let expected = self.header(payload);
        let parts = [
            (0..8, Refusal::Magic),
            (8..12, Refusal::Version),
            (12..40, Refusal::Foreign),
            (40..48, Refusal::Length),
            (48..52, Refusal::Checksum),
        ];
        for (part, refusal) in parts {
            if header.get(part.clone()) != expected.get(part) {
                return Err(refusal);
            }
        }
        // The specification leaves it to the application to hand a driver only its own data.
        if payload.starts_with(&self.vulkan_header()) {
            Ok(())
        } else {
            Err(Refusal::VulkanHeader)
        }
    }

    /// How the driver's own data begins.
    fn vulkan_header(&self) -> Vec<u8> {
        let mut header = Vec::new();
        header.extend(VULKAN_HEADER_LEN.to_le_bytes());
        header.extend(VULKAN_HEADER_VERSION.to_le_bytes());
        header.extend(self.vendor_id.to_le_bytes());
        header.extend(self.device_id.to_le_bytes());
        header.extend(self.pipeline_cache_uuid);
        header
    }
}

/// The directory for pipeline caches: `VYRE_CACHE_DIR`, else `vyre` in `XDG_CACHE_HOME`, else
/// `.cache/vyre` in `HOME`; `None` where the environment names none of them.
pub(crate) fn default_directory() -> Option<PathBuf> {
    directory_from(|name| env::var_os(name))
}

fn directory_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).map(PathBuf::from);
    let is_set = |path: &PathBuf| !path.as_os_str().is_empty();
    // The XDG base directory specification has relative paths ignored.
    let absolute = |name| path(name).filter(|path| path.is_absolute());
    path("VYRE_CACHE_DIR")
        .filter(is_set)
        .or_else(|| Some(absolute("XDG_CACHE_HOME")?.join("vyre")))
        .or_else(|| Some(absolute("HOME")?.join(".cache/vyre")))
}

/// Creates `directory`, and what lacks above it, for this user alone.
fn create_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}
