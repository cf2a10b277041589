//! Options that scale a study to a budget.

use clap::Args;
use plan::{Budget, Bytes, Nanos};

use crate::arguments::values;

/// What a study may take. `run` and `batch` take the same options.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Scale the study")]
pub(crate) struct Scale {
    /// Scale the study so that it is predicted to take at most this time, for example 10min: sizes, durations, points
    /// and repetitions are given up, in this order, until it fits. --explain says which, and what can no longer be
    /// told.
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) time: Option<Nanos>,
    /// Scale the study so that its files take at most this space at the same time, on all targets together, for example
    /// 10GiB.
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) space: Option<Bytes>,
    /// Give up the points with more than N tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tasks: Option<u32>,
    /// Give up the points on more than N nodes. (`run --on-nodes N` keeps those on exactly N nodes, and --per-point of
    /// `batch` writes a job for each number that is left.)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Option<u32>,
}

impl Scale {
    pub(crate) fn budget(&self) -> Budget {
        Budget { time: self.time, space: self.space, tasks: self.tasks, nodes: self.nodes }
    }
}
