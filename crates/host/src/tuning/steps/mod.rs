//! The tuning steps, each with its reason and source.

mod lustre;
mod memory;
mod mounts;
mod power;
mod processors;
mod queues;
mod storage_profile;

pub use lustre::{LUSTRE_COMMAND, ReadCache, read_caches};

use super::step::Step;

/// All steps. Those that change what others set come first.
pub(super) const STEPS: [&Step; 19] = [
    &storage_profile::TUNED,
    &processors::IRQ_AFFINITY,
    &processors::C1E,
    &power::C_STATES,
    &power::GOVERNOR,
    &power::TURBO,
    &queues::SCHEDULER,
    &queues::NR_REQUESTS,
    &queues::MAX_SECTORS,
    &queues::READ_AHEAD,
    &queues::RQ_AFFINITY,
    &queues::NO_MERGES,
    &queues::WRITEBACK_THROTTLING,
    &memory::THP,
    &memory::SWAPPINESS,
    &memory::DIRTY_RATIOS,
    &mounts::MOUNT_OPTIONS,
    &storage_profile::FIRMWARE_STEP,
    &lustre::SERVER_CACHES,
];

pub(in crate::tuning) use memory::{counts_bytes, other_face};
pub(in crate::tuning) use processors::POWER_CONTROL;
