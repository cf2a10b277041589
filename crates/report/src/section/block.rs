//! The building blocks of sections, and shared wording.

use crate::format::table::Table;
use crate::format::{NOT_OBSERVED, grouped, iops, latency, names, number, percent, rate, rate_in, whole};
use crate::report::Report;
use crate::report::figure::Figure;
use analysis::{
    comparisons::{Comparison, PublishedComparison, Verdict},
    sweeps::Curve,
};
use plan::{Amount, Asked, Bytes, FigureQuantity, Nanos, Setting};
use record::PublishedKind;

/// How many rows of a table of statements are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As many rows as the limit of its kind.
    Limited,
    /// Also at most this many rows of any other table.
    Rows(usize),
    /// All rows.
    Full,
}

impl Extent {
    /// Maximum number of rows of a table of something else than statements.
    pub(crate) const fn rows(self) -> usize {
        match self {
            Self::Rows(most) => most,
            Self::Limited | Self::Full => usize::MAX,
        }
    }
}

/// A section of a report.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// Its anchor on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) before_figures: bool,
    pub(crate) blocks: Vec<Block>,
}

/// Another run of the same study, compared with the one of the report.
#[derive(Debug)]
pub(crate) struct Second {
    pub(crate) report: Report,
    /// The changes in short.
    pub(crate) answer: Vec<Block>,
    /// The changes in full.
    pub(crate) changed: Section,
    /// The changes figure by figure, for charts.
    pub(crate) comparisons: Vec<Comparison>,
}

/// Content of a section.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    /// A heading within the section, followed by the charts of `place`.
    Heading {
        place: String,
        text: String,
    },
    Text(String),
    /// Lines with bullets.
    List(Vec<String>),
    /// A table with its caption, which may be empty.
    Table {
        caption: String,
        table: Table,
    },
}

impl Block {
    /// The number of rows, if it is a table.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Table { table, .. } => table.rows().len(),
            Self::Heading { .. } | Self::Text(_) | Self::List(_) => 0,
        }
    }
}

/// `table` without empty columns as the only block; no block if it has no rows.
pub(crate) fn only(caption: &str, table: Table) -> Vec<Block> {
    if table.is_empty() {
        return Vec::new();
    }
    vec![Block::Table { caption: caption.to_owned(), table: table.without_empty_columns() }]
}

/// The place of the charts of a workload, which no section is called.
pub(crate) fn workload_place(workload: &str) -> String {
    format!("workload: {workload}")
}

/// Display name of a target.
pub(crate) fn title<'a>(report: &'a Report, target: &'a str) -> &'a str {
    report.study.targets.iter().find(|one| one.name == target).map_or(target, |one| &one.title)
}

/// Display name of the target of `figure`, if the study has several; else empty.
pub(crate) fn which_target<'a>(report: &'a Report, figure: &'a Figure) -> &'a str {
    if report.study.targets.len() > 1 { title(report, &figure.target) } else { "" }
}

/// The conditions of `figure`, preceded by its target and by swept values that they do not include.
pub(crate) fn conditions(report: &Report, figure: &Figure) -> String {
    let target = which_target(report, figure);
    let place = unnamed(figure);
    let place: Vec<&str> = [target, &place].into_iter().filter(|part| !part.is_empty()).collect();
    if place.is_empty() {
        figure.conditions.clone()
    } else {
        format!("{}: {}", place.join(", "), figure.conditions)
    }
}

/// Swept values that the conditions do not include: `size 100 GiB`.
pub(crate) fn unnamed(figure: &Figure) -> String {
    let named = |one: &&Setting| !["target", "tasks", "transfer", "read_percent"].contains(&one.key.as_str());
    let parts = figure.settings.iter().filter(named);
    parts.map(|one| format!("{} {}", one.key, one.value)).collect::<Vec<_>>().join(", ")
}

/// What stands below the row of a figure: swept values that its conditions do not include, its caution, and what the
/// command line changed of the study file.
pub(crate) fn beneath(figure: &Figure) -> String {
    let parts = [unnamed(figure)].into_iter().filter(|part| !part.is_empty());
    parts.chain(caveats(figure)).collect::<Vec<_>>().join("; ")
}

/// The caution of a figure, and what the command line changed of the study file.
fn caveats(figure: &Figure) -> impl Iterator<Item = String> {
    let caution = Some(figure.caveats.caution.clone()).filter(|caution| !caution.is_empty());
    let overrides = &figure.caveats.overrides;
    let overrides = (!overrides.is_empty()).then(|| format!("overridden: {}", overrides.join(", ")));
    caution.into_iter().chain(overrides)
}

/// All caveats of a figure as sentences.
pub(crate) fn all_caveats(figure: &Figure) -> Vec<String> {
    let share = figure.caveats.cache_share;
    let caches = share.map(|share| format!("declared caches: {} of the working set", percent(share)));
    caches.into_iter().chain(caveats(figure)).collect()
}

/// The rate of a figure as in data sheets: bytes per second for large transfers, transfers per second for
/// small ones, named operations otherwise.
pub(crate) fn headline(figure: &Figure) -> String {
    if figure.is_large() {
        rate(figure.bytes_per_second.median)
    } else {
        format!("{} {}", iops(figure.transfers_per_second.median), figure.operations_unit())
    }
}

/// What a commitment asks for, preceded by the required side: `p99 at most 5 ms`, `≥ 900 GB/s`; `operations` is the unit
/// of operations per second.
pub(crate) fn criterion(asked: Asked, side: &str, operations: &str) -> String {
    let one = match asked {
        Asked::Amount(amount) => amount,
        Asked::OfReference { share, of } => {
            let share = plan::share_words(share);
            return match of {
                FigureQuantity::Rate => format!("{side} {share} of the rate of a reference run"),
                FigureQuantity::Latency => format!("{side} {share} of the mean latency of a reference run"),
                FigureQuantity::Percentile(percent) => {
                    format!("p{percent} {side} {share} of that of a reference run")
                }
            };
        }
    };
    let value = in_unit(one.number(), one.unit(), operations);
    // Without trailing zeros, as amounts are written in studies.
    let value = value.split_once(' ').map_or(value.clone(), |(number, unit)| match number.contains('.') {
        true => format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.')),
        false => value.clone(),
    });
    match one {
        Amount::Latency { percent: Some(percent), .. } => format!("p{percent} {side} {value}"),
        _ => format!("{side} {value}"),
    }
}

/// A value in the unit of the commitment.
pub(crate) fn promised_value(report: &Report, verdict: &Verdict, value: f64) -> String {
    in_unit(value, verdict.amount.map_or("", Amount::unit), promised_unit(report, verdict))
}

/// The unit of operations per second of the figures that a commitment is about.
pub(crate) fn promised_unit(report: &Report, verdict: &Verdict) -> &'static str {
    let measured = verdict.about.iter().filter_map(|&place| report.figures.get(place)).map(|own| own.phase);
    let named = verdict.commitment.figures.phase.filter(|_| verdict.about.is_empty());
    names::common_operations_unit(measured.chain(named))
}

/// Whether a published figure is a measured result that was compared on purpose, under the same conditions.
pub(crate) fn is_result(one: &PublishedComparison) -> bool {
    one.published.kind == PublishedKind::Measured && !one.elsewhere && one.differs.is_empty()
}

/// A value of a published figure, or of the own one beside it.
pub(crate) fn published_value(one: &PublishedComparison, value: f64) -> String {
    in_unit(value, one.unit(), names::common_operations_unit(one.phase))
}

/// A value of the unit `bytes/s`, `ops/s`, `ns` or `fraction` in readable form; `operations` is the unit of operations
/// per second.
pub(crate) fn in_unit(value: f64, unit: &str, operations: &str) -> String {
    match unit {
        "bytes/s" => rate(value),
        "ops/s" => rate_in(value, operations),
        "ns" => latency(whole(value)),
        "fraction" => percent(value),
        _ => format!("{} {unit}", number(value)),
    }
}

/// The name of a curve within its chart: `write on flash, transfer 1 MiB`.
pub(crate) fn line_name(report: &Report, curve: &Curve, with_target: bool) -> String {
    let target = title(report, &curve.target);
    let on = if with_target && !target.is_empty() { format!(" on {target}") } else { String::new() };
    let fixed: String = curve.fixed.iter().map(|setting| format!(", {setting}")).collect();
    format!("{}{on}{fixed}", curve.phase)
}

/// A value of a swept key with the unit `bytes`, `ns` or none.
pub(crate) fn place(value: f64, unit: &str) -> String {
    match unit {
        "bytes" => Bytes(whole(value)).to_string(),
        "ns" => Nanos(whole(value)).to_string(),

        _ if value.fract() == 0.0 => grouped(whole(value)),
        _ => number(value),
    }
}

/// `tasks 33, transfer 1 MiB`; the target has a column of its own.
pub(crate) fn point(settings: &[Setting]) -> String {
    let parts = settings.iter().filter(|one| one.key != "target");
    parts.map(|one| format!("{} {}", one.key, one.value)).collect::<Vec<_>>().join(", ")
}

/// A share with its sign: `+32.0 %`.
pub(crate) fn signed(share: f64) -> String {
    let percent = share * 100.0;
    match share.is_finite() {
        false => NOT_OBSERVED.to_owned(),
        // What is nearly all of something is not all of it.
        true if share > -1.0 && percent < -99.95 => format!("{:+.4} %", percent.max(-99.9999)),
        true => format!("{percent:+.1} %"),
    }
}
