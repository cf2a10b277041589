//! Kinds of work of a workload.

pub(crate) mod find;
pub(crate) mod kind;
pub(crate) mod names;
pub(crate) mod operation;
pub(crate) mod rpc;
pub(crate) mod tree;

use serde::{Deserialize, Serialize};

use crate::{Find, Jobs, Objects, Rpc, Tree};

/// The kind of work of a workload's tasks.
///
/// Who does it (tasks, nodes, backend), where (targets) and until when (stonewall, duration) is in
/// [`crate::WorkloadSpec`] for all kinds; geometry, order, sync rule and the like only apply to transfers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Work {
    /// Transfers within files that stay open.
    #[default]
    Transfers,
    /// Creates, stats and removes the files and directories of a tree.
    Tree(Tree),
    /// Cycles through small objects in sets, as md-workbench does.
    Objects(Objects),
    /// Requests and responses between the processes of a run.
    Rpc(Rpc),
    /// A search through the directories of the targets.
    Find(Find),
    /// Jobs of an analytics server; each is a task and a process of its own.
    Jobs(Jobs),
}

impl Work {
    /// The tree, if the tasks work on one.
    #[must_use]
    pub const fn tree(&self) -> Option<&Tree> {
        if let Self::Tree(tree) = self { Some(tree) } else { None }
    }

    /// The tree, to change it.
    pub const fn tree_mut(&mut self) -> Option<&mut Tree> {
        if let Self::Tree(tree) = self { Some(tree) } else { None }
    }

    /// The jobs, if the tasks are jobs.
    #[must_use]
    pub const fn jobs(&self) -> Option<&Jobs> {
        if let Self::Jobs(jobs) = self { Some(jobs) } else { None }
    }

    /// The jobs, to change them.
    pub const fn jobs_mut(&mut self) -> Option<&mut Jobs> {
        if let Self::Jobs(jobs) = self { Some(jobs) } else { None }
    }

    /// Whether it is on a target: messages between processes are not.
    #[must_use]
    pub const fn has_target(&self) -> bool {
        !matches!(self, Self::Rpc(_))
    }

    /// Whether its operations are transfers within files.
    #[must_use]
    pub const fn is_transfers(&self) -> bool {
        matches!(self, Self::Transfers)
    }

    /// Whether tasks create names in directories of the targets, instead of using the files of
    /// [`crate::Placement`].
    #[must_use]
    pub const fn makes_trees(&self) -> bool {
        matches!(self, Self::Tree(_) | Self::Objects(_) | Self::Jobs(_))
    }

    /// The objects, if the tasks cycle through some.
    #[must_use]
    pub const fn objects(&self) -> Option<&Objects> {
        if let Self::Objects(objects) = self { Some(objects) } else { None }
    }

    /// The messages, if the tasks exchange some.
    #[must_use]
    pub const fn rpc(&self) -> Option<&Rpc> {
        if let Self::Rpc(rpc) = self { Some(rpc) } else { None }
    }

    /// The messages, to change them.
    pub const fn rpc_mut(&mut self) -> Option<&mut Rpc> {
        if let Self::Rpc(rpc) = self { Some(rpc) } else { None }
    }

    /// The search, if the tasks do one.
    #[must_use]
    pub const fn find(&self) -> Option<&Find> {
        if let Self::Find(find) = self { Some(find) } else { None }
    }
}

impl From<Tree> for Work {
    fn from(tree: Tree) -> Self {
        Self::Tree(tree)
    }
}

impl From<Objects> for Work {
    fn from(objects: Objects) -> Self {
        Self::Objects(objects)
    }
}

impl From<Rpc> for Work {
    fn from(rpc: Rpc) -> Self {
        Self::Rpc(rpc)
    }
}

impl From<Find> for Work {
    fn from(find: Find) -> Self {
        Self::Find(find)
    }
}

impl From<Jobs> for Work {
    fn from(jobs: Jobs) -> Self {
        Self::Jobs(jobs)
    }
}
