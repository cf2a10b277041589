//! What a step of a job knows: its tables and its memory limit.

use std::path::{Path, PathBuf};

use plan::jobs::{Output, Step, step_seed, table_seed};
use plan::{JobSpace, table_name};

use crate::table::{Io, TableReader};
use crate::{JobError, JobOrder};

/// Part of a step's memory reserved for the program itself: code, stacks and the allocator.
const PROGRAM_BYTES: u64 = 8 << 20;
/// Minimum number of page buffers of a step, in addition to those of each thread. A smaller memory limit is
/// raised to this.
const PAGES_MIN: u64 = 8;
/// Number of page buffers of a thread.
const PAGES_PER_THREAD: u64 = 4;

/// What a step knows about its job.
#[derive(Debug)]
pub struct StepContext<'a> {
    /// The job.
    pub order: &'a JobOrder,
    /// The number of the step, from 0.
    pub step: u32,
    /// How pages are transferred.
    pub io: &'a Io,
}

/// A table of a step: its space and file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The space.
    pub space: JobSpace,
    /// The file.
    pub path: PathBuf,
}

impl Place {
    /// Opens the table.
    ///
    /// # Errors
    /// Same as for [`TableReader::open`].
    pub fn open(&self, io: &Io) -> Result<TableReader, JobError> {
        TableReader::open(io, self.space, &self.path)
    }
}

impl StepContext<'_> {
    /// The location of the table `name`: the output of the last earlier step that writes it, or an input of
    /// the job.
    ///
    /// # Errors
    /// Errors if there is no such table.
    pub fn input(&self, name: &str) -> Result<Place, JobError> {
        let before = &self.order.steps[..(self.step as usize).min(self.order.steps.len())];
        let outputs = (0..).zip(before).filter_map(|(number, step)| Some((step.action.output()?, number)));
        if let Some((output, number)) = outputs.filter(|(output, _)| output.table == name).last() {
            return Ok(self.made(output, number));
        }
        let path = self.order.inputs.get(name).cloned();
        path.map(|path| Place { space: JobSpace::Permanent, path })
            .ok_or_else(|| JobError::NoTable { table: name.to_owned(), step: self.step })
    }

    /// The location of this step's `output`.
    #[must_use]
    pub fn output(&self, output: &Output) -> Place {
        self.made(output, self.step)
    }

    fn made(&self, output: &Output, step: u32) -> Place {
        let number = if output.space == JobSpace::Permanent { self.order.stream } else { step };
        Place {
            space: output.space,
            path: self.directory(output.space).join(table_name(&output.table, number)),
        }
    }

    /// A private file of this step, which is removed at its end.
    #[must_use]
    pub fn own(&self, space: JobSpace, what: &str, number: u32) -> Place {
        let name = table_name(&format!("{what}-{}", self.step), number);
        Place { space, path: self.directory(space).join(name) }
    }

    fn directory(&self, space: JobSpace) -> &Path {
        &self.order.directories[space as usize]
    }

    /// The random seed of this step. It is the same in each run, and different for each launch and step.
    #[must_use]
    pub fn seed(&self) -> u64 {
        step_seed(self.order.seed, &self.order.test, self.order.stream, self.order.round, self.step)
    }

    /// The random seed of the rows of the table `name`.
    #[must_use]
    pub fn table_seed(&self, name: &str) -> u64 {
        table_seed(self.order.seed, name, self.order.stream)
    }

    /// Bytes that a step may use for data and buffers so that its process stays within its memory limit:
    /// everything except 8 MiB (or a quarter, if less) for the program itself, and never less than 8 pages
    /// and 4 per thread, which is the minimum for any step.
    #[must_use]
    pub fn data_bytes(&self, step: &Step) -> usize {
        let memory = step.memory.0;
        let least = (PAGES_MIN + PAGES_PER_THREAD * u64::from(step.threads)) * self.io.page_bytes.0;
        let data = memory.saturating_sub(PROGRAM_BYTES.min(memory / 4)).max(least);
        usize::try_from(data).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use plan::jobs::{Action, Output, Step};
    use plan::{Bytes, JobSpace};

    use super::Place;
    use crate::tests::Bench;

    fn scan(input: &str, output: &str, space: JobSpace) -> Step {
        let output = Some(Output { table: output.to_owned(), space });
        let action = Action::Scan { input: input.to_owned(), output, keep_millionths: 1 };
        Step { action, threads: 1, memory: Bytes::mib(1) }
    }

    #[test]
    fn a_step_finds_the_tables_of_those_before_it() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.order.stream = 3;
        bench.order.inputs.insert("a".to_owned(), "/elsewhere/a".into());
        bench.order.steps = vec![scan("a", "b", JobSpace::Work), scan("b", "c", JobSpace::Permanent)];
        let at = |step, name| bench.context(step).input(name).map_err(|error| error.to_string());
        assert_eq!(at(0, "a"), Ok(Place { space: JobSpace::Permanent, path: "/elsewhere/a".into() }));
        assert_eq!(
            at(1, "b"),
            Ok(Place { space: JobSpace::Work, path: bench.path(JobSpace::Work, "b.0.table") })
        );
        let left = bench.path(JobSpace::Permanent, "c.3.table");
        assert_eq!(at(2, "c"), Ok(Place { space: JobSpace::Permanent, path: left }));
        assert!(at(0, "b").expect_err("made later").starts_with("no table b for step 0"));
    }

    #[test]
    fn data_leave_room_for_the_program_and_have_a_floor() {
        let bench = Bench::new(Bytes::kib(64));
        let bytes = |memory, threads| {
            let step = Step { memory, threads, ..scan("a", "b", JobSpace::Work) };
            bench.context(0).data_bytes(&step)
        };
        assert_eq!(bytes(Bytes::mib(128), 1), 120 << 20);
        assert_eq!(bytes(Bytes::mib(16), 1), 12 << 20);
        assert_eq!(bytes(Bytes(0), 2), 16 << 16);
    }
}
