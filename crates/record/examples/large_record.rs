//! Writes a long made-up study and reads it again: `large_record write DIR [CASES]`, then
//! `large_record read DIR`, which says how long opening the run and going through all of its rows
//! took and how much memory the process needed at most.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use record::{Outcome, PhaseRecord, RecordError, Recorder, Run};

#[path = "../tests/record/sample.rs"]
#[allow(dead_code, reason = "each program uses its own part of this module")]
mod sample;

/// Passes of each case, each with a write and a read phase of 200 buckets.
const PASSES: u32 = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["write", directory] => write(Path::new(directory), 10_000),
        ["write", directory, cases] => write(Path::new(directory), cases.parse().unwrap_or(10_000)),
        ["read", directory] => read(Path::new(directory)),
        _ => return ExitCode::from(2),
    };
    let done = done.unwrap_or_else(|error| format!("failed to {error}"));
    // A reader that went away is no reason to fail.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{done}\n").as_bytes());
    ExitCode::SUCCESS
}

fn write(directory: &Path, cases: usize) -> Result<String, RecordError> {
    let mut manifest = sample::manifest();
    let one = manifest.plan.cases[0].clone();
    let ids: Vec<String> = (0..cases).map(|number| format!("sweep:tasks={number}:transfer=1MiB")).collect();
    let case = |id: &String| plan::Case { id: id.clone(), repetitions: PASSES, ..one.clone() };
    manifest.plan.cases = ids.iter().map(case).collect();
    let mut recorder = Recorder::create(directory, &manifest)?;
    let mut longest = 0.0_f64;
    for id in &ids {
        let records: Vec<PhaseRecord> = (0..PASSES)
            .flat_map(|pass| {
                [plan::Phase::Write, plan::Phase::Read].map(|phase| sample::phase(id, pass, phase, 4))
            })
            .collect();
        recorder.case_started(id)?;
        for record in &records {
            recorder.phase_finished(record)?;
        }
        let start = Instant::now();
        recorder.case_finished(id)?;
        longest = longest.max(start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    recorder.finish(&Outcome::Complete)?;
    let end = start.elapsed().as_secs_f64();
    Ok(format!("longest end of a case {:.1} ms, end of the run {end:.3} s", longest * 1e3))
}

fn read(directory: &Path) -> Result<String, RecordError> {
    let start = Instant::now();
    let run = Run::open(directory)?;
    let opened = start.elapsed().as_secs_f64();
    let mut rows = run.phases.len();
    for case in run.cases() {
        rows += run.tasks(case).len() + run.latency(case).len() + run.series(case).len();
    }
    let all = start.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    Ok(format!("opened in {opened:.3} s, {rows} rows in {all:.3} s; {peak}"))
}
