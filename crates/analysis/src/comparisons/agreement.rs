//! Whether two tools, or two names, agree on the same point.

use std::collections::HashMap;

use plan::{Case, Condition, Phase, Sharing};

use crate::audit::Use;
use crate::comparisons::{Comparison, Samples, compare::family, samples};
use crate::figures::{Figure, bytes_of_one, nodes_of};
use crate::gate::{Gate, Kind, Reason, untold};
use crate::statistics::{Difference, Grade};

/// Two figures of the same point or name, by index, and how they compare.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Paired {
    pub before: usize,
    pub after: usize,
    /// Rates first, then mean latencies.
    pub comparisons: Vec<Comparison>,
    /// The conditions in which the two figures differ, in words. A condition that a text does not print is no
    /// difference.
    pub differs: Vec<String>,
    /// The conditions that are not printed, with the value of the other figure if that is known: `nodes (after: 10)`.
    pub not_printed: Vec<String>,
    pub by_conditions: bool,
}

/// Pairs the figures that two runs have in common. First come figures of the same point, that is, with equal phase,
/// bytes per operation, order, tasks, nodes and share of reads, then those of which some of these are not printed and
/// the others are equal; then figures of cases with the same name. If
/// several figures belong to a point, the one with the same name is taken, or else the one with the fewest other
/// differences, which are reported. The result is in the order of the first run.
#[must_use]
pub fn paired(before: &Gate<'_>, after: &Gate<'_>) -> Vec<Paired> {
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
    let pairs: Vec<(usize, usize)> =
        partners.into_iter().enumerate().filter_map(|(place, partner)| Some((place, partner?))).collect();
    let sampled = pairs.iter().map(|&(place, partner)| {
        let (one, two) = (&before.figures[place], &after.figures[partner]);
        samples(one, two, one.case != two.case)
    });
    let sampled: Vec<Vec<Samples>> = sampled.collect();
    let runs = |(place, partner): (usize, usize)| [(before, place), (after, partner)];
    let state = |pair: (usize, usize), statement, more: Vec<Reason>| {
        Gate::state_of_two_runs(Kind::Comparison, runs(pair), statement, more, ())
    };
    // Every comparison that could be stated counts, whatever its size: the family must not depend on the result.
    let usable =
        pairs.iter().zip(&sampled).filter(|(pair, _)| state(**pair, Use::Other, Vec::new()).says().is_some());
    let usable: Vec<&Samples> = usable.flat_map(|(_, samples)| samples).collect();
    let families = [Some(Grade::Shown), Some(Grade::Obvious), None]
        .map(|grade| (grade, family(usable.iter().copied().filter(|one| one.grade() == grade))));
    drop(usable);
    let family_of =
        |one: &Samples| families.iter().find(|(grade, _)| *grade == one.grade()).map(|(_, family)| *family);
    let gated = |pair: (usize, usize), one: &Samples, difference: &Difference| {
        if !difference.is_stated() {
            return state(pair, Use::Other, Vec::new());
        }
        let change = difference.change;
        let is_later_worse = (change < 0.0) != one.is_of_latency();
        let (gate, worse) = runs(pair)[usize::from(is_later_worse)];
        // A single stall may account for all of the longest latencies, and for their mean if a rate is set.
        let weighed = gate.weighed(&[worse], if one.is_of_latency() { 0.0 } else { change });
        let busier = Gate::busier_host(runs(pair), change, is_later_worse);
        state(pair, weighed, busier.into_iter().chain(untold(Kind::Comparison, difference)).collect())
    };
    let paired = |(pair, sampled): ((usize, usize), Vec<Samples>)| {
        let (place, partner) = pair;
        let (one, two) = (&before.figures[place], &after.figures[partner]);
        let cases = own.case(place).zip(other.case(partner));
        let compared = |one: Samples| {
            let family = family_of(&one)?;
            one.compared(family, |one, found| gated(pair, one, found))
        };
        let Differences { told, unknown } =
            cases.map(|(own, other)| all_differences(own, other, one.phase)).unwrap_or_default();
        Paired {
            before: place,
            after: partner,
            comparisons: sampled.into_iter().filter_map(compared).collect(),
            differs: told,
            not_printed: unknown,
            by_conditions: one.case != two.case,
        }
    };
    pairs.into_iter().zip(sampled).map(paired).collect()
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
        let point = point(case, phase);
        if is_known(&point) {
            places.entry(key(phase, &point)).or_default().push((at, case, point));
        }
    }
    for (place, partner) in partners.iter_mut().enumerate().filter(|(_, partner)| partner.is_none()) {
        let (phase, Some(case)) = (own.figures[place].phase, own.case(place)) else { continue };
        let point = point(case, phase);
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
struct Cases<'a> {
    figures: &'a [Figure],
    by_id: HashMap<&'a str, &'a Case>,
}

impl<'a> Cases<'a> {
    fn of(run: &Gate<'a>) -> Self {
        let by_id = run.plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        Self { figures: run.figures, by_id }
    }

    fn key(&self, place: usize, by_name: bool, by_point: bool) -> Key<'a> {
        let figure = &self.figures[place];
        let point = self.case(place).filter(|_| by_point).map(|case| point(case, figure.phase));
        (figure.phase, by_name.then_some(figure.case.as_str()), point)
    }

    fn case(&self, figure: usize) -> Option<&'a Case> {
        self.by_id.get(self.figures.get(figure)?.case.as_str()).copied()
    }
}

/// The properties that figures of the same point share.
///
/// A property is `None` if an imported text does not print it.
#[derive(PartialEq, Eq, Hash)]
struct Point {
    bytes: Option<u64>,
    order: Option<&'static str>,
    tasks: Option<u32>,
    nodes: Option<u64>,
    read_percent: Option<u8>,
}

fn point(case: &Case, phase: Phase) -> Point {
    Point {
        bytes: bytes_of_one(case, phase).map(|bytes| bytes.0),
        order: if phase.is_transfers() { case.order_name() } else { Some("") },
        tasks: case.tasks(),
        nodes: nodes_of(case),
        read_percent: (phase == Phase::Mixed).then_some(case.workload.read_percent),
    }
}

impl Point {
    /// Whether nothing that is known of both is different.
    fn may_be(&self, other: &Self) -> bool {
        may_be(self.bytes, other.bytes)
            && may_be(self.order, other.order)
            && may_be(self.tasks, other.tasks)
            && may_be(self.nodes, other.nodes)
            && self.read_percent == other.read_percent
    }
}

fn may_be<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// The reported differences of two cases, each with its values.
#[derive(Default)]
struct Differences {
    told: Vec<String>,
    /// [`Paired::not_printed`].
    unknown: Vec<String>,
}

impl Differences {
    /// Compares the values of a condition, which are `None` where they are not printed.
    fn tell<T: PartialEq>(&mut self, what: &str, values: [Option<T>; 2], word: impl Fn(&T) -> String) {
        match &values {
            [Some(before), Some(after)] if before == after => {}
            [Some(before), Some(after)] => {
                self.told.push(format!("{what}: {}, then {}", word(before), word(after)));
            }
            [None, None] => self.unknown.push(what.to_owned()),
            [Some(before), None] => self.unknown.push(format!("{what} (before: {})", word(before))),
            [None, Some(after)] => self.unknown.push(format!("{what} (after: {})", word(after))),
        }
    }

    fn flags(&mut self, what: &str, flags: [Option<bool>; 2], yes: &str, no: &str) {
        self.tell(what, flags, |&flag| if flag { yes.to_owned() } else { no.to_owned() });
    }
}

/// The other conditions in which two cases of the same point differ.
fn differences(before: &Case, after: &Case, phase: Phase) -> Differences {
    let (one, other) = (&before.workload, &after.workload);
    let cases = [before, after];
    let mut found = Differences::default();
    if one.work.is_transfers() && other.work.is_transfers() {
        found.flags("cache", cases.map(Case::is_direct), "direct", "buffered");
        let own_files = cases.map(|case| case.sharing().map(|sharing| sharing == Sharing::PerTask));
        found.flags("files", own_files, "one for each task", "shared");
        if phase.writes() {
            let synced = cases.map(Case::sync);
            found.flags("fsync", synced.map(|sync| sync.map(|sync| sync.at_close)), "at the end", "none");
            let each = synced.map(|sync| sync.map(|sync| sync.per_write));
            found.flags("fsync of each write", each, "yes", "no");
        }
        found.tell("depth", cases.map(Case::depth), u32::to_string);
        // A text that prints no rate that was set may be of a tool that never prints it.
        let rates = cases.map(|case| {
            let rate = case.workload.pace.map(|pace| pace.transfers_per_second);
            (rate.is_some() || case.stated.is_none()).then_some(rate)
        });
        if rates.iter().flatten().any(Option::is_some) {
            found.tell("set rate", rates, |rate| {
                rate.map_or("none".to_owned(), |rate| format!("{rate:.0} transfers/s"))
            });
        }
    }
    if one.work.tree().is_some() && other.work.tree().is_some() {
        let trees = cases.map(Case::tree);
        let items = trees.map(|tree| tree.map(plan::Tree::items_per_task));
        found.tell("items of each task", items, u64::to_string);
        found.tell("directories", trees.map(|tree| tree.map(plan::Tree::directories)), u64::to_string);
        let own = trees.map(|tree| tree.map(|tree| tree.own_trees));
        found.flags("trees", own, "one for each task", "one for all");
    }
    let engines = cases.map(|case| case.knows(Condition::Engine).then(|| case.workload.backend.name()));
    // Few texts print these two.
    if engines.iter().all(Option::is_some) {
        found.tell("backend", engines, |name| (*name).to_owned());
    }
    let each = cases.map(Case::transfers_per_task);
    if one.work.is_transfers() && each.iter().all(Option::is_some) {
        found.tell("operations of each task", each, u64::to_string);
    }
    found
}

/// These differences, preceded by those of the points.
fn all_differences(before: &Case, after: &Case, phase: Phase) -> Differences {
    let (one, other) = (point(before, phase), point(after, phase));
    let mut found = Differences::default();
    found.tell("bytes of an operation", [one.bytes, other.bytes], |&bytes| plan::Bytes(bytes).to_string());
    found.tell("order", [one.order, other.order], |name| (*name).to_owned());
    found.tell("tasks", [one.tasks, other.tasks], u32::to_string);
    found.tell("nodes", [one.nodes, other.nodes], u64::to_string);
    let reads = [one.read_percent, other.read_percent].map(|share| Some(share.unwrap_or_default()));
    found.tell("reads", reads, |share| format!("{share} %"));
    let others = differences(before, after, phase);
    found.told.extend(others.told);
    found.unknown.extend(others.unknown);
    found
}
