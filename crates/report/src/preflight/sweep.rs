//! Summary of many cases: swept keys, volume, and concerns with the number of cases affected.

use std::mem::discriminant;

use plan::{Case, CaseEstimate, Concern, Plan, Setting, SettingValue};

use super::concerns::{concern_words, is_news};
use crate::format::counted;
use crate::format::screen::Screen;
use crate::format::table::wrapped;

/// Maximum number of values of a key listed; of more, the first, the last and the number.
const VALUES_NAMED: usize = 6;

/// The cases of one workload.
pub(super) type Group<'a> = Vec<(&'a Case, &'a CaseEstimate)>;

pub(super) fn groups<'a>(plan: &'a Plan, all: &'a [CaseEstimate]) -> Vec<Group<'a>> {
    analysis::figures::grouped(plan.cases.iter().zip(all), |(case, _)| match case.group.as_str() {
        "" => &case.id,
        group => group,
    })
}

/// The values that a swept key takes, each once.
pub(super) fn taken<'a>(settings: &[&'a Setting]) -> Vec<&'a SettingValue> {
    let mut values: Vec<&SettingValue> = Vec::new();
    for setting in settings {
        // Searched from the end, since neighbouring cases have most values in common.
        if !values.iter().rev().any(|value| **value == setting.value) {
            values.push(&setting.value);
        }
    }
    values
}

/// `33, 66, 99`, or `4 KiB … 16 MiB (13)`.
pub(super) fn values(settings: &[&Setting]) -> String {
    match taken(settings).as_slice() {
        [first, .., last] if taken(settings).len() > VALUES_NAMED => {
            format!("{first} … {last} ({})", taken(settings).len())
        }
        all => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Concerns by kind, each with the number of cases affected, and the worst in full: at most `most` kinds.
pub(super) fn concerns(plan: &Plan, all: &[CaseEstimate], most: usize, screen: Screen) -> String {
    let each = plan.cases.iter().zip(all).flat_map(|(case, estimate)| {
        estimate.concerns.iter().map(move |concern| (case, concern)).filter(|(_, one)| is_news(plan, one))
    });
    let kinds = analysis::figures::grouped(each, |(_, concern)| discriminant(*concern));
    let mut out = String::new();
    for kind in kinds.iter().take(most) {
        let cases = kind.chunk_by(|(one, _), (next, _)| one.id == next.id).count();
        let worst = kind.iter().rev().max_by(|one, other| weight(one.1).total_cmp(&weight(other.1)));
        let Some((case, concern)) = worst else { continue };
        let concern = concern_words(plan, case, concern);
        let about = match (plan.cases.len(), cases) {
            (1, _) => String::new(),
            (_, 1) => format!("{}: ", case.id),
            (of, cases) => format!("{cases} of {of} cases; the worst, {}: ", case.id),
        };
        out += &wrapped("  ! ", &format!("{about}{concern}"), screen.prose());
    }
    if kinds.len() > most {
        out += &format!("  … and {}; --explain shows them\n", counted((kinds.len() - most) as u64, "kind"));
    }
    out
}

/// Size of the necessary change: advice for the worst case also fits the others.
fn weight(concern: &Concern) -> f64 {
    match concern {
        Concern::TooShort { estimate, .. } => -estimate.seconds.middle,
        Concern::TooLong { estimate, .. } => estimate.seconds.middle,
        Concern::NoSpace { space, .. } | Concern::LittleSpace { space, .. } => space.share(),
        Concern::Cacheable { volume, .. } => -(volume.0 as f64),
        Concern::CachesTooLarge { share, .. } => *share,
        Concern::ReadsOwnNode { tasks, of, .. } => f64::from(*tasks) / f64::from(*of),
        Concern::Unbalanced { bound, .. } => -bound,
    }
}
