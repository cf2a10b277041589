//! A study of many cases, told by workload: what is swept, how much it moves, how long it takes,
//! and what should be looked at, with the number of points that it is about.

use std::mem::discriminant;

use plan::{Case, Concern, Outlook, Phase, Plan, SettingValue};

use super::concerns::{concern_words, is_news};
use crate::format::{counted, decimal_bytes, duration, grouped};
use crate::table::{Align, Table, wrapped};

/// Cases up to which each has a row of its own.
const CASES_LISTED: usize = 24;
/// Values of a key that are named before only its ends are.
const VALUES_NAMED: usize = 6;
/// Examples of one concern of one workload.
const EXAMPLES: usize = 3;

/// Whether `plan` is too long for a row for each case.
pub(super) fn is_long(plan: &Plan) -> bool {
    plan.cases.len() > CASES_LISTED
}

/// The cases of one workload.
struct Group<'a> {
    name: &'a str,
    cases: Vec<(&'a Case, &'a Outlook)>,
}

fn groups<'a>(plan: &'a Plan, all: &'a [Outlook]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (case, outlook) in plan.cases.iter().zip(all) {
        match groups.iter_mut().find(|group| group.name == case.group) {
            Some(group) => group.cases.push((case, outlook)),
            None => groups.push(Group { name: &case.group, cases: vec![(case, outlook)] }),
        }
    }
    groups
}

/// One row for each workload.
pub(super) fn table(plan: &Plan, all: &[Outlook]) -> Table {
    let mut table = Table::new(&[
        ("workload", Align::Left),
        ("swept", Align::Left),
        ("phases", Align::Left),
        ("cases", Align::Right),
        ("passes", Align::Right),
        ("written", Align::Right),
        ("read", Align::Right),
        ("predicted", Align::Right),
    ]);
    for group in groups(plan, all) {
        let passes = group.cases.iter().map(|(case, _)| u64::from(case.passes_max())).sum();
        let seconds: f64 = group.cases.iter().map(|(_, outlook)| outlook.seconds).sum();
        table.row(vec![
            group.name.to_owned(),
            swept(&group),
            phases(&group),
            grouped(group.cases.len() as u64),
            grouped(passes),
            decimal_bytes(moved(&group, true)),
            decimal_bytes(moved(&group, false)),
            duration(seconds),
        ]);
    }
    table
}

/// Bytes that all passes of `group` write or read; mixed phases count as writes.
fn moved(group: &Group<'_>, writes: bool) -> u64 {
    let of_case = |(case, outlook): &(&Case, &Outlook)| {
        let phases = outlook.phases.iter().filter(|phase| phase.phase.writes() == writes);
        let pass = phases.fold(0_u64, |sum, phase| sum.saturating_add(phase.bytes.0));
        pass.saturating_mul(u64::from(case.passes_max()))
    };
    group.cases.iter().map(of_case).fold(0, u64::saturating_add)
}

fn phases(group: &Group<'_>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for phase in group.cases.iter().flat_map(|(case, _)| &case.phases).filter(|phase| phase.is_result()) {
        if !names.contains(&phase.name()) {
            names.push(Phase::name(*phase));
        }
    }
    names.join(", ")
}

/// `tasks 33, 66, 99; transfer 4 KiB … 16 MiB (13)`.
fn swept(group: &Group<'_>) -> String {
    let mut keys: Vec<(&str, Vec<&SettingValue>)> = Vec::new();
    for setting in group.cases.iter().flat_map(|(case, _)| &case.settings) {
        let index = keys.iter().position(|(key, _)| *key == setting.key).unwrap_or_else(|| {
            keys.push((&setting.key, Vec::new()));
            keys.len() - 1
        });
        // Neighbouring cases have most values in common, so the last ones are looked at first.
        let values = &mut keys[index].1;
        if !values.iter().rev().any(|value| **value == setting.value) {
            values.push(&setting.value);
        }
    }
    let words = |(key, values): &(&str, Vec<&SettingValue>)| {
        if values.len() <= VALUES_NAMED {
            let all: Vec<String> = values.iter().map(ToString::to_string).collect();
            return format!("{key} {}", all.join(", "));
        }
        format!("{key} {} … {} ({})", values[0], values[values.len() - 1], values.len())
    };
    keys.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Concerns by workload and kind, each with the number of points and some examples.
pub(super) fn concerns(plan: &Plan, all: &[Outlook], columns: usize) -> String {
    let mut out = String::new();
    for group in groups(plan, all) {
        let mut kinds: Vec<(&Concern, usize, Vec<String>)> = Vec::new();
        for (case, outlook) in &group.cases {
            for concern in outlook.concerns.iter().filter(|concern| is_news(plan, concern)) {
                let known = kinds.iter_mut().find(|(kind, ..)| discriminant(*kind) == discriminant(concern));
                match known {
                    Some((_, count, examples)) => {
                        *count += 1;
                        if examples.len() < EXAMPLES {
                            let words = concern_words(plan, case, concern);
                            if !examples.contains(&words) {
                                examples.push(words);
                            }
                        }
                    }
                    None => kinds.push((concern, 1, vec![concern_words(plan, case, concern)])),
                }
            }
        }
        for (_, count, examples) in kinds {
            let points = counted(group.cases.len() as u64, "point");
            let text =
                format!("{}, {} of {points}: {}", group.name, grouped(count as u64), examples.join("; "));
            out.push_str(&wrapped("  ! ", &text, columns));
        }
    }
    out
}
