//! What one dispatch cost: bytes, allocations, launches, synchronisations, time.

use crate::program::Program;

/// What one dispatch cost, counted by the backend where it happens.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MegakernelDispatchStats {
    /// Bytes that the dispatch was fed: control, ring, debug and IO buffers together.
    pub input_bytes: u64,
    /// Bytes in the output buffers that the caller received.
    pub output_bytes: u64,
    /// Bytes read back from the device to the host, outputs and bookkeeping together.
    pub readback_bytes: u64,
    /// Bytes moved between host and device, both directions together.
    pub bytes_moved: u64,
    /// Bytes of device memory allocated during the dispatch.
    pub device_allocation_bytes: u64,
    /// Number of device memory allocations during the dispatch; 0 in a steady state.
    pub device_allocation_events: u32,
    /// Host nanoseconds from the start of the dispatch until its outputs are there.
    pub latency_ns: u64,
    /// Number of output buffers that the caller received.
    pub output_buffers: u32,
    /// Number of rows dispatched over resident buffers, one row per instance of the program.
    pub resident_resource_rows: u32,
    /// Number of resident buffer handles in all rows together.
    pub resident_resource_handles: u32,
    /// Number of kernel launches, those of a retry included.
    pub kernel_launches: u32,
    /// Number of times the host waited for the device.
    pub sync_points: u32,
    /// Whether the device was lost and the dispatch succeeded on a rebuilt one.
    pub recovered_after_device_loss: bool,
}

impl MegakernelDispatchStats {
    /// The bytes and buffers of a dispatch of `program` whose inputs and outputs cross once, and
    /// nothing else does.
    #[must_use]
    pub fn of_crossing(program: &Program) -> Self {
        let (input_bytes, output_bytes) = (program.input_bytes(), program.output_bytes());
        Self {
            input_bytes,
            output_bytes,
            readback_bytes: output_bytes,
            bytes_moved: input_bytes.saturating_add(output_bytes),
            output_buffers: u32::try_from(program.outputs().len()).unwrap_or(u32::MAX),
            ..Self::default()
        }
    }

    /// [`output_bytes`](Self::output_bytes) per second of latency, rounded down; 0 when the
    /// latency is 0, `u64::MAX` when the rate exceeds it.
    pub fn output_bytes_per_second(&self) -> u64 {
        per_second(self.output_bytes, self.latency_ns)
    }

    /// [`readback_bytes`](Self::readback_bytes) per second of latency, rounded down; 0 when the
    /// latency is 0, `u64::MAX` when the rate exceeds it.
    pub fn readback_bytes_per_second(&self) -> u64 {
        per_second(self.readback_bytes, self.latency_ns)
    }

    /// [`bytes_moved`](Self::bytes_moved) per second of latency, rounded down; 0 when the latency
    /// is 0, `u64::MAX` when the rate exceeds it.
    pub fn bytes_moved_per_second(&self) -> u64 {
        per_second(self.bytes_moved, self.latency_ns)
    }

    /// [`device_allocation_bytes`](Self::device_allocation_bytes) per second of latency, rounded
    /// down; 0 when the latency is 0, `u64::MAX` when the rate exceeds it.
    pub fn device_allocation_bytes_per_second(&self) -> u64 {
        per_second(self.device_allocation_bytes, self.latency_ns)
    }
}

fn per_second(bytes: u64, latency_ns: u64) -> u64 {
    const NS_PER_SECOND: u128 = 1_000_000_000;
    // 64 bits of bytes times 30 bits of nanoseconds stay well below 128 bits.
    let scaled = u128::from(bytes) * NS_PER_SECOND;
    let rate = scaled.checked_div(u128::from(latency_ns)).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rates(stats: &MegakernelDispatchStats) -> [u64; 4] {
        [
            stats.output_bytes_per_second(),
            stats.readback_bytes_per_second(),
            stats.bytes_moved_per_second(),
            stats.device_allocation_bytes_per_second(),
        ]
    }

    fn stats(bytes: [u64; 4], latency_ns: u64) -> MegakernelDispatchStats {
        let [
            output_bytes,
            readback_bytes,
            bytes_moved,
            device_allocation_bytes,
        ] = bytes;
        MegakernelDispatchStats {
            output_bytes,
            readback_bytes,
            bytes_moved,
            device_allocation_bytes,
            latency_ns,
            ..Default::default()
        }
    }

    #[test]
    fn each_rate_reads_its_own_bytes() {
        // Over half a microsecond, n bytes are n * 2,000,000 bytes a second.
        assert_eq!(
            rates(&stats([1, 2, 3, 5], 500)),
            [2_000_000, 4_000_000, 6_000_000, 10_000_000]
        );
    }

    #[test]
    fn rates_are_zero_without_latency() {
        assert_eq!(rates(&stats([0, 1, 1 << 40, u64::MAX], 0)), [0; 4]);
    }

    #[test]
    fn rates_are_exact_where_64_bits_are_not_enough() {
        // Over one second a rate is the bytes themselves, though bytes * 10^9 exceeds 64 bits.
        let bytes = [u64::MAX, u64::MAX - 1, (1 << 63) + 1, (1 << 53) + 1];
        assert_eq!(rates(&stats(bytes, 1_000_000_000)), bytes);
    }

    #[test]
    fn rates_saturate_just_above_the_largest_u64() {
        assert_eq!(per_second(u64::MAX, 1), u64::MAX);
        assert_eq!(per_second(u64::MAX, 999_999_999), u64::MAX);
        // (2^64 - 1) / 10^9 = 18,446,744,073.7…, so that many bytes in a nanosecond still fit.
        assert_eq!(per_second(18_446_744_073, 1), 18_446_744_073_000_000_000);
        assert_eq!(per_second(18_446_744_074, 1), u64::MAX);
    }

    #[test]
    fn rates_round_down() {
        assert_eq!(per_second(2, 3), 666_666_666);
        assert_eq!(per_second(1, u64::MAX), 0);
    }

    proptest! {
        /// The rate is the one integer `r` with `r * ns <= bytes * 10^9 < (r + 1) * ns`.
        #[test]
        fn a_rate_is_the_largest_that_the_bytes_cover(bytes: u64, latency: u64, shift in 0..64_u32) {
            let latency_ns = (latency >> shift).max(1);
            let rate = per_second(bytes, latency_ns);
            let scaled = u128::from(bytes) * 1_000_000_000;
            prop_assert!(u128::from(rate) * u128::from(latency_ns) <= scaled);
            if rate < u64::MAX {
                prop_assert!(scaled < (u128::from(rate) + 1) * u128::from(latency_ns));
            }
        }
    }
}
