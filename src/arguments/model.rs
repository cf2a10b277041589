//! Arguments of `ioproof model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plan::Bytes;

use crate::arguments::values;

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
    pub(crate) model: PathBuf,
    /// Numbers of nodes [default: one, and all nodes of the model].
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) nodes: Vec<u32>,
    /// Transfer sizes, each for random and sequential access [default: 4 KiB random, 1 MiB sequential].
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = values::size)]
    pub(crate) transfer: Vec<Bytes>,
    /// Tasks on each node, each with its own file [default: as many as needed].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) tasks: Option<u32>,
    /// With --tasks: transfers that each task has in flight.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "tasks", value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    pub(crate) depth: u32,
}

/// `ioproof model fit`.
#[derive(Debug, Args)]
pub(crate) struct ModelFitArguments {
    /// The run directory.
    #[arg(value_name = "RUNDIR")]
    pub(crate) run: PathBuf,
    /// The workload whose sweep is used, where the run has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// The target whose sweep is used, where the run has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Write the model to this file instead of the terminal.
    #[arg(long, value_name = "MODEL")]
    pub(crate) out: Option<PathBuf>,
    /// Accept a model that is not shown to be valid outside the measured range.
    #[arg(long)]
    pub(crate) in_range: bool,
    /// Seed for the samples of the intervals.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}
