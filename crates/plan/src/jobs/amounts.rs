//! How much jobs read and keep: before anything is started.

use std::collections::BTreeSet;

use super::extent::Extents;
use super::{Action, JobTest, Jobs, Space, Step};
use crate::{Bytes, Phase};

/// Bytes of memory that the sums of one key take in a hash table that grows.
const GROUP_BYTES: u64 = 128;

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

    /// Bytes of the data that one instance of `test` works on: the loaded tables that it reads, each once, and those
    /// that it generates.
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

    /// Bytes that `space` holds at the worst moment.
    ///
    /// Permanent space holds the loaded tables and what tests leave there, for each stream. Work and utility space
    /// hold what the largest launches have there that can run at a time: the tables that the steps have written so
    /// far, and what a step keeps for itself: a sort a copy of its input in each of the two, an index its entries, and
    /// sums the rows that memory has no room for. Sizes of tables whose keys are drawn
    /// at random are expectations: leave some room.
    #[must_use]
    pub fn needs(&self, space: Space) -> Bytes {
        let known = self.permanent();
        match space {
            Space::Permanent => Bytes(self.permanent_bytes(&known)),
            Space::Work | Space::Utility => {
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

    /// Bytes of the tables of permanent space, of all streams, when all launches are over.
    fn permanent_bytes(&self, known: &Extents) -> u64 {
        let left = self.tests.iter().flat_map(|test| {
            let outputs = test.outputs().filter(|output| output.space == Space::Permanent);
            outputs.map(|output| {
                let rows = known.get(&output.table).map_or(0, |extent| extent.rows);
                self.table_bytes(rows).0.saturating_mul(u64::from(test.streams))
            })
        });
        let grown = self.tests.iter().flat_map(|test| {
            test.steps.iter().filter_map(|step| match &step.action {
                // Each round appends again to the table of its stream.
                Action::Append { table, rows } if known.contains_key(table) => {
                    let launches = u64::from(test.streams) * u64::from(test.rounds);
                    Some(self.table_bytes(*rows).0.saturating_mul(launches))
                }
                _ => None,
            })
        });
        left.chain(grown).fold(self.loaded_bytes().0, u64::saturating_add)
    }

    /// The most that one launch of `test` has in `space`, where `known` stands in permanent space.
    fn launch_peak(&self, test: &JobTest, space: Space, mut known: Extents) -> u64 {
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
                // Entries of 16 bytes in sorted runs, and the index that is made of them.
                Action::Index { input, .. } if space == Space::Utility => bytes_of(known, input) / 4,
                // Rows of keys that memory has no room for are put aside.
                Action::Summarise { input, .. } if space == Space::Utility => {
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
