//! Which space is for what reads fast.

use plan::{JobSpace, Phase};
use record::{Run, StepRow};

use super::Timeline;
use super::launch_timer::{read_bytes, write_bytes};
use crate::figures::Subject;
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, bandwidth, below, flag, number, share, word},
};
use crate::statistics::Summary;
use crate::targets::{READ_FAVOURED_RATIO, large_rates};

/// Steps that moved fewer bytes are over before a rate is known.
const STEP_BYTES_MIN: u64 = 1 << 20;

/// Which space of the jobs of a target is for what reads fast.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacementAdvice {
    /// Rate of large reads of the target in bytes per second.
    read: f64,
    /// Rate of large writes in bytes per second, above 0.
    write: f64,
    /// What the rates are of.
    of: String,
    /// The space of which the highest share of the bytes is read.
    space: JobSpace,
    /// Read ÷ both there, over all passes that count.
    read_share: f64,
}

impl PlacementAdvice {
    fn ratio(&self) -> f64 {
        self.read / self.write
    }
}

impl Statement for PlacementAdvice {
    const KIND: Kind = Kind::JobPlacement;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "Which space is for flash, if that cannot hold all of them";
    const COLUMNS: &'static [Column<Self>] = &[
        bandwidth("read", "read", "Rate of large reads.", |one| Some(one.read)),
        bandwidth("write", "write", "Rate of large writes.", |one| Some(one.write)),
        number("ratio", "ratio", "Read ÷ write.", |one| Some(one.ratio())),
        word("space", "space", "That of which the highest share of the bytes is read.", |one| {
            one.space.name()
        }),
        share("read_share", "read share", "That share.", |one| Some(one.read_share)),
        flag(
            "for_reads",
            "put it there",
            "Whether the target reads so much faster that the space should be there.",
            |one| Some(one.ratio() >= READ_FAVOURED_RATIO),
        ),
        below(word("rates_of", "rates of", "What the rates are of.", |one| &one.of)),
    ];
}

/// Advice for every figure of jobs in `timelines` where such rates were measured: by a workload of large transfers on the
/// same target, else by steps of the jobs themselves.
pub(crate) fn job_placings(
    run: &Run,
    gate: &Gate<'_>,
    timelines: &[Timeline],
) -> Vec<Stated<PlacementAdvice>> {
    let jobs = gate.subjects.iter().filter(|one| one.figure.phase == Phase::Jobs);
    let of = |subject: &Subject<'_>| {
        let (space, read_share) = most_read(subject.index, timelines)?;
        let (inputs, read, write, of) = match large_rates(gate, &subject.case.target) {
            Some((read, write)) => {
                (vec![read.0, write.0], read.1, write.1, "rates of large transfers".to_owned())
            }
            None => {
                let steps = run.steps(&subject.case.id);
                let read = step_rates(&steps, "scan", read_bytes)?;
                let write = step_rates(&steps, "generate", write_bytes)?;
                let (scans, generates) = (read.n, write.n);
                let of = format!(
                    "rates: medians of {scans} scan and {generates} generate steps, beside other jobs"
                );
                (vec![subject.index], read.median, write.median, of)
            }
        };
        let placing = PlacementAdvice { read, write, of, space, read_share };
        (write > 0.0).then(|| gate.state(inputs, placing))
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

/// Bytes per second of each of `steps` that did `action` and moved enough.
fn step_rates(steps: &[StepRow], action: &str, bytes: fn(&StepRow) -> [u64; 3]) -> Option<Summary> {
    let these = steps.iter().filter(|row| row.action == action && row.end_ns > row.start_ns);
    let moved = these.map(|row| (bytes(row).iter().sum::<u64>(), row.end_ns - row.start_ns));
    let large = moved.filter(|(bytes, _)| *bytes >= STEP_BYTES_MIN);
    Summary::of(&large.map(|(bytes, nanos)| bytes as f64 / nanos as f64 * 1e9).collect::<Vec<_>>())
}
