//! A run on the ranks of a launcher, and what it costs between two phases:
//! `mpirun -np 8 many_ranks TASKS PHASES BACKEND TARGET RECORD`. The backend is psync or null.
#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use comm::{Comm, JoinOptions, Solo};
use engine::Controls;
use host::{Host, Root};
use plan::{Backend, Bytes, Case, Geometry, Phase, Plan, PlanSource, Sharing, WorkloadSpec};
use record::{FORMAT_VERSION, Manifest, Provenance, Recorder, Run};
use runner::{PlanExecution, Silent};

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| std::env::var(name).ok();
    match comm::join(&JoinOptions { library: None, variable: &variable, patience: comm::PATIENCE })? {
        Some(mpi) => {
            let result = live(&mpi, mpi.library());
            if let Err(error) = &result {
                println!("rank {}: {error}", mpi.rank());
                mpi.abort(1);
            }
            mpi.leave()?;
            result
        }
        None => live(&Solo::new("here"), "none"),
    }
}

fn live(comm: &dyn Comm, library: &str) -> Result<(), Box<dyn Error>> {
    let (host, controls) = (Host::new(Root::default()), Arc::new(Controls::new()));
    if comm.rank() > 0 {
        return Ok(runner::follow(&host, comm, controls).inspect_err(runner::wait_for_rank_0)?);
    }
    let result = lead(&host, comm, library, controls);
    let dismissed = runner::dismiss(comm);
    result?;
    Ok(dismissed?)
}

fn lead(host: &Host, comm: &dyn Comm, library: &str, controls: Arc<Controls>) -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tasks, phases, backend, target, record] = &words[..] else {
        return Err("expected TASKS PHASES BACKEND TARGET RECORD".into());
    };
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(64), segments: 1 };
    let mut spec = WorkloadSpec::new("w", PathBuf::from(target), geometry);
    (spec.tasks, spec.files.sharing) = (tasks.parse()?, Sharing::PerTask);
    spec.nodes = u32::try_from(comm.topology().names().len())?.min(spec.tasks);
    spec.backend = if backend == "null" { Backend::Null } else { Backend::Psync };
    let mut case = Case::new("c", spec.validate()?, vec![Phase::Write, Phase::Read]);
    case.repetitions = phases.parse::<u32>()?.div_ceil(2);
    let plan = Plan::new(
        "many ranks",
        PlanSource::Quick { directory: target.into(), others: Vec::new() },
        1,
        vec![case],
    );
    let checked = runner::check(plan, host, comm, format!("ranks-{}", std::process::id()), 0)?;
    let manifest = Manifest {
        cluster: checked.cluster(library),
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
    let record = PathBuf::from(record);
    let recorder = Recorder::create(&record, &manifest)?;
    let ended = PlanExecution::new(host, comm, recorder, &mut Silent, controls).run(&checked)?;
    let run = Run::open(&record)?;
    let bytes: u64 = run.all_phases().map(|row| row.bytes()).sum();
    println!(
        "{} phases on {} ranks, {bytes} bytes, failed: {:?}",
        run.all_phases().count(),
        comm.size(),
        ended.failed
    );
    // From the end of one phase to the start of the next, by the wall clock.
    let rows: Vec<_> = run.all_phases().collect();
    let mut between: Vec<f64> = rows
        .windows(2)
        .map(|pair| {
            let end = pair[0].started_unix_ns + i64::try_from(pair[0].wall_ns).unwrap_or(0);
            (pair[1].started_unix_ns - end) as f64 / 1e6
        })
        .collect();
    between.sort_by(f64::total_cmp);
    println!("median between two phases {:.2} ms", between.get(between.len() / 2).copied().unwrap_or(0.0));
    Ok(())
}
