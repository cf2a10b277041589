//! Settings of a host: their locations, and how to read and write them.

pub(super) mod host;
pub(super) mod mount_flags;
pub(super) mod programs;
pub(super) mod setting;
pub(super) mod tuned;
