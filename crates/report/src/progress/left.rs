//! Estimate of the remaining time of a run, independent of clock and terminal.

use std::collections::HashMap;
use std::time::Duration;

use plan::{CaseEstimate, Phase, PhaseEstimate, Plan};

use crate::format::{decimal_bytes, duration, grouped};

/// The share of the forecast time after which the forecast of the rest is fully corrected by the pace so far.
const TRUSTED_FROM: f64 = 0.25;
/// Minimum number of characters shown of a case's name.
const NAME_LEAST: usize = 8;

/// One phase of one repetition, with its forecast.
#[derive(Debug)]
struct Step {
    case: String,
    repetition: u32,
    repetitions: u32,
    estimate: PhaseEstimate,
    delay: f64,
    /// Whether it runs at the same time as a longer one.
    is_beside: bool,
    /// In a model: expected seconds of computing.
    computing: f64,
}

/// Estimate of the remaining time of a plan, from its forecast and the phases so far.
#[derive(Debug, Default)]
pub(super) struct TimeLeft {
    steps: Vec<Step>,
    /// The position of each case in the plan, starting at 1.
    numbers: HashMap<String, usize>,
    current: Option<usize>,
    /// Whether the current phase is over.
    between: bool,
    /// Actual and forecast seconds of finished phases that end by volume.
    took: f64,
    expected: f64,
    /// Bytes and operations of the current phase.
    pub(super) moved: u64,
    pub(super) operations: u64,
    pub(super) elapsed: f64,
    /// In a model: the seconds of the current phase on its clock.
    pub(super) model: Option<f64>,
    /// In a model: whether the time left is that of computing.
    computes: bool,
}

impl TimeLeft {
    /// All phases of `plan`, with the estimate of each of its cases. In a model, `computing` has the expected seconds of
    /// computing a phase of each case.
    pub(super) fn new(plan: &Plan, estimates: &[CaseEstimate], computing: Option<&[f64]>) -> Self {
        let steps_of = |(place, pass): (usize, u32)| {
            let (case, estimate) = plan.cases.get(place).zip(estimates.get(place))?;
            let is_beside = estimate.is_beside;
            let computing = computing.and_then(|all| all.get(place)).copied().unwrap_or(0.0);
            let step = move |estimate: &PhaseEstimate, delay| Step {
                computing,
                case: case.id.clone(),
                repetition: pass,
                repetitions: case.passes_max(),
                estimate: estimate.clone(),
                delay,
                is_beside,
            };
            let prepared = pass == 0 || estimate.preparations > 1 && case.is_prepared_before(pass);
            let fill = estimate.fill.iter().filter(move |_| prepared).map(move |fill| step(fill, 0.0));
            let delay = case.delay.as_secs_f64();
            Some(fill.chain(estimate.phases.iter().map(move |phase| step(phase, delay))))
        };
        let steps =
            plan.blocks().flat_map(|block| plan.turns(block)).filter_map(steps_of).flatten().collect();
        let numbers = plan.cases.iter().map(|case| case.id.clone()).zip(1..).collect();
        Self { steps, numbers, computes: computing.is_some(), ..Self::default() }
    }

    /// The step after the current one.
    fn next(&self) -> usize {
        self.current.map_or(0, |index| index + 1)
    }

    /// Removes the remaining steps of `case` from the estimate: it was finished by an earlier run, has failed, or has
    /// ended early.
    pub(super) fn skip(&mut self, case: &str) {
        let later = self.steps.split_off(self.next());
        self.steps.extend(later.into_iter().filter(|step| step.case != case));
    }

    /// A phase begins. A phase that is not in the plan, such as an unforeseen fill, is shown but not forecast.
    pub(super) fn start(&mut self, case: &str, repetition: u32, phase: Phase) {
        let from = self.next();
        let is_it =
            |step: &Step| step.case == case && step.repetition == repetition && step.estimate.phase == phase;
        let later = self.steps[from..].iter().position(is_it).map(|index| index + from);
        self.current = later.or_else(|| self.steps.iter().position(is_it));
        (self.moved, self.operations, self.elapsed, self.model) = (0, 0, 0.0, None);
        self.between = false;
    }

    /// The phase is over, `elapsed` after its start.
    pub(super) fn end(&mut self, elapsed: Duration) {
        self.between = true;
        if self.computes {
            if self.computing() > 0.0 {
                self.took += elapsed.as_secs_f64();
                self.expected += self.computing();
            }
        } else if let Some(expected) = self.step().filter(|one| !one.by_clock).map(|one| one.seconds.middle) {
            self.took += elapsed.as_secs_f64();
            self.expected += expected;
        }
    }

    /// Share of the current phase that is done.
    pub(super) fn share(&self) -> f64 {
        let share = self.step().map_or(0.0, |step| match step.by_clock {
            true => self.clock() / step.seconds.middle.max(1e-9),
            false => match step.operations.filter(|all| *all > 0) {
                Some(all) => self.operations as f64 / all as f64,
                None => self.moved as f64 / (step.bytes.0 as f64).max(1.0),
            },
        });
        share.clamp(0.0, 1.0)
    }

    /// Seconds until the plan is done: the rest of this phase at its current rate, and the later phases as forecast,
    /// corrected by the pace of the earlier ones.
    pub(super) fn seconds(&self) -> f64 {
        if self.computes {
            return self.seconds_of_computing();
        }
        let pace = self.pace();
        let forecast =
            |one: &PhaseEstimate| if one.by_clock { one.seconds.middle } else { one.seconds.middle * pace };
        let later = self.steps[self.next()..].iter().filter(|step| !step.is_beside);
        let later = later.map(|step| step.delay + forecast(&step.estimate));
        let share = self.share();
        let this = self.step().filter(|_| !self.between).map_or(0.0, |one| match share {
            _ if one.by_clock => (one.seconds.middle - self.elapsed).max(0.0),
            share if share > 0.0 => self.elapsed * (1.0 - share) / share,
            _ => forecast(one),
        });
        this + later.sum::<f64>()
    }

    /// The same in a model: the computing left, at the pace so far.
    fn seconds_of_computing(&self) -> f64 {
        let this = if self.between { 0.0 } else { self.computing() };
        let done = self.expected + this * self.share();
        let took = self.took + if self.between { 0.0 } else { self.elapsed };
        let later: f64 = self.steps[self.next()..].iter().map(|step| step.computing).sum();
        let left = this * (1.0 - self.share()) + later;
        let all: f64 = self.steps.iter().map(|step| step.computing).sum();
        let weight = (done / (TRUSTED_FROM * all).max(1e-9)).min(1.0);
        let pace = if done > 0.0 { 1.0 + (took / done - 1.0) * weight } else { 1.0 };
        left * pace
    }

    /// Expected seconds of computing the current phase.
    fn computing(&self) -> f64 {
        self.current.and_then(|index| self.steps.get(index)).map_or(0.0, |step| step.computing)
    }

    /// Seconds of the current phase, on the clock of the model if there is one.
    pub(super) fn clock(&self) -> f64 {
        self.model.unwrap_or(self.elapsed)
    }

    /// Actual seconds per forecast second. Short phases have little weight, since one slow directory says nothing about
    /// thousands of files.
    fn pace(&self) -> f64 {
        if self.expected <= 0.0 {
            return 1.0;
        }
        let by_volume = self.steps.iter().filter(|step| !step.estimate.by_clock);
        let all: f64 = by_volume.map(|step| step.estimate.seconds.middle).sum();
        let weight = (self.expected / (TRUSTED_FROM * all)).min(1.0);
        1.0 + (self.took / self.expected - 1.0) * weight
    }

    fn step(&self) -> Option<&PhaseEstimate> {
        self.current.and_then(|index| self.steps.get(index)).map(|step| &step.estimate)
    }

    /// Description of the current work in at most `columns` characters, if possible, by shortening the case name.
    pub(super) fn label(&self, columns: usize) -> String {
        let Some(step) = self.current.and_then(|index| self.steps.get(index)) else {
            return "preparing".to_owned();
        };
        let pass = match step.repetitions {
            0..=1 => String::new(),
            all => format!(" {}/{all}", step.repetition + 1),
        };
        let (before, after) = (self.case_of(&step.case), format!(" {}{pass}", step.estimate.phase));
        let room = columns.saturating_sub(before.chars().count() + after.chars().count()).max(NAME_LEAST);
        let name = match step.case.chars().count() > room {
            true => step.case.chars().take(room - 1).chain(['…']).collect(),
            false => step.case.clone(),
        };
        format!("{before}{name}{after}")
    }

    /// The prefix `case 3 of 12  `; empty if there is only one case.
    pub(super) fn case_of(&self, case: &str) -> String {
        match (self.numbers.len(), self.numbers.get(case)) {
            (all @ 2.., Some(number)) => format!("case {number} of {all}  "),
            _ => String::new(),
        }
    }

    /// Whether there is one case only.
    pub(super) fn is_one(&self) -> bool {
        self.numbers.len() < 2
    }

    /// Completed part of the current phase.
    pub(super) fn done(&self) -> String {
        let Some(step) = self.step() else { return String::new() };
        match step.operations.filter(|all| *all > 0) {
            _ if step.by_clock => format!("{} of {}", duration(self.clock()), duration(step.seconds.middle)),
            Some(all) => format!("{} of {} operations", grouped(self.operations), grouped(all)),
            None => format!("{} of {}", decimal_bytes(self.moved), decimal_bytes(step.bytes.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plan::{
        AssumedDevice, Bytes, Case, Geometry, Nanos, Phase, Plan, PlanSource, RunEnvironment, WorkloadSpec,
    };

    use super::TimeLeft;

    /// Two repetitions of a write and a read of 1 GB, expected to take 1 s each.
    fn case(id: &str) -> Case {
        let bytes = Bytes(1_000_000_000);
        let geometry = Geometry { transfer: bytes, block: bytes, segments: 1 };
        let workload = WorkloadSpec::new("c", "f", geometry).validate().expect("valid");
        Case { repetitions: 2, ..Case::new(id, workload, vec![Phase::Write, Phase::Read]) }
    }

    fn two_by_two() -> TimeLeft {
        left_of(vec![case("c")])
    }

    fn left_of(cases: Vec<Case>) -> TimeLeft {
        let question = PlanSource::Quick { directory: "/".into(), others: Vec::new() };
        let plan = Plan::new(String::new(), question, 0, cases);
        let assumed = AssumedDevice { bytes_per_second: 1e9, transfer_time: Nanos(0), class: String::new() };
        let around = RunEnvironment { assumed, ..RunEnvironment::default() };
        TimeLeft::new(&plan, &plan::estimates(&plan, &around).0, None)
    }

    fn close(left: &TimeLeft, seconds: f64) {
        assert!((left.seconds() - seconds).abs() < 1e-6, "{} is not {seconds}", left.seconds());
    }

    #[test]
    fn time_left_follows_the_rate_that_is_seen() {
        let mut left = two_by_two();
        close(&left, 4.0);
        left.start("c", 0, Phase::Write);
        close(&left, 4.0);
        (left.moved, left.elapsed) = (500_000_000, 1.0);
        // Half of the phase took 1 s, so the rest takes another; three phases remain as forecast.
        close(&left, 1.0 + 3.0);
        left.end(Duration::from_secs(2));
        close(&left, 3.0 * 2.0);
        left.start("c", 0, Phase::Read);
        // The write took twice what was expected; the other three are expected to do so too.
        close(&left, 3.0 * 2.0);
    }

    #[test]
    fn a_small_part_says_little_of_the_rest() {
        let bytes = Bytes(1_000_000);
        let geometry = Geometry { transfer: bytes, block: bytes, segments: 1 };
        let workload = WorkloadSpec::new("s", "f", geometry).validate().expect("valid");
        let small = Case::new("small", workload, vec![Phase::Write]);
        let mut left = left_of(vec![small, case("c")]);
        left.start("small", 0, Phase::Write);
        // Forty times as long as the millisecond that was expected, of 4 s in all.
        left.end(Duration::from_millis(40));
        assert!((4.0..4.3).contains(&left.seconds()), "{}", left.seconds());
    }

    #[test]
    fn a_label_gives_up_the_name_of_its_case_first() {
        let mut left = left_of(vec![case("sequential-write"), case("d")]);
        left.start("sequential-write", 1, Phase::Write);
        assert_eq!(left.label(80), "case 1 of 2  sequential-write write 2/2");
        assert_eq!(left.label(35), "case 1 of 2  sequential-… write 2/2");
        assert_eq!(left.label(1), "case 1 of 2  sequent… write 2/2");
    }

    #[test]
    fn a_case_that_is_skipped_or_settled_costs_no_more_time() {
        let mut left = two_by_two();
        left.start("c", 0, Phase::Write);
        left.end(Duration::from_secs(1));
        left.start("c", 0, Phase::Read);
        close(&left, 1.0 + 2.0);
        left.skip("c");
        close(&left, 1.0);
        let mut resumed = two_by_two();
        resumed.skip("other");
        close(&resumed, 4.0);
        resumed.skip("c");
        close(&resumed, 0.0);
    }

    #[test]
    fn passes_come_in_turn_and_back_again() {
        let second = Case { in_turn: true, ..case("d") };
        let mut left = left_of(vec![case("before"), case("c"), second]);
        close(&left, 12.0);
        for (id, repetition, rest) in [("c", 0, 8.0), ("d", 0, 6.0), ("d", 1, 4.0), ("c", 1, 2.0)] {
            left.start(id, repetition, Phase::Write);
            close(&left, rest);
        }
    }

    #[test]
    fn a_phase_that_the_plan_does_not_name_is_no_error() {
        let mut left = two_by_two();
        left.start("c", 0, Phase::Fill);
        (left.moved, left.elapsed) = (7, 1.0);
        left.end(Duration::from_secs(1));
        assert!(left.share().abs() < f64::EPSILON);
        close(&left, 4.0);
        left.start("c", 1, Phase::Read);
        close(&left, 1.0);
    }
}
