//! A report as OpenMetrics text, for monitoring that keeps figures over time.
//!
//! The format is that of the OpenMetrics specification, version 1.0: every family has its type, its
//! unit as the end of its name, and a sentence of help; the text ends with `# EOF`. Values are in
//! base units: bytes, seconds, ratios from 0 to 1.
//!
//! Every sample of a figure carries what the figure is of (case, workload, target, phase, sizes,
//! tasks, path). The conditions in full, and the swept values, stand once in `ioproof_figure_info`,
//! which joins the others by `case` and `phase`.

use std::collections::HashMap;
use std::fmt::Write as _;

use plan::{Case, Setting, SettingValue};
use record::Run;

use crate::view::{Figure, LatencyInfo, Report, Spread};

/// Names and values in the braces of a sample.
type Labels = Vec<(String, String)>;

/// One family of metrics: a name, what it says, and its samples.
struct Family {
    name: &'static str,
    kind: &'static str,
    /// The end of the name that is a unit; may be empty.
    unit: &'static str,
    help: &'static str,
    samples: Vec<(&'static str, Labels, f64)>,
}

impl Family {
    const fn new(name: &'static str, kind: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self { name, kind, unit, help, samples: Vec::new() }
    }

    /// A sample with the family's own name.
    fn put(&mut self, labels: Labels, value: f64) {
        self.put_as("", labels, value);
    }

    /// A sample whose name has an ending more, as `_count`. What is no number is left out: a gap
    /// says that nothing was measured, which a made-up number would not.
    fn put_as(&mut self, ending: &'static str, labels: Labels, value: f64) {
        if value.is_finite() {
            self.samples.push((ending, labels, value));
        }
    }

    fn write(&self, out: &mut String) {
        if self.samples.is_empty() {
            return;
        }
        let _ = writeln!(out, "# TYPE {} {}", self.name, self.kind);
        if !self.unit.is_empty() {
            let _ = writeln!(out, "# UNIT {} {}", self.name, self.unit);
        }
        let _ = writeln!(out, "# HELP {} {}", self.name, escaped(self.help));
        for (ending, labels, value) in &self.samples {
            let pairs: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
            let braces = if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) };
            let _ = writeln!(out, "{}{ending}{braces} {value}", self.name);
        }
    }
}

/// The whole text.
pub(crate) fn openmetrics(run: &Run, report: &Report) -> String {
    let cases: HashMap<&str, &Case> =
        run.manifest.plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut out = String::new();
    for family in run_families(report).iter().chain(&figure_families(report, &cases)) {
        family.write(&mut out);
    }
    out.push_str("# EOF\n");
    out
}

fn run_families(report: &Report) -> Vec<Family> {
    let run = &report.run;
    let mut info = Family::new("ioproof_run", "info", "", "the run that the figures are of");
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
    let mut started = Family::new(
        "ioproof_run_started_timestamp_seconds",
        "gauge",
        "seconds",
        "when the run started, since 1970-01-01 UTC",
    );
    started.put(Labels::new(), seconds(run.started_unix_ns as f64));
    let mut took = Family::new("ioproof_run_duration_seconds", "gauge", "seconds", "how long the run took");
    if let Some(finished) = run.finished_unix_ns {
        took.put(Labels::new(), seconds(finished.saturating_sub(run.started_unix_ns) as f64));
    }
    let mut missing =
        Family::new("ioproof_run_missing", "gauge", "", "parts that the report lacks; 0 in a whole run");
    missing.put(Labels::new(), report.missing.len() as f64);
    let mut warnings =
        Family::new("ioproof_run_warnings", "gauge", "", "different warnings of the run, figures included");
    let entries: usize = report.notes.iter().map(|note| note.entries.len()).sum();
    warnings.put(Labels::new(), entries as f64);
    vec![info, started, took, missing, warnings]
}

fn figure_families(report: &Report, cases: &HashMap<&str, &Case>) -> Vec<Family> {
    let mut info = Family::new("ioproof_figure", "info", "", "the conditions of a figure in full");
    let mut bandwidth = Family::new(
        "ioproof_bandwidth_bytes_per_second",
        "gauge",
        "bytes_per_second",
        "bytes per second over the repetitions that count, by the rate that is named",
    );
    let mut transfers = Family::new(
        "ioproof_completed_transfers_per_second",
        "gauge",
        "transfers_per_second",
        "completed transfers per second over the repetitions that count, by the rate that is named",
    );
    let mut confidence = Family::new(
        "ioproof_interval_confidence_ratio",
        "gauge",
        "ratio",
        "the confidence that interval_low and interval_high really have",
    );
    let mut latency = Family::new(
        "ioproof_latency_seconds",
        "summary",
        "seconds",
        "time of one transfer; quantiles 0 and 1 are the shortest and the longest",
    );
    let mut repetitions =
        Family::new("ioproof_repetitions", "gauge", "", "repetitions that the figure is made of");
    let mut device = Family::new(
        "ioproof_device_share_ratio",
        "gauge",
        "ratio",
        "bytes that the devices moved for each byte that the tasks moved",
    );
    let mut cached = Family::new(
        "ioproof_page_cache",
        "gauge",
        "",
        "1 where memory took part and the figure is not one of the device",
    );
    let mut warnings = Family::new("ioproof_warnings", "gauge", "", "warnings that concern the figure");
    for figure in &report.figures {
        let of = of_figure(figure, cases.get(figure.case.as_str()).copied());
        info.put_as("_info", conditions(figure, cases.get(figure.case.as_str()).copied()), 1.0);
        let rated = with(&of, &[("rate", figure.rate)]);
        spread(&mut bandwidth, &rated, &figure.bytes_per_second);
        spread(&mut transfers, &rated, &figure.transfers_per_second);
        if let Some(share) = figure.bytes_per_second.confidence {
            confidence.put(rated, share);
        }
        for one in &figure.latency {
            summary(&mut latency, &of, one);
        }
        repetitions.put(of.clone(), figure.repetitions.len() as f64);
        if let Some(share) = figure.device_share {
            device.put(of.clone(), share);
        }
        cached.put(of.clone(), f64::from(u8::from(figure.page_cache)));
        warnings.put(of, figure.notes.len() as f64);
    }
    vec![info, bandwidth, transfers, confidence, latency, repetitions, device, cached, warnings]
}

/// What a sample of `figure` is of.
fn of_figure(figure: &Figure, case: Option<&Case>) -> Labels {
    labels(&[
        ("case", &figure.case),
        ("group", case.map_or("", |case| &case.group)),
        ("target", case.map_or("", |case| &case.target)),
        ("phase", figure.phase),
        ("what", &figure.what),
        ("path", &figure.path),
        ("tasks", &figure.tasks.to_string()),
        ("transfer_bytes", &figure.transfer_bytes.to_string()),
    ])
}

/// The conditions of `figure` in full, and where it stands in its sweep.
fn conditions(figure: &Figure, case: Option<&Case>) -> Labels {
    let mut all = labels(&[
        ("case", &figure.case),
        ("phase", figure.phase),
        ("title", &figure.title),
        ("conditions", &figure.conditions),
        ("statistic", &figure.statistic),
        ("provenance", figure.provenance),
    ]);
    all.extend(case.into_iter().flat_map(|case| &case.settings).map(setting));
    all
}

/// A swept key and its value in base units, as a chart needs it on an axis.
fn setting(setting: &Setting) -> (String, String) {
    let letters = setting.key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let value = match &setting.value {
        SettingValue::Time(nanos) => seconds(nanos.0 as f64).to_string(),
        value => value.on_axis().map_or_else(|| value.to_string(), |number| number.to_string()),
    };
    (format!("setting_{}", letters.collect::<String>()), value)
}

fn spread(family: &mut Family, of: &Labels, spread: &Spread) {
    let parts = [
        ("median", Some(spread.median)),
        ("minimum", Some(spread.minimum)),
        ("maximum", Some(spread.maximum)),
        ("interval_low", spread.interval_low),
        ("interval_high", spread.interval_high),
    ];
    for (statistic, value) in parts {
        if let Some(value) = value {
            family.put(with(of, &[("statistic", statistic)]), value);
        }
    }
}

fn summary(family: &mut Family, of: &Labels, one: &LatencyInfo) {
    let of = with(of, &[("operation", one.operation), ("measure", one.measure)]);
    let quantiles = [
        ("0.0", one.minimum_ns),
        ("0.5", one.p50_ns),
        ("0.9", one.p90_ns),
        ("0.99", one.p99_ns),
        ("0.999", one.p99_9_ns),
        ("0.9999", one.p99_99_ns),
        ("1.0", one.maximum_ns),
    ];
    for (quantile, nanos) in quantiles {
        family.put(with(&of, &[("quantile", quantile)]), seconds(nanos as f64));
    }
    family.put_as("_count", of.clone(), one.transfers as f64);
    family.put_as("_sum", of, seconds(one.mean_ns * one.transfers as f64));
}

fn seconds(nanos: f64) -> f64 {
    nanos / 1e9
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn with(labels: &Labels, more: &[(&str, &str)]) -> Labels {
    let mut all = labels.clone();
    all.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    all
}

/// The three characters that the format cannot take as they are.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Nanos, Setting, SettingValue};

    use super::{Family, escaped, labels, setting};

    #[test]
    fn what_would_end_a_label_is_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), r#"a\"b\\c\nd"#);
    }

    #[test]
    fn a_setting_is_a_label_in_base_units() {
        let of = |key: &str, value| setting(&Setting { key: key.to_owned(), value });
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(of("transfer", SettingValue::Bytes(Bytes::kib(4))), pair("setting_transfer", "4096"));
        assert_eq!(of("delay", SettingValue::Time(Nanos::millis(5))), pair("setting_delay", "0.005"));
        assert_eq!(of("read-from", SettingValue::Word("shift".into())), pair("setting_read_from", "shift"));
    }

    #[test]
    fn a_value_that_is_no_number_leaves_a_gap_and_an_empty_family_says_nothing() {
        let mut family = Family::new("a_ratio", "gauge", "ratio", "help");
        family.put(labels(&[("b", "c")]), f64::NAN);
        let mut out = String::new();
        family.write(&mut out);
        assert_eq!(out, "");
        family.put(labels(&[("b", "c")]), 0.5);
        family.write(&mut out);
        assert_eq!(
            out,
            "# TYPE a_ratio gauge\n# UNIT a_ratio ratio\n# HELP a_ratio help\na_ratio{b=\"c\"} 0.5\n"
        );
    }
}
