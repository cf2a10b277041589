//! One attempt with a kind of work that `ioproof run` does: a fault at a random moment, and the checks afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use record::{RecordError, Run, RunState};
use serde_json::Value;
use testbed::{Finished, Launch, Program};

use crate::desk::run;

use super::draw::Draw;
use super::fault::{Fault, Storage};
use super::site::{Site, lives};
use super::work::Work;

/// The longest wait for a run to reach its random moment, and for processes to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest delay between an event of the journal and the fault.
const DELAY_US: u64 = 30_000;

/// What the program prints when it panics.
pub(super) const PANIC: &str = "ioproof: internal error";

/// Problems found after a fault.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Problems {
    /// Finished results that are not in the record or cannot be recovered by resuming.
    pub(super) lost: Vec<String>,
    /// Files or processes left behind, or missing files that did not belong to ioproof.
    pub(super) left: Vec<String>,
    /// An exit code or message other than documented.
    pub(super) wrong: Vec<String>,
}

/// The problems of an attempt in which the fault struck; `None` if it did not strike.
pub(super) type Tried = Option<Problems>;

/// The results of a run: phases and launches of jobs.
type Results = BTreeSet<String>;

/// The results of the work without a fault.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    results: Results,
    events: usize,
}

impl Reference {
    pub(super) fn of(work: Work) -> Result<Self, String> {
        let site = Site::new(Fault::Killed, "reference")?;
        let finished = run(&start(work, &site));
        if finished.code != Some(0) {
            return Err(format!("{} without a fault: {}", work.name(), said(&finished)));
        }
        let results = results(&site.record())?;
        Ok(Self { events: journal(&site.record()).len(), results })
    }
}

/// Finished phases and launches in a record.
fn results(record: &Path) -> Result<Results, String> {
    let run = Run::open(record).map_err(|error| error.to_string())?;
    let mut found: Results = run
        .all_phases()
        .map(|row| named(row.key.case.as_ref(), row.key.repetition, row.key.phase.name()))
        .collect();
    let whole = run.cases().iter().flat_map(|case| run.launches(case).to_vec());
    let interrupted = run.interrupted.iter().flat_map(|pass| pass.launches.clone());
    found.extend(whole.chain(interrupted).map(|row| {
        format!(
            "{} launch {}",
            named(row.key.case.as_ref(), row.key.repetition, row.key.phase.name()),
            row.launch
        )
    }));
    Ok(found)
}

fn named(case: &str, repetition: u32, phase: &str) -> String {
    format!("{case} {repetition} {phase}")
}

/// The complete lines of the journal that report results.
fn journal(record: &Path) -> Vec<Value> {
    let text = fs::read_to_string(record.join("journal.jsonl")).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let is_result = |line: &&str| {
        line.starts_with("{\"event\":\"phase-finished\"") || line.starts_with("{\"event\":\"launches-ended\"")
    };
    whole.lines().filter(is_result).filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The results that these lines report.
fn reported(lines: &[Value]) -> Results {
    let mut found = Results::new();
    for line in lines {
        let word = |key: &str| line[key].as_str().unwrap_or_default();
        let repetition = line["repetition"].as_u64().and_then(|number| u32::try_from(number).ok());
        let name = named(word("case"), repetition.unwrap_or_default(), word("phase"));
        match line["tables"]["launches"]["launch"].as_array().filter(|_| word("event") == "launches-ended") {
            Some(launches) => found.extend(launches.iter().map(|launch| format!("{name} launch {launch}"))),
            None => _ = found.insert(name),
        }
    }
    found
}

fn said(finished: &Finished) -> String {
    format!("code {:?}, signal {:?}: {}{}", finished.code, finished.signal, finished.stdout, finished.stderr)
}

/// The work on a site, started as a user would.
fn start(work: Work, site: &Site) -> Program {
    let study = site.write("study.toml", &work.study(&site.data));
    ranked(work, site.desk.ioproof("run --yes").arg(study).arg("--out").arg(site.record()))
}

/// The same program, on two ranks if the work uses ranks.
fn ranked(work: Work, program: Program) -> Program {
    if work == Work::Ranks { Launch::open_mpi(2).start(&program) } else { program }
}

/// Waits until the journal has this many results. Returns `None` if the run ends first.
fn wait_for_results(running: &mut testbed::Running, record: &Path, results: usize) -> Option<()> {
    let start = Instant::now();
    while journal(record).len() < results || !record.join("journal.jsonl").exists() {
        if running.has_ended().unwrap_or(true) || start.elapsed() > PATIENCE {
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Some(())
}

/// A run that was hit by its fault.
struct Struck {
    site: Site,
    /// The results that were finished before the fault.
    before: Results,
    finished: Finished,
    /// Whether all results are in the record.
    is_whole: bool,
    problems: Problems,
}

/// One attempt. An error means that the test itself failed.
pub(super) fn attempt(
    work: Work,
    fault: Fault,
    reference: &Reference,
    name: &str,
    draw: &mut Draw,
) -> Result<Tried, String> {
    let Some(mut struck) = strike(work, fault, reference, name, draw)? else { return Ok(None) };
    judge_end(work, fault, &struck.finished, &mut struck.problems);
    let is_recorded = judge_record(&mut struck);
    struck.site.heal(fault)?;
    go_on(work, fault, is_recorded, draw.below(2) == 0, &mut struck);
    judge_results(reference, &mut struck);
    let Struck { site, finished, mut problems, .. } = struck;
    if problems != Problems::default() {
        problems.wrong.push(format!("the first requests: {:?}", site.first_requests()));
        problems.wrong.push(format!("it had said: {}", said(&finished)));
    }
    Ok(Some(problems))
}

/// Runs the work to its end with the fault at a random moment. Returns `None` if the fault came too late.
fn strike(
    work: Work,
    fault: Fault,
    reference: &Reference,
    name: &str,
    draw: &mut Draw,
) -> Result<Option<Struck>, String> {
    let say = |error: testbed::Error| format!("{} {}: {error}", work.name(), fault.name());
    let site = Site::new(fault, name)?;
    let record = site.record();
    let mut running = site.grouped(start(work, &site))?.spawn().map_err(say)?;
    // Claim files are closed before the first result, and are on stable storage by then.
    let first = u64::from(fault == Fault::CloseFails);
    let moment = first + draw.below(reference.events as u64 - first);
    let moment = usize::try_from(moment).map_err(|error| error.to_string())?;
    if wait_for_results(&mut running, &record, moment).is_none() {
        return Ok(None);
    }
    thread::sleep(Duration::from_micros(draw.below(DELAY_US)));
    if running.has_ended().map_err(say)? {
        return Ok(None);
    }
    let before = reported(&journal(&record));
    let children: Vec<u32> = running.processes().iter().map(testbed::Process::id).collect();
    let _ = site.fuse().map(testbed::ProgrammedFs::clear_requests);
    let struck = fault.strike(work, &site, &running, draw);
    let finished = running.wait().map_err(say)?;
    let mut problems = Problems::default();
    // Ranks without their launcher are given time to end.
    left_processes(&children, &mut problems);
    let is_whole = Run::open(&record).is_ok_and(|run| run.state == RunState::Complete);
    // A FUSE fault is counted only when a request met it, so the work was still running. Other faults may strike
    // after all work is done.
    let is_counted = fault.storage() == Storage::Fuse || fault.is_overcome();
    let was_late = is_whole && !is_counted && finished.code != Some(5);
    let was_met = struck.is_ok() && site.was_met() && !was_late;
    Ok(was_met.then_some(Struck { site, before, finished, is_whole, problems }))
}

/// Whether the program ended as documented.
fn judge_end(work: Work, fault: Fault, finished: &Finished, problems: &mut Problems) {
    if finished.stderr.contains(PANIC) {
        problems.wrong.push("it panicked".to_owned());
    }
    match finished.code {
        // The launcher has its own exit codes for signals that it receives and for a rank that it has lost.
        Some(code) if work == Work::Ranks && !fault.is_of_storage() && code != 0 => {}
        // The failed open was not needed: the results are complete.
        Some(0) if fault == Fault::OpenFails && problems.lost.is_empty() => return,
        Some(code) if !fault.codes().contains(&code) => {
            problems.wrong.push(format!("code {code}, not one of {:?}", fault.codes()));
        }
        None if !fault.ends_at_once() && fault != Fault::LostLauncher => {
            problems.wrong.push(format!("signal {:?}", finished.signal));
        }
        _ => {}
    }
    let words = fault.words();
    // A matrix continues after launches fail. The report names those launches with their errors.
    let said =
        if work == Work::Jobs { finished.stdout.clone() + &finished.stderr } else { finished.stderr.clone() };
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let is_said = words.is_empty() || words.iter().any(|word| said.contains(&word.to_lowercase()));
    if finished.code.is_some() && !is_said && !killed_by_launcher(work, fault, finished) {
        problems.wrong.push(format!("the message has none of {words:?}"));
    }
}

/// A launcher that receives a signal forwards it, and kills the ranks that still run a few seconds later. On a busy
/// host that is before they have ended in order. What remains is then the launcher's code and message, and claimed
/// files.
fn killed_by_launcher(work: Work, fault: Fault, finished: &Finished) -> bool {
    work == Work::Ranks
        && !fault.is_of_storage()
        && finished.code.is_some_and(|code| !fault.codes().contains(&code))
}

/// Processes that the program started must end with it.
fn left_processes(children: &[u32], problems: &mut Problems) {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if !children.iter().any(|&child| lives(child)) {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    problems.left.push(format!("processes of its own: {children:?}"));
}

/// Everything that was finished before the fault is in the record. Returns whether there is a record: a run that
/// recorded nothing leaves no directory, or a directory that is not a run.
fn judge_record(struck: &mut Struck) -> bool {
    let Struck { site, before, problems, .. } = struck;
    let record = site.record();
    let opened = Run::open(&record);
    if before.is_empty() && matches!(opened, Err(RecordError::NotBegun { .. } | RecordError::NotARun { .. }))
    {
        let _ = fs::remove_dir_all(&record);
        return false;
    }
    match results(&record) {
        Ok(found) => {
            let missing: Vec<&String> = before.difference(&found).collect();
            if !missing.is_empty() {
                problems.lost.push(format!("{missing:?}"));
            }
        }
        Err(error) => problems.lost.push(error),
    }
    let shown = run(&site.desk.ioproof("report --format text").arg(&record));
    if shown.code != Some(0) {
        problems.wrong.push(format!("report: {}", said(&shown)));
    }
    true
}

/// The user either runs `ioproof clean`, or resumes at once.
fn go_on(work: Work, fault: Fault, is_recorded: bool, cleans: bool, struck: &mut Struck) {
    let Struck { site, problems, is_whole, finished, .. } = struck;
    let left = site.left();
    let may_be_left = fault.may_leave_claimed() || killed_by_launcher(work, fault, finished);
    if !left.is_empty() && !may_be_left {
        problems.left.push(format!("before clean: {left:?}"));
    }
    let goes_on = !fault.is_overcome() && !*is_whole;
    if !goes_on || cleans {
        problems.left.extend(site.clean());
        problems.left.extend(site.left());
    }
    if !goes_on {
        return;
    }
    let again = match is_recorded {
        true => ranked(work, site.desk.ioproof("run --yes --resume").arg(site.record())),
        false => start(work, site),
    };
    let resumed = run(&again);
    if resumed.code != Some(0) {
        problems.lost.push(format!("resume: {}", said(&resumed)));
    }
    match Run::open(&site.record()) {
        Ok(run) if run.state == RunState::Complete => {}
        Ok(run) => problems.lost.push(format!("after resuming it is {:?}", run.state)),
        Err(error) => problems.lost.push(error.to_string()),
    }
    problems.left.extend(site.left());
}

/// The results must equal those of a run without a fault.
fn judge_results(reference: &Reference, struck: &mut Struck) {
    let Struck { site, problems, .. } = struck;
    match results(&site.record()) {
        Ok(found) => {
            let missing: Vec<&String> = reference.results.difference(&found).collect();
            if !missing.is_empty() {
                problems.lost.push(format!("after resuming: {missing:?}"));
            }
            let more: Vec<&String> = found.difference(&reference.results).collect();
            if !more.is_empty() {
                problems.wrong.push(format!("results that the study does not ask for: {more:?}"));
            }
        }
        Err(error) => problems.lost.push(error),
    }
}
