//! Devices, layouts of devices, and hosts.

mod cards;
mod depth;
mod device_layouts;
mod host_facts;
mod layers;
mod raw_devices;
mod stragglers;
pub(crate) mod tune;
mod virtual_machine;
