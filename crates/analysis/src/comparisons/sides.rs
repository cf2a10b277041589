//! The two sides of a comparison, each with one run or several.

use crate::audit::Use;
use crate::comparisons::conditions::{Differences, all_differences};
use crate::comparisons::pairs::{pairs, partners};
use crate::figures::Figure;
use crate::gate::{Gate, Kind, Reason, Stated, untold};
use crate::statistics::Difference;

/// A figure of a run.
type Place<'g, 'a> = (&'g Gate<'a>, usize);

/// The figures that both sides have in common.
pub(crate) struct Sides<'g, 'a> {
    /// In the order of the first side's leading run.
    pub(crate) pairs: Vec<Pair<'g, 'a>>,
    /// The figures of each leading run that the other side lacks.
    pub(crate) alone: [Vec<&'g Figure>; 2],
}

/// A figure that both sides have.
pub(crate) struct Pair<'g, 'a> {
    /// Its places in the leading runs, which name it.
    pub(crate) leaders: [Place<'g, 'a>; 2],
    /// Its places in all runs of each side that have it and may be compared.
    runs: [Vec<Place<'g, 'a>>; 2],
    /// Whether a run is one value.
    pub(crate) is_of_runs: bool,
    left_out: Vec<Reason>,
}

/// The number of the run that names the figures of a side: the one with the most figures.
#[must_use]
pub fn leading_run(runs: &[Gate<'_>]) -> usize {
    let most = runs.iter().map(|run| run.figures.len()).max();
    runs.iter().position(|run| Some(run.figures.len()) == most).unwrap_or_default()
}

impl<'g, 'a> Sides<'g, 'a> {
    pub(crate) fn of(sides: [&'g [Gate<'a>]; 2]) -> Self {
        let none = Self { pairs: Vec::new(), alone: [const { Vec::new() }; 2] };
        let leading = sides.map(|runs| leading_run(runs));
        let [Some(first), Some(second)] = [0, 1].map(|side| sides[side].get(leading[side])) else {
            return none;
        };
        let is_of_runs = sides.iter().any(|runs| runs.len() > 1);
        // For each run of a side, the places of the leading run's figures in it.
        let partners = [0, 1].map(|side| {
            let leader = &sides[side][leading[side]];
            let of = |(number, run)| match number == leading[side] {
                true => (0..leader.figures.len()).map(Some).collect(),
                false => partners(leader, run),
            };
            sides[side].iter().enumerate().map(of).collect::<Vec<_>>()
        });
        let pair = |(before, after): (usize, usize)| {
            let places = [before, after];
            let mut left_out = Vec::new();
            let runs = [0, 1].map(|side| {
                let of_run = |(run, partners): (&'g Gate<'a>, &Vec<Option<usize>>)| {
                    Some((run, partners[places[side]]?))
                };
                let all: Vec<Place<'g, 'a>> =
                    sides[side].iter().zip(&partners[side]).filter_map(of_run).collect();
                let leader = (&sides[side][leading[side]], places[side]);
                let count = all.len();
                let differs = |one: &Place<'g, 'a>| differences([leader, *one]).told.into_iter().next();
                let other = all.iter().find_map(differs);
                let alike: Vec<Place<'g, 'a>> =
                    all.into_iter().filter(|one| differs(one).is_none()).collect();
                let name = ["before", "after"][side];
                left_out.extend(other.map(|why| {
                    format!("{name}: {} of {count} runs: not measured alike: {why}", count - alike.len())
                }));
                let (kept, without) = Gate::comparable(name, alike);
                left_out.extend(without);
                kept
            });
            // A statement has one reason of each kind.
            let left_out = (!left_out.is_empty())
                .then(|| Gate::runs_left_out(&left_out.join("; ")))
                .into_iter()
                .collect();
            Pair { leaders: [(first, before), (second, after)], runs, is_of_runs, left_out }
        };
        let found = pairs(first, second);
        let alone = |run: &'g Gate<'a>, taken: Vec<usize>| {
            (0..run.figures.len())
                .filter(|place| !taken.contains(place))
                .map(|place| &run.figures[place])
                .collect()
        };
        let alone = [
            alone(first, found.iter().map(|(before, _)| *before).collect()),
            alone(second, found.iter().map(|(_, after)| *after).collect()),
        ];
        Self { pairs: found.into_iter().map(pair).collect(), alone }
    }
}

/// The conditions in which two figures differ.
fn differences(places: [Place<'_, '_>; 2]) -> Differences {
    let [one, other] = places.map(|(run, place)| run.subject(place));
    let Some((one, other)) = one.zip(other) else { return Differences::default() };
    let plans = places.map(|(run, _)| run.plan);
    let mut found = all_differences([(plans[0], one.case), (plans[1], other.case)], one.figure.phase);
    // What the words of a measured figure say has no condition of its own there, such as the stride.
    let words = [one, other].map(|subject| subject.figure.conditions.as_str());
    let is_printed = [one, other].iter().any(|subject| subject.case.stated.is_some());
    if found.told.is_empty() && !is_printed && words[0] != words[1] {
        found.told.push(format!("conditions: {}, then {}", words[0], words[1]));
    }
    found
}

impl<'g, 'a> Pair<'g, 'a> {
    /// The figure in each run of both sides.
    pub(crate) fn figures(&self) -> [Vec<&Figure>; 2] {
        self.runs.each_ref().map(|side| side.iter().map(|(run, place)| &run.figures[*place]).collect())
    }

    /// The figure in the leading run of each side.
    pub(crate) fn leading(&self) -> [&Figure; 2] {
        self.leaders.map(|(run, place)| &run.figures[place])
    }

    /// The conditions in which the figures of both leading runs differ: those of both sides, because a run that was not
    /// measured as the leading one of its side is left out.
    pub(crate) fn differences(&self) -> Differences {
        differences(self.leaders)
    }

    /// Whether anything can be stated of the pair, whatever the comparison shows.
    pub(crate) fn is_usable(&self) -> bool {
        self.state(Use::Other, Vec::new()).says().is_some()
    }

    fn state(&self, statement: Use, more: Vec<Reason>) -> Stated<()> {
        let sides = self.runs.each_ref().map(Vec::as_slice);
        let more = self.left_out.iter().cloned().chain(more);
        Gate::state_of_sides(Kind::Comparison, sides, statement, more, ())
    }

    /// What the gate says of a difference, of which `change` is what it is from the limit that both are compared with.
    pub(crate) fn gated(&self, difference: &Difference, change: f64, is_of_latency: bool) -> Stated<()> {
        if !difference.is_stated() {
            return self.state(Use::Other, Vec::new());
        }
        let is_later_worse = (change < 0.0) != is_of_latency;
        // A single stall may account for all of the longest latencies, and for their mean if a rate is set.
        let change_of_rate = if is_of_latency { 0.0 } else { change };
        let worse = &self.runs[usize::from(is_later_worse)];
        let is_weighed =
            worse.iter().any(|(run, place)| run.weighed(&[*place], change_of_rate) == Use::Compared);
        let weighed = if is_weighed { Use::Compared } else { Use::Other };
        let busier = match &self.runs {
            [before, after] if !self.is_of_runs => {
                Gate::busier_host([before[0], after[0]], change, is_later_worse)
            }
            _ => None,
        };
        self.state(weighed, busier.into_iter().chain(untold(Kind::Comparison, difference)).collect())
    }
}
