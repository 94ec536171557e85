//! Copies outside of dispatches: constants and resident buffers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use vyre_core::error::BackendError;

use crate::barrier::Access;
use crate::command::Commands;
use crate::device::Device;
use crate::memory::{Buffer, Location, Tally};
use crate::queue::{Fence, wait_idle};

/// Bytes of staging that are kept between copies; what is larger is freed at once.
const KEPT_STAGING: u64 = 16 << 20;

/// Copies that are recorded, submitted and waited for at once, from any thread.
pub(crate) struct Transfers {
    idle: Mutex<Vec<Transfer>>,
    device: Arc<Device>,
    poll: Duration,
}

/// What one copy needs, kept for the next one. Fields are declared in drop order.
struct Transfer {
    fence: Fence,
    commands: Commands,
    upload: Option<Staging>,
    readback: Option<Staging>,
}

struct Staging {
    buffer: Buffer,
    byte_len: u64,
}

impl Transfers {
    pub(crate) fn new(device: &Arc<Device>, poll: Duration) -> Self {
        Self {
            idle: Mutex::default(),
            device: Arc::clone(device),
            poll,
        }
    }

    /// Runs commands and waits for them.
    pub(crate) fn run(
        &self,
        body: impl FnOnce(&Device, vk::CommandBuffer),
    ) -> Result<(), BackendError> {
        let mut transfer = self.take()?;
        self.finish(&mut transfer, body)?;
        self.keep(transfer);
        Ok(())
    }

    /// Lets `fill` write `byte_len` bytes of staging, then runs commands that copy from it.
    pub(crate) fn upload(
        &self,
        byte_len: u64,
        fill: impl FnOnce(&mut Buffer),
        body: impl FnOnce(&Device, vk::CommandBuffer, vk::Buffer),
    ) -> Result<(), BackendError> {
        let mut transfer = self.take()?;
        let mut staging = self.staging(transfer.upload.take(), byte_len, Location::Upload)?;
        fill(&mut staging.buffer);
        let raw = staging.buffer.raw();
        transfer.upload = Some(staging);
        self.finish(&mut transfer, |device, commands| {
            body(device, commands, raw)
        })?;
        self.keep(transfer);
        Ok(())
    }

    /// Runs commands that copy into `byte_len` bytes of staging, then lets `collect` read it.
    pub(crate) fn download(
        &self,
        byte_len: u64,
        body: impl FnOnce(&Device, vk::CommandBuffer, vk::Buffer),
        collect: impl FnOnce(&Buffer),
    ) -> Result<(), BackendError> {
        let mut transfer = self.take()?;
        let staging = self.staging(transfer.readback.take(), byte_len, Location::Readback)?;
        let raw = staging.buffer.raw();
        self.finish(&mut transfer, |device, commands| {
            body(device, commands, raw);
            device.cmd_barrier(commands, Access::TRANSFER, Access::HOST_READ);
        })?;
        collect(&staging.buffer);
        transfer.readback = Some(staging);
        self.keep(transfer);
        Ok(())
    }

    /// Submits and waits. Barriers order the commands after all earlier submissions and before all
    /// later ones: both may use the same resident buffers.
    fn finish(
        &self,
        transfer: &mut Transfer,
        body: impl FnOnce(&Device, vk::CommandBuffer),
    ) -> Result<(), BackendError> {
        let everything = Access::KERNEL.and(Access::TRANSFER);
        transfer.commands.record(|device, commands| {
            device.cmd_barrier(commands, everything, Access::TRANSFER);
            body(device, commands);
            device.cmd_barrier(commands, Access::TRANSFER, everything);
        })?;
        let submitted = transfer.fence.submit(transfer.commands.raw());
        let ended = submitted
            .and_then(|()| transfer.fence.wait(Instant::now(), self.poll, None))
            .map(drop);
        // What a failed call left running must end before the transfer is dropped.
        ended.inspect_err(|_| wait_idle(&self.device))
    }

    fn staging(
        &self,
        kept: Option<Staging>,
        byte_len: u64,
        location: Location,
    ) -> Result<Staging, BackendError> {
        if let Some(kept) = kept.filter(|kept| kept.byte_len >= byte_len) {
            return Ok(kept);
        }
        let buffer = Buffer::new(
            &self.device,
            "staging",
            byte_len,
            location,
            &mut Tally::default(),
        )?;
        Ok(Staging { buffer, byte_len })
    }

    fn take(&self) -> Result<Transfer, BackendError> {
        if let Some(transfer) = self.idle().pop() {
            return Ok(transfer);
        }
        let fence = Fence::new(&self.device, "transfer")?;
        let commands = Commands::new(&self.device, "transfer")?;
        Ok(Transfer {
            fence,
            commands,
            upload: None,
            readback: None,
        })
    }

    fn keep(&self, mut transfer: Transfer) {
        let small = |staging: &Staging| staging.byte_len <= KEPT_STAGING;
        transfer.upload = transfer.upload.filter(small);
        transfer.readback = transfer.readback.filter(small);
        self.idle().push(transfer);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Transfer>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
