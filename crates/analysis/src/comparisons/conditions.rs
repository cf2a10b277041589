//! The conditions of two figures: what makes them figures of the same point, and in what else they differ.

use plan::{Case, Condition, Phase, Sharing};

use crate::figures::{bytes_of_one, nodes_of};

/// The properties that figures of the same point share.
///
/// A property is `None` if an imported text does not print it.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Point {
    pub(crate) bytes: Option<u64>,
    order: Option<&'static str>,
    pub(crate) tasks: Option<u32>,
    nodes: Option<u64>,
    read_percent: Option<u8>,
}

pub(crate) fn point(case: &Case, phase: Phase) -> Point {
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
    pub(crate) fn may_be(&self, other: &Self) -> bool {
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
pub(crate) struct Differences {
    pub(crate) told: Vec<String>,
    /// What is not printed of one or both, with the value of the other.
    pub(crate) unknown: Vec<String>,
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
pub(crate) fn differences(before: &Case, after: &Case, phase: Phase) -> Differences {
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
pub(crate) fn all_differences(before: &Case, after: &Case, phase: Phase) -> Differences {
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
