//! Whether more devices bring nothing because the processes that use them are the limit.

use std::collections::HashMap;

use plan::{Phase, Plan, Setting};

use crate::seek::devices;
use crate::subject::{Subject, TARGET, ValueKey, subjects};
use crate::{Figure, PLATEAU_SHARE};

/// A line over fewer numbers of devices is not called flat: two may be alike by chance.
const FLAT_POINTS_MIN: usize = 3;

/// Rates of as many tasks on more and more devices.
///
/// Source: study D, whose single process reads as much from one LUN as from twelve: "limited by the process".
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessLimit {
    /// The workload.
    pub group: String,
    /// The phase.
    pub phase: Phase,
    /// Tasks.
    pub tasks: u32,
    /// The other swept keys and their values.
    pub fixed: Vec<Setting>,
    /// Devices, figure and first rate, in rising order of devices.
    pub points: Vec<(u32, usize, f64)>,
    /// (Fastest − slowest) ÷ fastest.
    pub spread: f64,
    /// Rate on the most devices ÷ rate on the fewest.
    pub gain: f64,
    /// Of at least three numbers of devices the spread is at most [`PLATEAU_SHARE`]: more devices bring nothing to
    /// so many tasks.
    pub flat: bool,
}

/// Of every workload that was measured with the same tasks on several numbers of devices: by its key
/// `members`, or on targets of which the study says how many devices they have.
#[must_use]
pub fn process_limits(plan: &Plan, figures: &[Figure]) -> Vec<ProcessLimit> {
    of_subjects(plan, &subjects(plan, figures))
}

/// What the points of one line have in common.
type LineKey<'a> = (&'a str, Phase, u32, Vec<(&'a str, ValueKey<'a>)>);

/// As [`process_limits`], of figures that were looked up already.
pub(crate) fn of_subjects(plan: &Plan, subjects: &[Subject<'_>]) -> Vec<ProcessLimit> {
    let is_fixed = |one: &&Setting| !["members", "stripe_count", TARGET, "tasks"].contains(&one.key.as_str());
    let mut places: HashMap<LineKey<'_>, usize> = HashMap::new();
    let mut lines: Vec<Vec<&Subject<'_>>> = Vec::new();
    for subject in subjects.iter().filter(|subject| subject.figure.phase.is_transfers()) {
        let case = subject.case;
        let fixed = case.settings.iter().filter(is_fixed);
        let fixed = fixed.map(|one| (one.key.as_str(), ValueKey::from(&one.value))).collect();
        let key = (case.group.as_str(), subject.figure.phase, case.workload.tasks, fixed);
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
        Some(ProcessLimit {
            group: first.case.group.clone(),
            phase: first.figure.phase,
            tasks: first.case.workload.tasks,
            fixed: first.case.settings.iter().filter(is_fixed).cloned().collect(),
            flat: points.len() >= FLAT_POINTS_MIN && spread <= PLATEAU_SHARE,
            points,
            spread,
            gain: many / few,
        })
    };
    lines.iter().filter_map(line).collect()
}
