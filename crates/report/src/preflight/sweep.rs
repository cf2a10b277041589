//! A study of many cases, told by workload: what is swept, how much it moves, how long it takes,
//! and what should be looked at, with the number of points that it is about.

use std::mem::discriminant;

use plan::{Case, Concern, Outlook, Plan, Setting, SettingValue};

use super::case::result_phases;
use super::concerns::{concern_words, is_news};
use crate::format::{counted, decimal_bytes, duration, grouped};
use crate::table::{PROSE_COLUMNS as COLUMNS, Table, wrapped};

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
type Group<'a> = Vec<(&'a Case, &'a Outlook)>;

fn groups<'a>(plan: &'a Plan, all: &'a [Outlook]) -> Vec<Group<'a>> {
    analysis::grouped(plan.cases.iter().zip(all), |(case, _)| &case.group)
}

/// One row for each workload.
pub(super) fn table(plan: &Plan, all: &[Outlook]) -> Table {
    let passes = |group: &Group<'_>| group.iter().map(|(case, _)| u64::from(case.passes_max())).sum();
    Table::of(groups(plan, all))
        .left("workload", |group| group[0].0.group.clone())
        .left("swept", swept)
        .left("phases", |group| result_phases(group.iter().map(|(case, _)| *case)))
        .right("cases", |group| grouped(group.len() as u64))
        .right("passes", |group| grouped(passes(group)))
        .right("written", |group| decimal_bytes(moved(group, true)))
        .right("read", |group| decimal_bytes(moved(group, false)))
        .right("predicted", |group| duration(group.iter().map(|(_, outlook)| outlook.seconds).sum()))
        .done()
}

/// Bytes that all passes of `group` write or read; mixed phases count as writes.
fn moved(group: &Group<'_>, writes: bool) -> u64 {
    let of_case = |(case, outlook): &(&Case, &Outlook)| {
        let phases = outlook.phases.iter().filter(|phase| phase.phase.writes() == writes);
        let pass = phases.fold(0_u64, |sum, phase| sum.saturating_add(phase.bytes.0));
        pass.saturating_mul(u64::from(case.passes_max()))
    };
    group.iter().map(of_case).fold(0, u64::saturating_add)
}

/// `tasks 33, 66, 99; transfer 4 KiB … 16 MiB (13)`.
fn swept(group: &Group<'_>) -> String {
    let settings = group.iter().flat_map(|(case, _)| &case.settings);
    let words = |same: &Vec<&Setting>| {
        let mut values: Vec<&SettingValue> = Vec::new();
        for setting in same {
            // Neighbouring cases have most values in common, so the last ones are looked at first.
            if !values.iter().rev().any(|value| **value == setting.value) {
                values.push(&setting.value);
            }
        }
        let key = &same[0].key;
        match values.as_slice() {
            [first, .., last] if values.len() > VALUES_NAMED => {
                format!("{key} {first} … {last} ({})", values.len())
            }
            all => format!("{key} {}", all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        }
    };
    analysis::grouped(settings, |one| &one.key).iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Concerns by workload and kind, each with the number of cases that have it, and the worst in full.
pub(super) fn concerns(plan: &Plan, all: &[Outlook]) -> String {
    let mut out = String::new();
    for group in groups(plan, all) {
        let of = counted(group.len() as u64, "case");
        let all = group
            .iter()
            .flat_map(|(case, outlook)| outlook.concerns.iter().map(move |concern| (*case, concern)))
            .filter(|(_, concern)| is_news(plan, concern));
        for kind in analysis::grouped(all, |(_, concern)| discriminant(*concern)) {
            // Two phases of one case are one case.
            let cases = kind.chunk_by(|(one, _), (next, _)| one.id == next.id).count();
            let worst = kind.iter().rev().max_by(|one, other| weight(one.1).total_cmp(&weight(other.1)));
            let Some((case, concern)) = worst else { continue };
            let (worst, place) = (if cases > 1 { "the worst, " } else { "" }, point(case));
            let (name, cases) = (&case.group, grouped(cases as u64));
            let concern = concern_words(plan, case, concern);
            out += &wrapped("  ! ", &format!("{name}, {cases} of {of}; {worst}{place}{concern}"), COLUMNS);
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
