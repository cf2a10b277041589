//! How much jobs read and keep: before anything is started.

use super::{Action, JobTest, Jobs, Space, Step};
use crate::{Backend, Bytes, Phase, PlanError};

impl Jobs {
    /// Files that the load phase makes.
    #[must_use]
    pub fn loaded_files(&self) -> u64 {
        self.tables.iter().map(|table| u64::from(self.replicas(&table.name))).sum()
    }

    /// Bytes of the tables that the load phase makes, with all their replicas.
    #[must_use]
    pub fn loaded_bytes(&self) -> Bytes {
        let of = |table: &super::JobTable| {
            self.table_bytes(table.rows).0.saturating_mul(u64::from(self.replicas(&table.name)))
        };
        Bytes(self.tables.iter().map(of).fold(0, u64::saturating_add))
    }

    /// Bytes of the loaded tables that all launches read, each step its inputs once.
    #[must_use]
    pub fn read_bytes(&self) -> Bytes {
        let launches = |test: &JobTest| u64::from(test.streams) * u64::from(test.rounds);
        let of = |test: &JobTest| self.input_bytes(test).0.saturating_mul(launches(test));
        Bytes(self.tests.iter().map(of).fold(0, u64::saturating_add))
    }

    /// Bytes of the loaded tables that one launch of `test` reads: the input of a single instance.
    #[must_use]
    pub fn input_bytes(&self, test: &JobTest) -> Bytes {
        let of = |name: &str| {
            let table = self.tables.iter().find(|table| table.name == name);
            table.map_or(0, |table| self.table_bytes(table.rows).0)
        };
        let names = test.steps.iter().flat_map(|step: &Step| step.action.inputs());
        Bytes(names.map(of).fold(0, u64::saturating_add))
    }

    /// The conditions that travel with every figure of `phase`.
    #[must_use]
    pub fn conditions(&self, phase: Phase) -> String {
        let path = if self.direct { "direct" } else { "buffered" };
        let sync = if self.sync { ", synced at close" } else { "" };
        let files = match phase {
            Phase::Load => format!("{} tables", self.loaded_files()),
            _ => format!("{} launches of {} tests", self.launches().len(), self.tests.len()),
        };
        let together = match self.concurrency {
            0 => String::new(),
            most => format!(", at most {most} at a time"),
        };
        format!("{phase}, {files}{together}, pages of {}, {path}{sync}", self.page_bytes)
    }

    /// Refuses jobs that cannot be launched as `tasks` on `nodes`.
    pub(crate) fn check(&self, tasks: u32, nodes: u32, backend: Backend) -> Result<(), PlanError> {
        let (least, most) = super::PAGE_BYTES;
        if self.page_bytes < least || self.page_bytes > most || !self.page_bytes.0.is_power_of_two() {
            return Err(PlanError::new(
                "page",
                format!("pages of {}", self.page_bytes),
                format!("give a power of two from {least} to {most}"),
            ));
        }
        if nodes != 1 {
            return Err(PlanError::new("nodes", format!("jobs on {nodes} nodes"), "jobs run on one node"));
        }
        if backend != Backend::Psync {
            return Err(PlanError::new(
                "backend",
                format!("jobs by {}", backend.name()),
                "jobs read and write by system calls: leave `backend` out",
            ));
        }
        if u64::from(tasks) != self.launches().len() as u64 {
            return Err(PlanError::new(
                "tasks",
                format!("{tasks} tasks for {} launches", self.launches().len()),
                "each launch is a task: leave `tasks` out",
            ));
        }
        Ok(())
    }

    /// Whether any step of any test writes into `space`.
    #[must_use]
    pub fn writes_to(&self, space: Space) -> bool {
        let steps = || self.tests.iter().flat_map(|test| &test.steps);
        let outputs = steps().filter_map(|step| step.action.output()).any(|output| output.space == space);
        let sorts = steps().any(|step| matches!(step.action, Action::Sort { .. }));
        outputs
            || (space == Space::Permanent && !self.tables.is_empty())
            || (sorts && space != Space::Permanent)
    }
}
