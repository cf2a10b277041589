//! Checks that only need measured data.

use plan::{
    Nanos, Operation, PassRole, Phase, RateName, SHORT_PASSES_MIN, SHORT_SECONDS_MIN, SHORT_TURNS_MIN,
    Stopping, Workload,
};
use record::{CacheLocation, Provenance, PublishedUnit, Warning};

use super::issue::{
    DEVICE_LATENCY_MIN_NS, LITTLE_SLACK, NETWORK_LATENCY_MIN_NS, RATIO_SLACK, RawIssue, percent,
};
use super::servers::{self, Shown};
use super::{memory, passes};
use crate::audit::Check;
use crate::figures::{
    DEVICE_SHARE_MIN, DeviceShare, LatencySummary, MovedBeside, RateOf, RepetitionFigure, Subject,
    cache_verdict, little::little, short_of,
};
use crate::printed::{PrintedStatistics, check_statistics};
use crate::statistics::settled::settled;

/// How many warnings of one kind are quoted as evidence.
const TOLD: usize = 2;

/// All doubts about one figure of `among`.
pub(super) fn doubts(subject: &Subject<'_>, among: usize) -> Vec<RawIssue> {
    let counted: Vec<_> = subject.figure.counted().collect();
    let cached = cached(subject, &counted);
    // If reads are known to come from memory, there is no need to doubt that they may.
    let memory = match &cached {
        Some(found) if found.check == Check::Cached => None,
        _ => memory::not_excluded(subject, &counted),
    };
    let more_processors = match subject.case.workload.work.is_transfers() {
        true => "use more processors or nodes, larger transfers, or io_uring",
        false => "use more processors or nodes",
    };
    let checks = [
        cached,
        memory,
        less_stored(subject, &counted),
        server_caches(subject, &counted),
        other_targets(subject, &counted),
        passes::changed(subject).or_else(|| passes::dependent(subject, among)),
        too_short(subject, &counted),
        unfinished(subject),
        wrong_data(&counted),
        warned(&counted, Check::FailedSync, "repeat it where fsync succeeds, and is part of the time"),
        warned(&counted, Check::ReportedErrors, "find the cause of the errors, and repeat it"),
        impossible(subject),
        implausible_latency(subject),
        littles_law(subject),
        ratio_of_sums(subject, &counted),
        unbalanced(subject),
        warned(&counted, Check::NotQuiet, "repeat the run on a quiet host"),
        warned(&counted, Check::Starved, "remove what slowed the program down, and repeat the run"),
        warned(&counted, Check::HarnessBound, more_processors),
    ];
    checks.into_iter().flatten().collect()
}

/// Whether a part of the data was served from memory, judged by device counters and by times. This check alone
/// decides what counts as cached; everything else asks for its doubt.
fn cached(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let direct = subject.case.workload.direct;
    let least = |one: &RepetitionFigure| {
        // Where others moved bytes on the same devices at the same time, fewer than its own show hits of its own.
        let DeviceShare { read, write } = DeviceShare::of(&one.phase, MovedBeside::default());
        read.into_iter().chain(write).min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
    };
    let lowest = counted.iter().min_by(|a, b| least(a).total_cmp(&least(b)));
    let seen = lowest.and_then(|one| cache_verdict(&one.phase, direct).into_iter().next());
    let at_servers = || {
        let reads = counted.iter().filter(|pass| memory::reads(subject, pass));
        reads.map(|pass| servers::shown(pass)).find_map(|shown| match shown {
            Shown::Cached(words) => Some(words),
            Shown::Nothing | Shown::FromServers | Shown::FromDisks => None,
        })
    };
    let evidence = seen.map(|warning| warning.to_string());
    let evidence = evidence.or_else(|| not_fetched(subject, counted)).or_else(|| memory_speed(subject));
    let evidence = evidence.or_else(at_servers)?;
    let in_memory =
        |warning: &Warning| matches!(warning, Warning::MemoryBelow { place: CacheLocation::Device, .. });
    let advice = match counted.iter().flat_map(|one| &one.warnings).any(in_memory) {
        true => "measure a target whose data is not in memory",
        false if direct => "use data larger than all memory on the data path",
        false => "use direct I/O, or data larger than all memory on the data path",
    };
    let check = match subject.figure.rate_of() {
        RateOf::Operations if !memory::reads_items(subject) => Check::CachedFileData,
        RateOf::Bytes | RateOf::Operations => Check::Cached,
    };
    Some(RawIssue::new(check, evidence, advice))
}

/// Reads of data of which the storage may hold less.
fn less_stored(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let lack = |warning: &Warning| match warning {
        Warning::LessStored { what } => Some(what.clone()),
        _ => None,
    };
    let reads = counted.iter().filter(|pass| memory::reads(subject, pass));
    let evidence = reads.flat_map(|pass| &pass.warnings).find_map(lack)?;
    let advice = "let the program write the data that it reads (fill = true)";
    Some(RawIssue::new(Check::LessStored, evidence, advice))
}

/// Server caches that keep data that was read or written for later reads.
fn server_caches(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let reads = counted.iter().filter(|pass| memory::reads(subject, pass));
    let on = reads.filter_map(|pass| pass.servers.as_deref()).find(|counts| !counts.caches.is_empty())?;
    let first = on.caches.first()?;
    let evidence = match on.caches.len() - 1 {
        0 => format!("{first} is on"),
        more => format!("{first} and {more} more are on"),
    };
    let advice = "set them to 0 on all servers (lctl set_param), and measure again";
    Some(RawIssue::new(Check::ServerCaches, evidence, advice))
}

/// Storage targets that served data without being in the layout, or that are in the layout and served none.
fn other_targets(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let all = counted.iter().filter_map(|pass| pass.servers.as_deref());
    let evidence =
        all.filter_map(|counts| servers::elsewhere(counts, subject.figure.is_concurrent)).next()?;
    let advice = "check the layout of the files (lfs getstripe), and who else uses the file system";
    Some(RawIssue::new(Check::OtherTargets, evidence, advice))
}

/// Reads during which other programs also read from the devices, so that the device counters say nothing about these
/// reads. The kernel accounts what it fetches to the process that asked, also past the page cache. Jobs are processes
/// of their own, whose reads are not in the account of this one.
fn not_fetched(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<String> {
    let workload = &subject.case.workload;
    if !workload.backend.moves_data() || workload.work.jobs().is_some() {
        return None;
    }
    let reads = counted.iter().filter(|one| memory::reads(subject, one));
    let at_devices = reads.filter(|one| one.device_share.read.is_some());
    let least = at_devices.filter_map(|one| one.fetched_share()).min_by(f64::total_cmp)?;
    (least < DEVICE_SHARE_MIN).then(|| {
        let share = percent(least);
        format!("only {share} of the bytes read were fetched from devices by the program itself")
    })
}

/// Buffered reads that are faster than any device.
fn memory_speed(subject: &Subject<'_>) -> Option<String> {
    let workload = &subject.case.workload;
    let simulated = subject.figure.provenance == Provenance::Simulated;
    let through_cache =
        subject.case.is_direct() == Some(false) && workload.backend.can_be_direct() && !simulated;
    let mean = subject.figure.response(Operation::Read).map(LatencySummary::mean_ns)?;
    (through_cache && subject.figure.phase == Phase::Read && mean < DEVICE_LATENCY_MIN_NS)
        .then(|| format!("reads took {mean:.0} ns on average: the page cache answered them"))
}

fn too_short(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let passes = counted.len();
    let short = counted
        .iter()
        .filter_map(|one| Some((one.phase.wall_ns, short_of(&one.phase, subject.case, passes)?)));
    let (shortest, at_least) = short.min_by_key(|(wall_ns, _)| *wall_ns)?;
    let seconds = Nanos(shortest).as_secs_f64();
    let text = |seconds| PublishedUnit::Seconds.text(seconds);
    let mut evidence = format!("took {}; under {} a rate is mostly noise", text(seconds), text(at_least));
    if subject.case.protocol.phase_min.0 == 0 && seconds >= SHORT_SECONDS_MIN {
        evidence += &match passes {
            ..SHORT_PASSES_MIN => format!(", unless {SHORT_PASSES_MIN} passes show how much"),
            _ => format!(" where fewer than {SHORT_TURNS_MIN} operations follow each other"),
        };
    }
    let advice = longer(&subject.case.workload);
    Some(RawIssue::new(Check::TooShort, evidence, advice).with_severity(-seconds))
}

/// What makes the phases of a workload longer.
pub(super) fn longer(workload: &Workload) -> &'static str {
    workload.work.kind().longer(workload)
}

/// Whether the repetitions are not those that the protocol asks for: the case ended before all of them were done, or
/// it never met its stopping rule. Whether it settled is judged by the same rate that the runner uses.
fn unfinished(subject: &Subject<'_>) -> Option<RawIssue> {
    let (case, figure) = (subject.case, subject.figure);
    let recorded = figure.repetitions.iter().filter(|one| case.role(one.repetition) == PassRole::Recorded);
    let (n, asked) = (recorded.clone().count(), case.repetitions);
    let rate = |one: &RepetitionFigure| Some(figure.rate_of().get(&one.rates.get(RateName::ByWall)?));
    let values: Vec<f64> = recorded.filter_map(rate).collect();
    let stopping = case.protocol.stopping;
    let more = "allow more repetitions";
    let (is_short, evidence, advice) = match stopping {
        Stopping::Count => {
            let advice = "resume with ioproof run --resume, or measure the case again";
            (n < asked as usize, format!("{n} of {asked} repetitions were measured"), advice)
        }
        Stopping::Interval { share, .. } => {
            let share = share * 100.0;
            (true, format!("no interval of the median within {share} % after {n} repetitions"), more)
        }
        Stopping::Steady { .. } => (true, format!("not steady after {n} repetitions"), more),
    };
    (is_short && !settled(&values, stopping)).then(|| RawIssue::new(Check::Unfinished, evidence, advice))
}

fn wrong_data(counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let cells: u64 = counted.iter().map(|one| one.phase.wrong_cells).sum();
    let advice = "do not trust this storage until the cause is known";
    let told = warned(counted, Check::WrongData, advice);
    let counted_alone = || RawIssue::new(Check::WrongData, format!("{cells} wrong 512-byte cells"), advice);
    told.or_else(|| (cells > 0).then(counted_alone))
}

/// The statistics of an own record can only be impossible if the record was damaged or changed.
fn impossible(subject: &Subject<'_>) -> Option<RawIssue> {
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
    let (_, evidence) = all.flat_map(|printed| check_statistics(&printed)).next()?;
    let advice = "the record contradicts itself: do not use it";
    Some(RawIssue::new(Check::ImpossibleStatistic, evidence, advice))
}

/// Direct I/O transfers that are faster than a device can be, and exchanges between nodes that are faster than any
/// network.
fn implausible_latency(subject: &Subject<'_>) -> Option<RawIssue> {
    let (figure, workload) = (subject.figure, &subject.case.workload);
    let to_device = subject.case.is_direct() == Some(true) && workload.backend.can_be_direct();
    let (mean, least, [what, place], advice) = if figure.phase.is_transfers() {
        let mean = figure.latency.iter().map(LatencySummary::mean_ns).min_by(f64::total_cmp);
        let advice = "look for a cache or a RAM disk below the file system";
        (mean.filter(|_| to_device)?, DEVICE_LATENCY_MIN_NS, ["direct transfers", "device"], advice)
    } else {
        let mean = figure.response(Operation::Exchange).filter(|_| subject.nodes() > Some(1))?.mean_ns();
        let advice = "check which processes exchanged messages: some were on the same node";
        (mean, NETWORK_LATENCY_MIN_NS, ["exchanges between nodes", "network"], advice)
    };
    let evidence = format!("{what} took {mean:.0} ns on average; no {place} answers that fast");
    (mean < least).then(|| RawIssue::new(Check::ImplausibleLatency, evidence, advice))
}

fn littles_law(subject: &Subject<'_>) -> Option<RawIssue> {
    // One task may create the trees for all tasks, and a round over objects may pause between its steps.
    if matches!(subject.figure.phase, Phase::TreeCreate | Phase::TreeRemove | Phase::Benchmark) {
        return None;
    }
    let law =
        little(subject.case, subject.figure).filter(|law| (law.agreement - 1.0).abs() > LITTLE_SLACK)?;
    let evidence = format!(
        "rate × latency gives {:.2} {} in flight, tasks × depth is {}: {}",
        law.predicted,
        subject.figure.phase.operations(),
        law.ran,
        percent(law.agreement)
    );
    // Fewer transfers in flight than configured only means that tasks waited elsewhere; more is impossible.
    let (check, advice) = match law.agreement > 1.0 {
        true => (Check::LittlesLaw, "rate, latency and depth contradict each other: trust none of them"),
        false => (
            Check::IdleTasks,
            "tasks were idle between transfers: check opens, stragglers and processor time",
        ),
    };
    Some(RawIssue::new(check, evidence, advice).with_severity((law.agreement - 1.0).abs()))
}

/// Compares the mean of the repetitions' rates with total bytes, or total operations, ÷ total time.
fn ratio_of_sums(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let (counts, rates) = (subject.figure.rate_of(), subject.figure.headline_of_passes());
    if rates.len() < 2 || rates.len() != counted.len() || rates.iter().any(|&rate| rate <= 0.0) {
        return None;
    }
    let amount = |one: &RepetitionFigure| counts.pick(one.phase.bytes(), one.phase.transfers()) as f64;
    let whole: f64 = counted.iter().map(|one| amount(one)).sum();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let seconds: f64 = counted.iter().zip(&rates).map(|(one, rate)| amount(one) / rate).sum();
    let of_sums = whole / seconds;
    let evidence = format!(
        "the mean of {} rates is {}, but all {} ÷ all time is {}",
        rates.len(),
        counts.text(mean),
        counts.pick("bytes", subject.figure.phase.operations()),
        counts.text(of_sums)
    );
    let work = counts.pick("bytes", "operations");
    let advice = format!("say which of the two is meant; for equal work, use all {work} ÷ all time");
    let off = (mean / of_sums - 1.0).abs();
    (off > RATIO_SLACK).then(|| RawIssue::new(Check::RatioOfSums, evidence, advice).with_severity(off))
}

fn unbalanced(subject: &Subject<'_>) -> Option<RawIssue> {
    let (workload, bound, tasks) =
        (&subject.case.workload, subject.balance_bound()?, subject.sharing_tasks()?);
    let on_each = if tasks == workload.tasks { "" } else { " on a node" };
    let evidence = format!(
        "{tasks} tasks over {} targets{on_each} can reach at most {} of their sum",
        workload.files.targets.len(),
        percent(bound)
    );
    let advice = "use a number of tasks that is a multiple of the number of targets";
    (bound < 1.0).then(|| RawIssue::new(Check::Unbalanced, evidence, advice).with_severity(-bound))
}

/// The text of the worst warnings of the counted passes, or the first of several equally bad ones. If a share tells
/// which warning is the worst, only that one is given.
fn warned(counted: &[&RepetitionFigure], check: Check, advice: &'static str) -> Option<RawIssue> {
    let share = |warning: &Warning| match warning {
        Warning::Starved { share, .. } | Warning::NotQuiet { share, .. } => *share,
        Warning::HarnessBound { cpu_share } => *cpu_share,
        _ => 0.0,
    };
    let all = counted.iter().flat_map(|one| &one.warnings);
    let mut all: Vec<&Warning> = all.filter(|one| Check::of(one) == Some(check)).collect();
    all.sort_by(|one, other| share(other).total_cmp(&share(one)));
    let severity = all.first().map(|one| share(one))?;
    all.retain(|one| severity == 0.0 || share(one) == severity);
    let named = format!("{}: ", check.name());
    let mut said: Vec<String> = Vec::new();
    for warning in all {
        let text = warning.to_string();
        let text = text.strip_prefix(&named).unwrap_or(&text);
        if said.len() < TOLD && !said.iter().any(|known| known == text) {
            said.push(text.to_owned());
        }
    }
    Some(RawIssue::new(check, said.join("; "), advice).with_severity(severity))
}
