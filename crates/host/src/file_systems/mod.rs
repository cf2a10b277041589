//! File systems: mounts, their kinds, and memory below them.

pub(crate) mod file_system;
pub(crate) mod memory_below;
pub(crate) mod mounts;
