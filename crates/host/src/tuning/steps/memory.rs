//! Huge pages, swapping, and the amount of dirty data kept in memory.

use super::super::context::TuningContext;
use super::super::settings::setting::Setting;
use super::super::step::{SettingState, Severity, Step, existing};
use crate::activity::memory::HUGE_PAGES;

const SWAPPINESS_FILE: &str = "/proc/sys/vm/swappiness";
/// Each pair is one setting in two forms. If one is written, the kernel sets the other to 0, and it does
/// not accept 0 for bytes.
const DIRTY_PAIRS: [(&str, &str); 2] = [
    ("/proc/sys/vm/dirty_ratio", "/proc/sys/vm/dirty_bytes"),
    ("/proc/sys/vm/dirty_background_ratio", "/proc/sys/vm/dirty_background_bytes"),
];

/// The memory settings that TuneD's profiles change.
pub(super) fn settings() -> Vec<Setting> {
    let dirty = DIRTY_PAIRS.iter().flat_map(|(ratio, bytes)| [*ratio, *bytes]);
    HUGE_PAGES.into_iter().chain([SWAPPINESS_FILE]).chain(dirty).map(Setting::file).collect()
}

pub(super) const THP: Step = Step {
    name: "thp-never",
    title: "disable transparent huge pages",
    reason: "assembling a huge page delays the allocation at unpredictable times",
    source: "Performance and Tuning Considerations for SAS using Intel SSD DC P3700 (study C), /etc/rc.local",
    published: Some("echo never > /sys/kernel/mm/redhat_transparent_hugepage/enabled"),
    note: Some("the published path is that of Red Hat Enterprise Linux 6; the path of this kernel is used"),
    check: thp,
    ..Step::PLAIN
};

fn thp(context: &TuningContext<'_>) -> Vec<SettingState> {
    for file in HUGE_PAGES {
        if context.root.exists(file) {
            return vec![SettingState::of(context, "transparent huge pages", Setting::file(file), "never")];
        }
    }
    let why = format!("neither {} nor {}: this kernel has none", HUGE_PAGES[0], HUGE_PAGES[1]);
    vec![SettingState::not_here("transparent huge pages", why)]
}

pub(super) const SWAPPINESS: Step = Step {
    name: "swappiness",
    title: "keep programs in memory while files are read and written",
    reason: "swapping out memory of the benchmark in favour of cached files adds I/O that was not requested",
    source: "Linux: admin-guide/sysctl/vm.rst, swappiness; TuneD, profile throughput-performance (10)",
    check: |context| vec![SettingState::of(context, "swappiness", Setting::file(SWAPPINESS_FILE), "10")],
    ..Step::PLAIN
};

pub(super) const DIRTY_RATIOS: Step = Step {
    name: "dirty-ratios",
    title: "let 40 % of memory be dirty before writers wait, and start writeback at 10 %",
    severity: Severity::Fine,
    reason: "buffered writes are throttled later; a measurement without fsync then measures memory even more",
    source: "TuneD, profiles enterprise-storage and throughput-performance (vm.dirty_ratio = 40)",
    note: Some("ratio and bytes are the same setting: a value that was set in bytes is restored in bytes"),
    check: dirty_ratios,
    ..Step::PLAIN
};

fn dirty_ratios(context: &TuningContext<'_>) -> Vec<SettingState> {
    let advised = ["40", "10"];
    DIRTY_PAIRS
        .into_iter()
        .zip(advised)
        .map(|((ratio, bytes), advised)| {
            let name = ratio.trim_start_matches("/proc/sys/vm/");
            let moves = existing(context.settings, vec![Setting::file(bytes)]);
            SettingState::of(context, format!("vm.{name}"), Setting::file(ratio), advised).moving(moves)
        })
        .collect()
}

/// The other form of a setting that is given in bytes or as a ratio, if it has one.
pub(in crate::tuning) fn other_face(setting: &Setting) -> Option<Setting> {
    let Setting::File { path } = setting else { return None };
    DIRTY_PAIRS.iter().find_map(|(ratio, bytes)| match path.as_str() {
        path if path == *ratio => Some(Setting::file(*bytes)),
        path if path == *bytes => Some(Setting::file(*ratio)),
        _ => None,
    })
}

/// Whether a setting is the form of a pair that is in bytes.
pub(in crate::tuning) fn counts_bytes(setting: &Setting) -> bool {
    matches!(setting, Setting::File { path } if DIRTY_PAIRS.iter().any(|(_, bytes)| path == bytes))
}
