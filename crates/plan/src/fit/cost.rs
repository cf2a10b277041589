//! What a plan is predicted to take.

use std::path::PathBuf;

use crate::cases::scaling::Budget;
use crate::{Bytes, CaseEstimate, FileSystemSpace, Plan, RunEnvironment, estimates};

/// What a plan is predicted to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds of all cases: the middle of the prediction.
    pub seconds: f64,
    /// Bytes that its files take at the same time.
    pub space: Bytes,
    /// Whether the model gives no rate for some phases, so that a device is assumed for them.
    pub is_partly_assumed: bool,
}

impl Cost {
    /// The cost of `plan` in `environment`. Time is that of the preflight; phases of which a model knows no rate take
    /// that of the device that is assumed on a host.
    ///
    /// ```
    /// let text = "[[target]]\nname = \"d\"\ndirectory = \"/d\"\n[[workload]]\nname = \"w\"\ntransfer = \"1MiB\"\n\
    ///             size = \"1GiB\"\ndirect = true\n";
    /// let plan = plan::study::read("s.toml".as_ref(), text)?;
    /// assert_eq!(plan::Cost::of(&plan, &plan::RunEnvironment::default()).space, plan::Bytes::gib(1));
    /// # Ok::<(), plan::study::StudyErrors>(())
    /// ```
    #[must_use]
    pub fn of(plan: &Plan, environment: &RunEnvironment) -> Self {
        cost(plan, environment)
    }

    pub(super) fn fits(&self, budget: &Budget) -> bool {
        self.fits_time(budget) && self.fits_space(budget)
    }

    /// Of the budget's time or space the larger share that it takes.
    pub(super) fn share(&self, budget: &Budget) -> f64 {
        let time = budget.time.map_or(0.0, |time| self.seconds / time.as_secs_f64());
        time.max(budget.space.map_or(0.0, |space| self.space.0 as f64 / space.0 as f64))
    }

    fn fits_time(&self, budget: &Budget) -> bool {
        budget.time.is_none_or(|time| self.seconds <= time.as_secs_f64())
    }

    pub(super) fn fits_space(&self, budget: &Budget) -> bool {
        budget.space.is_none_or(|space| self.space <= space)
    }
}

/// The estimates of `plan`; of what a model does not know, those with the device that is assumed on a host.
pub(super) fn estimated(plan: &Plan, environment: &RunEnvironment) -> Vec<CaseEstimate> {
    let (mut all, _) = estimates(plan, environment);
    if all.iter().any(CaseEstimate::is_partly_unknown) {
        let assumed = RunEnvironment { model: None, ..environment.clone() };
        let (assumed, _) = estimates(plan, &assumed);
        for (known, assumed) in all.iter_mut().zip(assumed).filter(|(known, _)| known.is_partly_unknown()) {
            *known = assumed;
        }
    }
    all
}

/// See [`Cost::of`].
pub(super) fn cost(plan: &Plan, environment: &RunEnvironment) -> Cost {
    let seconds = estimated(plan, environment).iter().map(|estimate| estimate.seconds.middle).sum();
    let mut targets: Vec<PathBuf> =
        plan.cases.iter().flat_map(|case| case.workload.files.targets.iter().cloned()).collect();
    targets.sort();
    targets.dedup();
    // What all targets take together does not depend on where they are.
    let all = FileSystemSpace { name: String::new(), free: Bytes(u64::MAX), targets };
    let together = RunEnvironment { spaces: vec![all], ..environment.clone() };
    let (unknown, spaces) = estimates(plan, &together);
    Cost {
        seconds,
        space: spaces.first().map_or(Bytes(0), |space| space.needed),
        is_partly_assumed: unknown.iter().any(CaseEstimate::is_partly_unknown),
    }
}

/// The next whole number from `value` on.
pub(super) fn whole_up(value: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; `as` saturates at the ends"
    )]
    let whole = value.max(0.0).ceil() as u64;
    whole
}
