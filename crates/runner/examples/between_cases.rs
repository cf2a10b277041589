//! How long the program needs between two cases, and to stop:
//! `between_cases CASES BACKEND TARGET RECORD [STOP_AFTER_MS]`, as in
//! `between_cases 200 psync /dev/shm/file /tmp/record`. The backend is psync, uring or null, the
//! record's directory is made.
#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use comm::Solo;
use engine::Controls;
use host::{Host, Root};
use plan::{Backend, Bytes, Case, Geometry, Phase, Plan, PlanSource, WorkloadSpec};
use record::{FORMAT_VERSION, Manifest, Provenance, Recorder, Run};
use runner::{PlanExecution, Silent};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [cases, backend, target, record, stop @ ..] = &words[..] else {
        return Err("expected CASES BACKEND TARGET RECORD [STOP_AFTER_MS]".into());
    };
    let (target, record) = (PathBuf::from(target), PathBuf::from(record));
    let cases = (0..cases.parse()?).map(|number| case(number, backend, &target)).collect::<Result<_, _>>()?;
    let plan =
        Plan::new("between cases", PlanSource::Quick { directory: target, others: Vec::new() }, 1, cases);
    let host = Host::new(Root::default());
    let started = Instant::now();
    let checked =
        runner::check(plan, &host, &Solo::new("here"), format!("between-{}", std::process::id()), 0)?;
    println!("check {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    let manifest = Manifest {
        cluster: None,
        model: None,
        format_version: FORMAT_VERSION,
        run_id: checked.run_id.clone(),
        provenance: Provenance::Measured,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: words.clone(),
        started_unix_ns: 0,
        finished_unix_ns: None,
        predicted: None,
        plan: checked.plan.clone(),
        host: checked.facts.clone(),
        defaults: Vec::new(),
    };
    let recorder = Recorder::create(&record, &manifest)?;
    let (comm, mut watch) = (Solo::new("here"), Silent);
    let controls = Arc::new(Controls::new());
    let stopper = stop.first().map(|word| word.parse()).transpose()?.map(|wait_ms| {
        let controls = Arc::clone(&controls);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(wait_ms));
            controls.stop();
            Instant::now()
        })
    });
    let started = Instant::now();
    PlanExecution::new(&host, &comm, recorder, &mut watch, controls).run(&checked)?;
    println!("run {:.3} s", started.elapsed().as_secs_f64());
    if let Some(stopped) = stopper.and_then(|stopper| stopper.join().ok()) {
        println!("stopped {:.1} ms after it was asked to", stopped.elapsed().as_secs_f64() * 1e3);
    }
    show(&Run::open(&record)?);
    Ok(())
}

/// Two tasks that write and read 64 KiB each.
fn case(number: u32, backend: &str, target: &std::path::Path) -> Result<Case, Box<dyn Error>> {
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(64), segments: 1 };
    let mut spec = WorkloadSpec::new("small", target, geometry);
    spec.tasks = 2;
    spec.backend = match backend {
        "psync" => Backend::Psync,
        "uring" => Backend::Uring { depth: 4, required: true },
        "null" => Backend::Null,
        other => return Err(format!("expected psync, uring or null, found {other}").into()),
    };
    Ok(Case::new(format!("case-{number}"), spec.validate()?, vec![Phase::Write, Phase::Read]))
}

/// From the end of each case's last phase to the start of the next one's first, and the same
/// between the phases of a case.
fn show(run: &Run) {
    let (mut cases, mut phases) = (Vec::new(), Vec::new());
    let rows: Vec<_> = run.all_phases().collect();
    for pair in rows.windows(2) {
        let end_ns = pair[0].started_unix_ns + i64::try_from(pair[0].wall_ns).unwrap_or(i64::MAX);
        let gap_ms = (pair[1].started_unix_ns - end_ns) as f64 / 1e6;
        if pair[0].key.case == pair[1].key.case { phases.push(gap_ms) } else { cases.push(gap_ms) }
    }
    for (name, mut gaps) in [("cases", cases), ("phases", phases)] {
        gaps.sort_by(f64::total_cmp);
        let at = |percent: usize| gaps.get(gaps.len() * percent / 100).copied().unwrap_or(f64::NAN);
        println!(
            "between {name}: median {:.2} ms, p95 {:.2} ms, max {:.2} ms ({} gaps)",
            at(50),
            at(95),
            gaps.last().copied().unwrap_or(f64::NAN),
            gaps.len()
        );
    }
}
