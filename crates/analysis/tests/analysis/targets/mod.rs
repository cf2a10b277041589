//! Targets and their devices.

pub(crate) mod devices_alone;
pub(crate) mod expected;
pub(crate) mod in_turns;
