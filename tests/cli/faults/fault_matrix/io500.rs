//! One attempt with IO500, whose phases leave files for each other.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use record::{Run, RunState};
use rustix::process::Signal;
use testbed::{Finished, Program};

use crate::desk::{Desk, run, tree};

use super::attempt::{PANIC, Problems, Tried};
use super::draw::Draw;
use super::fault::Fault;

/// Four phases of about a second each.
const CONFIG: &str = "[global]\ndatadir = data\nresultdir = results\ntimestamp-datadir = FALSE\n\
     timestamp-resultdir = FALSE\n[debug]\nstonewall-time = 1\n[ior-easy]\nblockSize = 2m\n[mdtest-easy]\nn = 20\n\
     [ior-hard]\nrun = FALSE\n[mdtest-hard]\nrun = FALSE\n[find]\nrun = FALSE\n[mdworkbench]\nrun = FALSE\n\
     [ior-rnd4K-easy-read]\nrun = FALSE\n";
/// The longest wait for a phase: each waits for `sync`, and so for everything that is written on the host.
const PATIENCE: Duration = Duration::from_secs(200);
/// The longest delay between the start of a phase and the fault.
const DELAY_MS: u64 = 1200;
/// Where the phases are recorded.
const PHASES: [&str; 4] = ["ior-easy-write", "mdtest-easy-write", "ior-easy-read", "mdtest-easy-delete"];

fn said(finished: &Finished) -> String {
    format!("code {:?}, signal {:?}: {}{}", finished.code, finished.signal, finished.stdout, finished.stderr)
}

fn io500(desk: &Desk, words: &str) -> Program {
    desk.ioproof("io500 config.ini").args(words.split_whitespace()).limit(2 * PATIENCE)
}

fn is_complete(record: &Path) -> bool {
    Run::open(record).is_ok_and(|run| run.state == RunState::Complete)
}

/// One attempt. An error means that the test itself failed. Each attempt `again` draws from earlier phases and shorter
/// delays, because a quiet machine is done with the last ones before a signal reaches them.
pub(super) fn attempt(fault: Fault, draw: &mut Draw, again: u64) -> Result<Tried, String> {
    let desk = Desk::new();
    fs::write(desk.path("config.ini"), CONFIG).map_err(|error| error.to_string())?;
    let mut running = io500(&desk, "--out record").spawn().map_err(|error| error.to_string())?;
    let phase = PHASES
        [usize::try_from(draw.below((PHASES.len() as u64).saturating_sub(again).max(1))).unwrap_or_default()];
    let start = Instant::now();
    while !desk.path("record.phases").join(phase).exists() {
        if running.has_ended().unwrap_or(true) || start.elapsed() > PATIENCE {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
    thread::sleep(Duration::from_millis(draw.below((DELAY_MS >> again.min(63)).max(1))));
    let signal = if fault == Fault::Terminated { Signal::TERM } else { Signal::KILL };
    if fault == Fault::InterruptedTwice {
        running.signal(Signal::INT).map_err(|error| error.to_string())?;
        thread::sleep(Duration::from_millis(draw.below(30)));
        let _ = running.signal(Signal::INT);
    } else {
        running.signal(signal).map_err(|error| error.to_string())?;
    }
    let finished = running.wait().map_err(|error| error.to_string())?;
    if is_complete(&desk.record()) {
        return Ok(None);
    }
    let mut problems = Problems::default();
    if finished.stderr.contains(PANIC) || finished.code.is_some_and(|code| code != 130) {
        problems.wrong.push(said(&finished));
    }
    let told = run(&desk.ioproof("report record"));
    if told.code != Some(7) || !told.stderr.contains("--resume record") {
        problems.wrong.push(format!("report names no next step: {}", said(&told)));
    }
    if draw.below(2) == 0 {
        let has_data = desk.path("data").exists();
        let cleaned = run(&desk.ioproof("clean --yes data"));
        if has_data && cleaned.code != Some(0) {
            problems.left.push(format!("clean: {}", said(&cleaned)));
        }
    } else {
        let resumed = run(&io500(&desk, "--resume record"));
        if resumed.code != Some(0) || !is_complete(&desk.record()) {
            problems.lost.push(format!("resume: {}", said(&resumed)));
        }
    }
    let data = desk.path("data");
    if data.exists() && !tree(&data).is_empty() {
        problems.left.push(format!("{:?}", tree(&data).into_keys().collect::<Vec<_>>()));
    }
    Ok(Some(problems))
}
