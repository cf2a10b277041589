//! Whether two tools, or two names, agree on the same point.

use std::collections::HashMap;

use plan::{Case, Phase, Sharing};

use crate::audit::Use;
use crate::comparisons::{Comparison, Samples, samples};
use crate::figures::{Figure, bytes_of_one, nodes_of};
use crate::gate::{Gate, Kind};
use crate::statistics::Difference;

/// Two figures of the same point or name, by index, and how they compare.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Paired {
    pub before: usize,
    pub after: usize,
    /// Rates first, then mean latencies.
    pub comparisons: Vec<Comparison>,
    /// The conditions in which the two figures differ, in words. For imported cases this covers only what their
    /// text states.
    pub differs: Vec<String>,
    pub by_conditions: bool,
}

/// Pairs the figures that two runs have in common. First come figures of the same point, that is, with equal phase,
/// bytes per operation, order, tasks, nodes and share of reads; then figures of cases with the same name. If
/// several figures belong to a point, the one with the same name is taken, or else the one with the fewest other
/// differences, which are reported. The result is in the order of the first run.
#[must_use]
pub fn paired(before: &Gate<'_>, after: &Gate<'_>) -> Vec<Paired> {
    let (own, other) = (Cases::of(before), Cases::of(after));
    let mut partners: Vec<Option<usize>> = vec![None; before.figures.len()];
    let mut taken: Vec<bool> = vec![false; after.figures.len()];
    // A tool may give everything it measures the same name.
    for (by_name, by_point) in [(true, true), (false, true), (true, false)] {
        let mut places: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
        for at in (0..after.figures.len()).filter(|&at| !taken[at]) {
            places.entry(other.key(at, by_name, by_point)).or_default().push(at);
        }
        for (place, partner) in partners.iter_mut().enumerate().filter(|(_, partner)| partner.is_none()) {
            let alike = places.get(&own.key(place, by_name, by_point)).into_iter().flatten();
            let phase = before.figures[place].phase;
            let others =
                |at: usize| own.case(place).zip(other.case(at)).map(|(a, b)| differences(a, b, phase).len());
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
    let state = |pair: (usize, usize), statement, more| {
        Gate::state_of_two_runs(Kind::Comparison, runs(pair), statement, more, ())
    };
    // Every comparison that could be stated counts, whatever its size: the family must not depend on the result.
    let usable =
        pairs.iter().zip(&sampled).filter(|(pair, _)| state(**pair, Use::Other, None).says().is_some());
    let family = usable.flat_map(|(_, samples)| samples).filter(|one| one.are_enough()).count();
    let gated = |pair: (usize, usize), one: &Samples, difference: &Difference| {
        if !difference.is_stated() {
            return state(pair, Use::Other, None);
        }
        let change = difference.change;
        let is_later_worse = (change < 0.0) != one.is_of_latency();
        let (gate, worse) = runs(pair)[usize::from(is_later_worse)];
        // A single stall may account for all of the longest latencies, and for their mean if a rate is set.
        let weighed = gate.weighed(&[worse], if one.is_of_latency() { 0.0 } else { change });
        state(pair, weighed, Gate::busier_host(runs(pair), change, is_later_worse))
    };
    let paired = |(pair, sampled): ((usize, usize), Vec<Samples>)| {
        let (place, partner) = pair;
        let (one, two) = (&before.figures[place], &after.figures[partner]);
        let cases = own.case(place).zip(other.case(partner));
        let compared = |one: Samples| one.compared(family, |one, found| gated(pair, one, found));
        Paired {
            before: place,
            after: partner,
            comparisons: sampled.into_iter().filter_map(compared).collect(),
            differs: cases.map(|(own, other)| all_differences(own, other, one.phase)).unwrap_or_default(),
            by_conditions: one.case != two.case,
        }
    };
    pairs.into_iter().zip(sampled).map(paired).collect()
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
#[derive(PartialEq, Eq, Hash)]
struct Point {
    bytes: u64,
    order: &'static str,
    tasks: u32,
    nodes: u64,
    read_percent: Option<u8>,
}

fn point(case: &Case, phase: Phase) -> Point {
    let workload = &case.workload;
    Point {
        bytes: bytes_of_one(case, phase).0,
        order: if phase.is_transfers() { workload.order_name() } else { "" },
        tasks: workload.tasks,
        nodes: nodes_of(case),
        read_percent: (phase == Phase::Mixed).then_some(workload.read_percent),
    }
}

/// The reported differences of two cases, each with its values.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn tell<T: PartialEq>(&mut self, what: &str, values: [T; 2], word: impl Fn(&T) -> String) {
        let [before, after] = &values;
        if before != after {
            self.0.push(format!("{what}: {}, then {}", word(before), word(after)));
        }
    }

    fn flags(&mut self, what: &str, flags: [bool; 2], yes: &str, no: &str) {
        self.tell(what, flags, |&flag| if flag { yes.to_owned() } else { no.to_owned() });
    }
}

/// The other conditions in which two cases of the same point differ.
fn differences(before: &Case, after: &Case, phase: Phase) -> Vec<String> {
    let (one, other) = (&before.workload, &after.workload);
    let mut found = Differences::default();
    if one.work.is_transfers() && other.work.is_transfers() {
        found.flags("cache", [one.direct, other.direct], "direct", "buffered");
        let own_files = [one, other].map(|workload| workload.files.sharing == Sharing::PerTask);
        found.flags("files", own_files, "one for each task", "shared");
        if phase.writes() {
            found.flags("fsync", [one.sync.at_close, other.sync.at_close], "at the end", "none");
            let each = [one.sync.per_write, other.sync.per_write];
            found.flags("fsync of each write", each, "yes", "no");
        }
        found.tell("depth", [one.backend.depth(), other.backend.depth()], u32::to_string);
        let rates = [one, other].map(|workload| workload.pace.map(|pace| pace.transfers_per_second));
        found.tell("set rate", rates, |rate| {
            rate.map_or("none".to_owned(), |rate| format!("{rate:.0} transfers/s"))
        });
    }
    if let (Some(one), Some(other)) = (one.work.tree(), other.work.tree()) {
        found.tell("items of each task", [one.items_per_task(), other.items_per_task()], u64::to_string);
        found.tell("directories", [one.directories(), other.directories()], u64::to_string);
        found.flags("trees", [one.own_trees, other.own_trees], "one for each task", "one for all");
    }
    // Anything that an imported text does not state is unknown.
    if before.stated.is_none() && after.stated.is_none() {
        found.tell("backend", [one.backend.name(), other.backend.name()], |name| (*name).to_owned());
        if one.work.is_transfers() {
            let each = [one, other].map(|workload| workload.geometry.transfers_per_task());
            found.tell("operations of each task", each, u64::to_string);
        }
    }
    found.0
}

/// These differences, preceded by those of the points.
fn all_differences(before: &Case, after: &Case, phase: Phase) -> Vec<String> {
    let (one, other) = (point(before, phase), point(after, phase));
    let mut found = Differences::default();
    // A size of one byte is a placeholder for a size that is not printed.
    let is_known = |case: &Case, point: &Point| case.stated.is_none() || point.bytes > 1;
    if is_known(before, &one) && is_known(after, &other) {
        found
            .tell("bytes of an operation", [one.bytes, other.bytes], |&bytes| plan::Bytes(bytes).to_string());
    }
    found.tell("order", [one.order, other.order], |name| (*name).to_owned());
    found.tell("tasks", [one.tasks, other.tasks], u32::to_string);
    found.tell("nodes", [one.nodes, other.nodes], u64::to_string);
    let reads = [one.read_percent, other.read_percent].map(|share| share.unwrap_or_default());
    found.tell("reads", reads, |share| format!("{share} %"));
    found.0.extend(differences(before, after, phase));
    found.0
}
