//! The queues of block devices.

use super::super::context::{Device, TuningContext};
use super::super::settings::setting::Setting;
use super::super::step::{Scope, SettingState, Severity, Step, existing};
use crate::devices::block::chosen;

/// Where the kernel documents these attributes.
const KERNEL: &str = "Linux: Documentation/ABI/stable/sysfs-block";

pub(super) fn setting(device: &str, file: &str) -> Setting {
    Setting::file(format!("/sys/block/{device}/queue/{file}"))
}

fn each(context: &TuningContext<'_>, what: &str, file: &str, advised: &str) -> Vec<SettingState> {
    let check = |device: &Device| of(context, device, what, file, advised);
    named(context, what, context.devices.iter().map(check).collect())
}

fn of(context: &TuningContext<'_>, device: &Device, what: &str, file: &str, advised: &str) -> SettingState {
    SettingState::of(context, format!("{what} of {}", device.name), setting(&device.name, file), advised)
        .of_device(&device.path)
}

fn named(context: &TuningContext<'_>, what: &str, found: Vec<SettingState>) -> Vec<SettingState> {
    if context.devices.is_empty() {
        vec![SettingState::not_here(what, "no block device with storage")]
    } else {
        found
    }
}

pub(super) const READ_AHEAD: Step = Step {
    name: "read-ahead",
    title: "8 MiB are read ahead (16384 sectors)",
    scope: Scope::Devices,
    reason: "buffered sequential reading waits for the device between short pieces otherwise",
    source: "Performance and Tuning Considerations for SAS using Intel SSD DC P3700 (study C), /etc/rc.local",
    published: Some("blockdev --setra 16384 /dev/mapper/DEVICENAME-FOR-SASWORK"),
    note: Some("direct I/O is not read ahead; small random reads through the page cache may lose by it"),
    check: |context| each(context, "read-ahead", "read_ahead_kb", "8192"),
    ..Step::PLAIN
};

pub(super) const SCHEDULER: Step = Step {
    name: "scheduler",
    title: "no scheduler before flash, mq-deadline before turning disks",
    scope: Scope::Devices,
    reason: "a scheduler costs processor time on each request and orders what flash need not have in order",
    source: "Linux: block/switching-sched.rst; TuneD, profile spectrumscale-ece (none for NVMe)",
    note: Some(
        "with the scheduler the kernel sets nr_requests and its own parameters anew: restored as well",
    ),
    check: scheduler,
    ..Step::PLAIN
};

fn scheduler(context: &TuningContext<'_>) -> Vec<SettingState> {
    let check = |device: &Device| {
        let file = setting(&device.name, "scheduler");
        let Ok(choices) = context.read(&file) else {
            return of(context, device, "scheduler", "scheduler", "none");
        };
        let turns = context.read(&setting(&device.name, "rotational")).is_ok_and(|text| text == "1");
        let advised = if turns && choices.contains("mq-deadline") { "mq-deadline" } else { "none" };
        // A device that consists of others has no queue of its own.
        if !choices.contains(advised) {
            let why = format!("its choices are {choices:?}");
            return SettingState::not_here(format!("scheduler of {}", device.name), why);
        }
        let mut moves = vec![setting(&device.name, "nr_requests"), setting(&device.name, "wbt_lat_usec")];
        moves.extend(iosched(context, &device.name));
        of(context, device, "scheduler", "scheduler", advised).moving(existing(context.settings, moves))
    };
    named(context, "scheduler", context.devices.iter().map(check).collect())
}

/// The parameters of a device's present scheduler, which disappear when the scheduler is changed.
pub(in crate::tuning) fn iosched(context: &TuningContext<'_>, device: &str) -> Vec<Setting> {
    let directory = format!("/sys/block/{device}/queue/iosched");
    let names = context.root.names(&directory).into_iter();
    names.map(|name| Setting::file(format!("{directory}/{name}"))).collect()
}

pub(super) const NR_REQUESTS: Step = Step {
    name: "nr-requests",
    title: "room for 1024 requests in a queue with a scheduler",
    scope: Scope::Devices,
    reason: "requests beyond the room wait above the queue, where neither scheduler nor device sees them",
    source: KERNEL,
    check: nr_requests,
    ..Step::PLAIN
};

fn nr_requests(context: &TuningContext<'_>) -> Vec<SettingState> {
    let check = |device: &Device| {
        let scheduler = context.later(&setting(&device.name, "scheduler"));
        let state = of(context, device, "requests in the queue", "nr_requests", "1024")
            .moving(existing(context.settings, iosched(context, &device.name)));
        match scheduler.as_deref().map(chosen) {
            Some("none") if state.setting.is_some() => {
                let what = "without a scheduler it is as long as the device itself takes";
                SettingState { what: format!("{}: {what}", state.what), ..state.staying() }
            }
            _ => state,
        }
    };
    named(context, "requests in the queue", context.devices.iter().map(check).collect())
}

pub(super) const MAX_SECTORS: Step = Step {
    name: "max-sectors",
    title: "requests as large as the device takes, up to 4 MiB",
    scope: Scope::Devices,
    reason: "a large transfer that is cut into more requests than it must be costs time for each of them",
    source: KERNEL,
    note: Some("4 MiB is what the kernel itself takes by default since 6.10"),
    check: max_sectors,
    ..Step::PLAIN
};

fn max_sectors(context: &TuningContext<'_>) -> Vec<SettingState> {
    const LARGEST_KIB: u64 = 4096;
    let check = |device: &Device| {
        let largest = context.read(&setting(&device.name, "max_hw_sectors_kb"));
        let largest = largest.ok().and_then(|text| text.parse::<u64>().ok());
        let advised = largest.unwrap_or(LARGEST_KIB).min(LARGEST_KIB);
        let current = context.read(&setting(&device.name, "max_sectors_kb")).ok();
        let state = of(context, device, "largest request", "max_sectors_kb", &advised.to_string())
            .moving(existing(context.settings, vec![setting(&device.name, "read_ahead_kb")]));
        let larger = current.and_then(|text| text.parse::<u64>().ok()).is_some_and(|now| now > advised);
        if larger { state.staying() } else { state }
    };
    named(context, "largest request", context.devices.iter().map(check).collect())
}

pub(super) const RQ_AFFINITY: Step = Step {
    name: "rq-affinity",
    title: "completions on the processor that asked",
    scope: Scope::Devices,
    reason: "the data of a completion is in the cache of who asked, and its work is counted there",
    source: KERNEL,
    check: |context| each(context, "completions", "rq_affinity", "2"),
    ..Step::PLAIN
};

pub(super) const NO_MERGES: Step = Step {
    name: "no-merges",
    title: "requests are not merged",
    scope: Scope::Devices,
    severity: Severity::Fine,
    reason: "a device is measured at the size of request that is asked for, and none larger",
    source: KERNEL,
    note: Some("merging is part of what a storage stack does: only for measuring devices"),
    check: |context| each(context, "merging", "nomerges", "2"),
    ..Step::PLAIN
};

pub(super) const WRITEBACK_THROTTLING: Step = Step {
    name: "writeback-throttling",
    title: "writing back is not held up for readers",
    scope: Scope::Devices,
    reason: "the kernel slows buffered writing when it takes reads for late, by a target it has guessed",
    source: KERNEL,
    check: |context| each(context, "writeback throttling", "wbt_lat_usec", "0"),
    ..Step::PLAIN
};
