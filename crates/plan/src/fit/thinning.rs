//! Which points of a sweep stay, and which cases still have their data.

use std::collections::{BTreeSet, HashMap};

use super::workload::{AMOUNTS, LOADS};
use crate::study::WrittenWorkload;
use crate::{Bytes, Case, FileSet, Forecast, Plan, Selector, SettingValue, Side};

/// The selections of a plan's claims, commitments and published figures.
pub(super) fn selectors(plan: &Plan) -> impl Iterator<Item = &Selector> {
    let criteria = &plan.criteria;
    let sides = criteria.claims.iter().flat_map(|claim| {
        let right = match &claim.right {
            Side::Measured(selector) => Some(selector),
            Side::Value(_) | Side::OperationsPerSecond(_) => None,
        };
        std::iter::once(&claim.left).chain(right)
    });
    let promised = criteria.commitments.iter().map(|one| &one.figures);
    sides.chain(promised).chain(criteria.published.iter().map(|one| &one.figures))
}

/// Keys that change together, with all their values, and how they are thinned.
#[derive(Debug)]
pub(super) struct Axis<'p> {
    keys: &'p [(&'static str, Vec<SettingValue>)],
    /// The steps that a selection names.
    named: BTreeSet<usize>,
    /// Steps in ascending order of an amount or a load that is swept; empty if none is.
    by_amount: Vec<usize>,
    /// Whether there are numbers between others.
    is_ordered: bool,
}

/// How far sweeps are thinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Thinning {
    /// The longest sweep of each workload is halved, and this is done so often.
    pub(super) halvings: u32,
    /// The number of largest amounts that are given up.
    pub(super) tops: u32,
    /// Whether steps that are named stay.
    pub(super) gives_up_named: bool,
}

impl<'p> Axis<'p> {
    pub(super) fn of(workload: &'p WrittenWorkload, plan: &Plan) -> Vec<Self> {
        workload.sweeps.iter().map(|group| Self::new(group, &workload.name, plan)).collect()
    }

    fn new(keys: &'p [(&'static str, Vec<SettingValue>)], group: &str, plan: &Plan) -> Self {
        let about = selectors(plan).filter(|one| one.workload.as_ref().is_none_or(|of| of == group));
        let places = about.flat_map(|one| &one.at).flat_map(|setting| {
            let values = keys.iter().filter(|(key, _)| *key == setting.key).map(|(_, values)| values);
            values.filter_map(|values| values.iter().position(|value| *value == setting.value))
        });
        let numbers =
            |values: &[SettingValue]| values.iter().map(SettingValue::on_axis).collect::<Option<Vec<f64>>>();
        let can_be_written =
            keys.iter().all(|(_, values)| values.iter().all(|value| literal(value).is_some()));
        let amounts = keys.iter().find(|(key, _)| AMOUNTS.contains(key) || LOADS.contains(key));
        let by_amount = amounts.and_then(|(_, values)| numbers(values)).map(|numbers| {
            let mut order: Vec<usize> = (0..numbers.len()).collect();
            order.sort_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
            order
        });
        Self {
            keys,
            named: places.collect(),
            by_amount: by_amount.filter(|_| can_be_written).unwrap_or_default(),
            is_ordered: can_be_written && keys.iter().any(|(_, values)| numbers(values).is_some()),
        }
    }

    fn len(&self) -> usize {
        self.keys.first().map_or(0, |(_, values)| values.len())
    }

    /// The number of halvings after which only the ends are left.
    pub(super) fn halvings_max(&self) -> u32 {
        if self.is_ordered { usize::BITS - self.len().saturating_sub(1).leading_zeros() } else { 0 }
    }

    /// The number of largest amounts that can be given up: all but the smallest.
    pub(super) fn tops_max(&self) -> u32 {
        u32::try_from(self.by_amount.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// The steps that stay of an axis that is halved so often, in the order of the study.
    fn steps(&self, thinning: Thinning, halvings: u32) -> Vec<usize> {
        let gone = self.by_amount.iter().rev().take((thinning.tops as usize).min(self.tops_max() as usize));
        let gone: BTreeSet<usize> = gone.copied().collect();
        let left: Vec<usize> = (0..self.len()).filter(|step| !gone.contains(step)).collect();
        if !self.is_ordered || halvings == 0 {
            return left;
        }
        let most = left.len().div_ceil(1 << halvings.min(usize::BITS - 1)).max(2);
        if left.len() <= most {
            return left;
        }
        let last = left.len() - 1;
        let even: BTreeSet<usize> =
            (0..most).map(|place| left[(place * last + (most - 1) / 2) / (most - 1)]).collect();
        let stays =
            |step: &usize| even.contains(step) || (!thinning.gives_up_named && self.named.contains(step));
        left.into_iter().filter(stays).collect()
    }

    /// The settings with only `steps`; none if all stay.
    pub(super) fn settings(&self, steps: &[usize]) -> Vec<(&'static str, String)> {
        if steps.len() == self.len() {
            return Vec::new();
        }
        let list = |values: &Vec<SettingValue>| {
            let words: Vec<String> = steps.iter().filter_map(|&step| literal(&values[step])).collect();
            format!("[{}]", words.join(", "))
        };
        self.keys.iter().map(|(key, values)| (*key, list(values))).collect()
    }
}

/// The settings that thin the sweeps of one workload.
pub(super) fn settings(axes: &[Axis<'_>], thinning: Thinning) -> Vec<(&'static str, String)> {
    let mut halvings = vec![0_u32; axes.len()];
    for _ in 0..thinning.halvings {
        let left = |place: &usize| axes[*place].len().div_ceil(1 << halvings[*place].min(usize::BITS - 1));
        let can_be_halved = |place: &usize| halvings[*place] < axes[*place].halvings_max();
        // Of several that are equally long the first, which changes the slowest.
        let longest = (0..axes.len()).rev().filter(can_be_halved).max_by_key(left);
        let Some(place) = longest else { break };
        halvings[place] += 1;
    }
    let of_axis = |(axis, halvings): (&Axis<'_>, u32)| axis.settings(&axis.steps(thinning, halvings));
    axes.iter().zip(halvings).flat_map(of_axis).collect()
}

/// A value as a study file has it. `None` for one that cannot be written without quoting.
fn literal(value: &SettingValue) -> Option<String> {
    Some(match value {
        SettingValue::Bytes(_) | SettingValue::Time(_) => format!("\"{}\"", value.exact()),
        SettingValue::Word(word) => {
            let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
            is_plain.then(|| format!("\"{word}\""))?
        }
        SettingValue::Count(count) => count.to_string(),
        SettingValue::Number(number) => number.to_string(),
        SettingValue::Flag(flag) => flag.to_string(),
    })
}

/// Removes cases whose data was written by cases that are gone.
pub(super) fn drop_without_data(of: &Plan, left: &mut Plan) {
    let had = with_data(of);
    let mut drops: BTreeSet<String> = BTreeSet::new();
    loop {
        let has = with_data(left);
        drops
            .extend(had.difference(&has).filter(|id| left.cases.iter().any(|case| case.id == **id)).cloned());
        let before = left.cases.len();
        left.keep_cases(|case| !drops.contains(&case.id));
        if left.cases.len() == before {
            return;
        }
    }
}

/// The cases that read data which an earlier case has written.
fn with_data(plan: &Plan) -> BTreeSet<String> {
    let mut written: HashMap<&FileSet, Bytes> = HashMap::new();
    let mut found = BTreeSet::new();
    for case in plan.cases.iter().filter(|case| case.workload.work.is_transfers()) {
        let (files, footprint) = (&case.workload.files, Forecast::of(case).footprint);
        let there = written.entry(files).or_default();
        if *there >= footprint && reads_first(case) {
            found.insert(case.id.clone());
        }
        if case.phases.iter().any(|phase| phase.only_writes()) {
            *there = footprint.max(*there);
        }
    }
    found
}

fn reads_first(case: &Case) -> bool {
    case.phases.first().is_some_and(|phase| phase.needs_data())
        && !case.workload.files.fill
        && case.protocol.precondition == 0
}
