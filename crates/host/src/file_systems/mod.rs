//! File systems: mounts, their kinds, and memory below them.

pub mod cache;
pub(crate) mod file_system;
pub mod files;
pub(crate) mod memory_below;
pub(crate) mod mounts;
