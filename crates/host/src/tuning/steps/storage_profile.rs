//! TuneD's storage profile, as set in study C, and the firmware that the study names.

use std::iter::once;

use super::super::context::{Device, TuningContext, paths_of, storage};
use super::super::settings::setting::Setting;
use super::super::settings::tuned;
use super::super::step::{Compliance, Scope, SettingState, Step, existing};
use super::{memory, power, queues};
use crate::devices::block_facts::block_facts;
use crate::devices::inventory::BlockDevice;

pub(super) const TUNED: Step = Step {
    name: "tuned-enterprise-storage",
    title: "use TuneD's profile for storage",
    reason: "\"tuned storage profile was set to enterprise-storage\"; more in the guide for your operating \
             system at support.sas.com/kb/42/197.html",
    source: "Performance and Tuning Considerations for SAS using Intel SSD DC P3700 (study C)",
    published: Some("tuned-adm profile enterprise-storage"),
    note: Some(
        "where this profile no longer exists (Red Hat Enterprise Linux 7 and later), throughput-performance \
         is the closest; both allow transparent huge pages, which the study then disables",
    ),
    check: check_tuned,
    ..Step::PLAIN
};

fn check_tuned(context: &TuningContext<'_>) -> Vec<SettingState> {
    let what = "profile of TuneD";
    let active = context.read(&Setting::TunedProfile);
    if context.programs.find(tuned::PROGRAM).is_none() {
        let mut state = SettingState::not_here(what, format!("no {}: {}", tuned::PROGRAM, tuned::PACKAGE));
        state.current = active.ok().filter(|profile| !profile.is_empty());
        return vec![state];
    }
    let advised = if tuned::has(context.root, tuned::PUBLISHED) {
        tuned::PUBLISHED
    } else if tuned::has(context.root, tuned::SUCCESSOR) {
        tuned::SUCCESSOR
    } else {
        let why = format!("TuneD has neither {} nor {}", tuned::PUBLISHED, tuned::SUCCESSOR);
        return vec![SettingState::said(what, active.ok(), Compliance::NotHere(why))];
    };
    if !tuned::runs(context.root) {
        let todo = format!("TuneD is not running, so a profile would change nothing: {}", tuned::START);
        return vec![SettingState::by_hand(what, active.ok(), todo)];
    }
    if tuned::kernel_settings(context.root, advised).is_empty() {
        let why = format!("TuneD's profile {advised} sets nothing that can be read back from the kernel");
        return vec![SettingState::said(what, active.ok(), Compliance::NotHere(why))];
    }
    let what = if advised == tuned::PUBLISHED {
        what.to_owned()
    } else {
        format!("{what}: {} instead of {}, which no longer exists", tuned::SUCCESSOR, tuned::PUBLISHED)
    };
    vec![SettingState::of(context, what, Setting::TunedProfile, advised).moving(what_tuned_sets(context))]
}

/// All settings known to this program that TuneD's storage profiles change.
fn what_tuned_sets(context: &TuningContext<'_>) -> Vec<Setting> {
    let mut all = memory::settings();
    all.push(Setting::file(tuned::MODE));
    all.extend(
        power::governors(context).into_iter().flat_map(|(_, governor, preference)| [governor, preference]),
    );
    let devices = storage(context.root).into_iter();
    for name in devices.flat_map(|name| once(name.clone()).chain(paths_of(context.root, &name))) {
        all.extend(["scheduler", "nr_requests", "read_ahead_kb"].map(|file| queues::setting(&name, file)));
    }
    existing(context.settings, all)
}

/// The firmware that study C measured with.
const FIRMWARE: &str = "8DV10054";

pub(super) const FIRMWARE_STEP: Step = Step {
    name: "firmware",
    title: "firmware of the devices",
    scope: Scope::Look,
    reason: "\"device firmware level utilized was 8DV10054. Contact Intel for the latest suggested firmware\"",
    source: "Performance and Tuning Considerations for SAS using Intel SSD DC P3700 (study C)",
    note: Some("this program changes no firmware"),
    check: firmware,
    ..Step::PLAIN
};

fn firmware(context: &TuningContext<'_>) -> Vec<SettingState> {
    let mut found = Vec::new();
    // A hidden path has the firmware of its namespace's subsystem.
    let is_hidden =
        |device: &&Device| BlockDevice::of(context.root, &device.name).is_some_and(|device| device.hidden);
    for device in context.devices.iter().filter(|device| !is_hidden(device)) {
        let facts = block_facts(context.root, &device.name);
        let what = format!("firmware of {}", device.name);
        let model = facts.model.known().cloned().unwrap_or_default();
        found.push(match facts.firmware {
            record::Fact::Unknown(reason) => SettingState::not_here(what, format!("unknown: {reason}")),
            record::Fact::Known(level) if level == FIRMWARE => {
                SettingState::said(what, Some(level), Compliance::AsAdvised)
            }
            record::Fact::Known(level) if model.contains("SSDPEDMD") || model.contains("P3700") => {
                let todo = format!("study C measured with {FIRMWARE}: ask the manufacturer for the latest");
                SettingState::by_hand(what, Some(level), todo)
            }
            record::Fact::Known(level) => SettingState::shown(what, level),
        });
    }
    if found.is_empty() {
        found.push(SettingState::not_here("firmware", "no block device with storage"));
    }
    found
}
