//! Interrupts and the C1E state, with the settings of study A.

use super::super::context::TuningContext;
use super::super::settings::setting::{Setting, names_nobody, number};
use super::super::step::{Compliance, SettingState, Severity, Step};
use crate::system::cpu_list;

const STUDY_A: &str = "Analysis of Intel SSDs on SGI UV 300 (CUNY, study A), slide \"Test setup\"";

/// The command on the slide, with the slide's line breaks removed.
const PUBLISHED_IRQ: &str = "find /proc/irq/*/nvme* | cut -d/ -f4 | xargs -I '{}' sh -c \"cat \
                             /proc/irq/{}/affinity_hint > /proc/irq/{}/smp_affinity\"";
const PUBLISHED_C1E: &str = "for p in $(seq $(sed 's/-/ /' /sys/devices/system/cpu/online)); do wrmsr -p $p \
                             0x1fc 0x35040041; done";

/// `MSR_POWER_CTL` of Intel processors, and its bit "C1E enable" (Intel SDM, volume 4).
pub(in crate::tuning) const POWER_CONTROL: u32 = 0x1fc;
const C1E_ENABLE: u64 = 1 << 1;

pub(super) const IRQ_AFFINITY: Step = Step {
    name: "irq-affinity",
    title: "route interrupts of NVMe devices to the processors that the driver recommends",
    severity: Severity::Warning,
    reason: "a completion that interrupts a distant processor costs time on every request",
    source: STUDY_A,
    published: Some(PUBLISHED_IRQ),
    note: Some(
        "kernels since 4.8 manage these interrupts themselves and reject the write (EIO): such interrupts \
         are reported and left as they are, since the kernel has already placed them",
    ),
    check: irq_affinity,
    ..Step::PLAIN
};

fn irq_affinity(context: &TuningContext<'_>) -> Vec<SettingState> {
    let mut numbers: Vec<u32> =
        context.root.names("/proc/irq").iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    let mut found = Vec::new();
    for irq in numbers {
        let directory = format!("/proc/irq/{irq}");
        let Some(queue) = context.root.names(&directory).into_iter().find(|name| name.starts_with("nvme"))
        else {
            continue;
        };
        let what = format!("IRQ {irq} ({queue})");
        let state = match context.read(&Setting::file(format!("{directory}/affinity_hint"))) {
            Ok(hint) if names_nobody(&hint) => {
                let affinity = context.read(&Setting::file(format!("{directory}/smp_affinity")));
                SettingState::said(
                    what,
                    affinity.ok(),
                    Compliance::NotHere("its driver provides no hint".to_owned()),
                )
            }
            Ok(hint) => {
                SettingState::of(context, what, Setting::file(format!("{directory}/smp_affinity")), &hint)
            }
            Err(why) => SettingState::not_here(what, why),
        };
        found.push(state);
    }
    if found.is_empty() {
        found.push(SettingState::not_here(
            "interrupts of NVMe devices",
            "no /proc/irq/*/nvme*: no NVMe device",
        ));
    }
    found
}

pub(super) const C1E: Step = Step {
    name: "c1e-off",
    title: "disable C1E: clear bit 1 of MSR 0x1fc on every online processor",
    reason: "an idle processor that lowers its voltage handles a completion microseconds later",
    source: STUDY_A,
    published: Some(PUBLISHED_C1E),
    note: Some(
        "the published line writes the whole register, which sets other bits to the values of one machine, \
         and assumes that the processors are one range; here only bit 1 is cleared, on every online \
         processor",
    ),
    check: c1e,
    ..Step::PLAIN
};

fn c1e(context: &TuningContext<'_>) -> Vec<SettingState> {
    let list = match context.read(&Setting::file("/sys/devices/system/cpu/online")) {
        Ok(list) => list,
        Err(why) => return vec![SettingState::not_here("C1E", why)],
    };
    let Some(ranges) = cpu_list::parse(&list) else {
        return vec![SettingState::not_here(
            "C1E",
            format!("/sys/devices/system/cpu/online contains {list:?}, not a list"),
        )];
    };
    let online: Vec<u32> = ranges.into_iter().flatten().collect();
    if !online.iter().any(|cpu| context.root.exists(&format!("/dev/cpu/{cpu}/msr"))) {
        let why = "no /dev/cpu/*/msr: this host has no MSRs, or their driver is not loaded (modprobe msr)";
        return vec![SettingState::not_here("C1E", why)];
    }
    online.into_iter().map(|cpu| c1e_of(context, cpu)).collect()
}

fn c1e_of(context: &TuningContext<'_>, cpu: u32) -> SettingState {
    let what = format!("C1E of CPU {cpu}");
    let setting = Setting::Register { cpu, register: POWER_CONTROL };
    let value = match context.read(&setting) {
        Ok(text) => match number(&text) {
            Some(value) => value,
            None => return SettingState::not_here(what, format!("{setting} contains {text:?}")),
        },
        Err(why) => return SettingState::not_here(what, why),
    };
    let mut state = SettingState::of(context, what, setting, &format!("{:#x}", value & !C1E_ENABLE));
    let bit = u8::from(value & C1E_ENABLE != 0);
    state.what = format!("C1E of CPU {cpu}: bit 1 is {bit}, {}", if bit == 1 { "on" } else { "off" });
    state
}
