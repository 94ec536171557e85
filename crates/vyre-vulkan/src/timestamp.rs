//! Time on the device: two timestamps around the work.

use std::sync::Arc;

use ash::vk;
use vyre_core::error::BackendError;

use crate::device::Device;
use crate::error::driver;
use crate::owned::Owned;

/// Nanoseconds from tick `start` to tick `end` of a timer whose lower `valid_bits` bits count and
/// wrap, each tick lasting `period` nanoseconds. `None` without a timer.
///
/// The rules are those of "Timestamp Queries" in the Vulkan specification.
pub(crate) fn ticks_to_ns(start: u64, end: u64, valid_bits: u32, period: f32) -> Option<u64> {
    if valid_bits == 0 {
        return None;
    }
    let mask = u64::MAX >> (64 - valid_bits.min(64));
    let ticks = end.wrapping_sub(start) & mask;
    #[expect(
        clippy::cast_precision_loss,
        reason = "2^53 ticks of 1 ns are a hundred days"
    )]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float to integer cast saturates"
    )]
    #[expect(clippy::cast_sign_loss, reason = "both factors are positive")]
    Some((ticks as f64 * f64::from(period)).round() as u64)
}

/// Two timestamps of one command buffer.
pub(crate) struct Timer(Owned<vk::QueryPool>);

impl Timer {
    /// A timer; the queue must have timestamps.
    pub(crate) fn new(device: &Arc<Device>, name: &str) -> Result<Self, BackendError> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(2);
        // SAFETY: the device is alive, and its queue has timestamps.
        let pool = unsafe { device.raw().create_query_pool(&info, None) }
            .map_err(driver("vkCreateQueryPool"))?;
        Ok(Self(Owned::new(device, pool, name)))
    }

    /// Records the first timestamp, once all earlier work of the queue has ended.
    pub(crate) fn record_start(&self, commands: vk::CommandBuffer) {
        let device = self.0.device().raw();
        // SAFETY: `commands` is being recorded outside a render pass; queries are reset before use.
        unsafe {
            device.cmd_reset_query_pool(commands, *self.0, 0, 2);
            device.cmd_write_timestamp(
                commands,
                vk::PipelineStageFlags::BOTTOM_OF_PIPE,
                *self.0,
                0,
            );
        }
    }

    /// Records the second timestamp, after all work.
    pub(crate) fn record_end(&self, commands: vk::CommandBuffer) {
        // SAFETY: as above; `record_start` has reset the query.
        unsafe {
            self.0.device().raw().cmd_write_timestamp(
                commands,
                vk::PipelineStageFlags::BOTTOM_OF_PIPE,
                *self.0,
                1,
            );
        }
    }

    /// Nanoseconds between the two, once the command buffer has ended.
    pub(crate) fn elapsed_ns(&self) -> Result<Option<u64>, BackendError> {
        let device = self.0.device();
        let mut ticks = [0u64; 2];
        // SAFETY: both queries were written by work that has ended, so the results are there.
        unsafe {
            device.raw().get_query_pool_results(
                *self.0,
                0,
                &mut ticks,
                vk::QueryResultFlags::TYPE_64,
            )
        }
        .map_err(driver("vkGetQueryPoolResults"))?;
        let period = device.snapshot.timestamp_period;
        Ok(ticks_to_ns(
            ticks[0],
            ticks[1],
            device.timestamp_valid_bits,
            period,
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queue_without_a_timer_has_no_time() {
        assert_eq!(ticks_to_ns(1, 2, 0, 1.0), None);
    }

    #[test]
    fn period_scales_ticks() {
        assert_eq!(ticks_to_ns(100, 200, 64, 52.08), Some(5208));
    }

    #[test]
    fn bits_above_the_valid_ones_are_ignored() {
        assert_eq!(ticks_to_ns(0xFF00_0000_0000_0001, 3, 36, 1.0), Some(2));
    }

    proptest! {
        #[test]
        fn wrap_between_the_two_is_invisible(start: u64, ticks in 0u64..1 << 35, valid_bits in 36u32..=64) {
            let mask = u64::MAX >> (64 - valid_bits);
            let end = start.wrapping_add(ticks) & mask;
            prop_assert_eq!(ticks_to_ns(start & mask, end, valid_bits, 1.0), Some(ticks));
        }
    }
}
