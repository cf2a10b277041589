//! What a plan will do, told before it does it: [`preflight`] in one table, [`explain`] in full.
//!
//! The arithmetic is [`plan::Outlook`]'s; this file finds the words.

use std::fmt::Write as _;

use plan::{
    Backend, Bytes, Case, Concern, Existing, ExpectedRate, Keep, OptionNote, Order, Outlook, Phase,
    PhaseOutlook, Plan, Question, ReadFrom, Sharing, SpaceOutlook, Surroundings, Workload, outlooks,
};

use crate::format::{counted, decimal_bytes, duration, grouped, percent, rate, shell_line};
use crate::offsets;
use crate::table::{Align, Table, width, wrapped};
use crate::words;

/// Columns of a terminal that everything fits into.
const COLUMNS: usize = 100;
/// Targets named in full before the rest is counted.
const TARGETS_NAMED: usize = 4;
/// Cases of a plan that `explain` describes in full before it only counts them.
const CASES_EXPLAINED: usize = 64;

/// What a run is about to do, for the moment before it starts: files, bytes and predicted seconds
/// of each case, what it needs of space and memory, and what should be looked at first.
#[must_use]
pub fn preflight(plan: &Plan, around: &Surroundings) -> String {
    let (all, spaces) = outlooks(plan, around);
    let mut out = format!("{}\n\n", plan.title);
    let mut table = Table::new(&[
        ("case", Align::Left),
        ("what", Align::Left),
        ("path", Align::Left),
        ("tasks", Align::Right),
        ("files", Align::Right),
        ("bytes a phase", Align::Right),
        ("repeats", Align::Right),
        ("predicted", Align::Right),
    ]);
    for (case, outlook) in plan.cases.iter().zip(&all) {
        table.row(vec![
            case.id.clone(),
            what(case),
            words::path(&case.workload),
            grouped(u64::from(case.workload.tasks)),
            grouped(outlook.forecast.files),
            largest_phase(outlook).to_string(),
            grouped(u64::from(case.repetitions)),
            duration(outlook.seconds),
        ]);
    }
    out.push_str(&table.to_text("", str::to_owned));
    out.push('\n');
    out.push_str(&altogether(plan, &all, &spaces, around));
    let advice = concerns(plan, &all);
    if !advice.is_empty() {
        out.push_str("\nLook at this first\n");
        out.push_str(&advice);
    }
    out
}

/// The whole plan for `--explain`: each option with its meaning, then for each case sizes in both
/// units, tasks, files, targets, bounds, the first offsets, predicted volume and seconds, space,
/// memory and what should be looked at.
#[must_use]
pub fn explain(plan: &Plan, around: &Surroundings) -> String {
    let (all, spaces) = outlooks(plan, around);
    let mut out = format!("{}\n", plan.title);
    out.push_str(&question(plan));
    for (number, (case, outlook)) in plan.cases.iter().zip(&all).enumerate().take(CASES_EXPLAINED) {
        let name =
            if case.title.is_empty() { case.id.clone() } else { format!("{}: {}", case.id, case.title) };
        let _ = write!(out, "\nCase {} of {}  {name}\n", number + 1, plan.cases.len());
        out.push_str(&case_lines(case, outlook, around));
        let advice: String =
            outlook.concerns.iter().map(|concern| advice_line(plan, case, concern)).collect();
        out.push_str(&advice);
    }
    if plan.cases.len() > CASES_EXPLAINED {
        let _ = write!(out, "\n… and {} more cases\n", plan.cases.len() - CASES_EXPLAINED);
    }
    out.push_str("\nAltogether\n");
    out.push_str(&altogether(plan, &all, &spaces, around));
    out
}

/// `1 MiB sequential write, read`.
fn what(case: &Case) -> String {
    let mut phases: Vec<&str> = Vec::new();
    for phase in case.phases.iter().filter(|phase| phase.is_result()) {
        if !phases.contains(&phase.name()) {
            phases.push(phase.name());
        }
    }
    let order = words::order(&case.workload);
    format!("{} {order} {}", case.workload.geometry.transfer, phases.join(", "))
}

/// The most that one result phase moves.
fn largest_phase(outlook: &Outlook) -> Bytes {
    let results = outlook.phases.iter().filter(|phase| phase.phase.is_result());
    results.map(|phase| phase.bytes).max().unwrap_or(outlook.forecast.phase_bytes)
}

/// Who asked, and each option with its meaning.
fn question(plan: &Plan) -> String {
    match &plan.question {
        Question::Quick { directory } => format!("asked by      --quick {}\n", directory.display()),
        Question::Study { path, .. } => format!("asked by      {}\n", path.display()),
        Question::Dialect { arguments, notes, .. } => {
            let mut out = wrapped("asked by      ", &shell_line(arguments), COLUMNS);
            out.push('\n');
            out.push_str(&options(notes));
            out
        }
    }
}

fn options(notes: &[OptionNote]) -> String {
    let written = notes.iter().map(|note| width(&note.written)).max().unwrap_or(0).clamp(6, 24);
    let name = notes.iter().map(|note| width(&note.name)).max().unwrap_or(0).clamp(4, 20);
    let mut out = String::new();
    for note in notes {
        let first = format!("  {:written$}  {:name$}  ", note.written, note.name);
        out.push_str(&wrapped(&first, &note.meaning, COLUMNS));
    }
    out
}

fn case_lines(case: &Case, outlook: &Outlook, around: &Surroundings) -> String {
    let mut out = String::new();
    let mut line =
        |name: &str, text: String| out.push_str(&wrapped(&format!("  {name:<11} "), &text, COLUMNS));
    for (name, text) in what_lines(case, outlook) {
        line(name, text);
    }
    for phase in outlook.fill.iter().chain(&outlook.phases) {
        line("predicted", predicted(phase, around));
    }
    for space in &outlook.spaces {
        line("space", space_words(space));
    }
    line("memory", memory_words(&case.workload, around.memory));
    if outlook.phases.len() > 1 || case.repetitions > 1 {
        line(
            "time",
            format!(
                "{} for {}",
                duration(outlook.seconds),
                counted(u64::from(case.repetitions), "repetition")
            ),
        );
    }
    out.push_str(&offsets::first(case));
    out
}

/// What the case does, without its surroundings.
fn what_lines(case: &Case, outlook: &Outlook) -> Vec<(&'static str, String)> {
    let workload = &case.workload;
    let (geometry, forecast) = (workload.geometry, &outlook.forecast);
    let per_block = counted(geometry.transfers_per_block(), "transfer");
    let mut lines = vec![
        ("transfer", geometry.transfer.both_units()),
        ("block", format!("{}: {per_block}", geometry.block.both_units())),
        (
            "segments",
            format!("{}: {} a task", grouped(geometry.segments), geometry.bytes_per_task().both_units()),
        ),
        ("tasks", grouped(u64::from(workload.tasks))),
        ("volume", format!("{} in one pass of all tasks", forecast.phase_bytes.both_units())),
        ("files", files_words(case, outlook)),
        ("targets", targets_words(case, outlook)),
    ];
    if workload.files.sharing == Sharing::PerTask {
        lines.push(("balance", balance_words(workload, forecast.balance_bound)));
    }
    lines.push(("order", order_words(workload)));
    lines.push(("path", path_words(workload)));
    lines.push(("durability", sync_words(workload)));
    lines.push(("phases", phases_words(case)));
    lines.extend(read_from_words(workload).map(|text| ("reads", text)));
    lines.extend(clock_words(workload).map(|text| ("clock", text)));
    lines.push(("afterwards", keep_words(workload).to_owned()));
    lines
}

fn files_words(case: &Case, outlook: &Outlook) -> String {
    let files = &case.workload.files;
    let kind = match files.sharing {
        Sharing::Shared => "shared by all tasks",
        Sharing::PerTask if files.unique_dir => "one for each task, each in a directory of its own",
        Sharing::PerTask => "one for each task",
    };
    let sets = if files.file_per_repetition { ", a set for each repetition" } else { "" };
    let existing = match files.existing {
        Existing::Replace => "files that exist are replaced",
        Existing::Reuse => "files that exist are written over in place",
    };
    let size = outlook.forecast.file_bytes.both_units();
    format!("{} of {size}, {kind}{sets}; {existing}", grouped(outlook.forecast.files))
}

fn targets_words(case: &Case, outlook: &Outlook) -> String {
    let targets = &case.workload.files.targets;
    let mut names: Vec<String> =
        targets.iter().take(TARGETS_NAMED).map(|path| path.display().to_string()).collect();
    if targets.len() > TARGETS_NAMED + 1 {
        names.push("…".to_owned());
    }
    if targets.len() > TARGETS_NAMED {
        names.extend(targets.last().map(|path| path.display().to_string()));
    }
    let names = names.join(" ");
    let (fewest, most) = outlook.forecast.files_per_target;
    match (targets.len(), case.workload.files.sharing) {
        (1, _) => names,
        (count, Sharing::Shared) => format!("{count}: {names}; a shared file uses the first alone"),
        (count, Sharing::PerTask) if fewest == most => {
            format!("{count}: {names}; {} on each", counted(u64::from(most), "file"))
        }
        (count, Sharing::PerTask) => format!("{count}: {names}; {fewest} or {most} files on each"),
    }
}

fn balance_words(workload: &Workload, bound: f64) -> String {
    let targets = workload.files.targets.len() as u64;
    let over = format!("{} over {}", counted(u64::from(workload.tasks), "task"), counted(targets, "target"));
    if bound < 1.0 {
        format!("{over}: at most {} of the sum can be reached", percent(bound))
    } else {
        format!("{over}: all of the sum can be reached")
    }
}

fn order_words(workload: &Workload) -> String {
    match workload.order {
        Order::Sequential => "sequential: segment by segment, in rising offsets".to_owned(),
        Order::Random { seed } => format!("random: each transfer once, chosen by seed {seed}"),
    }
}

fn path_words(workload: &Workload) -> String {
    let depth = workload.backend.depth();
    let under_way = format!("{depth} under way for each task");
    match workload.backend {
        Backend::Null => "null: no I/O at all, measures the instrument".to_owned(),
        Backend::Mmap => "shared memory mapping, through the page cache".to_owned(),
        Backend::Psync | Backend::Uring { .. } => {
            let direct =
                if workload.direct { "direct (O_DIRECT)" } else { "buffered, through the page cache" };
            let calls =
                if matches!(workload.backend, Backend::Psync) { "pread and pwrite" } else { "io_uring" };
            format!("{direct}; {calls}, {under_way}")
        }
    }
}

fn sync_words(workload: &Workload) -> String {
    match (workload.sync.per_write, workload.sync.at_close) {
        (true, true) => "fsync after each write, inside its latency, and in the timed close".to_owned(),
        (true, false) => "fsync after each write, inside its latency".to_owned(),
        (false, true) => "fsync after the last write, in the timed close".to_owned(),
        (false, false) => {
            "none asked for: data may be in memory or in a device's cache at the end".to_owned()
        }
    }
}

fn phases_words(case: &Case) -> String {
    let mut names: Vec<String> = case.phases.iter().map(ToString::to_string).collect();
    if case.phases.contains(&Phase::Mixed) {
        names.push(format!("({} % reads)", case.workload.read_percent));
    }
    let mut text = format!("{}; {}", names.join(", "), counted(u64::from(case.repetitions), "repetition"));
    if case.delay.0 > 0 {
        let _ = write!(text, ", {} of rest before each write and read", case.delay);
    }
    if let Some(limit) = case.time_limit {
        let _ = write!(text, ", none started after {limit}");
    }
    text
}

fn read_from_words(workload: &Workload) -> Option<String> {
    match workload.read_from {
        ReadFrom::Same => None,
        ReadFrom::Shift { tasks } => Some(format!("task t reads what task t + {tasks} wrote")),
        ReadFrom::Shuffle { at_least, seed, reseed } => {
            let fresh = if reseed { ", another in each repetition" } else { "" };
            Some(format!("a random task reads, at least {at_least} places away; seed {seed}{fresh}"))
        }
    }
}

fn clock_words(workload: &Workload) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(duration) = workload.duration {
        parts.push(format!("passes are repeated for {duration}"));
    }
    if let Some(stonewall) = workload.stonewall {
        let after =
            if stonewall.wear_out { "all catch up with the fastest" } else { "the rest stays undone" };
        parts.push(format!("each task stops after {}, then {after}", stonewall.deadline));
    }
    if let Some(pace) = workload.pace {
        let rate = pace.transfers_per_second;
        parts.push(format!("open loop: {rate} transfers/s in all, latency counted from the intended start"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn keep_words(workload: &Workload) -> &'static str {
    match workload.files.keep {
        Keep::Never => "the files are removed, whatever happened",
        Keep::OnError => "the files are removed unless a check found wrong data",
        Keep::Always => "the files are kept",
    }
}

fn predicted(phase: &PhaseOutlook, around: &Surroundings) -> String {
    let volume = decimal_bytes(phase.bytes.0);
    let at = format!("{} ({})", rate(phase.bytes_per_second), source(phase.phase, around));
    let seconds = duration(phase.seconds);
    if phase.by_clock {
        format!("{}: {seconds} by the clock, {volume} at {at}", phase.phase)
    } else {
        format!("{}: {volume} take {seconds} at {at}", phase.phase)
    }
}

/// Where the rate of `phase` comes from.
fn source(phase: Phase, around: &Surroundings) -> String {
    let ExpectedRate { source, .. } = if phase.writes() { &around.write } else { &around.read };
    if phase == Phase::Mixed && *source != around.read.source {
        return format!("{source}; {}", around.read.source);
    }
    source.clone()
}

fn space_words(space: &SpaceOutlook) -> String {
    let (needed, free) = (space.needed.both_units(), space.free.both_units());
    format!("{}: {needed} of {free} free, {}", space.name, percent(space.share()))
}

fn memory_words(workload: &Workload, memory: Option<Bytes>) -> String {
    let Some(memory) = memory else {
        return "not known; whether the page cache can hold the data cannot be said".to_owned();
    };
    let volume = workload.bytes().0 as f64 / (memory.0 as f64).max(1.0);
    let risk = match workload.backend {
        Backend::Null => "no data is moved",
        _ if workload.direct => "direct I/O goes round the page cache",
        _ if volume < plan::MEMORY_MULTIPLE_MIN => "the page cache can answer",
        _ => "more than the page cache can hold",
    };
    format!("one pass moves {volume:.2} × the memory of {}: {risk}", memory.both_units())
}

fn altogether(plan: &Plan, all: &[Outlook], spaces: &[SpaceOutlook], around: &Surroundings) -> String {
    let seconds: f64 = all.iter().map(|outlook| outlook.seconds).sum();
    let moved = |writes: bool| {
        let phases = plan.cases.iter().zip(all).flat_map(|(case, outlook)| {
            let times = u64::from(case.repetitions);
            let fill = outlook.fill.iter().map(|phase| (phase, 1));
            fill.chain(outlook.phases.iter().map(move |phase| (phase, times)))
        });
        let bytes = phases.filter(|(phase, _)| phase.phase.writes() == writes);
        bytes.fold(0_u64, |sum, (phase, times)| sum.saturating_add(phase.bytes.0.saturating_mul(times)))
    };
    let mut out = String::new();
    let mut line =
        |name: &str, text: String| out.push_str(&wrapped(&format!("  {name:<11} "), &text, COLUMNS));
    line("time", format!("about {} in {}", duration(seconds), counted(all.len() as u64, "case")));
    line(
        "volume",
        format!("about {} written, {} read", decimal_bytes(moved(true)), decimal_bytes(moved(false))),
    );
    for space in spaces.iter().filter(|space| space.needed.0 > 0) {
        line("space", format!("at most {}", space_words(space)));
    }
    for (name, expected) in [("write rate", &around.write), ("read rate", &around.read)] {
        let small = if expected.transfer_time.0 > 0 {
            format!(", {} for one small transfer", expected.transfer_time)
        } else {
            String::new()
        };
        line(name, format!("{}{small}: {}", rate(expected.bytes_per_second), expected.source));
    }
    line("seed", plan.seed.to_string());
    out
}

/// Concerns of all cases, each said once, with the cases that it is about.
fn concerns(plan: &Plan, all: &[Outlook]) -> String {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for (case, outlook) in plan.cases.iter().zip(all) {
        for concern in &outlook.concerns {
            let text = concern_words(plan, case, concern);
            match said.iter_mut().find(|(other, _)| *other == text) {
                Some((_, cases)) => cases.push(&case.id),
                None => said.push((text, vec![&case.id])),
            }
        }
    }
    said.iter()
        .map(|(text, cases)| wrapped("  ! ", &format!("{}: {text}", cases.join(", ")), COLUMNS))
        .collect()
}

fn advice_line(plan: &Plan, case: &Case, concern: &Concern) -> String {
    wrapped("  ! ", &concern_words(plan, case, concern), COLUMNS)
}

/// A concern in words, with the option that would do.
fn concern_words(plan: &Plan, case: &Case, concern: &Concern) -> String {
    let knob = knob(plan);
    let to = |verb: &str, segments: &Option<u64>, otherwise: &str| match segments {
        Some(segments) => format!("{verb} {knob} to {segments}"),
        None => otherwise.to_owned(),
    };
    let take = |outlook: &PhaseOutlook| {
        let (volume, seconds) = (decimal_bytes(outlook.bytes.0), duration(outlook.seconds));
        format!("{}: {volume} take {seconds} at {}", outlook.phase, rate(outlook.bytes_per_second))
    };
    match concern {
        Concern::TooShort { outlook, segments } => {
            let advice = to("raise", segments, "set a longer time");
            format!("{}, too short for a rate that can be defended: {advice}", take(outlook))
        }
        Concern::TooLong { outlook, segments } => {
            let advice = to("lower", segments, "use fewer tasks, a smaller block or a shorter time");
            format!("{}: {advice}, if that is not meant", take(outlook))
        }
        Concern::NoSpace { space, segments } => {
            let advice = would_fit(knob, segments);
            let free = decimal_bytes(space.free.0);
            format!("{}, but {} has {free} free: {advice}", product(case, space), space.name)
        }
        Concern::LittleSpace { space, segments } => {
            let advice = would_fit(knob, segments);
            let (free, share) = (decimal_bytes(space.free.0), percent(space.share()));
            format!(
                "{} of {free} free on {} ({share}): a full file system is slow; {advice} with room to spare",
                product(case, space),
                space.name
            )
        }
        Concern::Cacheable { volume, memory, segments } => format!(
            "{} go through the page cache of a host with {}: memory may answer; use direct I/O, or raise {knob} to {segments}",
            decimal_bytes(volume.0),
            decimal_bytes(memory.0)
        ),
        Concern::Unbalanced { tasks, targets, bound } => format!(
            "{tasks} tasks over {targets} targets: at most {} of the sum can be reached; use a multiple of {targets}",
            percent(*bound)
        ),
    }
}

/// The option that sets the number of segments, in the words of whoever asked.
fn knob(plan: &Plan) -> &'static str {
    match &plan.question {
        Question::Dialect { tool, .. } if tool == "ior" => "-s",
        _ => "segments",
    }
}

fn would_fit(knob: &str, segments: &Option<u64>) -> String {
    match segments {
        Some(segments) => format!("{knob} {segments} would fit"),
        None => "use fewer tasks or a smaller block".to_owned(),
    }
}

/// `132 tasks × 16 MiB × 10,000 = 22.1 TB`, or the bytes alone where the files are spread.
fn product(case: &Case, space: &SpaceOutlook) -> String {
    let geometry = case.workload.geometry;
    let needed = decimal_bytes(space.needed.0);
    if space.needed != case.workload.bytes() {
        return needed;
    }
    let tasks = counted(u64::from(case.workload.tasks), "task");
    format!("{tasks} × {} × {} = {needed}", geometry.block, grouped(geometry.segments))
}
