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
    let check = |device: &Device| queue_state(context, device, what, file, advised);
    named(context, what, context.devices.iter().map(check).collect())
}

fn queue_state(
    context: &TuningContext<'_>,
    device: &Device,
    what: &str,
    file: &str,
    advised: &str,
) -> SettingState {
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
    title: "read ahead 8 MiB (16384 sectors)",
    scope: Scope::Devices,
    reason: "otherwise buffered sequential reads wait for the device between short pieces",
    source: "Performance and Tuning Considerations for SAS using Intel SSD DC P3700 (study C), /etc/rc.local",
    published: Some("blockdev --setra 16384 /dev/mapper/DEVICENAME-FOR-SASWORK"),
    note: Some("direct I/O has no read-ahead; small random reads through the page cache may become slower"),
    check: read_ahead,
    ..Step::PLAIN
};

fn read_ahead(context: &TuningContext<'_>) -> Vec<SettingState> {
    let tops = context.devices.iter().filter(|device| !device.is_path);
    let check = |device: &Device| queue_state(context, device, "read-ahead", "read_ahead_kb", "8192");
    named(context, "read-ahead", tops.map(check).collect())
}

pub(super) const SCHEDULER: Step = Step {
    name: "scheduler",
    title: "use no scheduler for flash, and mq-deadline for rotational disks",
    scope: Scope::Devices,
    reason: "a scheduler costs processor time on each request and sorts requests, which flash does not need",
    source: "Linux: block/switching-sched.rst; TuneD, profile spectrumscale-ece (none for NVMe)",
    note: Some(
        "changing the scheduler also resets nr_requests and the scheduler's parameters: these are restored \
         too",
    ),
    check: scheduler,
    ..Step::PLAIN
};

fn scheduler(context: &TuningContext<'_>) -> Vec<SettingState> {
    let check = |device: &Device| {
        let file = setting(&device.name, "scheduler");
        let Ok(choices) = context.read(&file) else {
            return queue_state(context, device, "scheduler", "scheduler", "none");
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
        queue_state(context, device, "scheduler", "scheduler", advised)
            .moving(existing(context.settings, moves))
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
    title: "allow 1024 requests in a queue with a scheduler",
    scope: Scope::Devices,
    reason: "requests beyond this limit wait above the queue, where neither the scheduler nor the device \
             sees them",
    source: KERNEL,
    check: nr_requests,
    ..Step::PLAIN
};

fn nr_requests(context: &TuningContext<'_>) -> Vec<SettingState> {
    let check = |device: &Device| {
        let scheduler = context.later(&setting(&device.name, "scheduler"));
        let state = queue_state(context, device, "requests in the queue", "nr_requests", "1024")
            .moving(existing(context.settings, iosched(context, &device.name)));
        match scheduler.as_deref().map(chosen) {
            Some("none") if state.setting.is_some() => {
                let what = "without a scheduler the device determines the length";
                SettingState { what: format!("{}: {what}", state.what), ..state.staying() }
            }
            _ => state,
        }
    };
    named(context, "requests in the queue", context.devices.iter().map(check).collect())
}

pub(super) const MAX_SECTORS: Step = Step {
    name: "max-sectors",
    title: "allow requests as large as the device supports, up to 4 MiB",
    scope: Scope::Devices,
    reason: "splitting a large transfer into more requests than necessary costs time for each of them",
    source: KERNEL,
    note: Some("4 MiB is the kernel's default since 6.10"),
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
        let state = queue_state(context, device, "largest request", "max_sectors_kb", &advised.to_string())
            .moving(existing(context.settings, vec![setting(&device.name, "read_ahead_kb")]));
        let larger = current.and_then(|text| text.parse::<u64>().ok()).is_some_and(|now| now > advised);
        if larger { state.staying() } else { state }
    };
    named(context, "largest request", context.devices.iter().map(check).collect())
}

pub(super) const RQ_AFFINITY: Step = Step {
    name: "rq-affinity",
    title: "handle completions on the processor that submitted the request",
    scope: Scope::Devices,
    reason: "the data of a completion is in the cache of the processor that submitted the request, and \
             the work is accounted there",
    source: KERNEL,
    check: |context| each(context, "completions", "rq_affinity", "2"),
    ..Step::PLAIN
};

pub(super) const NO_MERGES: Step = Step {
    name: "no-merges",
    title: "do not merge requests",
    scope: Scope::Devices,
    severity: Severity::Fine,
    reason: "the device is measured with requests of the requested size, and none larger",
    source: KERNEL,
    note: Some("merging is part of a storage stack: use this only to measure devices"),
    check: |context| each(context, "merging", "nomerges", "2"),
    ..Step::PLAIN
};

pub(super) const WRITEBACK_THROTTLING: Step = Step {
    name: "writeback-throttling",
    title: "do not throttle writeback in favour of reads",
    scope: Scope::Devices,
    reason: "the kernel slows down buffered writes when it considers reads late, based on an estimated \
             latency target",
    source: KERNEL,
    check: |context| each(context, "writeback throttling", "wbt_lat_usec", "0"),
    ..Step::PLAIN
};
