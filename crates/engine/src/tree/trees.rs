//! The directories of trees: created top-down and removed bottom-up.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use plan::{Operation, Phase};
use rustix::fs::Mode;

use crate::tree::item_ops::DIRECTORY_MODE;
use crate::tree::name::Name;
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::sync_worker::{OpCounters, OpRunner};
use crate::tree::trouble::{OpOutcome, Surprise, failed, note};
use crate::tree::walk::{again, needs_root};
use crate::{EngineError, Errno, Surprises};

/// A task working on the directories of its trees.
#[derive(Debug)]
pub(crate) struct TreeWorker<'s> {
    rules: &'s TreeRules<'s>,
    plan: &'s ItemPlan,
    /// The owner of the current tree, and the tree's root.
    owner: Option<u32>,
    root: PathBuf,
    directory: u64,
    name: Name,
}

impl<'s> TreeWorker<'s> {
    pub(crate) fn new(rules: &'s TreeRules<'s>, plan: &'s ItemPlan) -> Self {
        Self { rules, plan, owner: None, root: PathBuf::new(), directory: 0, name: Name::new() }
    }

    fn root_path(&self, owner: u32) -> PathBuf {
        self.rules.placement.root(owner, self.rules.job.repetition)
    }
}

impl OpRunner for TreeWorker<'_> {
    fn task(&self) -> (u32, u32) {
        (self.plan.task, self.plan.owner)
    }

    fn prepare(&mut self) -> Result<(), EngineError> {
        if self.rules.phase != Phase::TreeCreate || self.rules.tree.in_target || self.rules.null {
            return Ok(());
        }
        // Later trees have the same roots as earlier ones.
        for owner in self.plan.trees.clone().take(self.rules.distinct_roots as usize) {
            let root = self.root_path(owner);
            match again(|| rustix::fs::mkdir(&root, Mode::from_raw_mode(DIRECTORY_MODE))) {
                Ok(()) | Err(Errno(libc::EEXIST)) => {}
                Err(errno) => return Err(failed(root, Operation::Create, errno, 0)),
            }
        }
        Ok(())
    }

    fn leave(&mut self, surprises: &mut Surprises) -> Result<(), EngineError> {
        let rules = self.rules;
        let mine =
            if rules.tree.collective { self.plan.task == 0 } else { self.plan.task < rules.distinct_roots };
        if rules.phase != Phase::TreeRemove || rules.tree.in_target || rules.null || !mine {
            return Ok(());
        }
        let last = if rules.tree.collective { rules.distinct_roots } else { self.plan.task + 1 };
        for owner in self.plan.task..last {
            let root = self.root_path(owner);
            match again(|| rustix::fs::rmdir(&root)) {
                Ok(()) => {}
                Err(errno) => match Surprise::of(Operation::Remove, errno) {
                    Some(surprise) => note(surprises, surprise, || root),
                    None => return Err(failed(root, Operation::Remove, errno, 0)),
                },
            }
        }
        Ok(())
    }

    fn go(&mut self, position: u64) -> Result<bool, EngineError> {
        let each = self.rules.tree.directories().max(1);
        let (tree, number) = (position / each, position % each);
        let owner = self.plan.trees.start + u32::try_from(tree).unwrap_or(u32::MAX);
        if self.owner != Some(owner) {
            (self.owner, self.root) = (Some(owner), self.root_path(owner));
            if !self.rules.null {
                needs_root(&self.root)?;
            }
        }
        self.directory = if self.rules.phase == Phase::TreeRemove { each - 1 - number } else { number };
        let number = self.rules.tree_number(owner);
        self.name.clear().push(self.root.as_os_str().as_bytes()).push(b"/");
        self.name.push_directory(number, self.directory, self.rules.tree.branching);
        Ok(false)
    }

    fn act(&mut self) -> Result<OpOutcome, EngineError> {
        if self.rules.null {
            std::hint::black_box(&self.name);
            return Ok(OpOutcome::Done);
        }
        let done = self.name.c_str().and_then(|name| match self.rules.phase {
            Phase::TreeRemove => again(|| rustix::fs::rmdir(name)),
            _ => again(|| rustix::fs::mkdir(name, Mode::from_raw_mode(DIRECTORY_MODE))),
        });
        let Err(errno) = done else { return Ok(OpOutcome::Done) };
        match Surprise::of(self.rules.operation, errno) {
            Some(surprise) => Ok(OpOutcome::Surprise(surprise)),
            None => Err(failed(self.path(), self.rules.operation, errno, 0)),
        }
    }

    #[cold]
    fn path(&self) -> PathBuf {
        let owner = self.owner.unwrap_or(self.plan.owner);
        self.root_path(owner).join(self.rules.placement.directory(owner, self.directory))
    }

    fn enter(&mut self, _surprises: &mut Surprises) -> Result<(), EngineError> {
        Ok(())
    }

    fn check(&mut self) -> bool {
        false
    }

    fn wrong_data(&self) -> Option<EngineError> {
        None
    }

    fn give(self) -> OpCounters {
        OpCounters::default()
    }
}
