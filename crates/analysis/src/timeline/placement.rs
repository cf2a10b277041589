//! Which space is for what reads fast.

use plan::{JobSpace, Phase};
use record::{Run, StepRow};

use super::Timeline;
use crate::cost::large_rates;
use crate::gate::{Gate, Kind, Stated};
use crate::headline::RateOf;
use crate::subject::Subject;
use crate::table::{Column, Of, Statement, Value};
use crate::{READ_FAVOURED_RATIO, Summary};

/// Steps that moved fewer bytes are over before a rate is known.
const STEP_BYTES_MIN: u64 = 1 << 20;

/// Where rates of large reads and writes are from.
#[derive(Debug, Clone, PartialEq)]
pub enum RatesOf {
    /// A workload of large transfers on the same target.
    Transfers,
    /// Steps of the jobs themselves, which ran beside others: medians of so many `scan` steps that read and of so many
    /// `generate` steps that wrote.
    Steps(usize, usize),
}

/// Which space of the jobs of a target is for what reads fast.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPlacing {
    /// Rate of large reads of the target in bytes per second.
    pub read: f64,
    /// Rate of large writes in bytes per second, above 0.
    pub write: f64,
    /// Where they are from.
    pub of: RatesOf,
    /// The space of which the highest share of the bytes is read.
    pub space: JobSpace,
    /// Read ÷ both there, over all passes that count.
    pub read_share: f64,
}

impl JobPlacing {
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

impl Statement for JobPlacing {
    const KIND: Kind = Kind::JobPlacement;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "Which space is for flash, if that cannot hold all of them";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::rate("read", |one: &Self| Value::Rate(one.read, RateOf::Bytes), "Rate of large reads."),
        Column::rate("write", |one: &Self| Value::Rate(one.write, RateOf::Bytes), "Rate of large writes."),
        Column::number("ratio", |one: &Self| Some(one.ratio()), "Read ÷ write."),
        Column::text(
            "space",
            |one: &Self| one.space.name().to_owned(),
            "That of which the highest share of the bytes is read.",
        ),
        Column::share("read_share", |one: &Self| Some(one.read_share), "That share."),
        Column::flag(
            "for_reads",
            |one: &Self| Some(one.for_reads()),
            "Whether the target reads so much faster that the space should be there.",
        )
        .headed("put it there"),
        Column::text(
            "rates_of",
            |one: &Self| match one.of {
                RatesOf::Transfers => "rates of large transfers".to_owned(),
                RatesOf::Steps(scans, generates) => {
                    format!(
                        "rates: medians of {scans} scan and {generates} generate steps, beside other jobs"
                    )
                }
            },
            "What the rates are of.",
        )
        .below(),
    ];
}

/// Advice for every figure of jobs in `timelines` where such rates were measured.
pub(crate) fn job_placings(run: &Run, gate: &Gate<'_>, timelines: &[Timeline]) -> Vec<Stated<JobPlacing>> {
    let jobs = gate.subjects.iter().filter(|one| one.figure.phase == Phase::Jobs);
    let of = |subject: &Subject<'_>| {
        let (space, read_share) = most_read(subject.index, timelines)?;
        let (inputs, read, write, of) = match large_rates(gate, &subject.case.target) {
            Some((read, write)) => (vec![read.0, write.0], read.1, write.1, RatesOf::Transfers),
            None => {
                let (read, write, of) = of_steps(&run.steps(&subject.case.id))?;
                (vec![subject.index], read, write, of)
            }
        };
        let placing = JobPlacing { read, write, of, space, read_share };
        (write > 0.0).then(|| gate.state(Kind::JobPlacement, inputs, placing))
    };
    jobs.filter_map(of).collect()
}

/// The space of which the highest share of the bytes is read, and that share.
fn most_read(figure: usize, timelines: &[Timeline]) -> Option<(JobSpace, f64)> {
    let of = |&space: &JobSpace| {
        let passes = timelines.iter().filter(|one| one.figure == figure && one.counts);
        let own = passes.flat_map(|pass| &pass.spaces).filter(|one| one.space == space);
        let (read, bytes) =
            own.fold((0, 0), |(read, bytes), one| (read + one.read_bytes, bytes + one.bytes()));
        (bytes > 0).then(|| (space, read as f64 / bytes as f64))
    };
    // Of equal shares the first.
    JobSpace::ALL.iter().rev().filter_map(of).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Rates of `steps`, where no transfers were measured on their target.
fn of_steps(steps: &[StepRow]) -> Option<(f64, f64, RatesOf)> {
    let read = step_rates(steps, "scan", |row| reads(row).iter().sum());
    let write = step_rates(steps, "generate", |row| writes(row).iter().sum());
    let of = RatesOf::Steps(read.len(), write.len());
    Some((Summary::of(&read)?.median, Summary::of(&write)?.median, of))
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
