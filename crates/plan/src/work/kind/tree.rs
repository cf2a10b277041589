//! Files and directories of trees.

use std::path::PathBuf;

use super::{NamesMade, WorkKind, backend, halvings, largest, tasks};
use crate::{Bytes, Operation, Phase, PlanError, Tree, TreePlacement, Workload, WorkloadSpec};

impl WorkKind for Tree {
    fn check(&self, spec: &WorkloadSpec) -> Result<(), PlanError> {
        Self::check(self, spec.tasks)
    }

    fn pass(&self, _workload: &Workload) -> u64 {
        self.items_per_task()
    }

    fn footprint(&self, workload: &Workload) -> Bytes {
        let files = Self::operations(self, Phase::FileCreate, workload.tasks);
        Bytes(files.saturating_mul(self.write_bytes.0))
    }

    fn operations(&self, workload: &Workload, phase: Phase) -> Option<u64> {
        Some(Self::operations(self, phase, workload.tasks))
    }

    fn phase_bytes(&self, workload: &Workload, phase: Phase) -> Bytes {
        let items = Self::operations(self, phase, workload.tasks);
        Bytes(items.saturating_mul(self.bytes_per_item(phase).0))
    }

    fn bytes(&self, workload: &Workload) -> Bytes {
        largest(self, workload, [Phase::FileCreate, Phase::FileRead])
    }

    fn operation_bytes(&self, phase: Phase) -> Option<Bytes> {
        Some(self.bytes_per_item(phase))
    }

    fn names(&self, workload: &Workload, phases: &[Phase]) -> NamesMade {
        let tasks = workload.tasks;
        let made = |phase: Phase| match phases.contains(&phase) {
            true => Self::operations(self, phase, tasks),
            false => 0,
        };
        NamesMade {
            files: made(Phase::FileCreate),
            directories: made(Phase::DirectoryCreate).saturating_add(made(Phase::TreeCreate)),
            file_bytes: self.write_bytes,
        }
    }

    fn names_needed(&self, phases: &[Phase], tasks: u64) -> NamesMade {
        let trees = if self.own_trees { tasks } else { 1 };
        let items = self.items_per_task().saturating_mul(tasks);
        let made = |phase: Phase| if phases.contains(&phase) { items } else { 0 };
        let own = Self::directories(self).saturating_mul(trees);
        NamesMade {
            files: made(Phase::FileCreate),
            directories: made(Phase::DirectoryCreate).saturating_add(own),
            file_bytes: self.write_bytes,
        }
    }

    fn owner(&self, workload: &Workload, task: u32, phase: Phase, _repetition: u32) -> u32 {
        Self::owner(self, task, phase, workload.tasks)
    }

    fn roots(&self, workload: &Workload, repetition: u32) -> Vec<PathBuf> {
        TreePlacement::new(workload).map(|placement| placement.roots(repetition)).unwrap_or_default()
    }

    fn is_in_target(&self) -> bool {
        self.in_target
    }

    fn needs_target(&self) -> bool {
        self.in_target
    }

    fn syncs(&self, _workload: &Workload) -> bool {
        self.sync
    }

    fn direct_sizes(&self, _workload: &Workload, phases: &[Phase]) -> Vec<Bytes> {
        phases.iter().map(|phase| self.bytes_per_item(*phase)).collect()
    }

    fn needed(&self, workload: &Workload, phase: Phase) -> u64 {
        // Without a stonewall, a task has tried all its items, so it was prevented from creating the missing ones.
        if phase.creates_items() && workload.stonewall.is_some() { self.items_per_task() } else { 0 }
    }

    fn amount(&self, _workload: &Workload) -> u64 {
        self.items_per_task()
    }

    fn halved_keys(&self) -> &'static [&'static str] {
        &["items_per_directory"]
    }

    fn halvings(&self, _workload: &Workload, least: u64) -> u32 {
        halvings(self.items_per_task(), least).min(halvings(self.items_per_directory, 1))
    }

    fn longer(&self, _workload: &Workload) -> &'static str {
        "give each task more items"
    }

    fn conditions(&self, workload: &Workload, phase: Phase) -> String {
        let looks = phase.operation() == Some(Operation::Stat);
        let order = if looks && self.random.is_some() { ", random" } else { "" };
        let (place, items) = (self.place_in_words(), self.items_in_words(phase));
        format!("{phase}{order}, {}, {place}, {items}, {}", tasks(workload), backend(workload))
    }
}
