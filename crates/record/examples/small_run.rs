//! Writes a small run with made-up rows into a new directory: `small_run DIR [TASKS]`.
//!
//! It shows what a run directory looks like, and what recording costs
//! (`/usr/bin/time -v target/release/examples/small_run DIR`).

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

#[path = "../tests/record/sample.rs"]
mod sample;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next() else { return ExitCode::from(2) };
    let tasks = arguments.next().and_then(|tasks| tasks.parse().ok()).unwrap_or(2);
    let start = Instant::now();
    let result = sample::write(Path::new(&directory), tasks, record::Outcome::Complete);
    let seconds = start.elapsed().as_secs_f64();
    let done = match result {
        Ok(()) => format!("recorded in {seconds:.6} s\n"),
        Err(error) => format!("failed to {error}\n"),
    };
    // A reader that went away is no reason to fail.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), done.as_bytes());
    ExitCode::SUCCESS
}
