//! The steps that are not in force although they were asked for.

use super::apply::{Applied, Outcome};
use super::planned::TuningPlan;
use super::step::{Compliance, Finding};

/// A step that was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unapplied {
    /// The step.
    pub step: &'static str,
    /// Why.
    pub why: String,
}

impl TuningPlan {
    /// The steps that are not in force once the writes have ended as `applied`: those of whose writes none was read back
    /// as written; and those that the user named by themselves if nothing of them could be written and no setting was
    /// as advised before. Settings of larger profiles that this host does not have are only listed.
    #[must_use]
    pub fn unapplied(&self, applied: &[Applied]) -> Vec<Unapplied> {
        let mut steps: Vec<&'static str> = Vec::new();
        for step in self.writes.iter().map(|write| write.step).chain(self.others.iter().map(|one| one.step)) {
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        let unapplied = |step| self.why_unapplied(step, applied).map(|why| Unapplied { step, why });
        steps.into_iter().filter_map(unapplied).collect()
    }

    fn why_unapplied(&self, step: &str, applied: &[Applied]) -> Option<String> {
        let outcomes: Vec<&Outcome> =
            applied.iter().filter(|one| one.write.step == step).map(|one| &one.outcome).collect();
        if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Set(_))) {
            return None;
        }
        if let Some(outcome) = outcomes.first() {
            return Some(match outcome {
                Outcome::Refused(why) => format!("the kernel refused it: {why}"),
                Outcome::Set(now) | Outcome::Changed(now) => format!("it reads back as {now}"),
            });
        }
        let others = || self.others.iter().filter(|other| other.step == step);
        let is_in_force =
            |other: &Finding| matches!(other.state.compliance, Compliance::AsAdvised | Compliance::Shown);
        if !self.profiles.contains(&step) || others().any(is_in_force) {
            return None;
        }
        let reason = |other: &Finding| match &other.state.compliance {
            Compliance::ByHand(why) | Compliance::NotHere(why) => {
                Some(format!("{}: {why}", other.state.what))
            }
            _ => None,
        };
        others().find_map(reason)
    }
}
