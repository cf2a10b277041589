//! A report as OpenMetrics text, for monitoring systems.
//!
//! The format is that of the OpenMetrics specification, version 1.0: every family has its type, its
//! unit as the end of its name, and a sentence of help; the text ends with `# EOF`. Values are in
//! base units: bytes, seconds, ratios from 0 to 1.
//!
//! Every sample of a figure is labelled with its identity (case, workload, target, phase, sizes, tasks, path). The
//! full conditions and the swept values are in `ioproof_figure_info`, which can be joined with the others by `case`
//! and `phase`. Every sample of a simulated run is labelled with its model in `simulated_by`, so that a query cannot
//! mix it with measured ones unnoticed.

mod family;
mod statements;

use crate::format::names;
use analysis::{figures::Take, statistics::Summary};

use self::family::{Family, Labels, labels, with};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::report::latencies::LatencyInfo;
use plan::{Setting, SettingValue};

/// The whole text.
pub(crate) fn openmetrics(report: &Report) -> String {
    let of = |number: usize| {
        // Figures are numbered from 1 in the order of the list.
        let figure = number.checked_sub(1).and_then(|index| report.figures.get(index))?;
        Some(of_figure(figure))
    };
    let mark = match &report.run.mark {
        Some(_) => {
            let name = report.run.model.as_ref().map_or("unknown", |model| &model.name);
            labels(&[("simulated_by", name)])
        }
        None => Labels::new(),
    };
    let mut out = String::new();
    for families in [run_families(report), figure_families(report), statements::families(report, of)] {
        for family in families {
            family.write(&mut out, &mark);
        }
    }
    out.push_str("# EOF\n");
    out
}

fn run_families(report: &Report) -> Vec<Family> {
    let run = &report.run;
    let mut info = Family::new("ioproof_run", "info", "the run that the figures are of");
    info.put_as(
        "_info",
        labels(&[
            ("run_id", &run.id),
            ("title", &run.title),
            ("state", run.state),
            ("provenance", run.provenance),
            ("program_version", &run.program_version),
            ("node", &report.host.node),
            ("seed", &run.seed.to_string()),
        ]),
        1.0,
    );
    let mut started =
        Family::gauge("ioproof_run_started_timestamp_seconds", "when the run started, since 1970-01-01 UTC");
    started.put(Labels::new(), seconds(run.started_unix_ns as f64));
    let mut took = Family::gauge("ioproof_run_duration_seconds", "how long the run took");
    if let Some(finished) = run.finished_unix_ns {
        took.put(Labels::new(), seconds(finished.saturating_sub(run.started_unix_ns) as f64));
    }
    let mut missing = Family::gauge("ioproof_run_missing", "missing parts of the report; 0 for a whole run");
    missing.put(Labels::new(), report.missing.len() as f64);
    let mut warnings =
        Family::gauge("ioproof_run_warnings", "different warnings of the run, figures included");
    let entries: usize = report.notes.iter().map(|note| note.entries.len()).sum();
    warnings.put(Labels::new(), entries as f64);
    vec![info, started, took, missing, warnings]
}

fn figure_families(report: &Report) -> Vec<Family> {
    let mut info = Family::new("ioproof_figure", "info", "the conditions of a figure in full");
    let mut bandwidth = Family::gauge(
        "ioproof_bandwidth_bytes_per_second",
        "bytes per second over the repetitions that count, by the named rate",
    );
    let mut transfers = Family::gauge(
        "ioproof_completed_transfers_per_second",
        "completed transfers, or operations of the phase, per second over the repetitions that count, by the \
         named rate",
    );
    let mut confidence = Family::gauge(
        "ioproof_interval_confidence_ratio",
        "the actual confidence of interval_low and interval_high",
    );
    let mut latency = Family::new(
        "ioproof_latency_seconds",
        "summary",
        "time of one transfer or operation; quantiles 0 and 1 are the shortest and the longest",
    );
    let mut gauges: Vec<Family> = GAUGES.iter().map(|&(name, help, _)| Family::gauge(name, help)).collect();
    let mut doubts = Family::gauge("ioproof_doubts", "1 for each check of the audit that doubts the figure");
    for doubt in report.found.audit.iter().filter(|doubt| doubt.figure.is_none()) {
        doubts.put(labels(&[("check", doubt.check.name()), ("what", &doubt.concerns)]), 1.0);
    }
    for figure in &report.figures {
        let of = of_figure(figure);
        info.put_as("_info", conditions(figure), 1.0);
        let rated = with(&of, &[("rate", figure.rate.name())]);
        // Metadata operations have no bandwidth, rather than one of 0.
        if !figure.is_operations() || figure.bytes_per_second.max > 0.0 {
            spread(&mut bandwidth, &rated, &figure.bytes_per_second);
        }
        spread(&mut transfers, &rated, &figure.transfers_per_second);
        if let Some(interval) = figure.headline().median_interval {
            confidence.put(rated, interval.confidence);
        }
        for one in &figure.latency {
            summary(&mut latency, &of, one);
        }
        for (family, (_, _, value)) in gauges.iter_mut().zip(GAUGES) {
            if let Some(value) = value(figure) {
                family.put(of.clone(), value);
            }
        }
        for check in &figure.doubts {
            doubts.put(with(&of, &[("check", check)]), 1.0);
        }
    }
    [info, bandwidth, transfers, confidence, latency].into_iter().chain(gauges).chain([doubts]).collect()
}

/// A gauge with one sample for each figure that has the value: its name, help text and value.
type FigureGauge = (&'static str, &'static str, fn(&Figure) -> Option<f64>);

const GAUGES: &[FigureGauge] = &[
    ("ioproof_repetitions", "repetitions that the figure includes", |one| Some(one.repetitions.len() as f64)),
    (
        "ioproof_cache_share_ratio",
        "declared caches of clients, servers and controllers for each byte of the working set",
        |one| one.caveats.cache_share,
    ),
    (
        "ioproof_device_share_ratio",
        "bytes that the devices moved for each byte that the tasks moved",
        |one| one.moved_by_devices(),
    ),
    ("ioproof_page_cache", "1 where memory took part and the figure does not describe the device", |one| {
        Some(f64::from(u8::from(one.page_cache)))
    }),
    ("ioproof_warnings", "warnings that concern the figure", |one| Some(one.notes.len() as f64)),
];

/// Labels that identify `figure`.
fn of_figure(figure: &Figure) -> Labels {
    labels(&[
        ("case", &figure.case),
        ("group", &figure.group),
        ("target", &figure.target),
        ("phase", figure.phase.name()),
        ("what", &figure.what),
        ("path", &figure.path),
        ("tasks", &figure.tasks.map(|tasks| tasks.to_string()).unwrap_or_default()),
        ("transfer_bytes", &figure.transfer_bytes.map(|bytes| bytes.to_string()).unwrap_or_default()),
    ])
}

/// The full conditions of `figure`, and its swept values.
fn conditions(figure: &Figure) -> Labels {
    let mut all = labels(&[
        ("case", &figure.case),
        ("phase", figure.phase.name()),
        ("title", &figure.title),
        ("conditions", &figure.conditions),
        ("statistic", &figure.statistic()),
        ("provenance", names::provenance(figure.provenance)),
        ("caution", &figure.caveats.caution),
        ("overrides", &figure.caveats.overrides.join("; ")),
    ]);
    all.extend(figure.settings.iter().map(setting));
    all
}

/// A swept key as a label, and its value in base units.
fn setting(setting: &Setting) -> (String, String) {
    let letters = setting.key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let value = match &setting.value {
        SettingValue::Time(nanos) => seconds(nanos.0 as f64).to_string(),
        value => value.on_axis().map_or_else(|| value.to_string(), |number| number.to_string()),
    };
    (format!("setting_{}", letters.collect::<String>()), value)
}

fn spread(family: &mut Family, of: &Labels, spread: &Summary) {
    let parts = [
        ("median", Some(spread.median)),
        ("minimum", Some(spread.min)),
        ("maximum", Some(spread.max)),
        ("interval_low", spread.median_interval.map(|interval| interval.low)),
        ("interval_high", spread.median_interval.map(|interval| interval.high)),
    ];
    for (statistic, value) in parts {
        if let Some(value) = value {
            family.put(with(of, &[("statistic", statistic)]), value);
        }
    }
}

fn summary(family: &mut Family, of: &Labels, one: &LatencyInfo) {
    let of = with(of, &[("operation", one.operation.name()), ("measure", one.measure.name())]);
    let mut sum = 0.0;
    for (statistic, nanos) in one.all() {
        let quantile = match (statistic.take, statistic.key) {
            // Rounded, since 99.9 % would become 0.9990000000000001.
            (Take::Percentile(percent), _) => (percent * 1e7).round() / 1e9,
            (_, "minimum") => 0.0,
            (_, "maximum") => 1.0,
            (_, "mean") => {
                sum = nanos * one.count as f64;
                continue;
            }
            _ => continue,
        };
        family.put(with(&of, &[("quantile", &format!("{quantile:?}"))]), seconds(nanos));
    }
    family.put_as("_count", of.clone(), one.count as f64);
    family.put_as("_sum", of, seconds(sum));
}

fn seconds(nanos: f64) -> f64 {
    nanos / 1e9
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Nanos, Setting, SettingValue};

    use super::setting;

    #[test]
    fn a_setting_is_a_label_in_base_units() {
        let of = |key: &str, value| setting(&Setting { key: key.to_owned(), value });
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(of("transfer", SettingValue::Bytes(Bytes(4096))), pair("setting_transfer", "4096"));
        assert_eq!(of("delay", SettingValue::Time(Nanos(5_000_000))), pair("setting_delay", "0.005"));
        let word = SettingValue::Word("shift".to_owned());
        assert_eq!(of("read_from", word), pair("setting_read_from", "shift"));
    }
}
