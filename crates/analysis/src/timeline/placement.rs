//! Which space is for what reads fast.

use plan::{JobSpace, Phase};
use record::{Run, StepRow};

use super::Timeline;
use crate::cost::large_rates;
use crate::gate::{Gate, Kind, Stated};
use crate::subject::Subject;
use crate::{READ_FAVOURED_RATIO, Summary};

/// Steps that moved fewer bytes are over before a rate is known.
const STEP_BYTES_MIN: u64 = 1 << 20;

/// Where rates of large reads and writes are from.
#[derive(Debug, Clone, PartialEq)]
pub enum RatesOf {
    /// A workload of large transfers on the same target: the figures of its reads and of its writes.
    Transfers(usize, usize),
    /// Steps of the jobs themselves, which ran beside others: medians of so many `scan` steps that read and of so many
    /// `generate` steps that wrote.
    Steps(usize, usize),
}

/// Advice for the spaces of one figure of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPlacing {
    /// The figure.
    pub figure: usize,
    /// Its target.
    pub target: String,
    /// How fast the target is read and written; none where that was not measured.
    pub rates: Option<Stated<ReadWriteRates>>,
    /// Spaces that were used, that with the highest share of reads first.
    pub spaces: Vec<SpaceShare>,
}

impl JobPlacing {
    /// Its rates; none where they were not measured, or are withheld.
    #[must_use]
    pub fn says(&self) -> Option<&ReadWriteRates> {
        self.rates.as_ref().and_then(Stated::says)
    }
}

/// Rates of large reads and writes of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadWriteRates {
    /// In bytes per second.
    pub read: f64,
    /// In bytes per second, above 0.
    pub write: f64,
    /// Where they are from.
    pub of: RatesOf,
}

impl ReadWriteRates {
    /// Read ÷ write.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.read / self.write
    }

    /// From [`READ_FAVOURED_RATIO`] on the storage is for what is mostly read.
    #[must_use]
    pub fn for_reads(&self) -> bool {
        self.ratio() >= READ_FAVOURED_RATIO
    }
}

/// How much of what a space moves is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpaceShare {
    /// The space.
    pub space: JobSpace,
    /// Read ÷ both.
    pub read_share: f64,
    /// Bytes in either direction, over all passes that count.
    pub bytes: u64,
    /// Read rate of `scan` steps and write rate of `generate` steps there: medians, where there were any and the
    /// figure is not disqualified.
    pub rates: (Option<f64>, Option<f64>),
}

/// Advice for every figure of jobs in `timelines`.
#[must_use]
pub fn job_placings(run: &Run, gate: &Gate<'_>, timelines: &[Timeline]) -> Vec<JobPlacing> {
    let jobs = gate.subjects.iter().filter(|one| one.figure.phase == Phase::Jobs);
    let of = |subject: &Subject<'_>| {
        let passes: Vec<&Timeline> =
            timelines.iter().filter(|one| one.figure == subject.index && one.counts).collect();
        let steps = run.steps(&subject.case.id);
        let mut spaces = shares(&passes, &steps);
        if spaces.is_empty() {
            return None;
        }
        if !gate.is_usable(subject.index) {
            spaces.iter_mut().for_each(|space| space.rates = (None, None));
        }
        let rates = match large_rates(gate, &subject.case.target) {
            Some((read, write)) => {
                let of = RatesOf::Transfers(read.0, write.0);
                Some((vec![read.0, write.0], ReadWriteRates { read: read.1, write: write.1, of }))
            }
            None => of_steps(&steps).map(|rates| (vec![subject.index], rates)),
        };
        let rates = rates.filter(|(_, rates)| rates.write > 0.0);
        Some(JobPlacing {
            figure: subject.index,
            target: subject.case.target.clone(),
            rates: rates.map(|(inputs, rates)| gate.state(Kind::Placement, inputs, rates)),
            spaces,
        })
    };
    jobs.filter_map(of).collect()
}

/// Bytes of each space over `passes`; spaces that nothing was moved in are left out.
fn shares(passes: &[&Timeline], steps: &[StepRow]) -> Vec<SpaceShare> {
    let of = |(place, &space): (usize, &JobSpace)| {
        let own = || passes.iter().flat_map(|pass| &pass.spaces).filter(|one| one.space == space);
        let read: u64 = own().map(|one| one.read_bytes).sum();
        let bytes: u64 = own().map(super::SpaceUse::bytes).sum();
        (bytes > 0).then(|| SpaceShare {
            space,
            read_share: read as f64 / bytes as f64,
            bytes,
            rates: (
                Summary::of(&step_rates(steps, "scan", |row| reads(row)[place])).map(|all| all.median),
                Summary::of(&step_rates(steps, "generate", |row| writes(row)[place])).map(|all| all.median),
            ),
        })
    };
    let mut found: Vec<SpaceShare> = JobSpace::ALL.iter().enumerate().filter_map(of).collect();
    found.sort_by(|a, b| b.read_share.total_cmp(&a.read_share));
    found
}

/// Rates of `steps`, where no transfers were measured on their target.
fn of_steps(steps: &[StepRow]) -> Option<ReadWriteRates> {
    let read = step_rates(steps, "scan", |row| reads(row).iter().sum());
    let write = step_rates(steps, "generate", |row| writes(row).iter().sum());
    let of = RatesOf::Steps(read.len(), write.len());
    Some(ReadWriteRates { read: Summary::of(&read)?.median, write: Summary::of(&write)?.median, of })
}

const fn reads(row: &StepRow) -> [u64; 3] {
    [row.permanent_read_bytes, row.work_read_bytes, row.utility_read_bytes]
}

const fn writes(row: &StepRow) -> [u64; 3] {
    [row.permanent_write_bytes, row.work_write_bytes, row.utility_write_bytes]
}

/// Bytes per second of each step that did `action` and moved enough.
fn step_rates(steps: &[StepRow], action: &str, bytes: impl Fn(&StepRow) -> u64) -> Vec<f64> {
    let these = steps.iter().filter(|row| row.action == action && row.end_ns > row.start_ns);
    let large = these.filter(|row| bytes(row) >= STEP_BYTES_MIN);
    large.map(|row| bytes(row) as f64 / (row.end_ns - row.start_ns) as f64 * 1e9).collect()
}
