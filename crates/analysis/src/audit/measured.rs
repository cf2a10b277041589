//! Checks on what was measured alone.

use plan::{Backend, Nanos, Phase, RateName, Role, Stopping, Work};
use record::{Operation, PublishedUnit, Warning};

use super::doubt::{
    DEVICE_LATENCY_MIN_NS, Found, LITTLE_SLACK, NETWORK_LATENCY_MIN_NS, RATIO_SLACK, percent,
};
use super::{memory, passes};
use crate::settled::{Settled, settled};
use crate::subject::Subject;
use crate::verdicts::short_of;
use crate::{
    Check, DeviceShare, LatencySummary, PrintedStatistics, RateOf, RepetitionFigure, cache_verdict,
    check_statistics, little, operations_of,
};

/// All that a figure says against itself.
pub(super) fn doubts(subject: &Subject<'_>) -> Vec<Found> {
    let counted: Vec<_> = subject.figure.counted().collect();
    let cached = cached(subject, &counted);
    // Reads that are known to come from memory need no doubt that they may.
    let memory = match &cached {
        Some(found) if found.check == Check::Cached => None,
        _ => memory::not_excluded(subject, &counted),
    };
    let checks = [
        cached,
        memory,
        passes::changed(subject, &counted),
        too_short(subject, &counted),
        unfinished(subject),
        wrong_data(&counted),
        impossible(subject),
        implausible_latency(subject),
        littles_law(subject),
        ratio_of_sums(subject, &counted),
        unbalanced(subject),
        not_quiet(&counted),
        starved(&counted),
        harness_bound(&counted),
    ];
    checks.into_iter().flatten().collect()
}

/// Whether memory answered for a part of the bytes, by the devices' counts and by times. This decides what is
/// cached; everything else asks for the doubt.
fn cached(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<Found> {
    let direct = subject.case.workload.direct;
    let least = |one: &RepetitionFigure| {
        let DeviceShare { read, write } = one.device_share;
        read.into_iter().chain(write).min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
    };
    let lowest = counted.iter().min_by(|a, b| least(a).total_cmp(&least(b)));
    let seen = lowest.and_then(|one| cache_verdict(&one.phase, direct).into_iter().next());
    let evidence = seen.map(|warning| warning.to_string()).or_else(|| memory_speed(subject))?;
    let advice = "use direct I/O, or data larger than all memory on the way";
    let check = match subject.figure.rate_of() {
        RateOf::Operations if !memory::reads_items(subject) => Check::CachedFileData,
        RateOf::Bytes | RateOf::Operations => Check::Cached,
    };
    Some(Found::new(check, evidence, advice))
}

/// Buffered reads that are faster than any device.
fn memory_speed(subject: &Subject<'_>) -> Option<String> {
    let workload = &subject.case.workload;
    let through_cache =
        !workload.direct && matches!(workload.backend, Backend::Psync | Backend::Uring { .. });
    let mean = subject.figure.response(Operation::Read).map(LatencySummary::mean_ns)?;
    (through_cache && subject.figure.phase == Phase::Read && mean < DEVICE_LATENCY_MIN_NS)
        .then(|| format!("reads took {mean:.0} ns in the mean: that is the page cache"))
}

fn too_short(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<Found> {
    let shortest = counted.iter().map(|one| one.phase.wall_ns).min()?;
    let seconds = Nanos(shortest).as_secs_f64();
    let at_least = short_of(seconds, subject.case.protocol.phase_min)?;
    let text = |seconds| PublishedUnit::Seconds.text(seconds);
    let evidence = format!("took {}; under {} a rate is mostly noise", text(seconds), text(at_least));
    let advice = match &subject.case.workload.work {
        Work::Transfers => "move more data, or set a duration",
        Work::Rpc(_) => "exchange more messages, or for a longer time",
        Work::Tree(_) => "give each task more items",
        Work::Jobs(_) => "raise the scale",
        Work::Objects(_) => "give each task more objects and steps",
    };
    Some(Found::new(Check::TooShort, evidence, advice))
}

/// Whether the repetitions are not those that the protocol asks for: the case ended before all were there, or never
/// met the rule that should end it. Settling is judged by the rate that the runner settles by.
fn unfinished(subject: &Subject<'_>) -> Option<Found> {
    let (case, figure) = (subject.case, subject.figure);
    let recorded: Vec<_> =
        figure.repetitions.iter().filter(|one| case.role(one.repetition) == Role::Recorded).collect();
    let (n, asked) = (recorded.len(), case.repetitions);
    let rate = |one: &&RepetitionFigure| Some(figure.rate_of().get(&one.rates.get(RateName::ByWall)?));
    let values: Vec<f64> = recorded.iter().filter_map(rate).collect();
    let stopping = case.protocol.stopping;
    let (is_short, evidence) = match stopping {
        Stopping::Count => (n < asked as usize, format!("{n} of {asked} repetitions were measured")),
        Stopping::Interval { share, .. } => {
            let share = share * 100.0;
            (true, format!("no interval of the median within {share} % after {n} repetitions"))
        }
        Stopping::Steady { .. } => (true, format!("not steady after {n} repetitions")),
    };
    let advice = match stopping {
        Stopping::Count => "go on with `ioproof run --resume`, or measure the case again",
        Stopping::Interval { .. } | Stopping::Steady { .. } => "allow more repetitions",
    };
    (is_short && settled(&values, stopping) == Settled::GoOn)
        .then(|| Found::new(Check::Unfinished, evidence, advice))
}

fn wrong_data(counted: &[&RepetitionFigure]) -> Option<Found> {
    let cells: u64 = counted.iter().map(|one| one.phase.wrong_cells).sum();
    let advice = "distrust this storage until the cause is known";
    (cells > 0).then(|| Found::new(Check::WrongData, format!("{cells} wrong 512-byte cells"), advice))
}

/// Statistics of an own record cannot be impossible unless it was damaged or changed.
fn impossible(subject: &Subject<'_>) -> Option<Found> {
    let rate = subject.figure.headline();
    let of_rates = PrintedStatistics {
        n: Some(rate.n as u64),
        min: Some(rate.min),
        max: Some(rate.max),
        mean: Some(rate.mean),
        deviation: Some(rate.deviation_sample),
        ..PrintedStatistics::default()
    };
    let of_latency = |one: &LatencySummary| PrintedStatistics {
        min: Some(one.get("minimum")),
        max: Some(one.get("maximum")),
        mean: Some(one.mean_ns()),
        ..PrintedStatistics::default()
    };
    let all = std::iter::once(of_rates).chain(subject.figure.latency.iter().map(of_latency));
    let found = all.flat_map(|printed| check_statistics(&printed)).next()?;
    let advice = "the record contradicts itself: do not use it";
    Some(Found::new(Check::ImpossibleStatistic, found.to_string(), advice))
}

/// Exchanges between nodes that are faster than any network.
fn implausible_exchange(subject: &Subject<'_>) -> Option<Found> {
    let mean = subject.figure.response(Operation::Exchange)?.mean_ns();
    let evidence =
        format!("exchanges between nodes took {mean:.0} ns in the mean; no network answers in that time");
    let advice = "look at which processes asked which: some were on one node";
    (subject.nodes() > 1 && mean < NETWORK_LATENCY_MIN_NS)
        .then(|| Found::new(Check::ImplausibleLatency, evidence, advice))
}

/// Transfers around the page cache that are faster than a device can be.
fn implausible_latency(subject: &Subject<'_>) -> Option<Found> {
    let workload = &subject.case.workload;
    if !subject.figure.phase.is_transfers() {
        return implausible_exchange(subject);
    }
    let to_device = workload.direct && matches!(workload.backend, Backend::Psync | Backend::Uring { .. });
    if !to_device {
        return None;
    }
    let mean = subject.figure.latency.iter().map(LatencySummary::mean_ns).min_by(f64::total_cmp)?;
    let evidence = format!("direct transfers took {mean:.0} ns in the mean; no device answers in that time");
    let advice = "look for a cache or a memory disk below the file system";
    (mean < DEVICE_LATENCY_MIN_NS).then(|| Found::new(Check::ImplausibleLatency, evidence, advice))
}

fn littles_law(subject: &Subject<'_>) -> Option<Found> {
    // One task may make the trees of all, and a round over objects may rest between its steps.
    if matches!(subject.figure.phase, Phase::TreeCreate | Phase::TreeRemove | Phase::Benchmark) {
        return None;
    }
    let law =
        little(subject.case, subject.figure).filter(|law| (law.agreement - 1.0).abs() > LITTLE_SLACK)?;
    let evidence = format!(
        "rate × latency gives {:.2} {} under way, {} were kept: {}",
        law.predicted,
        operations_of(subject.figure.phase),
        law.ran,
        percent(law.agreement)
    );
    // Fewer than kept only says that tasks waited elsewhere; more than kept cannot be.
    Some(match law.agreement > 1.0 {
        true => {
            let advice = "rate, latency and depth contradict: distrust all three";
            Found::new(Check::LittlesLaw, evidence, advice)
        }
        false => {
            let advice = "tasks were idle between transfers: look at opens, stragglers and processor time";
            Found::new(Check::IdleTasks, evidence, advice)
        }
    })
}

/// The mean of the repetitions' rates against all bytes, or all operations, ÷ all time.
fn ratio_of_sums(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<Found> {
    let counts = subject.figure.rate_of();
    let rates: Vec<f64> = counted
        .iter()
        .filter_map(|one| one.rates.get(subject.figure.rate))
        .map(|rate| counts.get(&rate))
        .collect();
    let amount = |one: &RepetitionFigure| match counts {
        RateOf::Bytes => one.phase.bytes() as f64,
        RateOf::Operations => one.phase.transfers() as f64,
    };
    let whole: f64 = counted.iter().map(|one| amount(one)).sum();
    if rates.len() < 2 || rates.len() != counted.len() || rates.iter().any(|&rate| rate <= 0.0) {
        return None;
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let seconds: f64 = counted.iter().zip(&rates).map(|(one, rate)| amount(one) / rate).sum();
    let of_sums = whole / seconds;
    let (unit, what) = match counts {
        RateOf::Bytes => (PublishedUnit::BytesPerSecond, "bytes"),
        RateOf::Operations => (PublishedUnit::OperationsPerSecond, operations_of(subject.figure.phase)),
    };
    let evidence = format!(
        "the mean of {} rates is {}, all {what} ÷ all time {}",
        rates.len(),
        unit.text(mean),
        unit.text(of_sums)
    );
    let advice = match counts {
        RateOf::Bytes => "say which of both is meant; for rates over equal work it is all bytes ÷ all time",
        RateOf::Operations => {
            "say which of both is meant; for rates over equal work it is all operations ÷ all time"
        }
    };
    ((mean / of_sums - 1.0).abs() > RATIO_SLACK).then(|| Found::new(Check::RatioOfSums, evidence, advice))
}

fn unbalanced(subject: &Subject<'_>) -> Option<Found> {
    let workload = &subject.case.workload;
    let targets = u32::try_from(workload.files.targets.len()).unwrap_or(u32::MAX);
    // Jobs are not spread over their spaces: each uses all of them.
    let spread = workload.files.sharing != plan::Sharing::Shared && workload.work.jobs().is_none();
    // In a given time each target moves what it can: only a volume waits for the target that has most of it.
    if !spread || targets < 2 || workload.duration.is_some() {
        return None;
    }
    let tasks = subject.sharing_tasks();
    let bound = plan::balance_bound(tasks, targets);
    let on_each = if tasks == workload.tasks { "" } else { " on a node" };
    let evidence = format!(
        "{tasks} tasks over {targets} targets{on_each} can reach at most {} of their sum",
        percent(bound)
    );
    let advice = "use a number of tasks that is a multiple of the targets";
    (bound < 1.0).then(|| Found::new(Check::Unbalanced, evidence, advice))
}

fn warned(counted: &[&RepetitionFigure], wanted: impl Fn(&Warning) -> bool) -> Option<String> {
    let mut warnings = counted.iter().flat_map(|one| &one.warnings);
    warnings.find(|warning| wanted(warning)).map(ToString::to_string)
}

fn not_quiet(counted: &[&RepetitionFigure]) -> Option<Found> {
    let evidence = warned(counted, |warning| matches!(warning, Warning::NotQuiet { .. }))?;
    Some(Found::new(Check::NotQuiet, evidence, "repeat the run on a quiet host"))
}

fn starved(counted: &[&RepetitionFigure]) -> Option<Found> {
    let share = |warning: &&Warning| match warning {
        Warning::Starved { share, .. } => Some(*share),
        _ => None,
    };
    let starved = counted.iter().flat_map(|one| &one.warnings).filter(|one| share(one).is_some());
    let worst =
        starved.max_by(|a, b| share(a).partial_cmp(&share(b)).unwrap_or(std::cmp::Ordering::Equal))?;
    let advice = "take away what held the program back, and repeat the run";
    Some(Found::new(Check::Starved, worst.to_string(), advice))
}

fn harness_bound(counted: &[&RepetitionFigure]) -> Option<Found> {
    let evidence = warned(counted, |warning| matches!(warning, Warning::HarnessBound { .. }))?;
    let advice = "use more processors or nodes, larger transfers, or io_uring";
    Some(Found::new(Check::HarnessBound, evidence, advice))
}
