//! Programs in dispatch mode.

mod buffers;
mod capabilities;
mod compile;
mod order;
mod random;
mod report;
