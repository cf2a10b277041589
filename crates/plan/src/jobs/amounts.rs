//! How much jobs read and store, computed before anything starts.

use std::collections::BTreeSet;

use super::extent::Extents;
use super::{Action, JobSpace, JobTest, Jobs, Step};
use crate::{Bytes, Phase};

/// Memory per key in a growing hash table of sums.
pub(super) const GROUP_BYTES: u64 = 128;

impl Jobs {
    /// Number of files created by the load phase.
    #[must_use]
    pub fn loaded_files(&self) -> u64 {
        self.tables.iter().map(|table| u64::from(self.replicas(&table.name))).sum()
    }

    /// Bytes of the tables created by the load phase, including replicas.
    #[must_use]
    pub fn loaded_bytes(&self) -> Bytes {
        let of = |table: &super::JobTable| {
            self.table_bytes(table.rows).0.saturating_mul(u64::from(self.replicas(&table.name)))
        };
        Bytes(self.tables.iter().map(of).fold(0, u64::saturating_add))
    }

    /// Bytes of the loaded tables read by all launches; each step reads its inputs once.
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

    /// Bytes of the data processed by one instance of `test`: the loaded tables that it reads, each once, and
    /// those that it generates.
    #[must_use]
    pub fn instance_bytes(&self, test: &JobTest) -> Bytes {
        let read: BTreeSet<&str> = test.steps.iter().flat_map(|step| step.action.inputs()).collect();
        let loaded = self.tables.iter().filter(|table| read.contains(table.name.as_str()));
        let generated = test.steps.iter().filter_map(|step| match &step.action {
            Action::Generate { rows, .. } => Some(*rows),
            _ => None,
        });
        let all = loaded.map(|table| table.rows).chain(generated);
        Bytes(all.map(|rows| self.table_bytes(rows).0).fold(0, u64::saturating_add))
    }

    /// Conditions attached to every figure of `phase`.
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

    /// Peak number of bytes in `space`.
    ///
    /// Permanent space holds the loaded tables and the permanent outputs of tests, for each stream. Work and
    /// utility space hold the data of the largest launches that can run concurrently: the tables that the
    /// steps have written so far and the temporary data of a step. For a sort that is a copy of its input in
    /// each of the two, for an index its entries, and for sums the rows that do not fit in memory. Sizes of
    /// tables with random keys are expected values, so leave some room.
    #[must_use]
    pub fn needs(&self, space: JobSpace) -> Bytes {
        let known = self.permanent();
        match space {
            JobSpace::Permanent => Bytes(self.permanent_bytes(&known)),
            JobSpace::Work | JobSpace::Utility => {
                let mut peaks: Vec<(u64, u32)> = (self.tests.iter())
                    .map(|test| (self.launch_peak(test, space, known.clone()), test.streams))
                    .collect();
                peaks.sort_unstable_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
                let mut left = if self.concurrency == 0 { u32::MAX } else { self.concurrency };
                let held = peaks.into_iter().map(|(bytes, streams)| {
                    let launches = streams.min(left);
                    left -= launches;
                    bytes.saturating_mul(u64::from(launches))
                });
                Bytes(held.fold(0, u64::saturating_add))
            }
        }
    }

    /// Bytes of the tables of permanent space, over all streams, when all launches have finished.
    fn permanent_bytes(&self, known: &Extents) -> u64 {
        let left = self.tests.iter().flat_map(|test| {
            let outputs = test.outputs().filter(|output| output.space == JobSpace::Permanent);
            outputs.map(|output| {
                let rows = known.get(&output.table).map_or(0, |extent| extent.rows);
                self.table_bytes(rows).0.saturating_mul(u64::from(test.streams))
            })
        });
        let grown = self.tests.iter().flat_map(|test| {
            test.steps.iter().filter_map(|step| match &step.action {
                // Each round appends to the table of its stream again.
                Action::Append { table, rows } if known.contains_key(table) => {
                    let launches = u64::from(test.streams) * u64::from(test.rounds);
                    Some(self.table_bytes(*rows).0.saturating_mul(launches))
                }
                _ => None,
            })
        });
        left.chain(grown).fold(self.loaded_bytes().0, u64::saturating_add)
    }

    /// Peak bytes of one launch of `test` in `space`, given the tables `known` in permanent space.
    fn launch_peak(&self, test: &JobTest, space: JobSpace, mut known: Extents) -> u64 {
        let mut peak = 0;
        let bytes_of =
            |known: &Extents, name: &str| known.get(name).map_or(0, |extent| self.table_bytes(extent.rows).0);
        let actions: Vec<&Action> = test.steps.iter().map(|step| &step.action).collect();
        let held = |known: &Extents, steps: usize| {
            let outputs = actions[..steps].iter().filter_map(|action| action.output());
            let here = outputs.filter(|output| output.space == space);
            here.map(|output| bytes_of(known, &output.table)).fold(0, u64::saturating_add)
        };
        test.walk(&mut known, |place, known| {
            let copy = match actions[place] {
                Action::Sort { input, .. } => bytes_of(known, input),
                // Entries of 16 bytes in sorted runs, and the index built from them.
                Action::Index { input, .. } if space == JobSpace::Utility => bytes_of(known, input) / 4,
                // Rows whose keys do not fit in memory are spilled.
                Action::Summarise { input, .. } if space == JobSpace::Utility => {
                    let memory = test.steps[place].memory.0;
                    let groups = known.get(input).map_or(0, |extent| extent.groups);
                    if groups.saturating_mul(GROUP_BYTES) > memory { bytes_of(known, input) } else { 0 }
                }
                _ => 0,
            };
            let output = actions[place].output().filter(|output| output.space == space);
            let written = output.and_then(|_| actions[place].leaves(known));
            let written = written.map_or(0, |extent| self.table_bytes(extent.rows).0);
            peak = peak.max(held(known, place).saturating_add(copy).saturating_add(written));
        });
        peak.max(held(&known, actions.len()))
    }
}
