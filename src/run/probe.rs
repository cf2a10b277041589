//! `--probe`: makes short passes in the directories of a study, from which its duration is predicted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use analysis::predictions::{predictions_like, predicts};
use plan::{Case, CaseEstimate, Plan, Predictions, RunEnvironment, Source, estimates};
use record::Run;
use runner::Silent;

use crate::console::complain;
use crate::console::exit::{Exit, Failure};
use crate::run::cluster::World;
use crate::run::session::{self, Session};

/// The rates of those phases of `plan` for which short passes in its directories are representative. The records of
/// these passes are stored next to those of other runs.
///
/// # Errors
/// Errors if nothing in the plan can be probed here, or if a probe fails.
pub(crate) fn probe(plan: &Plan, world: &World) -> Result<Predictions, Failure> {
    if world.launched {
        let why = "--probe measures with one process: omit the launcher, or make a short run with it and name its record \
                   with --like";
        return Err(Failure::usage(why));
    }
    let (estimates, _) = estimates(plan, &RunEnvironment::default());
    let mut predictions = Predictions::default();
    let mut probed = 0;
    for (directory, cases) in places(plan, &estimates) {
        let refused =
            |error: plan::PlanError| Failure::usage(format!("--probe: {}: {}", error.message, error.help));
        let short =
            plan::probe::plan(&directory, &cases, predicts, session::random_seed()).map_err(refused)?;
        let Some(short) = short else { continue };
        probed += 1;
        let record = measure(short, &directory, world)?;
        let cases = cases.iter().map(|(case, _)| (*case).clone()).collect();
        let (part, source) = (Plan { cases, ..plan.clone() }, Source::Run(record.display().to_string()));
        predictions.append(predictions_like(&part, &Run::open(&record)?, &source));
    }
    if probed == 0 {
        let targets: Vec<String> =
            session::targets(plan).iter().map(|path| path.display().to_string()).collect();
        let why = format!(
            "--probe: nothing in this study can be probed: a probe needs direct transfers on one node in a directory \
             that exists here, and the study names {}; give a rate with --expect, or a short run with --like",
            targets.join(", ")
        );
        return Err(Failure::new(Exit::HostLacks, anyhow::anyhow!(why)));
    }
    Ok(predictions)
}

/// The directories that already exist here, each with the cases that only use that directory.
fn places<'p>(
    plan: &'p Plan,
    estimates: &'p [CaseEstimate],
) -> BTreeMap<PathBuf, Vec<(&'p Case, &'p CaseEstimate)>> {
    let mut places: BTreeMap<PathBuf, Vec<_>> = BTreeMap::new();
    for (case, estimate) in plan.cases.iter().zip(estimates).filter(|(case, _)| case.layout.is_none()) {
        let [target] = case.workload.files.targets.as_slice() else { continue };
        let directory = if target.is_dir() { Some(target.as_path()) } else { target.parent() };
        let directory = directory.map(|path| if path == Path::new("") { Path::new(".") } else { path });
        // A directory next to a device is on different storage.
        if let Some(directory) = directory.filter(|path| path.is_dir() && !path.starts_with("/dev")) {
            places.entry(directory.to_owned()).or_default().push((case, estimate));
        }
    }
    places
}

/// Measures in `directory`, and returns the location of the record.
fn measure(short: Plan, directory: &Path, world: &World) -> Result<PathBuf, Failure> {
    let session = Session::new(world, "probe");
    let record = session.directory(None)?;
    let (cases, bytes) = (short.cases.len(), short.cases.iter().map(|case| case.workload.bytes().0).sum());
    complain(&format!(
        "probing {}: {cases} case{} in passes of {}, {} of data that is removed again; record: {}",
        directory.display(),
        if cases == 1 { "" } else { "s" },
        plan::probe::PASS,
        plan::Bytes(bytes),
        record.display()
    ));
    let checked = session.check(short)?;
    let (ended, _) = session.run(&checked, &record, &mut Silent)?;
    match session::verdict(&ended, &record) {
        (exit, Some(message)) if ended.interrupted || ended.failed.is_some() => {
            Err(Failure::new(exit, anyhow::anyhow!("the probe of {}: {message}", directory.display())))
        }
        _ => Ok(record),
    }
}
