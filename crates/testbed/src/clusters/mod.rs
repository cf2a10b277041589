//! Several hosts, and the services that run on them.

pub(crate) mod hosts;
pub(crate) mod launch;
pub(crate) mod moosefs;
pub(crate) mod slurm;
pub(crate) mod virtual_machine;
