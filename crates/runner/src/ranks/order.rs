//! The orders of rank 0 to all ranks, and their answers.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use plan::{Phase, Plan};
use record::{HostFacts, Warning, Wiped};
use serde::{Deserialize, Serialize};

use crate::check::space::SpaceNeeds;
use crate::ranks::merge_ranks::PhaseTotals;

/// An order to all ranks, each of which does its own part. Cases are given by their index in the plan.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Report the facts of this host.
    ReportHost {
        /// All targets of the plan.
        targets: Vec<PathBuf>,
        /// Whether a case wants io_uring.
        uring: bool,
    },
    /// Report which of these files are not visible on this node.
    FindMissing {
        /// Files that rank 0 has just created.
        paths: Vec<PathBuf>,
    },
    /// Compare the clocks of the nodes.
    Synchronize,
    /// Check this host's part of a plan, and keep the plan.
    Check(Box<CheckRequest>),
    /// Start the checked plan. All further orders up to [`Order::End`] belong to it.
    Start {
        /// Directory of the record.
        run_directory: PathBuf,
        /// Wall clock at the start of the run.
        started_unix_ns: i64,
    },
    /// Remove leftovers of an earlier start of this run.
    Clear,
    /// Write claims for the files that this run creates.
    Claim,
    /// Remove the claims.
    Withdraw,
    /// Start a case, and lock the memory that it wants locked.
    CaseBegins {
        /// Index of the case.
        case: usize,
    },
    /// Create the directories of a pass, remove files that a write replaces, and report whether the data for
    /// a read exists.
    Prepare(Prepare),
    /// Remove the files of a case and discard the devices that it measures.
    Wipe {
        /// Index of the case.
        case: usize,
    },
    /// Report whether a file that a case relies on is missing.
    Lacks {
        /// Index of the case.
        case: usize,
    },
    /// Empty the page cache.
    DropCaches {
        /// Index of the case.
        case: usize,
    },
    /// Run a phase.
    Phase(Box<PhaseOrder>),
    /// Run phases of several cases at the same time. All have the same number.
    Together(Vec<PhaseOrder>),
    /// End a case: unlock its memory, and remove files that no later case needs.
    CaseEnds {
        /// Index of the case.
        case: usize,
        /// How it ended.
        ending: CaseEnding,
    },
    /// Remove all files of this run.
    RemoveAll,
    /// End the plan.
    End,
    /// Release the rank. This is the last order.
    Dismiss,
}

/// A plan, and the data that a rank needs for its part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CheckRequest {
    pub(crate) plan: Plan,
    pub(crate) run_id: String,
    /// Cases that are already in the record.
    pub(crate) finished: BTreeSet<String>,
    /// Directories that differ from node to node.
    pub(crate) local_directories: Vec<PathBuf>,
    /// The processes of this run, by the boot identifier of their kernel.
    pub(crate) mates: Vec<(String, BTreeSet<u32>)>,
}

/// How a case ended, for its cleanup.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct CaseEnding {
    /// Whether a check found wrong data in its files.
    pub(crate) wrong_data: bool,
    /// Whether it failed.
    pub(crate) failed: bool,
    /// Which part of its trees to remove.
    pub(crate) step: EndStep,
}

/// Trees are first removed by all ranks, then their roots by the ranks responsible for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EndStep {
    /// Remove the items of each rank's tasks.
    Tasks,
    /// Remove the remaining items and the roots.
    Roots,
}

/// See [`Order::Prepare`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Prepare {
    pub(crate) case: usize,
    pub(crate) pass: u32,
    /// Whether to remove existing files at the paths to be created.
    pub(crate) replace: bool,
    /// Whether to create the directories of the files.
    pub(crate) directories: bool,
    /// Whether to create the roots of trees, after removing those of the previous pass.
    pub(crate) trees: bool,
    /// If set, check that the data exists.
    pub(crate) data: Option<KnownContent>,
}

/// What is known about files in addition to what is on disk, by file number.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct KnownContent {
    /// Files of which a write ended at its time limit: they contain less than one pass, and this is
    /// sufficient.
    pub(crate) partial: Vec<Range<u32>>,
    /// Files that have not been written since they were discarded.
    pub(crate) discarded: Vec<Range<u32>>,
    /// Files that this run has written completely.
    pub(crate) written: Vec<Range<u32>>,
}

/// See [`Order::Phase`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PhaseOrder {
    /// Unique number within the run.
    pub(crate) number: u64,
    pub(crate) case: usize,
    /// For a fill phase, the case whose files are written.
    pub(crate) fills: Option<usize>,
    pub(crate) phase: Phase,
    pub(crate) pass: u32,
    pub(crate) generation: u16,
    /// The generations that a check accepts, or `None` for any.
    pub(crate) expect: Option<(u16, u16)>,
    /// Whether the run has written to all files that this phase reads.
    pub(crate) written: bool,
    /// Number of transfers of each task of all ranks, if it is not one pass.
    pub(crate) limits: Option<Vec<u64>>,
    /// Number of times that earlier phases have renamed the files of a tree.
    pub(crate) renamings: u32,
    /// Number of steps in each set of objects that each task of all ranks has done before.
    pub(crate) steps_before: Vec<u64>,
}

/// The merged answers of ranks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The order was carried out, or there was nothing to do.
    Done,
    /// The answer to [`Order::ReportHost`].
    HostReports(HostReports),
    /// The answer to [`Order::FindMissing`]: file number and node number.
    Missing(Vec<(usize, u32)>),
    /// The answer to [`Order::Check`].
    CheckFindings(CheckFindings),
    /// The answer to [`Order::Prepare`] and [`Order::CaseEnds`]: the number of removed files, and whether
    /// the data exists.
    Files { removed: u32, there: bool },
    /// The answer to [`Order::Wipe`].
    Wiped(Vec<WipeResult>),
    /// The answer to [`Order::DropCaches`] if it was not carried out: the reason.
    Refused(String),
    /// The answer to [`Order::Lacks`].
    Lacking(bool),
    /// The answer to [`Order::Phase`].
    PhaseTotals(Box<PhaseTotals>),
}

/// An object to be wiped.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WipeResult {
    Done(Wiped),
    Unapplied { what: String, reason: String },
}

/// Facts about the ranks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct HostReports {
    /// The nodes, sorted by number and without duplicates.
    pub(crate) nodes: Vec<NodeReport>,
    /// The reason if a rank cannot use io_uring.
    pub(crate) uring_missing: Option<String>,
}

/// A node, as its ranks see it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NodeReport {
    pub(crate) node: u32,
    /// The facts reported by its first rank.
    pub(crate) facts: Option<Box<HostFacts>>,
    /// The boot identifier of its kernel.
    pub(crate) boot_id: String,
    pub(crate) pids: BTreeSet<u32>,
    /// Processors that its ranks may be scheduled on.
    pub(crate) cpus: BTreeSet<u32>,
    /// Number of processors that a control group allows for a rank, if fewer than its CPU affinity
    /// allows.
    pub(crate) quota: Option<u32>,
    /// Devices under the targets.
    pub(crate) devices: Vec<String>,
    pub(crate) quiet: Option<Warning>,
}

impl NodeReport {
    /// Number of processors that its ranks may use in total.
    pub(crate) fn usable_cpus(&self) -> u32 {
        let cpus = u32::try_from(self.cpus.len()).unwrap_or(u32::MAX).max(1);
        self.quota.map_or(cpus, |quota| quota.min(cpus))
    }
}

/// Findings of the check on the ranks' hosts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct CheckFindings {
    pub(crate) space: SpaceNeeds,
    /// The user's files that will be lost in node-local directories: number, bytes and the first of them.
    pub(crate) replaced: Option<(usize, u64, PathBuf)>,
}

impl Answer {
    /// Merges this answer with that of ranks with higher numbers.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            (one, Self::Done) | (Self::Done, one) => one,
            (Self::HostReports(one), Self::HostReports(two)) => Self::HostReports(one.join(two)),
            (Self::Missing(one), Self::Missing(two)) => Self::Missing(chained(one, two)),
            (Self::CheckFindings(one), Self::CheckFindings(two)) => Self::CheckFindings(one.join(two)),
            (Self::Files { removed, there }, Self::Files { removed: more, there: too }) => {
                Self::Files { removed: removed.saturating_add(more), there: there && too }
            }
            (Self::Wiped(one), Self::Wiped(two)) => Self::Wiped(chained(one, two)),
            (Self::Lacking(one), Self::Lacking(two)) => Self::Lacking(one || two),
            (Self::PhaseTotals(mut one), Self::PhaseTotals(two)) => {
                one.join(*two);
                Self::PhaseTotals(one)
            }
            // All ranks answer the same order. If both answers are of the same kind, the first reason is
            // kept.
            (one, _) => one,
        }
    }
}

impl HostReports {
    fn join(mut self, other: Self) -> Self {
        for node in other.nodes {
            match self.nodes.iter_mut().find(|known| known.node == node.node) {
                None => self.nodes.push(node),
                Some(known) => {
                    known.pids.extend(node.pids);
                    known.cpus.extend(node.cpus);
                    known.quota = known.quota.into_iter().chain(node.quota).min();
                    known.facts = known.facts.take().or(node.facts);
                    known.quiet = known.quiet.take().or(node.quiet);
                    known.devices = chained(std::mem::take(&mut known.devices), node.devices);
                }
            }
        }
        self.nodes.sort_by_key(|node| node.node);
        self.uring_missing = self.uring_missing.or(other.uring_missing);
        self
    }
}

impl CheckFindings {
    fn join(mut self, other: Self) -> Self {
        self.space.add(other.space);
        self.replaced = match (self.replaced, other.replaced) {
            (Some((files, bytes, first)), Some((more, and, _))) => {
                Some((files.saturating_add(more), bytes.saturating_add(and), first))
            }
            (one, two) => one.or(two),
        };
        self
    }
}

fn chained<T>(mut one: Vec<T>, two: Vec<T>) -> Vec<T> {
    one.extend(two);
    one
}

/// The numbers of the `files` whose flag is set, as ranges.
pub(crate) fn ranges(files: impl Iterator<Item = (u32, bool)>) -> Vec<Range<u32>> {
    let mut all: Vec<Range<u32>> = Vec::new();
    for number in files.filter_map(|(number, is_so)| is_so.then_some(number)) {
        match all.last_mut().filter(|last| last.end == number) {
            Some(last) => last.end += 1,
            None => all.push(number..number + 1),
        }
    }
    all
}
