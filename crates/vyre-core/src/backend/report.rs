//! What one dispatch cost.

use crate::output::OutputReplacementStats;
use crate::stats::MegakernelDispatchStats;

/// Everything a backend counted and timed during one dispatch.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DispatchReport {
    /// Bytes, allocations, launches and synchronisations.
    pub stats: MegakernelDispatchStats,
    /// What became of the caller's output slots.
    pub replaced: OutputReplacementStats,
    /// Host nanoseconds from the call to its return.
    pub wall_ns: u64,
    /// Nanoseconds of the work on the device's own timer; `None` without such a timer.
    pub device_ns: Option<u64>,
    /// Host nanoseconds until the work was submitted.
    pub enqueue_ns: Option<u64>,
    /// Host nanoseconds of waiting for the device and collecting the outputs.
    pub wait_ns: Option<u64>,
}

impl DispatchReport {
    /// Adds the figures of one row of `handles` resident buffers, run as a dispatch of its own.
    ///
    /// An optional time is a sum only while every row has it.
    pub(super) fn add_row(&mut self, row: &Self, handles: usize) {
        let is_first = self.stats.resident_resource_rows == 0;
        for (total, time) in [
            (&mut self.device_ns, row.device_ns),
            (&mut self.enqueue_ns, row.enqueue_ns),
            (&mut self.wait_ns, row.wait_ns),
        ] {
            *total = if is_first {
                time
            } else {
                total.zip(time).map(|(sum, ns)| sum.saturating_add(ns))
            };
        }
        let (sum, stats) = (&mut self.stats, &row.stats);
        sum.input_bytes = sum.input_bytes.saturating_add(stats.input_bytes);
        sum.output_bytes = sum.output_bytes.saturating_add(stats.output_bytes);
        sum.readback_bytes = sum.readback_bytes.saturating_add(stats.readback_bytes);
        sum.bytes_moved = sum.bytes_moved.saturating_add(stats.bytes_moved);
        sum.device_allocation_bytes = sum
            .device_allocation_bytes
            .saturating_add(stats.device_allocation_bytes);
        sum.device_allocation_events = sum
            .device_allocation_events
            .saturating_add(stats.device_allocation_events);
        sum.output_buffers = sum.output_buffers.saturating_add(stats.output_buffers);
        sum.kernel_launches = sum.kernel_launches.saturating_add(stats.kernel_launches);
        sum.sync_points = sum.sync_points.saturating_add(stats.sync_points);
        sum.resident_resource_rows = sum.resident_resource_rows.saturating_add(1);
        let handles = u32::try_from(handles).unwrap_or(u32::MAX);
        sum.resident_resource_handles = sum.resident_resource_handles.saturating_add(handles);
        sum.recovered_after_device_loss |= stats.recovered_after_device_loss;
        self.wall_ns = self.wall_ns.saturating_add(row.wall_ns);
        self.stats.latency_ns = self.wall_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(device_ns: Option<u64>, wait_ns: Option<u64>, recovered: bool) -> DispatchReport {
        DispatchReport {
            stats: MegakernelDispatchStats {
                recovered_after_device_loss: recovered,
                ..MegakernelDispatchStats::default()
            },
            device_ns,
            wait_ns,
            ..DispatchReport::default()
        }
    }

    fn total(rows: &[DispatchReport]) -> DispatchReport {
        let mut total = DispatchReport::default();
        rows.iter().for_each(|row| total.add_row(row, 2));
        total
    }

    #[test]
    fn times_are_summed_when_all_rows_have_them() {
        let sum = total(&[
            row(Some(1), None, false),
            row(Some(2), Some(8), false),
            row(Some(4), Some(16), false),
        ]);
        assert_eq!((sum.device_ns, sum.wait_ns), (Some(7), None));
        let gap = total(&[row(Some(1), Some(8), false), row(None, Some(16), false)]);
        assert_eq!((gap.device_ns, gap.wait_ns), (None, Some(24)));
    }

    #[test]
    fn one_recovered_row_makes_a_recovered_batch() {
        let [kept, recovered] = [false, true].map(|recovered| row(None, None, recovered));
        assert!(total(&[recovered, kept]).stats.recovered_after_device_loss);
        assert!(!total(&[kept, kept]).stats.recovered_after_device_loss);
    }
}
