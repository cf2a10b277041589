//! Which figures of two runs belong together.

use std::collections::HashMap;

use plan::{Case, Phase, Plan};

use crate::comparisons::conditions::{Point, differences, point};
use crate::figures::Figure;
use crate::gate::Gate;

/// Pairs the figures that two runs have in common, by index. First come figures of the same point, that is, with equal
/// phase, bytes per operation, order, tasks, nodes, share of reads and workloads at the same time, then those of which
/// some of these are not printed and the others are equal; then figures of cases with the same name. If several figures
/// belong to a point, the one with the same name is taken, or else the one with the fewest other differences, which are
/// reported. The result is in the order of the first run.
pub(crate) fn pairs(before: &Gate<'_>, after: &Gate<'_>) -> Vec<(usize, usize)> {
    let (own, other) = (Cases::of(before), Cases::of(after));
    let mut partners: Vec<Option<usize>> = vec![None; before.figures.len()];
    let mut taken: Vec<bool> = vec![false; after.figures.len()];
    // A tool may give everything it measures the same name.
    for (by_name, by_point) in [(true, true), (false, true), (false, false), (true, false)] {
        if !(by_name || by_point) {
            pair_by_known([&own, &other], &mut partners, &mut taken);
            continue;
        }
        let mut places: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
        for at in (0..after.figures.len()).filter(|&at| !taken[at]) {
            places.entry(other.key(at, by_name, by_point)).or_default().push(at);
        }
        for (place, partner) in partners.iter_mut().enumerate().filter(|(_, partner)| partner.is_none()) {
            let alike = places.get(&own.key(place, by_name, by_point)).into_iter().flatten();
            let phase = before.figures[place].phase;
            let others = |at: usize| {
                own.case(place).zip(other.case(at)).map(|(a, b)| differences(a, b, phase).told.len())
            };
            let found = alike.copied().filter(|&at| !taken[at]).min_by_key(|&at| others(at));
            if let Some(found) = found {
                taken[found] = true;
                *partner = Some(found);
            }
        }
    }
    partners.into_iter().enumerate().filter_map(|(place, partner)| Some((place, partner?))).collect()
}

/// For each figure of `leader`, its place in `run`.
pub(crate) fn partners(leader: &Gate<'_>, run: &Gate<'_>) -> Vec<Option<usize>> {
    let mut places = vec![None; leader.figures.len()];
    for (own, other) in pairs(leader, run) {
        places[own] = Some(other);
    }
    places
}

/// Pairs the figures of an imported and another case that have no partner yet, by the conditions that are known of
/// both. The bytes of an operation and the number of tasks must be among them.
fn pair_by_known([own, other]: [&Cases<'_>; 2], partners: &mut [Option<usize>], taken: &mut [bool]) {
    type ByKnown<'a> = HashMap<(Phase, Option<u64>, Option<u32>), Vec<(usize, &'a Case, Point)>>;
    let mut places = ByKnown::new();
    let key = |phase: Phase, point: &Point| (phase, point.bytes, point.tasks);
    let is_known = |point: &Point| point.bytes.is_some() && point.tasks.is_some();
    for at in (0..taken.len()).filter(|&at| !taken[at]) {
        let (phase, Some(case)) = (other.figures[at].phase, other.case(at)) else { continue };
        let point = point(other.plan, case, phase);
        if is_known(&point) {
            places.entry(key(phase, &point)).or_default().push((at, case, point));
        }
    }
    for (place, partner) in partners.iter_mut().enumerate().filter(|(_, partner)| partner.is_none()) {
        let (phase, Some(case)) = (own.figures[place].phase, own.case(place)) else { continue };
        let point = point(own.plan, case, phase);
        let alike = places.get(&key(phase, &point)).into_iter().flatten();
        let free = alike.filter(|(at, _, other)| !taken[*at] && point.may_be(other));
        let found = free.min_by_key(|(_, other, _)| differences(case, other, phase).told.len());
        if let Some(&(at, ..)) = found.filter(|_| is_known(&point)) {
            taken[at] = true;
            *partner = Some(at);
        }
    }
}

/// What both figures of a pair share: the phase, and the name of the case, its point, or both.
type Key<'a> = (Phase, Option<&'a str>, Option<Point>);

/// The cases that figures belong to.
pub(crate) struct Cases<'a> {
    plan: &'a Plan,
    figures: &'a [Figure],
    by_id: HashMap<&'a str, &'a Case>,
}

impl<'a> Cases<'a> {
    pub(crate) fn of(run: &Gate<'a>) -> Self {
        let by_id = run.plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        Self { plan: run.plan, figures: run.figures, by_id }
    }

    fn key(&self, place: usize, by_name: bool, by_point: bool) -> Key<'a> {
        let figure = &self.figures[place];
        let point = self.case(place).filter(|_| by_point).map(|case| point(self.plan, case, figure.phase));
        (figure.phase, by_name.then_some(figure.case.as_str()), point)
    }

    pub(crate) fn case(&self, figure: usize) -> Option<&'a Case> {
        self.by_id.get(self.figures.get(figure)?.case.as_str()).copied()
    }
}
