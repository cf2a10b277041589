//! File systems: mounts, their kinds, what is below them, and what their files hold.

pub(crate) mod below;
pub mod cache;
pub(crate) mod extents;
pub(crate) mod file_system;
pub mod files;
pub(crate) mod mounts;
pub(crate) mod relation;
pub(crate) mod settings;
pub(crate) mod stored;
