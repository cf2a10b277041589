//! What a step reads and writes, pass by pass.
//!
//! A pass reads some data and writes others at the same time; the passes of a step follow each other. Sorted runs
//! that have to be merged more than once, because memory is small, come on top; tables with random keys have
//! their expected sizes.

use super::amounts::GROUP_BYTES;
use super::extent::Extents;
use super::{Action, JobSpace, Jobs, Step};

/// Part of a table that its index takes: an entry of 16 bytes for each row of 128.
const INDEX_PART: u64 = 8;

/// Data of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Data<'a> {
    /// A table that it reads or changes.
    Input(&'a str),
    /// The table that it makes.
    Output,
    /// A file of its own in this space, removed at its end.
    Own(JobSpace, &'static str),
}

/// Some of the data of a step, as a pass reads or writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow<'a> {
    /// Which data.
    pub data: Data<'a>,
    /// Bytes.
    pub bytes: u64,
    /// In pages at random places of all of the data, else in order.
    pub random: bool,
    /// Where in the data it begins, if in order.
    pub start: u64,
    /// Bytes of the data when it begins.
    pub size: u64,
}

/// What a step reads, and what it writes meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepPass<'a> {
    /// Read.
    pub reads: Vec<Flow<'a>>,
    /// Written.
    pub writes: Vec<Flow<'a>>,
}

impl Jobs {
    /// The passes of `step`, which finds the tables in `known`.
    #[must_use]
    pub fn passes<'a>(&self, step: &'a Step, known: &Extents) -> Vec<StepPass<'a>> {
        let action = &step.action;
        let size = |name: &str| known.get(name).map_or(0, |extent| self.table_bytes(extent.rows).0);
        let flow = |data, bytes| Flow { data, bytes, random: false, start: 0, size: bytes };
        let random = |data, bytes, size| Flow { data, bytes, random: true, start: 0, size };
        let inputs = || action.inputs().map(|name| flow(Data::Input(name), size(name))).collect::<Vec<_>>();
        let output = || {
            let extent = action.output().and_then(|_| action.leaves(known));
            let made = extent.map(|extent| flow(Data::Output, self.table_bytes(extent.rows).0));
            made.into_iter().collect::<Vec<_>>()
        };
        let pass = |reads: Vec<Flow<'a>>, writes: Vec<Flow<'a>>| StepPass { reads, writes };
        match action {
            Action::Append { table, rows } => {
                let (data, size) = (Data::Input(table), size(table));
                let added = Flow { start: size, size, ..flow(data, self.table_bytes(*rows).0) };
                // The last page, after which the new ones follow.
                let last = flow(data, self.page_bytes.0);
                let last = Flow { start: size.saturating_sub(last.bytes), size, ..last };
                vec![pass(vec![last], vec![added])]
            }
            Action::Update { table, share_millionths } => {
                let size = size(table);
                let changed = u128::from(size) * u128::from(*share_millionths) / 1_000_000;
                let changed = random(Data::Input(table), u64::try_from(changed).unwrap_or(u64::MAX), size);
                vec![pass(vec![changed], vec![changed])]
            }
            // The copy in work space and the sorted runs are written and read beside input and output.
            Action::Sort { input, .. } => {
                let copy = flow(Data::Own(JobSpace::Work, "copy"), size(input));
                let runs = flow(Data::Own(JobSpace::Utility, "runs"), size(input));
                vec![pass(inputs(), vec![copy]), pass(vec![copy], vec![runs]), pass(vec![runs], output())]
            }
            Action::Index { input, lookups } => {
                let rows = size(input);
                let entries = rows / INDEX_PART;
                let runs = flow(Data::Own(JobSpace::Utility, "runs"), entries);
                let index = flow(Data::Own(JobSpace::Utility, "index"), entries);
                // A lookup reads a page of the index and one of the table.
                let pages = lookups.saturating_mul(self.page_bytes.0);
                let looked = [
                    random(Data::Own(JobSpace::Utility, "index"), pages, entries),
                    random(Data::Input(input), pages, rows),
                ];
                vec![
                    pass(inputs(), vec![runs]),
                    pass(vec![runs], vec![index]),
                    pass(looked.into(), Vec::new()),
                ]
            }
            Action::Summarise { input, .. } => {
                let groups = known.get(input).map_or(0, |extent| extent.groups);
                if groups.saturating_mul(GROUP_BYTES) <= step.memory.0 {
                    return vec![pass(inputs(), output())];
                }
                let spilled = flow(Data::Own(JobSpace::Utility, "spilled"), size(input));
                vec![pass(inputs(), vec![spilled]), pass(vec![spilled], output())]
            }
            _ => vec![pass(inputs(), output())],
        }
    }
}

impl StepPass<'_> {
    /// Bytes read and bytes written.
    #[must_use]
    pub fn bytes(&self) -> [u64; 2] {
        [&self.reads, &self.writes]
            .map(|flows| flows.iter().map(|flow| flow.bytes).fold(0, u64::saturating_add))
    }
}
