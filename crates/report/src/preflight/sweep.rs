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
/// Cases of sweeps up to which each has a row of its own: their names are long.
const SWEPT_LISTED: usize = 6;

/// Whether `plan` is too long for a row for each case.
pub(super) fn is_long(plan: &Plan) -> bool {
    let swept = plan.cases.iter().filter(|case| !case.settings.is_empty()).count();
    plan.cases.len() > CASES_LISTED || swept > SWEPT_LISTED
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

/// One kind of concern of one workload: the cases that it is about, and the worst of them.
struct Kind<'a> {
    worst: (&'a Case, &'a Concern),
    cases: usize,
    last: &'a str,
}

/// Concerns by workload and kind, each with the number of cases that have it, and the worst in full.
pub(super) fn concerns(plan: &Plan, all: &[Outlook], columns: usize) -> String {
    let mut out = String::new();
    for group in groups(plan, all) {
        let mut kinds: Vec<Kind<'_>> = Vec::new();
        for &(case, outlook) in &group.cases {
            for concern in outlook.concerns.iter().filter(|concern| is_news(plan, concern)) {
                match kinds.iter_mut().find(|kind| discriminant(kind.worst.1) == discriminant(concern)) {
                    Some(kind) => {
                        // Two phases of one case are one case.
                        kind.cases += usize::from(kind.last != case.id);
                        kind.last = &case.id;
                        if weight(concern) > weight(kind.worst.1) {
                            kind.worst = (case, concern);
                        }
                    }
                    None => kinds.push(Kind { worst: (case, concern), cases: 1, last: &case.id }),
                }
            }
        }
        for kind in kinds {
            let of = counted(group.cases.len() as u64, "case");
            let (case, concern) = kind.worst;
            let worst = if kind.cases > 1 { "the worst, " } else { "" };
            let place = point(case);
            let text = format!(
                "{}, {} of {of}; {worst}{place}{}",
                group.name,
                grouped(kind.cases as u64),
                concern_words(plan, case, concern)
            );
            out.push_str(&wrapped("  ! ", &text, columns));
        }
    }
    out
}

/// `at tasks 33, transfer 1 MiB: `.
fn point(case: &Case) -> String {
    let settings: Vec<String> = case.settings.iter().map(ToString::to_string).collect();
    if settings.is_empty() { String::new() } else { format!("at {}: ", settings.join(", ")) }
}

/// How much has to change: advice for the worst case does for the others, too.
fn weight(concern: &Concern) -> f64 {
    match concern {
        Concern::TooShort { outlook, .. } => -outlook.seconds,
        Concern::TooLong { outlook, .. } => outlook.seconds,
        Concern::NoSpace { space, .. } | Concern::LittleSpace { space, .. } => space.share(),
        Concern::Cacheable { volume, .. } => -(volume.0 as f64),
        Concern::CachesTooLarge { share, .. } => *share,
        Concern::ReadsOwnNode { tasks, of, .. } => f64::from(*tasks) / f64::from(*of),
        Concern::Unbalanced { bound, .. } => -bound,
    }
}
