//! Totals of a whole study.

use super::{CaseEstimate, PhaseEstimate};
use crate::{Bytes, Case, Phase, Plan};

/// Expected volume and duration of all cases of a plan together, if nothing ends one early.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    /// Cases.
    pub cases: u64,
    /// Passes of all cases, warm-up and early rounds included.
    pub passes: u64,
    /// Bytes written, with fills and preconditioning.
    pub written: Bytes,
    /// Bytes read, with checks.
    pub read: Bytes,
    /// Seconds.
    pub seconds: f64,
}

impl Totals {
    /// The sum of `estimates`, which are those of `plan`.
    ///
    /// ```
    /// let text = r#"
    ///     [protocol]
    ///     repetitions = 3
    ///     warm_up = 1
    ///     [[target]]
    ///     name = "disk"
    ///     directory = "/mnt/disk"
    ///     [[workload]]
    ///     name = "scale"
    ///     tasks = [1, 2]
    ///     transfer = "1MiB"
    ///     size = "1GiB"
    /// "#;
    /// let plan = plan::study::read("scale.toml".as_ref(), text)?;
    /// let rate = plan::ExpectedRate::assumed();
    /// let environment = plan::RunEnvironment { spaces: vec![], memory: None, node_of: vec![], write: rate.clone(), read: rate };
    /// let totals = plan::Totals::of(&plan, &plan::estimates(&plan, &environment).0);
    /// assert_eq!((totals.cases, totals.passes), (2, 8));
    /// assert_eq!((totals.written, totals.read), (plan::Bytes::gib(8), plan::Bytes::gib(8)));
    /// # Ok::<(), plan::study::StudyErrors>(())
    /// ```
    #[must_use]
    pub fn of(plan: &Plan, estimates: &[CaseEstimate]) -> Self {
        let mut totals = Self::default();
        for (case, estimate) in plan.cases.iter().zip(estimates) {
            let passes = u64::from(case.passes_max());
            totals.cases += 1;
            totals.passes += passes;
            totals.seconds += estimate.seconds;
            for phase in &estimate.phases {
                totals.add(case, phase, passes);
            }
            for phase in estimate.fill.iter().chain(&estimate.precondition) {
                totals.add(case, phase, 1);
            }
        }
        totals
    }

    fn add(&mut self, case: &Case, phase: &PhaseEstimate, times: u64) {
        let all = phase.bytes.0.saturating_mul(times);
        let read = match phase.phase {
            Phase::Mixed => all / 100 * u64::from(case.workload.read_percent),
            phase if phase.makes() => 0,
            _ => all,
        };
        self.read = Bytes(self.read.0.saturating_add(read));
        self.written = Bytes(self.written.0.saturating_add(all - read));
    }
}
