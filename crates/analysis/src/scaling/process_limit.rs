//! Whether more devices give no gain because the processes that use them are the limit.

use crate::figures::{Subject, TARGET, TASKS, grouped};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, count, flag, number, share, text},
};
use crate::scaling::{BoundBy, Limit};
use crate::statistics::Summary;
use crate::sweeps::PLATEAU_SHARE;
use crate::targets::Expected;

/// With fewer numbers of devices, a line is not called flat: two values may be similar by chance.
const FLAT_POINTS_MIN: usize = 3;

/// Rates of the same number of tasks on an increasing number of devices.
///
/// Source: study D, whose single process reads as fast from one LUN as from twelve: "limited by the process".
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct ProcessLimit {
    pub tasks: u32,
    /// Devices, figure and first rate, by ascending number of devices.
    pub points: Vec<(u32, usize, f64)>,
    pub spread: f64,
    pub gain: f64,
    /// Whether the processes are the limit: there are at least three numbers of devices, the spread is at most
    /// [`PLATEAU_SHARE`], the processors were busy all the time at each, and no figure is at a ceiling of its
    /// storage.
    pub flat: bool,
}

impl Statement for ProcessLimit {
    const KIND: Kind = Kind::ProcessLimit;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "The same number of tasks on more and more devices. Gain: rate on the most \
         ÷ rate on the fewest. Limited by the processes: with three or more numbers of devices, all rates \
         are within 10 % of the highest, and the processors are busy at each";
    const COLUMNS: &'static [Column<Self>] = &[
        count("tasks", "tasks", "Tasks.", |one| Some(one.tasks.into())),
        text("devices", "devices", "Numbers of devices, in the order of the figures.", |one| {
            one.points.iter().map(|(devices, ..)| devices.to_string()).collect::<Vec<_>>().join(", ")
        }),
        number("gain", "gain", "Rate on the most devices ÷ rate on the fewest.", |one| Some(one.gain)),
        share("spread", "spread", "(Fastest − slowest) ÷ fastest.", |one| Some(one.spread)),
        flag("limited_by_processes", "limited by processes", "Whether the processes are the limit.", |one| {
            Some(one.flat)
        }),
    ];
}

/// Covers every workload that was measured with the same tasks on several numbers of devices: by its key `members`,
/// or on targets that the study compares with one baseline. Disqualified figures are left out.
pub(crate) fn of_gate(
    gate: &Gate<'_>,
    limits: &[BoundBy],
    expected: &[Expected],
) -> Vec<Stated<ProcessLimit>> {
    let busy = |figure: usize| limits.iter().any(|one| one.figure == figure && one.limit == Limit::Processor);
    let at_ceiling = |figure: usize| {
        expected.iter().any(|one| one.figure == figure && one.ceiling && one.ratio >= 1.0 - PLATEAU_SHARE)
    };
    let usable = |one: &&Subject<'_>| {
        one.figure.phase.is_transfers() && gate.is_usable(one.index) && one.case.tasks().is_some()
    };
    let lines = grouped(gate.subjects.iter().filter(usable), |one| {
        // The single device from which targets are made, and the target below them.
        let above = one.target.and_then(|target| target.above.as_deref());
        let single = one.target.and_then(|target| target.baseline.as_deref()).unwrap_or(&one.case.target);
        let sort = (single, above, one.layer(), one.client());
        (sort, one.case.workload.tasks, one.place(&["members", "stripe_count", TARGET, TASKS]))
    });
    let line = |members: Vec<&Subject<'_>>| {
        let points = members.iter().map(|one| (one.devices(), one.index, one.rate()));
        let mut points: Vec<(u32, usize, f64)> = points.collect();
        points.sort_by_key(|(devices, ..)| *devices);
        points.dedup_by_key(|(devices, ..)| *devices);
        let [(.., few), .., (.., many)] = points[..] else { return None };
        let rates = Summary::of(&points.iter().map(|(.., rate)| *rate).collect::<Vec<_>>())?;
        let spread = (rates.max - rates.min) / rates.max;
        let inputs = points.iter().map(|(_, figure, _)| *figure).collect();
        let limit = ProcessLimit {
            tasks: members[0].case.workload.tasks,
            flat: points.len() >= FLAT_POINTS_MIN
                && spread <= PLATEAU_SHARE
                && points.iter().all(|&(_, figure, _)| busy(figure) && !at_ceiling(figure)),
            points,
            spread,
            gain: many / few,
        };
        (few > 0.0).then(|| gate.state(inputs, limit))
    };
    lines.into_iter().filter_map(line).collect()
}
