//! The reads and writes of a step, pass by pass.
//!
//! A pass reads some data and writes other data at the same time; the passes of a step follow one another.
//! Additional merge passes of sorted runs, which are needed if memory is small, are not included; tables with
//! random keys have their expected sizes.

use super::amounts::GROUP_BYTES;
use super::extent::Extents;
use super::{Action, JobSpace, Jobs, Step};

/// The size of an index relative to its table: an entry of 16 bytes for each row of 128, so one part in this
/// many.
const INDEX_PART: u64 = 8;

/// The data of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Data<'a> {
    /// A table that it reads or changes.
    Input(&'a str),
    /// The table that it creates.
    Output,
    /// A temporary file in this space, which is removed at the end of the step.
    Own(JobSpace, &'static str),
}

/// A part of the data of a step, as a pass reads or writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow<'a> {
    /// The data.
    pub data: Data<'a>,
    /// Number of bytes.
    pub bytes: u64,
    /// Whether pages are accessed at random offsets over all of the data; otherwise in order.
    pub random: bool,
    /// Start offset within the data, if in order.
    pub start: u64,
    /// Size of the data when the pass starts, in bytes.
    pub size: u64,
}

/// What a step reads, and what it writes at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepPass<'a> {
    /// The data that is read.
    pub reads: Vec<Flow<'a>>,
    /// The data that is written.
    pub writes: Vec<Flow<'a>>,
}

impl Jobs {
    /// The passes of `step`, which reads the tables in `known`.
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
                // The new pages are appended after the last page.
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
            // In addition to input and output, the copy in work space and the sorted runs are written and read.
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
