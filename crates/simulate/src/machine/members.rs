//! Determines which devices are the members of a target.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use plan::{Case, Plan, SettingValue};

use crate::simulation::task::Members;

/// The devices of each case of `plan`, for targets of which some case uses members: path number `i` of the target is
/// device number `i`.
pub(super) fn of_plan(plan: &Plan) -> HashMap<String, Members> {
    let number = |case: &Case, key: &str| {
        case.settings.iter().find(|setting| setting.key == key).and_then(|setting| match setting.value {
            SettingValue::Count(count) => u32::try_from(count).ok(),
            _ => None,
        })
    };
    let divided = plan.cases.iter().filter(|case| case.members().is_some());
    let divided: HashSet<&str> = divided.map(|case| case.target.as_str()).collect();
    let cases = || plan.cases.iter().filter(|case| divided.contains(case.target.as_str()));
    // Cases that do not specify a number get it from other cases with the same paths.
    let mut known: HashMap<(&str, &Path), u32> = HashMap::new();
    for case in cases() {
        let Some(first) = number(case, "member").or(number(case, "members").map(|_| 0)) else { continue };
        for (path, number) in case.workload.files.targets.iter().zip(first..) {
            known.entry((case.target.as_str(), path.as_path())).or_insert(number);
        }
    }
    let of_case = |case: &Case| {
        let paths = &case.workload.files.targets;
        let first = paths.first().and_then(|path| known.get(&(case.target.as_str(), path.as_path())));
        let count = u32::try_from(paths.len()).unwrap_or(u32::MAX).max(1);
        (case.id.clone(), Members { first: first.copied().unwrap_or(0), count })
    };
    cases().map(of_case).collect()
}
