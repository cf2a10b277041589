//! `ioproof model`: shows and checks models, and creates them from runs.

use std::path::Path;

use anyhow::anyhow;
use report::ModelView;
use simulate::{FitError, FitOptions, Transfer};

use crate::arguments::{ModelFitArguments, ModelShowArguments, ModelWhat};
use crate::console::exit::{Exit, Failure};
use crate::console::{print, print_folded, print_line, screen};
use crate::records::report::Output;
use crate::run::simulated;
use crate::run::studies::{self, MODELS};

/// Transfer sizes used if none is given: for random and for sequential access.
const RANDOM_BYTES: u64 = 4096;
const SEQUENTIAL_BYTES: u64 = 1 << 20;

/// Carries out the subcommand.
pub(crate) fn run(what: &ModelWhat) -> Result<Exit, Failure> {
    match what {
        ModelWhat::List => list()?,
        ModelWhat::Show(arguments) => show(arguments)?,
        ModelWhat::Check { model } => {
            let (read, _) = simulated::read(model, 0)?;
            print_line(&format!(
                "{} is a valid model: {}",
                model.display(),
                plan::visible(&read.model.name)
            ))?;
        }
        ModelWhat::Fit(arguments) => fit(arguments)?,
        ModelWhat::Schema => print(&simulate::schema())?,
    }
    Ok(Exit::Success)
}

/// A line for each model, and the commands in its header that run studies on it.
fn list() -> Result<(), Failure> {
    let width = MODELS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in MODELS {
        print_folded(&format!("{name:width$}  {}\n", studies::question(text)))?;
        for command in studies::commands(text) {
            print_folded(&format!("{:width$}  {command}\n", ""))?;
        }
    }
    print_folded(
        "\nAny study runs on any model that has its nodes: `ioproof run STUDY --model NAME`, with --explain to see \
         first how long it computes. `ioproof model show NAME` prints the limits of one.\n",
    )
}

fn show(arguments: &ModelShowArguments) -> Result<(), Failure> {
    let (model, _) = simulated::read(&arguments.model, 0)?;
    let sizes: Vec<(u64, bool)> = match arguments.transfer.as_slice() {
        [] => vec![(RANDOM_BYTES, true), (SEQUENTIAL_BYTES, false)],
        given => given.iter().flat_map(|bytes| [(bytes.0, true), (bytes.0, false)]).collect(),
    };
    let both = |(bytes, random)| [false, true].map(|writes| Transfer { bytes, writes, random });
    let mut nodes = arguments.nodes.clone();
    if nodes.is_empty() {
        nodes = vec![1, model.node.count];
        nodes.dedup();
    }
    if let Some(more) = nodes.iter().find(|nodes| **nodes > model.node.count) {
        let there = report::counted(model.node.count.into(), "node");
        return Err(Failure::usage(format!(
            "--nodes {more}: the model has {there}; use at most that many, or raise `count` in its [node]"
        )));
    }
    let transfers = sizes.into_iter().flat_map(both).collect();
    let view = ModelView { transfers, nodes, tasks: arguments.tasks, depth: arguments.depth };
    print(&report::model(&model, &view, screen()))
}

fn fit(arguments: &ModelFitArguments) -> Result<(), Failure> {
    let run = crate::records::one(&arguments.run)?;
    crate::records::exit(&run, Exit::Success)?;
    let ModelFitArguments { workload, target, seed, .. } = arguments;
    let options = FitOptions { workload: workload.clone(), target: target.clone(), seed: *seed };
    let refused = |error: FitError| {
        let exit = match error {
            FitError::NoTransfers { .. } | FitError::Several { .. } => Exit::Usage,
            _ => Exit::Refused,
        };
        let error = anyhow!("cannot fit a model to {}: {error}", arguments.run.display());
        Failure::new(exit, error)
    };
    let fitted = simulate::fit(&run, &options).map_err(refused)?;
    if let Some(reason) = fitted.checked.refused.as_ref().filter(|_| !arguments.in_range) {
        print(&lines(&fitted.about))?;
        let error = anyhow!(
            "the model is not shown to be valid outside the measured range: {reason}; --in-range accepts it anyway"
        );
        return Err(Failure::new(Exit::Refused, error));
    }
    let text = fitted.to_toml().map_err(refused)?;
    match &arguments.out {
        None => print(&text),
        Some(path) => {
            let runs = std::slice::from_ref(&arguments.run);
            Output::new(runs, path)?.write(path, |out| Ok(out.write_all(text.as_bytes())?))?;
            if path == Path::new("-") {
                return Ok(());
            }
            print(&lines(&fitted.about))?;
            print_line(&path.display().to_string())
        }
    }
}

fn lines(about: &[String]) -> String {
    about.iter().map(|line| format!("{line}\n")).collect()
}
