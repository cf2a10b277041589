//! Whether more devices bring nothing because the processes that use them are the limit.

use std::collections::HashMap;

use plan::{Client, Layer, Phase, Setting};

use crate::gate::{self, Gate, Stated};
use crate::seek::devices;
use crate::subject::{Subject, TARGET, ValueKey};
use crate::table::{Column, Of, Statement};
use crate::{BoundBy, Expected, Limit, PLATEAU_SHARE};

/// A line over fewer numbers of devices is not called flat: two may be alike by chance.
const FLAT_POINTS_MIN: usize = 3;

/// Rates of as many tasks on more and more devices.
///
/// Source: study D, whose single process reads as much from one LUN as from twelve: "limited by the process".
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessLimit {
    /// Tasks.
    pub tasks: u32,
    /// Devices, figure and first rate, in rising order of devices.
    pub points: Vec<(u32, usize, f64)>,
    /// (Fastest − slowest) ÷ fastest.
    pub spread: f64,
    /// Rate on the most devices ÷ rate on the fewest.
    pub gain: f64,
    /// Of at least three numbers of devices the spread is at most [`PLATEAU_SHARE`], the processors were busy all the
    /// time at each, and no figure is at a ceiling of its storage: the processes are the limit.
    pub flat: bool,
}

impl Statement for ProcessLimit {
    const KIND: gate::Kind = gate::Kind::ProcessLimit;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "As many tasks on more and more devices. Gain: rate on the most ÷ rate on the fewest. Limited by the processes: \
         all rates of three numbers of devices or more within 10 % of the highest, and the processors busy at each";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("tasks", |one| Some(one.tasks.into()), "Tasks."),
        Column::text("devices", |one| one.devices(), "Numbers of devices, of the figures in their order."),
        Column::number("gain", |one| Some(one.gain), "Rate on the most devices ÷ rate on the fewest."),
        Column::share("spread", |one| Some(one.spread), "(Fastest − slowest) ÷ fastest."),
        Column::flag("limited_by_processes", |one| Some(one.flat), "Whether the processes are the limit."),
    ];
}

impl ProcessLimit {
    fn devices(&self) -> String {
        self.points.iter().map(|(devices, ..)| devices.to_string()).collect::<Vec<_>>().join(", ")
    }
}

/// What the points of one line have in common.
type LineKey<'a> = (&'a str, Sort<'a>, Phase, u32, Vec<(&'a str, ValueKey<'a>)>);

/// What targets have in common that are compared: the single device that they are made of, the file system above
/// nothing or one layer, and where they are reached from.
type Sort<'a> = (&'a str, Option<&'a str>, Layer, Client);

fn kind<'a>(subject: &Subject<'a>) -> Sort<'a> {
    let terms = subject.target;
    let single = terms.and_then(|terms| terms.baseline.as_deref()).unwrap_or(&subject.case.target);
    (single, terms.and_then(|terms| terms.above.as_deref()), subject.layer(), subject.client())
}

/// Of every workload that was measured with the same tasks on several numbers of devices: by its key
/// `members`, or on targets that the study counts from one baseline. Disqualified figures are left out.
pub(crate) fn of_gate(
    gate: &Gate<'_>,
    limits: &[BoundBy],
    expected: &[Expected],
) -> Vec<Stated<ProcessLimit>> {
    let plan = gate.plan;
    let busy = |figure: usize| limits.iter().any(|one| one.figure == figure && one.limit == Limit::Processor);
    let at_ceiling = |figure: usize| {
        expected.iter().any(|one| one.figure == figure && one.ceiling && one.ratio >= 1.0 - PLATEAU_SHARE)
    };
    let is_fixed = |one: &&Setting| !["members", "stripe_count", TARGET, "tasks"].contains(&one.key.as_str());
    let mut places: HashMap<LineKey<'_>, usize> = HashMap::new();
    let mut lines: Vec<Vec<&Subject<'_>>> = Vec::new();
    let usable = |one: &&Subject<'_>| one.figure.phase.is_transfers() && gate.is_usable(one.index);
    for subject in gate.subjects.iter().filter(usable) {
        let case = subject.case;
        let fixed = case.settings.iter().filter(is_fixed);
        let fixed = fixed.map(|one| (one.key.as_str(), ValueKey::from(&one.value))).collect();
        let key = (case.group.as_str(), kind(subject), subject.figure.phase, case.workload.tasks, fixed);
        let place = *places.entry(key).or_insert_with(|| {
            lines.push(Vec::new());
            lines.len() - 1
        });
        lines[place].push(subject);
    }
    let line = |members: &Vec<&Subject<'_>>| {
        let first = *members.first()?;
        let mut points: Vec<(u32, usize, f64)> =
            members.iter().map(|one| (devices(plan, one.case), one.index, one.rate())).collect();
        points.sort_by_key(|(devices, ..)| *devices);
        points.dedup_by_key(|(devices, ..)| *devices);
        let rates = || points.iter().map(|(.., rate)| *rate);
        let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        let (few, many) = (points.first()?.2, points.last()?.2);
        if points.len() < 2 || few <= 0.0 {
            return None;
        }
        let spread = (high - low) / high;
        let inputs = points.iter().map(|(_, figure, _)| *figure).collect();
        let limit = ProcessLimit {
            tasks: first.case.workload.tasks,
            flat: points.len() >= FLAT_POINTS_MIN
                && spread <= PLATEAU_SHARE
                && points.iter().all(|&(_, figure, _)| busy(figure) && !at_ceiling(figure)),
            points,
            spread,
            gain: many / few,
        };
        Some(gate.state(gate::Kind::ProcessLimit, inputs, limit))
    };
    lines.iter().filter_map(line).collect()
}
