//! The conditions of two figures: what makes them figures of the same point, and in what else they differ.

use plan::{Case, Condition, Nanos, Phase, Plan, Sharing};

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
    /// What runs at the same time, see [`beside`].
    beside: String,
}

/// The point of `phase` of a `case` of `plan`.
pub(crate) fn point(plan: &Plan, case: &Case, phase: Phase) -> Point {
    Point {
        bytes: bytes_of_one(case, phase).map(|bytes| bytes.0),
        order: if phase.is_transfers() { case.order_name() } else { Some("") },
        tasks: case.tasks(),
        nodes: nodes_of(case),
        read_percent: (phase == Phase::Mixed).then_some(case.workload.read_percent),
        beside: beside(plan, case),
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
            && self.beside == other.beside
    }
}

/// The cases of `plan` that run at the same time as `case`, in the order of their workloads and starts.
fn companions<'p>(plan: &'p Plan, case: &Case) -> Vec<&'p Case> {
    if case.concurrent.is_none() {
        return Vec::new();
    }
    let others = plan.cases.iter().filter(|other| other.id != case.id && other.runs_with(case));
    let mut others: Vec<&Case> = others.collect();
    others.sort_by_key(|other| (other.workload_table(), start(other), &other.id));
    others
}

fn start(case: &Case) -> Nanos {
    case.concurrent.as_ref().map_or(Nanos(0), |one| one.start)
}

/// What runs at the same time as a case, and when each begins, such as `backup and scan from 5 s`; empty if it runs alone.
fn beside(plan: &Plan, case: &Case) -> String {
    let from = |case: &Case| match start(case) {
        Nanos(0) => String::new(),
        start => format!(" from {start}"),
    };
    let others = companions(plan, case).into_iter();
    let others: Vec<String> =
        others.map(|other| format!("{}{}", other.workload_table(), from(other))).collect();
    let own = from(case);
    let own = if own.is_empty() { own } else { format!("; itself{own}") };
    others.join(" and ") + &own
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

/// These differences of two cases, each of a plan, preceded by those of the points, and followed by those of the cases that
/// run at the same time, if these are the same.
pub(crate) fn all_differences(cases: [(&Plan, &Case); 2], phase: Phase) -> Differences {
    let [one, other] = cases.map(|(plan, case)| point(plan, case, phase));
    let mut found = Differences::default();
    found.tell("bytes of an operation", [one.bytes, other.bytes], |&bytes| plan::Bytes(bytes).to_string());
    found.tell("order", [one.order, other.order], |name| (*name).to_owned());
    found.tell("tasks", [one.tasks, other.tasks], u32::to_string);
    found.tell("nodes", [one.nodes, other.nodes], u64::to_string);
    let reads = [one.read_percent, other.read_percent].map(|share| Some(share.unwrap_or_default()));
    found.tell("reads", reads, |share| format!("{share} %"));
    let is_same = one.beside == other.beside;
    found.tell("at the same time", [Some(one.beside), Some(other.beside)], |names| match names.as_str() {
        "" => "nothing else".to_owned(),
        names => names.to_owned(),
    });
    let [before, after] = cases.map(|(_, case)| case);
    let others = differences(before, after, phase);
    found.told.extend(others.told);
    found.unknown.extend(others.unknown);
    let [before, after] = cases.map(|(plan, case)| companions(plan, case));
    for (before, after) in before.into_iter().zip(after).filter(|_| is_same) {
        // As if it ran alone: the others are compared one by one.
        let alone = [before, after].map(|one| Case { concurrent: None, ..one.clone() });
        let phase = after.concurrent_phase().unwrap_or(phase);
        let told = all_differences([(cases[0].0, &alone[0]), (cases[1].0, &alone[1])], phase).told;
        for what in
            told.into_iter().map(|what| format!("{} at the same time: {what}", after.workload_table()))
        {
            // Several of one kind differ alike.
            if !found.told.contains(&what) {
                found.told.push(what);
            }
        }
    }
    found
}
