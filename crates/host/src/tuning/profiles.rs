//! Profiles. Each step is a profile, and some profiles consist of several steps.

use serde::Serialize;
use thiserror::Error;

use super::step::Step;
use super::steps::STEPS;

/// Profiles of several steps: name, purpose, steps.
const COMBINED: [(&str, &str, &[&str]); 3] = [
    (
        "storage-benchmark",
        "settings recommended for storage measurements",
        &[
            "irq-affinity",
            "governor",
            "scheduler",
            "nr-requests",
            "read-ahead",
            "rq-affinity",
            "writeback-throttling",
            "thp-never",
            "swappiness",
        ],
    ),
    ("cuny-uv300", "settings of the host in study A", &["irq-affinity", "c1e-off"]),
    (
        "sas-p3700",
        "settings of the host in study C",
        &["tuned-enterprise-storage", "read-ahead", "thp-never", "mount-options"],
    ),
];
/// The profile to examine if none is named.
pub const STORAGE_BENCHMARK: &str = COMBINED[0].0;

/// A named list of steps.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub title: &'static str,
    /// Its steps. Those that change what others set come first.
    pub steps: Vec<&'static Step>,
}

/// There is no profile with this name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Error)]
#[error("no profile {name:?}: {}{}", near(nearest.as_ref()), all.join(", "))]
pub struct UnknownProfile {
    name: String,
    nearest: Option<&'static str>,
    all: Vec<&'static str>,
}

fn near(nearest: Option<&&'static str>) -> String {
    nearest.map_or_else(
        || "the profiles are ".to_owned(),
        |name| format!("did you mean {name}? The profiles are "),
    )
}

/// All profiles: first those of several steps, then one for each step.
#[must_use]
pub fn profiles() -> Vec<Profile> {
    let combined = COMBINED.iter().map(|(name, title, steps)| Profile {
        name,
        title,
        steps: STEPS.into_iter().filter(|step| steps.contains(&step.name)).collect(),
    });
    combined
        .chain(STEPS.map(|step| Profile { name: step.name, title: step.title, steps: vec![step] }))
        .collect()
}

/// The profile with this name.
///
/// # Errors
/// If there is no such profile, the error contains the most similar name.
pub fn profile(name: &str) -> Result<Profile, UnknownProfile> {
    /// Names that are less similar than this are not assumed to be typing errors.
    const ALIKE: f64 = 0.75;
    let all = profiles();
    if let Some(found) = all.iter().find(|profile| profile.name == name) {
        return Ok(found.clone());
    }
    let names: Vec<&'static str> = all.iter().map(|profile| profile.name).collect();
    let alike = names.iter().map(|known| (strsim::jaro_winkler(known, name), *known));
    let nearest = alike.max_by(|one, other| one.0.total_cmp(&other.0));
    let nearest = nearest.filter(|(likeness, _)| *likeness > ALIKE).map(|(_, known)| known);
    Err(UnknownProfile { name: name.to_owned(), nearest, all: names })
}

/// The steps of several profiles without duplicates, in an order in which they can be applied.
#[must_use]
pub fn steps_of(profiles: &[Profile]) -> Vec<&'static Step> {
    let wanted = |step: &&'static Step| {
        profiles.iter().any(|profile| profile.steps.iter().any(|other| other.name == step.name))
    };
    STEPS.into_iter().filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::{COMBINED, profile, profiles};

    #[test]
    fn every_name_of_a_combined_profile_is_a_step() {
        for (name, _, steps) in COMBINED {
            assert_eq!(profile(name).unwrap().steps.len(), steps.len(), "{name}");
        }
        assert!(profiles().iter().all(|profile| !profile.steps.is_empty()));
    }

    #[test]
    fn an_unknown_name_is_told_its_nearest() {
        let error = profile("irq-afinity").unwrap_err().to_string();
        assert!(error.contains("did you mean irq-affinity?"), "{error}");
        let error = profile("xyz").unwrap_err().to_string();
        assert!(error.contains("the profiles are storage-benchmark"), "{error}");
    }
}
