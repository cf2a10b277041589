//! The steps, each with its reason and source.

mod lustre;
mod memory;
mod mounts;
mod power;
mod processors;
mod queues;
mod storage_profile;

pub use lustre::{LUSTRE_COMMAND, ReadCache, read_caches};

use super::setting::Setting;
use super::site::Site;
use super::step::Step;

/// All steps, those that change what others set first.
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

/// Everything that TuneD's storage profiles set and this program knows of.
fn what_tuned_sets(site: &Site<'_>) -> Vec<Setting> {
    let mut all = memory::settings();
    all.push(Setting::file(super::tuned::MODE));
    all.extend(
        power::governors(site).into_iter().flat_map(|(_, governor, preference)| [governor, preference]),
    );
    for name in super::site::storage(site.root) {
        all.extend(["scheduler", "nr_requests", "read_ahead_kb"].map(|file| queues::setting(&name, file)));
    }
    super::step::existing(site.settings, all)
}

pub(in crate::tuning) use memory::{HUGE_PAGES, counts_bytes, other_face};
pub(in crate::tuning) use processors::POWER_CONTROL;
