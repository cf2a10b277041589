//! One point, measured by two tools or under two names: whether they agree.

use std::collections::HashMap;

use plan::{Case, Phase, Plan, Sharing};

use crate::amount::bytes_of_one;
use crate::compare::compare_figures;
use crate::jobs::nodes_of;
use crate::{Comparison, Figure};

/// Two figures of one point, and how they compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    /// The place of the first.
    pub before: usize,
    /// The place of the second.
    pub after: usize,
    /// Rates, then mean latencies.
    pub comparisons: Vec<Comparison>,
    /// In which conditions they differ, in words, where not their names but their conditions have paired
    /// them; empty where those are the same, too.
    pub differs: Vec<String>,
    /// They are of cases of different names.
    pub by_conditions: bool,
}

/// A run's plan and figures.
#[derive(Debug, Clone, Copy)]
pub struct RunFigures<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    /// What was measured.
    pub figures: &'a [Figure],
}

/// The figures that two runs have in common: those of cases of one name, and, of the others, those of the same
/// point: phase, bytes of an operation, order, tasks, nodes and share of reads are equal. Of several the one
/// with the fewest other differences is taken, which are told. In the order of the first.
#[must_use]
pub fn paired(before: RunFigures<'_>, after: RunFigures<'_>) -> Vec<Paired> {
    let named: HashMap<(&str, Phase), usize> =
        after.figures.iter().enumerate().map(|(at, one)| ((one.case.as_str(), one.phase), at)).collect();
    let mut partners: Vec<Option<usize>> =
        before.figures.iter().map(|one| named.get(&(one.case.as_str(), one.phase)).copied()).collect();
    let mut taken: Vec<bool> = vec![false; after.figures.len()];
    for &partner in partners.iter().flatten() {
        taken[partner] = true;
    }
    let named_pairs: Vec<bool> = partners.iter().map(Option::is_some).collect();
    let (own, other) = (Cases::of(before), Cases::of(after));
    for (place, partner) in partners.iter_mut().enumerate().filter(|(_, partner)| partner.is_none()) {
        let Some(case) = own.case(place) else { continue };
        let phase = before.figures[place].phase;
        let same = |&at: &usize| {
            let known = other.case(at);
            !taken[at]
                && after.figures[at].phase == phase
                && known.is_some_and(|known| point(known, phase) == point(case, phase))
        };
        let found = (0..after.figures.len())
            .filter(same)
            .min_by_key(|&at| other.case(at).map_or(usize::MAX, |known| differences(case, known).len()));
        if let Some(found) = found {
            taken[found] = true;
            *partner = Some(found);
        }
    }
    let pair = |(place, partner): (usize, Option<usize>)| {
        let partner = partner?;
        let by_conditions = !named_pairs[place];
        let cases = own.case(place).zip(other.case(partner)).filter(|_| by_conditions);
        Some(Paired {
            before: place,
            after: partner,
            comparisons: compare_figures(&before.figures[place], &after.figures[partner]),
            differs: cases.map(|(own, other)| differences(own, other)).unwrap_or_default(),
            by_conditions,
        })
    };
    partners.into_iter().enumerate().filter_map(pair).collect()
}

/// The cases of figures.
struct Cases<'a> {
    figures: &'a [Figure],
    by_id: HashMap<&'a str, &'a Case>,
}

impl<'a> Cases<'a> {
    fn of(run: RunFigures<'a>) -> Self {
        let by_id = run.plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        Self { figures: run.figures, by_id }
    }

    fn case(&self, figure: usize) -> Option<&'a Case> {
        self.by_id.get(self.figures.get(figure)?.case.as_str()).copied()
    }
}

/// What figures of one point have in common.
fn point(case: &Case, phase: Phase) -> (u64, &'static str, u32, u64, Option<u8>) {
    let workload = &case.workload;
    let order = if phase.is_transfers() { workload.order.name() } else { "" };
    let mix = (phase == Phase::Mixed).then_some(workload.read_percent);
    (bytes_of_one(case, phase).0, order, workload.tasks, nodes_of(case), mix)
}

/// In which other conditions two cases of one point differ.
fn differences(before: &Case, after: &Case) -> Vec<String> {
    let (one, other) = (&before.workload, &after.workload);
    let mut found = Vec::new();
    let mut told = |differs: bool, what: &str, values: [String; 2]| {
        if differs {
            let [before, after] = values;
            found.push(format!("{what}: {before}, then {after}"));
        }
    };
    let flag = |flags: [bool; 2], yes: &str, no: &str| {
        flags.map(|flag| if flag { yes.to_owned() } else { no.to_owned() })
    };
    told(one.direct != other.direct, "cache", flag([one.direct, other.direct], "direct", "buffered"));
    let own_files = [one, other].map(|workload| workload.files.sharing == Sharing::PerTask);
    told(own_files[0] != own_files[1], "files", flag(own_files, "one for each task", "shared"));
    let synced = [one, other].map(|workload| workload.sync.at_close);
    told(synced[0] != synced[1], "fsync", flag(synced, "at the end", "none"));
    let depths = [one.backend.depth(), other.backend.depth()];
    told(depths[0] != depths[1], "depth", depths.map(|depth| depth.to_string()));
    let backends = [one.backend.name(), other.backend.name()];
    told(backends[0] != backends[1], "backend", backends.map(str::to_owned));
    let amounts = [one, other].map(|workload| workload.transfers());
    told(amounts[0] != amounts[1], "operations", amounts.map(|amount| amount.to_string()));
    found
}
