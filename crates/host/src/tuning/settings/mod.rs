//! Settings of a host: where each is, and how it is read and written.

pub(super) mod host;
pub(super) mod mount_flags;
pub(super) mod programs;
pub(super) mod setting;
pub(super) mod tuned;
