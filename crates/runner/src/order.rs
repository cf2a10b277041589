//! What rank 0 asks of all ranks, and what they answer.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use plan::{Phase, Plan};
use record::{HostFacts, Warning, Wiped};
use serde::{Deserialize, Serialize};

use crate::part::Part;

/// Something that all ranks do, each with its own part. Cases are named by their places in the plan.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Say what this host is.
    Look {
        /// All targets of the plan.
        targets: Vec<PathBuf>,
        /// Some case wants io_uring.
        uring: bool,
    },
    /// Say which of these files do not stand on this node.
    Find {
        /// Files that rank 0 has just made.
        paths: Vec<PathBuf>,
    },
    /// Compare the clocks of the nodes.
    Synchronize,
    /// Say whether this host can run its part of a plan, and keep the plan.
    Check(Box<Question>),
    /// The plan that was checked begins. All further orders up to [`Order::End`] are about it.
    Live {
        /// Where the run is recorded.
        run_directory: PathBuf,
        /// Wall clock at the start of the run.
        started_unix_ns: i64,
    },
    /// Remove what an earlier start of this run left.
    Clear,
    /// Leave word of what this run makes.
    Claim,
    /// Take that word away again.
    Withdraw,
    /// A case begins: hold the memory that it wants held.
    CaseBegins {
        /// Which.
        case: usize,
    },
    /// Make the directories of the files of a pass, remove what a write replaces, and say whether
    /// the data is there that a read needs.
    Prepare(Prepare),
    /// Remove the files of a case, and discard the devices that it is measured on.
    Wipe {
        /// Which.
        case: usize,
    },
    /// Say whether a file is missing that a case relies on.
    Lacks {
        /// Which.
        case: usize,
    },
    /// Empty the page cache.
    DropCaches {
        /// For which case.
        case: usize,
    },
    /// Run a phase.
    Phase(Box<PhaseOrder>),
    /// A case is over: let go of its memory, and remove what no later case needs.
    CaseEnds {
        /// Which.
        case: usize,
        /// How it ended.
        ending: CaseEnding,
    },
    /// Remove all files that this run has made.
    RemoveAll,
    /// The plan is over.
    End,
    /// There will be no other order.
    Dismiss,
}

/// A plan, and what a rank must know to carry out its part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) plan: Plan,
    pub(crate) run_id: String,
    /// Cases that are in the record already.
    pub(crate) finished: BTreeSet<String>,
    /// Directories that are another one on each node.
    pub(crate) separate: Vec<PathBuf>,
    /// The processes of this run, by the boot identifier of their kernel.
    pub(crate) mates: Vec<(String, BTreeSet<u32>)>,
}

/// How a case ended, for those that clean up after it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct CaseEnding {
    /// A check found wrong data in it.
    pub(crate) wrong_data: bool,
    /// It failed.
    pub(crate) failed: bool,
    /// What is to be removed of its trees.
    pub(crate) step: EndStep,
}

/// Trees are removed by all ranks, and then by those that see to their roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EndStep {
    /// What the tasks of each rank have made.
    Tasks,
    /// What is left, with the roots.
    Roots,
}

/// See [`Order::Prepare`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Prepare {
    pub(crate) case: usize,
    pub(crate) pass: u32,
    /// Remove what stands where the files will be made.
    pub(crate) replace: bool,
    /// Make the files' own directories.
    pub(crate) directories: bool,
    /// Make the roots of trees, after what the pass before has left in them is gone.
    pub(crate) trees: bool,
    /// Look whether there is data.
    pub(crate) data: Option<Known>,
}

/// Files of which more is known than what stands on the disk, by their numbers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Known {
    /// A write was ended by the clock: they hold less than one pass, and that is enough.
    pub(crate) partial: Vec<Range<u32>>,
    /// Nothing was written since they were discarded.
    pub(crate) discarded: Vec<Range<u32>>,
}

/// See [`Order::Phase`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PhaseOrder {
    /// No other phase of the run has it.
    pub(crate) number: u64,
    pub(crate) case: usize,
    /// The case whose files are written, where the phase fills.
    pub(crate) fills: Option<usize>,
    pub(crate) phase: Phase,
    pub(crate) pass: u32,
    pub(crate) generation: u16,
    /// The generations that a check accepts; none where any will do.
    pub(crate) expect: Option<(u16, u16)>,
    /// Transfers of each task of all ranks, where they are not one pass.
    pub(crate) limits: Option<Vec<u64>>,
    /// The items of a tree have the names that a phase before has given them.
    pub(crate) renamed: bool,
    /// Steps round objects in each set that each task of all ranks has done before.
    pub(crate) steps_before: Vec<u64>,
}

/// What ranks found or did, joined.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It is done, or there was nothing to do.
    Done,
    /// To [`Order::Look`].
    Seen(Seen),
    /// To [`Order::Find`]: the number of the file and that of the node.
    Missing(Vec<(usize, u32)>),
    /// To [`Order::Check`].
    Found(Found),
    /// To [`Order::Prepare`] and [`Order::CaseEnds`]: files that were removed, and whether the data
    /// is there.
    Files { removed: u32, there: bool },
    /// To [`Order::Wipe`].
    Wiped(Vec<Wiping>),
    /// To [`Order::DropCaches`]: why it was not done.
    Refused(String),
    /// To [`Order::Lacks`].
    Lacking(bool),
    /// To [`Order::Phase`].
    Part(Box<Part>),
}

/// Something that was to be wiped.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Wiping {
    Done(Wiped),
    Unapplied { what: String, reason: String },
}

/// What the ranks are.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// By number, each once.
    pub(crate) nodes: Vec<NodeSeen>,
    /// Why a rank cannot use io_uring.
    pub(crate) uring_missing: Option<String>,
}

/// A node, as its ranks see it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NodeSeen {
    pub(crate) node: u32,
    /// From its first rank.
    pub(crate) facts: Option<Box<HostFacts>>,
    /// Which kernel it is.
    pub(crate) boot_id: String,
    pub(crate) pids: BTreeSet<u32>,
    /// Processors that its ranks may be scheduled on.
    pub(crate) cpus: BTreeSet<u32>,
    /// Processors that a control group leaves to a rank, where these are fewer than it may be
    /// scheduled on.
    pub(crate) quota: Option<u32>,
    /// Devices under the targets.
    pub(crate) devices: Vec<String>,
    pub(crate) quiet: Option<Warning>,
}

impl NodeSeen {
    /// Processors that its ranks may use together.
    pub(crate) fn usable_cpus(&self) -> u32 {
        let cpus = u32::try_from(self.cpus.len()).unwrap_or(u32::MAX).max(1);
        self.quota.map_or(cpus, |quota| quota.min(cpus))
    }
}

/// What the plan meets on the ranks' hosts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) space: Vec<SpaceNeed>,
    /// Files, bytes and the first of the user's files that are lost on nodes that have directories of
    /// their own.
    pub(crate) replaced: Option<(usize, u64, PathBuf)>,
}

/// What a file system has not enough of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Scarce {
    Bytes,
    /// Bytes of the tables and outputs of jobs.
    Jobs,
    Inodes,
}

/// Bytes or inodes that a file system will have to take.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SpaceNeed {
    /// The node, where it has the file system for itself.
    pub(crate) node: Option<u32>,
    pub(crate) mount_point: String,
    pub(crate) what: Scarce,
    pub(crate) need: u64,
    pub(crate) free: u64,
}

impl Answer {
    /// This answer and that of ranks of higher numbers.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            (one, Self::Done) | (Self::Done, one) => one,
            (Self::Seen(one), Self::Seen(two)) => Self::Seen(one.join(two)),
            (Self::Missing(one), Self::Missing(two)) => Self::Missing(chained(one, two)),
            (Self::Found(one), Self::Found(two)) => Self::Found(one.join(two)),
            (Self::Files { removed, there }, Self::Files { removed: more, there: too }) => {
                Self::Files { removed: removed + more, there: there && too }
            }
            (Self::Wiped(one), Self::Wiped(two)) => Self::Wiped(chained(one, two)),
            (Self::Lacking(one), Self::Lacking(two)) => Self::Lacking(one || two),
            (Self::Part(mut one), Self::Part(two)) => {
                one.join(*two);
                Self::Part(one)
            }
            // All ranks answer the same order: only the first reason of the same kind is left.
            (one, _) => one,
        }
    }
}

impl Seen {
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

impl Found {
    fn join(mut self, other: Self) -> Self {
        for need in other.space {
            let same =
                |known: &&mut SpaceNeed| known.node == need.node && known.mount_point == need.mount_point;
            match self.space.iter_mut().find(same) {
                None => self.space.push(need),
                Some(known) => {
                    known.need = known.need.saturating_add(need.need);
                    known.free = known.free.min(need.free);
                }
            }
        }
        self.replaced = match (self.replaced, other.replaced) {
            (Some((files, bytes, first)), Some((more, and, _))) => {
                Some((files + more, bytes.saturating_add(and), first))
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

/// The numbers of `files` that `is_so`, as ranges.
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
