//! Limits of workloads.

/// Limit on operations recorded by a process: 32 MiB of memory, and about 100 MB of a record.
pub const HISTORY_MAX: u64 = 1 << 20;

/// Limit on tasks of one workload; more are taken for a typing error.
pub(crate) const TASKS_MAX: u32 = 1 << 20;
/// Limit of the kernel on entries in a submission ring.
pub(crate) const DEPTH_MAX: u32 = 32_768;
/// Limit of the kernel on pieces of memory in one call (`IOV_MAX`).
pub(crate) const PIECES_MAX: u64 = 1024;
/// Limit on strides; longer ones are taken for a typing error.
pub(crate) const STRIDE_MAX: u64 = 1 << 40;
