//! One attempt with a finished record: a file in it is truncated, has a flipped bit, or is missing.

use std::fs;
use std::path::{Path, PathBuf};

use record::Run;
use serde_json::Value;
use testbed::Program;

use crate::desk::{Desk, run, tree};

use super::attempt::{PANIC, Problems, Tried};
use super::draw::Draw;
use super::fault::Fault;

/// The figures of a record, as its report prints them.
fn figures(desk: &Desk, record: &Path) -> Result<Value, String> {
    let shown = run(&desk.ioproof("report --format json").arg(record));
    match shown.code {
        Some(0) => {
            let report: Value = serde_json::from_str(&shown.stdout).map_err(|error| error.to_string())?;
            Ok(report["figures"].clone())
        }
        _ => Err(format!("code {:?}: {}", shown.code, shown.stderr)),
    }
}

/// One attempt on a copy of `source`. An error means that the test itself failed.
pub(super) fn attempt(fault: Fault, source: &Path, draw: &mut Draw) -> Result<Tried, String> {
    let desk = Desk::new();
    let record = desk.record();
    let _ = run(&Program::new("cp").arg("-r").arg(source).arg(&record)).expect_code(0);
    let whole = figures(&desk, &record)?;
    // The report is written anew each time and never read.
    let is_read = |path: &PathBuf| path.is_file() && !path.to_string_lossy().contains("/report");
    let files: Vec<PathBuf> = tree(&record).into_keys().filter(is_read).collect();
    let drawn = |draw: &mut Draw, end: usize| usize::try_from(draw.below(end as u64)).unwrap_or_default();
    let path = files.get(drawn(draw, files.len())).ok_or("an empty record")?;
    let mut bytes = fs::read(path).map_err(|error| error.to_string())?;
    // Both ends of the file, where most formats keep their lengths, are hit as often as everything in between.
    let place = match draw.below(3) {
        0 => drawn(draw, bytes.len().min(64)),
        1 => bytes.len().saturating_sub(1 + drawn(draw, bytes.len().min(64))),
        _ => drawn(draw, bytes.len()),
    };
    let done = match fault {
        Fault::FileCut => {
            bytes.truncate(place);
            fs::write(path, &bytes)
        }
        Fault::BitFlipped => {
            *bytes.get_mut(place).ok_or("an empty file")? ^= 1 << draw.below(8);
            fs::write(path, &bytes)
        }
        _ => fs::remove_file(path),
    };
    done.map_err(|error| error.to_string())?;
    let mut problems = Problems::default();
    let what = format!("{} at byte {place} of {}", fault.name(), path.display());
    let told = match Run::open(&record) {
        Ok(run) => {
            // Tables are read only when they are needed.
            run.cases().iter().for_each(|case| drop((run.tasks(case), run.latency(case), run.series(case))));
            !run.damage.is_empty() || !run.late_damage().is_empty()
        }
        Err(_) => true,
    };
    match figures(&desk, &record) {
        Ok(found) if found != whole && !told => {
            problems.wrong.push(format!("{what}: other figures, silently"))
        }
        Ok(_) => {}
        Err(error) if error.contains(PANIC) || !error.starts_with("code Some(7)") => {
            problems.wrong.push(format!("{what}: {error}"));
        }
        Err(_) => {}
    }
    Ok(Some(problems))
}
