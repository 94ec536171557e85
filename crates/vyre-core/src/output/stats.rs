//! The counters of one replacement of output buffers.

/// How many output slots went which way in one replacement.
///
/// `reused_slots + moved_slots + appended_slots == total_slots`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OutputSlotStats {
    /// Slots after the replacement: the number of incoming buffers.
    pub total_slots: usize,
    /// Slots that kept their allocation because the incoming bytes fit its capacity.
    pub reused_slots: usize,
    /// Slots whose allocation was too small and gave way to the incoming one.
    pub moved_slots: usize,
    /// Slots that are new: how far the new number of slots exceeds the old, or 0.
    pub appended_slots: usize,
}

/// How many bytes went which way in one replacement.
///
/// `copied_bytes + moved_bytes + appended_bytes == incoming_bytes`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OutputSlotByteStats {
    /// Bytes in all incoming buffers.
    pub incoming_bytes: usize,
    /// Bytes in reused slots.
    pub copied_bytes: usize,
    /// Bytes in moved slots.
    pub moved_bytes: usize,
    /// Bytes in appended slots.
    pub appended_bytes: usize,
    /// Bytes of capacity in all slots after the replacement.
    pub retained_capacity_bytes: usize,
}

/// Everything counted in one replacement.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OutputReplacementStats {
    /// The slots.
    pub slots: OutputSlotStats,
    /// The bytes.
    pub bytes: OutputSlotByteStats,
}
