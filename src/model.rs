//! `ioproof model`: shows and checks models, and creates them from runs.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use plan::Bytes;
use report::{BoundView, LayoutView, ModelView};
use simulate::{Bounds, FitError, FitOptions, Issuers, Layout, PartLimit, Transfer};

use crate::arguments::values;
use crate::console::exit::{Exit, Failure};
use crate::console::{print, print_folded, print_line, screen};
use crate::records::report::Output;
use crate::run::simulated;
use crate::run::studies::{self, MODELS};

/// What is done with a model.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelWhat {
    /// List the models that come with the program, with the studies that they are for.
    List,
    /// Show what a model describes, and its maximum performance: every limit, the bottleneck, saturation.
    Show(ModelShowArguments),
    /// Check whether a file is a valid model, and list all mistakes.
    Check {
        /// A model file, or the name of a model that comes with the program.
        #[arg(value_name = "MODEL")]
        model: PathBuf,
    },
    /// Fit a model to the sweeps of a run over depth, tasks or transfer size.
    Fit(ModelFitArguments),
    /// Print the JSON schema of model files.
    Schema,
}

/// `ioproof model show`.
#[derive(Debug, Args)]
pub(crate) struct ModelShowArguments {
    /// A model file, or the name of a model that comes with the program.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Numbers of nodes [default: one, and all nodes of the model].
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    nodes: Vec<u32>,
    /// Transfer sizes, each for random and sequential access [default: 4 KiB random, 1 MiB sequential].
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = values::size)]
    transfer: Vec<Bytes>,
    /// Tasks on each node, each with its own file [default: as many as needed].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    tasks: Option<u32>,
    /// With --tasks: transfers that each task has in flight.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "tasks", value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    depth: u32,
}

/// `ioproof model fit`.
#[derive(Debug, Args)]
pub(crate) struct ModelFitArguments {
    /// The run directory.
    #[arg(value_name = "RUNDIR")]
    run: PathBuf,
    /// The workload whose sweep is used, where the run has several.
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// The target whose sweep is used, where the run has several.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Write the model to this file instead of the terminal.
    #[arg(long, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// Accept a model that is not shown to be valid outside the measured range.
    #[arg(long)]
    in_range: bool,
    /// Seed for the samples of the intervals.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

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
    let transfers: Vec<Transfer> = sizes.into_iter().flat_map(both).collect();
    let bound = |layout: &Layout, transfer: Transfer, nodes: u32| {
        let issuers = Issuers { nodes, tasks: arguments.tasks, depth: arguments.depth };
        let Bounds { limits, response_ns, saturation, amplification } =
            model.bounds(layout, transfer, issuers);
        let Transfer { bytes, writes, random } = transfer;
        let limit = |one: PartLimit| (one.count, one.part, one.transfers_per_second);
        let limits = limits.into_iter().map(limit).collect();
        BoundView { bytes, writes, random, nodes, limits, response_ns, saturation, amplification }
    };
    let layout = |layout: &Layout| {
        let (stripe, chunk) = layout.striping(model.count_of(&layout.devices));
        let all = transfers.iter().flat_map(|one| nodes.iter().map(|nodes| (*one, *nodes)));
        LayoutView {
            name: layout.name.clone(),
            targets: layout.targets.clone(),
            local: layout.local,
            path: layout
                .through
                .iter()
                .chain([&layout.devices])
                .map(|part| (model.count_of(part), part.clone()))
                .collect(),
            striping: (stripe, chunk.map(|chunk| Bytes(chunk.0))),
            parity: layout.parity,
            copies: layout.copies,
            bounds: all.map(|(transfer, nodes)| bound(layout, transfer, nodes)).collect(),
        }
    };
    let view = ModelView {
        name: model.model.name.clone(),
        source: model.model.source.clone(),
        nodes: (model.node.count, model.node.processors),
        has_troubles: !model.troubles.is_empty(),
        layouts: model.layouts.iter().map(layout).collect(),
    };
    print(&report::model(&view, screen()))
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
