//! The only place that submits to the queue and waits for it.

#![expect(
    clippy::disallowed_methods,
    reason = "submissions and waits have their one home here"
)]

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use vyre_core::backend::DeviceKind;
use vyre_core::error::BackendError;

use crate::device::Device;
use crate::error::driver;
use crate::owned::Owned;

/// How a wait ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Waited {
    /// The work has ended.
    Done,
    /// The limit passed first; the work may still be running.
    TimedOut,
}

/// How long a wait polls before it blocks, unless the config says so: on a GPU longer than small
/// work takes, on a CPU device briefly, since polling takes a core from the work itself.
pub(crate) fn default_poll(kind: DeviceKind) -> Duration {
    match kind {
        DeviceKind::Cpu => Duration::from_micros(100),
        _ => Duration::from_millis(1),
    }
}

/// A fence, unsignalled between submissions.
pub(crate) struct Fence(Owned<vk::Fence>);

impl Fence {
    pub(crate) fn new(device: &Arc<Device>, name: &str) -> Result<Self, BackendError> {
        // SAFETY: the device is alive.
        let fence = unsafe {
            device
                .raw()
                .create_fence(&vk::FenceCreateInfo::default(), None)
        }
        .map_err(driver("vkCreateFence"))?;
        Ok(Self(Owned::new(device, fence, name)))
    }

    /// Submits `commands`, which signal this fence when they end.
    pub(crate) fn submit(&self, commands: vk::CommandBuffer) -> Result<(), BackendError> {
        let device = self.0.device();
        let commands = [commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        let queue = device.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock synchronises the queue externally; the command buffer is recorded, of this
        // device and not pending, the fence unsignalled and not in use: both belong to one owner, who
        // waits before the next submission.
        unsafe { device.raw().queue_submit(*queue, &submits, *self.0) }
            .map_err(driver("vkQueueSubmit"))
    }

    /// Whether the submitted work has ended; a lost device ends all work.
    pub(crate) fn is_done(&self) -> bool {
        // SAFETY: the fence is alive.
        let status = unsafe { self.0.device().raw().get_fence_status(*self.0) };
        matches!(status, Ok(true) | Err(vk::Result::ERROR_DEVICE_LOST))
    }

    /// Polls for `poll`, then blocks, until the submitted work ends or `limit` has passed since
    /// `start`. Once done, the fence can be submitted again.
    pub(crate) fn wait(
        &self,
        start: Instant,
        poll: Duration,
        limit: Option<Duration>,
    ) -> Result<Waited, BackendError> {
        let device = self.0.device().raw();
        let done = self.poll(start, limit.map_or(poll, |limit| limit.min(poll)))?
            || self.block(limit.map(|limit| limit.saturating_sub(start.elapsed())))?;
        if !done {
            return Ok(Waited::TimedOut);
        }
        // SAFETY: the fence is signalled, so no submission uses it any more.
        unsafe { device.reset_fences(&[*self.0]) }.map_err(driver("vkResetFences"))?;
        Ok(Waited::Done)
    }

    fn poll(&self, start: Instant, poll: Duration) -> Result<bool, BackendError> {
        loop {
            // SAFETY: the fence is alive.
            let status = unsafe { self.0.device().raw().get_fence_status(*self.0) };
            if status.map_err(driver("vkGetFenceStatus"))? {
                return Ok(true);
            }
            if start.elapsed() >= poll {
                return Ok(false);
            }
            std::hint::spin_loop();
        }
    }

    fn block(&self, limit: Option<Duration>) -> Result<bool, BackendError> {
        let limit_ns = limit.map_or(u64::MAX, |limit| {
            u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)
        });
        // SAFETY: the fence is alive.
        let waited = unsafe {
            self.0
                .device()
                .raw()
                .wait_for_fences(&[*self.0], true, limit_ns)
        };
        match waited {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(error) => Err(driver("vkWaitForFences")(error)),
        }
    }
}

/// Waits until the device has nothing left to do; a lost device has nothing.
pub(crate) fn wait_idle(device: &Device) {
    let _queue = device.queue.lock().unwrap_or_else(PoisonError::into_inner);
    // The host or the device can be short of memory for the wait itself.
    for _ in 0..1000 {
        // SAFETY: the lock keeps every queue of the device from being used meanwhile.
        match unsafe { device.raw().device_wait_idle() } {
            Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST) => return,
            Err(error) => tracing::warn!(%error, "vkDeviceWaitIdle failed; trying again"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
