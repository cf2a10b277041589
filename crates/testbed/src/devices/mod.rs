//! Block devices and file systems whose limits are known.

pub(crate) mod file_system;
pub(crate) mod freeze;
pub(crate) mod loop_device;
pub(crate) mod rig;
pub(crate) mod throttle;
