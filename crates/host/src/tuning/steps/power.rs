//! Idle states, frequency and turbo of the processors.

use super::super::context::TuningContext;
use super::super::settings::setting::Setting;
use super::super::step::{Compliance, SettingState, Severity, Step, existing};

const STUDY_C: &str = "Performance and Tuning Considerations for SAS using Intel SSD DC P3700 (study C), tuning recommendations";
const CPUS: &str = "/sys/devices/system/cpu";

pub(super) const C_STATES: Step = Step {
    name: "c-states",
    title: "disable idle states deeper than C1",
    reason: "a processor in a deep idle state wakes up late; \"generally keeping CSTATES at a 1 or 0 level \
             works well\"; the study left them at default on its newer processors",
    source: STUDY_C,
    note: Some(
        "/dev/cpu_dma_latency also limits the states, but only while a process keeps it open: not used here",
    ),
    check: c_states,
    ..Step::PLAIN
};

fn c_states(context: &TuningContext<'_>) -> Vec<SettingState> {
    let mut found = Vec::new();
    let mut limits = Vec::new();
    for (file, what) in [
        ("/sys/module/intel_idle/parameters/max_cstate", "limit of intel_idle"),
        ("/sys/module/processor/parameters/max_cstate", "limit of ACPI"),
    ] {
        if let Ok(limit) = context.read(&Setting::file(file)) {
            limits.push(SettingState::shown(format!("C-states: {what}"), limit));
        }
    }
    let (mut states, mut changed) = (0_u32, 0_u32);
    for (cpu, name) in processors(context) {
        for state in context.root.names(&format!("{CPUS}/{name}/cpuidle")) {
            let directory = format!("{CPUS}/{name}/cpuidle/{state}");
            let setting = Setting::file(format!("{directory}/disable"));
            let called = context.read(&Setting::file(format!("{directory}/name"))).unwrap_or(state.clone());
            let latency = context.read(&Setting::file(format!("{directory}/latency"))).ok();
            let latency = latency.and_then(|text| text.parse::<u64>().ok());
            let what = format!("C-state {called} of CPU {cpu}");
            states += 1;
            let default = context.read(&Setting::file(format!("{directory}/default_status"))).ok();
            let default = if default.as_deref() == Some("disabled") { "1" } else { "0" };
            changed += u32::from(context.read(&setting).is_ok_and(|text| text != default));
            found.push(if is_deep(&state, &called, latency) {
                SettingState::of(context, what, setting, "1")
            } else {
                SettingState::of(context, what, setting, "0").staying()
            });
        }
    }
    if found.is_empty() {
        found.push(SettingState::not_here(
            "C-states",
            format!("no {CPUS}/cpu*/cpuidle: the kernel reports none"),
        ));
    } else {
        let text = if changed == 0 {
            format!("left at default: all {states} are as the kernel sets them")
        } else {
            format!("changed: {changed} of {states} are not as the kernel sets them")
        };
        limits.insert(0, SettingState::shown("C-states of all processors", text));
    }
    limits.extend(found);
    limits
}

/// Whether an idle state is deeper than C1: determined by its name if possible, otherwise by its wake-up
/// latency in microseconds.
fn is_deep(directory: &str, name: &str, latency_us: Option<u64>) -> bool {
    const SHALLOW: [&str; 6] = ["POLL", "C0", "C1", "C1_ACPI", "C1-ACPI", "WFI"];
    /// Latency of C1 on all processors for which a kernel driver has a table.
    const C1_LATENCY_US: u64 = 2;
    let ends_shallow = SHALLOW.iter().any(|shallow| name.split_whitespace().any(|word| word == *shallow));
    if directory == "state0" || ends_shallow {
        return false;
    }
    name.starts_with("C1E") || latency_us.is_none_or(|latency| latency > C1_LATENCY_US)
}

/// The processors with their directories, ordered by number.
fn processors(context: &TuningContext<'_>) -> Vec<(u32, String)> {
    let mut all: Vec<(u32, String)> = context
        .root
        .names(CPUS)
        .into_iter()
        .filter_map(|name| Some((name.strip_prefix("cpu")?.parse().ok()?, name)))
        .collect();
    all.sort_unstable();
    all
}

pub(super) const GOVERNOR: Step = Step {
    name: "governor",
    title: "run processors at full frequency",
    severity: Severity::Warning,
    reason: "a processor that slows down between requests lengthens each of them, and runs differ",
    source: "Linux: admin-guide/pm/cpufreq.rst, performance; TuneD, profile throughput-performance",
    check: governor,
    ..Step::PLAIN
};

fn governor(context: &TuningContext<'_>) -> Vec<SettingState> {
    let all = governors(context);
    if all.is_empty() {
        return vec![SettingState::not_here(
            "frequency governor",
            format!("no {CPUS}/cpufreq: the kernel sets none"),
        )];
    }
    let check = |(policy, governor, preference): (String, Setting, Setting)| {
        let moves = existing(context.settings, vec![preference]);
        SettingState::of(context, format!("governor of {policy}"), governor, "performance").moving(moves)
    };
    all.into_iter().map(check).collect()
}

/// The policies with their governors, and what intel_pstate changes along with them.
pub(super) fn governors(context: &TuningContext<'_>) -> Vec<(String, Setting, Setting)> {
    let policies = format!("{CPUS}/cpufreq");
    let places: Vec<(String, String)> = if context.root.exists(&policies) {
        let names = context.root.names(&policies).into_iter();
        names
            .filter(|name| name.starts_with("policy"))
            .map(|name| (format!("{policies}/{name}"), name))
            .collect()
    } else {
        let with_directory = |(_, name): (u32, String)| (format!("{CPUS}/{name}/cpufreq"), name);
        processors(context).into_iter().map(with_directory).collect()
    };
    let with_settings = |(directory, name): (String, String)| {
        let setting = |file: &str| Setting::file(format!("{directory}/{file}"));
        (name, setting("scaling_governor"), setting("energy_performance_preference"))
    };
    places
        .into_iter()
        .filter(|(directory, _)| context.root.exists(&format!("{directory}/scaling_governor")))
        .map(with_settings)
        .collect()
}

pub(super) const TURBO: Step = Step {
    name: "turbo",
    title: "allow turbo frequencies",
    reason: "\"for those processors supporting turbo-boost mode, it should be set to take advantage of that\"",
    source: STUDY_C,
    note: Some("turbo depends on temperature and load: runs to be compared need turbo in the same state"),
    check: turbo,
    ..Step::PLAIN
};

fn turbo(context: &TuningContext<'_>) -> Vec<SettingState> {
    for (file, advised) in [("intel_pstate/no_turbo", "0"), ("cpufreq/boost", "1")] {
        let setting = Setting::file(format!("{CPUS}/{file}"));
        if context.read(&setting).is_ok() {
            return vec![SettingState::of(context, "turbo", setting, advised)];
        }
    }
    let why = format!("no {CPUS}/intel_pstate/no_turbo and no {CPUS}/cpufreq/boost");
    vec![SettingState::said("turbo", None, Compliance::NotHere(why))]
}

#[cfg(test)]
mod tests {
    use super::is_deep;

    #[test]
    fn what_is_deeper_than_c1_is_told_by_name_and_latency() {
        assert!(!is_deep("state0", "POLL", Some(0)));
        assert!(!is_deep("state1", "C1", Some(2)));
        assert!(is_deep("state2", "C1E", Some(2)), "C1E of newer processors is as quick to wake");
        assert!(is_deep("state3", "C6", Some(133)));
        assert!(!is_deep("state1", "haltpoll idle", Some(1)));
        assert!(!is_deep("state0", "WFI", Some(1)));
        assert!(is_deep("state1", "cpu-sleep-0", Some(70)));
        assert!(!is_deep("state1", "ACPI FFH MWAIT 0x0 C1", Some(1)));
        assert!(is_deep("state2", "C2_ACPI", Some(18)));
        assert!(is_deep("state1", "unknown", None), "a state of which nothing is known is on the safe side");
    }
}
