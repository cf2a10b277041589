//! Activity on the host while a workload runs: processors, memory, control groups, processes, devices.

pub(crate) mod cgroup;
pub(crate) mod children;
pub(crate) mod cpu;
pub(crate) mod launch_groups;
pub(crate) mod load;
pub(crate) mod memory;
pub(crate) mod observer;
pub(crate) mod programs;
pub(crate) mod quiet;
pub(crate) mod trace;
