//! The audit of published figures: checks that only need a figure and its neighbours.

use plan::{Bytes, Nanos};
use record::{Library, Metric, Published, PublishedKind, PublishedStatistic, PublishedUnit};

use super::issue::{DEVICE_LATENCY_MIN_NS, NETWORK_LATENCY_MIN_NS, RawIssue, percent};
use super::recomputed::{self, more, rounding, value};
use crate::audit::{AuditIssue, Check};
use crate::figures::whole_mebibytes;
use crate::printed::{PrintedStatistics, check_statistics};
use crate::statistics::whole;

/// If a figure exceeds its data sheet by more than this, the data sheet is for another device.
const SPEC_SLACK: f64 = 0.05;
/// The doubts about the figures of `library`, in their order, followed by those that only several
/// figures together reveal. Figures are checked as printed, without the corrections that other code
/// applies.
#[must_use]
pub fn audit_published(library: &Library) -> Vec<AuditIssue> {
    let mut doubts = Vec::new();
    for figure in &library.figures {
        let checks = [
            implausible_latency(figure),
            cached(figure),
            too_short(figure),
            unbalanced(figure),
            whole_mebibyte(figure),
            statistics(figure, library),
            above_spec(figure, library),
            kilobytes(figure, library),
        ];
        doubts.extend(checks.into_iter().flatten().map(|found| found.of(None, figure.id.clone())));
    }
    doubts.extend(recomputed::doubts(library));
    for study in &library.studies {
        let maximum = study.protocol.get("statistic").and_then(record::Detail::text) == Some("maximum");
        doubts.extend(maximum.then(|| {
            let evidence = "its figures are the maximum of several measurements";
            let found = RawIssue::new(Check::BestAsTypical, evidence, "compare maxima with maxima");
            found.of(None, study.id.clone())
        }));
    }
    doubts
}

/// Other figures of the same study, metric and operation.
fn neighbours<'a>(figure: &'a Published, library: &'a Library) -> impl Iterator<Item = &'a Published> {
    library.figures.iter().filter(move |other| {
        other.id != figure.id
            && other.study == figure.study
            && other.metric == figure.metric
            && other.operation == figure.operation
    })
}

/// Figures of `metric` from the same test under the same conditions.
fn of_same_test<'a>(
    figure: &'a Published,
    library: &'a Library,
    metric: Metric,
) -> impl Iterator<Item = &'a Published> {
    library.figures.iter().filter(move |other| {
        other.metric == metric
            && other.study == figure.study
            && other.test == figure.test
            && same_conditions(figure, other)
    })
}

/// Whether both have the same storage: the same layer or, failing that, the same layout.
fn same_storage(one: &Published, other: &Published) -> bool {
    let (one, other) = (&one.parameters, &other.parameters);
    one.layer == other.layer && (one.layer.is_some() || one.layout == other.layout)
}

/// Whether all conditions that a study prints with both figures are the same.
fn same_conditions(one: &Published, other: &Published) -> bool {
    let (a, b) = (&one.parameters, &other.parameters);
    same_storage(one, other)
        && (a.transfer_bytes, a.file_bytes, a.tasks, a.nodes)
            == (b.transfer_bytes, b.file_bytes, b.tasks, b.nodes)
        && (a.devices, a.queue_depth, a.read_percent) == (b.devices, b.queue_depth, b.read_percent)
        && a.more == b.more
}

fn measured(figure: &Published) -> bool {
    figure.kind == PublishedKind::Measured
}

fn implausible_latency(figure: &Published) -> Option<RawIssue> {
    let mean = figure.metric == Metric::Latency && figure.statistic == PublishedStatistic::Mean;
    let nanos = value(figure) * 1e9;
    let evidence = format!("a mean latency of {} is the page cache's, not a device's", figure.as_published());
    let advice = "read it as the time of a cached transfer";
    (mean && measured(figure) && nanos < DEVICE_LATENCY_MIN_NS)
        .then(|| RawIssue::new(Check::ImplausibleLatency, evidence, advice))
}

/// Operations over a network that are faster than a network round trip.
fn cached(figure: &Published) -> Option<RawIssue> {
    let remote = figure.parameters.nodes.is_some_and(|nodes| nodes > 1);
    let counted = matches!(figure.metric, Metric::Rate | Metric::Creates | Metric::Iops);
    let tasks = f64::from(figure.parameters.tasks.filter(|_| remote && counted && is_whole(figure))?);
    let nanos = tasks / value(figure) * 1e9;
    let evidence = format!(
        "{} with {tasks} tasks is {:.1} µs for each: less than a round trip over the network",
        figure.as_published(),
        nanos / 1e3
    );
    let advice = "read it as the rate of the clients' caches";
    (measured(figure) && nanos < NETWORK_LATENCY_MIN_NS)
        .then(|| RawIssue::new(Check::Cached, evidence, advice))
}

/// Whether the figure covers all tasks together and is the typical one of several statistics, so
/// that a doubt is reported only once.
fn is_whole(figure: &Published) -> bool {
    let of_one = figure.parameters.more.contains_key("per");
    let other = [PublishedStatistic::Deviation, PublishedStatistic::Min, PublishedStatistic::Max];
    !of_one && !other.contains(&figure.statistic)
}

fn too_short(figure: &Published) -> Option<RawIssue> {
    let parameters = &figure.parameters;
    let amount = match figure.metric {
        Metric::Bandwidth => {
            let blocks = f64::from(parameters.tasks?) * parameters.segments? as f64;
            blocks * parameters.block_bytes? as f64
        }
        Metric::Rate | Metric::Creates if !figure.operation.name().starts_with("tree") => {
            more(figure, "files_total")?
        }
        _ => return None,
    };
    let seconds = amount / value(figure);
    let at_least = plan::short_of(seconds, Nanos(0), 1, 0.0).filter(|_| is_whole(figure))?;
    let rate = figure.as_published();
    let evidence = format!("at {rate} it took {seconds:.3} s; under {at_least} s a rate is mostly noise");
    Some(RawIssue::new(Check::TooShort, evidence, "repeat it with more work"))
}

fn unbalanced(figure: &Published) -> Option<RawIssue> {
    let targets = figure.parameters.targets.filter(|&targets| targets > 1)?;
    let tasks = figure.parameters.tasks?;
    let bound = plan::balance_bound(tasks, targets);
    let evidence = format!(
        "{tasks} tasks over {targets} targets can reach at most {}; printed {}",
        percent(bound),
        figure.as_published()
    );
    let advice = "compare with a number of tasks that is a multiple of the number of targets";
    (bound < 1.0).then(|| RawIssue::new(Check::Unbalanced, evidence, advice))
}

fn whole_mebibyte(figure: &Published) -> Option<RawIssue> {
    const ROUND: f64 = 1000.0;
    let transfer = Bytes(figure.parameters.transfer_bytes.filter(|_| figure.metric == Metric::Iops)?);
    let operations = value(figure);
    let mebibytes =
        whole_mebibytes(operations, transfer).filter(|_| measured(figure) && operations % ROUND != 0.0)?;
    let evidence = format!("{operations} ops/s of {transfer} are exactly {mebibytes} MiB/s");
    let advice = "read its MB/s as MiB/s, and these operations as computed, not counted";
    Some(RawIssue::new(Check::UnitMixUp, evidence, advice))
}

/// Checks mean, deviation, range and extremes of the same values against each other.
fn statistics(figure: &Published, library: &Library) -> Option<RawIssue> {
    if figure.statistic != PublishedStatistic::Deviation {
        return None;
    }
    let alike = |other: &&Published| other.test == figure.test && same_conditions(figure, other);
    let family: Vec<&Published> = neighbours(figure, library).filter(alike).collect();
    let of = |statistic| family.iter().find(|one| one.statistic == statistic).map(|one| value(one));
    let n = more(figure, "tests").or_else(|| more(figure, "repetitions"));
    let others = family.iter().filter(|one| one.statistic != PublishedStatistic::Deviation);
    let printed = PrintedStatistics {
        n: n.map(whole),
        min: of(PublishedStatistic::Min),
        max: of(PublishedStatistic::Max),
        range: of(PublishedStatistic::Range),
        mean: of(PublishedStatistic::Mean),
        deviation: Some(value(figure)),
        either_divisor: false,
        rounding: others.map(|one| rounding(one)).fold(rounding(figure).min(0.1), f64::max),
    };
    let (_, evidence) = check_statistics(&printed).into_iter().next()?;
    Some(RawIssue::new(Check::ImpossibleStatistic, evidence, "do not use it, or anything that depends on it"))
}

/// A measured figure that exceeds the data sheet of all its devices together.
fn above_spec(figure: &Published, library: &Library) -> Option<RawIssue> {
    let layer = figure.parameters.layer.as_ref().filter(|_| measured(figure))?;
    if figure.statistic == PublishedStatistic::Deviation || figure.statistic == PublishedStatistic::Slope {
        return None;
    }
    // A bandwidth is compared with a data sheet value for the same order; operations are random
    // ones.
    let sheet = neighbours(figure, library)
        .find(|other| other.kind == PublishedKind::Spec && other.parameters.layer.as_ref() == Some(layer))?;
    let parameters = &figure.parameters;
    let per_node = more(figure, "devices_per_node").or(parameters.devices.map(f64::from)).unwrap_or(1.0);
    let devices = per_node * f64::from(parameters.nodes.unwrap_or(1));
    let ratio = figure.value / (sheet.value * devices);
    let evidence = format!(
        "{} is {} of {} × {devices} by the data sheet ({})",
        figure.as_published(),
        percent(ratio),
        sheet.as_published(),
        sheet.id
    );
    let advice = "find out how many devices it covers, and whether a cache answered";
    (ratio > 1.0 + SPEC_SLACK).then(|| RawIssue::new(Check::AboveCeiling, evidence, advice))
}

/// Whether `Kbytes` means 1000 or 1024 bytes, derived from the operations of the same test.
fn kilobytes(figure: &Published, library: &Library) -> Option<RawIssue> {
    let binary = figure.value_if_binary.filter(|_| figure.printed.contains("Kbytes"))?;
    let transfer = figure.parameters.transfer_bytes?;
    let operations = of_same_test(figure, library, Metric::Iops).next()?;
    let bytes = operations.value * transfer as f64;
    let evidence = format!(
        "{} × {} is {}: a Kbyte of 1000 bytes gives {}, one of 1024 bytes {}",
        operations.as_published(),
        Bytes(transfer),
        PublishedUnit::BytesPerSecond.text(bytes),
        PublishedUnit::BytesPerSecond.text(figure.value),
        PublishedUnit::BytesPerSecond.text(binary)
    );
    Some(RawIssue::new(Check::UnitMixUp, evidence, "derive the unit from rate of operations × transfer size"))
}
