//! Devices one by one.

use super::family::{Family, Labels, labels, with};
use crate::view::Report;
use crate::view::findings::Setting;

/// The families; `of` gives the labels of a figure by its number.
pub(super) fn families(report: &Report, of: impl Fn(usize) -> Option<Labels>) -> [Family; 4] {
    let findings = &report.findings;
    let mut rate = Family::measured(
        "ioproof_device_bandwidth_bytes_per_second",
        "bytes_per_second",
        "bytes of the tasks on a device per second, alone or beside others",
    );
    let mut slow =
        Family::gauge("ioproof_device_slow", "1 where a device is much slower than others of its model");
    let mut variation = Family::measured(
        "ioproof_device_variation_ratio",
        "ratio",
        "fastest less slowest device for each of the fastest",
    );
    for set in &findings.members {
        let together = if set.together { "together" } else { "alone" };
        for one in &set.members {
            let Some(figure) = of(one.figure) else { continue };
            let which =
                with(&figure, &[("device", &one.name), ("model", &one.model), ("measured", together)]);
            rate.put(which.clone(), one.bytes_per_second);
            slow.put(which, f64::from(u8::from(one.slow)));
        }
        let at = settings(&set.fixed);
        let whose = [
            ("workload", set.group.as_str()),
            ("target", &set.target),
            ("phase", set.phase),
            ("measured", together),
            ("settings", &at),
        ];
        variation.put(labels(&whose), set.variation);
    }
    let mut seek = Family::measured(
        "ioproof_positioning_seconds",
        "seconds",
        "time of a transfer of one device before its bytes move, fitted from several sizes",
    );
    for one in &findings.seeks {
        let Some((line, figure)) = one.line.as_ref().zip(one.points.first().and_then(|one| of(one.figure)))
        else {
            continue;
        };
        seek.put(figure, line.positioning_ns / 1e9);
    }
    [rate, slow, variation, seek]
}

/// `tasks=1;transfer=2 MiB`.
fn settings(all: &[Setting]) -> String {
    all.iter().map(|one| format!("{}={}", one.key, one.text)).collect::<Vec<_>>().join(";")
}
