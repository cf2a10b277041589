//! `ioproof run STUDY --model MODEL`: runs the study on a model with a virtual clock. Nothing on this host is
//! measured or changed.

use std::collections::BTreeSet;
use std::path::Path;

use plan::{CaseEstimate, Plan, PlanSource, Prediction, Predictions, RunEnvironment, estimates};
use record::{Manifest, ModelSource, Provenance, Recorder, Resumed};
use runner::Checked;
use simulate::{Description, Model, SimulatedMachine};

use crate::console::exit::{Exit, Failure};
use crate::console::progress::LiveLine;
use crate::console::watch::TerminalWatch;
use crate::console::{print, print_line, screen};
use crate::records::sign::Signer;
use crate::run::arguments::RunArguments;
use crate::run::ask::{PlannedRun, ask};
use crate::run::cluster::World;
use crate::run::session::Session;
use crate::run::{conclude, kept, lines, predictions, scale, studies};

/// Runs the study specified by the arguments on the model in the file `path`.
pub(crate) fn run(arguments: &RunArguments, path: &Path, world: &World) -> Result<Exit, Failure> {
    let (model, source) = read(path, arguments.seed)?;
    let source = ModelSource { simulates_all: arguments.simulate_all, ..source };
    if world.launched {
        return Err(Failure::usage("a model has its own nodes: start the program without a launcher"));
    }
    if arguments.how.history.is_some() {
        return Err(Failure::usage("a model records no operations: omit --history"));
    }
    let signer = Signer::of(&arguments.how)?;
    if let Some(directory) = &arguments.resume {
        return resume(directory, arguments, (model, &source), signer.as_ref());
    }
    // Workloads that do not specify nodes run on one node.
    let PlannedRun { what, mut plan, mut notes } = ask(arguments, 1)?;
    model.describe(&mut plan.criteria.targets);
    let predicted = predictions::of_model(&plan, &model);
    let known = |_: &Plan| RunEnvironment { predicted: predicted.clone(), ..known(&model) };
    let plan = scale::planned(plan, arguments, 1, known)?;
    notes.extend(SimulatedMachine::left_out(&plan));
    let mut machine = machine(model, &plan, source.seed, arguments);
    let world = World::of_nodes(machine.topology()).with(world.defaults.clone());
    let session = Session::new(&world, &what);
    let checked = session.check_on(&machine, plan, BTreeSet::new())?;
    let around = environment(&machine, &checked, predicted);
    if arguments.how.explain {
        print(&if arguments.how.full {
            report::explain(&checked.plan, &around, screen())
        } else {
            report::outline(&checked.plan, &around, screen())
        })?;
        let (estimates, _) = estimates(&checked.plan, &around);
        let computing = machine.computing(&checked.plan, &estimates);
        notes.push(report::of_computing(&checked.plan, &estimates, &computing));
        return print(&lines(&notes)).map(|()| Exit::Success);
    }
    let directory = session.directory(arguments.how.out.as_deref())?;
    print(&lines(&notes))?;
    session.listen()?;
    let (estimates, _) = estimates(&checked.plan, &around);
    // If the duration of some phases is unknown, there is nothing to compare the run's duration with.
    let predicted = Prediction::of(&checked.plan.cases, &estimates, &around);
    let is_whole = !estimates.iter().any(CaseEstimate::is_partly_unknown);
    let manifest = Manifest {
        predicted: is_whole.then_some(predicted),
        provenance: Provenance::Simulated,
        model: Some(source),
        cluster: checked.cluster(""),
        ..session.manifest(&checked)
    };
    let recorder = Recorder::create(&directory, &manifest)?;
    let place = recorder.place();
    let ended = {
        let computing = machine.computing(&checked.plan, &estimates);
        let shown = arguments.how.shown();
        let line = LiveLine::start(&directory, &checked.plan, &estimates, Some(&computing), shown);
        let mut watch = TerminalWatch { line };
        session.life(recorder, &mut watch).on_machine(&mut machine).run(&checked)?
    };
    conclude(&ended, (&place, &directory), arguments.verdict, signer.as_ref())
}

/// Resumes a simulated run.
fn resume(
    directory: &Path,
    arguments: &RunArguments,
    (model, source): (Model, &ModelSource),
    signer: Option<&Signer>,
) -> Result<Exit, Failure> {
    let (recorder, resumed): (Recorder, Resumed) = Recorder::resume(directory)?;
    let place = recorder.place();
    resumed.manifest.check_resumed_with(directory, Some(source))?;
    if matches!(resumed.manifest.plan.source, PlanSource::CrossCheck { .. }) {
        return Err(Failure::usage("a cross-check cannot be resumed: start a new one"));
    }
    let manifest = &resumed.manifest;
    let predicted = predictions::of_model(&manifest.plan, &model);
    let mut machine = machine(model, &manifest.plan, source.seed, arguments);
    let world = World::of_nodes(machine.topology());
    let session = Session::new(&world, "resumed");
    let finished: BTreeSet<String> = resumed.finished.iter().cloned().collect();
    let id = (manifest.run_id.clone(), manifest.started_unix_ns);
    let checked = session.check_again_on(&machine, manifest.plan.clone(), id, finished)?;
    print_line(&kept(&checked.plan, checked.finished.len()))?;
    session.listen()?;
    let ended = {
        let (estimates, _) = estimates(&checked.plan, &environment(&machine, &checked, predicted));
        let computing = machine.computing(&checked.plan, &estimates);
        let shown = arguments.how.shown();
        let line = LiveLine::start(directory, &checked.plan, &estimates, Some(&computing), shown);
        let mut watch = TerminalWatch { line };
        session.life(recorder, &mut watch).on_machine(&mut machine).run(&checked)?
    };
    conclude(&ended, (&place, directory), arguments.verdict, signer)
}

fn machine(model: Model, plan: &Plan, seed: u64, arguments: &RunArguments) -> SimulatedMachine {
    let machine = SimulatedMachine::new(model, plan, seed);
    if arguments.simulate_all { machine.without_extrapolation() } else { machine }
}

/// Reads the model in the file `path`. Also returns the description of the model for the record.
pub(crate) fn read(path: &Path, seed: u64) -> Result<(Model, ModelSource), Failure> {
    let ready = studies::MODELS.iter().find(|(name, _)| path == Path::new(name)).map(|(_, text)| *text);
    let text = match ready.filter(|_| !path.exists()) {
        Some(text) => text.to_owned(),
        None => record::read_text(path).map_err(|error| {
            let names: Vec<&str> = studies::MODELS.iter().map(|(name, _)| *name).collect();
            let meant = path.to_str().and_then(|name| record::Library::nearest(name, names.iter().copied()));
            let next = match meant {
                Some(meant) => format!("did you mean `{meant}`? `ioproof model list` shows all"),
                None => format!("name a model file, or one of `ioproof model list`: {}", names.join(", ")),
            };
            Failure::usage(format!("cannot read the model {}: {error}; {next}", path.display()))
        })?,
    };
    let model = simulate::read(path, &text).map_err(|error| Failure::new(Exit::Usage, error))?;
    let sha256 = record::sha256(text.as_bytes());
    let Description { name, percentile, .. } = model.model.clone();
    let source = ModelSource { name, path: path.to_owned(), sha256, seed, percentile, simulates_all: false };
    Ok((model, source))
}

/// What is known in advance about the environment of a simulated run.
fn environment(machine: &SimulatedMachine, checked: &Checked, predicted: Predictions) -> RunEnvironment {
    RunEnvironment {
        spaces: machine.spaces(&checked.plan),
        processors: Some(checked.facts.usable_cpus),
        predicted,
        ..known(machine.model())
    }
}

/// What is known of a model without a plan.
fn known(model: &Model) -> RunEnvironment {
    RunEnvironment {
        memory: model.node.cache.as_ref().map(|cache| plan::Bytes(cache.size.0)),
        model: Some(model.model.name.clone()),
        ..RunEnvironment::default()
    }
}
