//! A case: a workload, its phases and its repetitions.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Condition, Nanos, PassRole, Phase, Protocol, Setting, SettingValue, Stopping, Workload};

/// A workload, the phases of one repetition, and the number of repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// A name that is unique in the plan; used in tables and file names.
    pub id: String,
    /// Purpose of the case, as the study's author wrote it; may be empty.
    pub title: String,
    /// What the tasks do.
    pub workload: Workload,
    /// The phases of one repetition, in order.
    pub phases: Vec<Phase>,
    /// The `[[workload]]` table or option that the case comes from, shared by the cases of one sweep.
    #[serde(default)]
    pub group: String,
    /// Name of the target in [`crate::Criteria::targets`]; empty if none is named.
    #[serde(default)]
    pub target: String,
    /// The layout from [`crate::Plan::layouts`] that must be in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// Swept keys and their values at this point, in the order of the study; includes the target if several
    /// are swept.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// What is done before and between the phases.
    #[serde(default)]
    pub protocol: Protocol,
    /// Maximum number of repetitions; [`Protocol::stopping`] may end the case earlier.
    pub repetitions: u32,
    /// Pause before each write and read phase; for other work, before each pass.
    pub delay: Nanos,
    /// No phase starts after the case has run for this long.
    pub time_limit: Option<Nanos>,
    /// Its passes alternate with those of the previous case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_turn: bool,
    /// Set if it runs at the same time as others, which are next to it in the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrent: Option<Concurrent>,
    /// For an imported case, the conditions stated in its text; used instead of the workload's conditions,
    /// whose other values are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<String>,
    /// For an imported case, the program whose output it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed_by: Option<PrintedBy>,
    /// The conditions that the text of an imported case does not contain: the workload has placeholders for them.
    /// Absent for measured cases, and in records of older programs. Read through [`Case::knows`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_printed: Option<BTreeSet<Condition>>,
}

/// The other cases that run at the same time as a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concurrent {
    /// Its name, which all of them have.
    pub name: String,
    /// The case with the same workload alone.
    pub alone: String,
    /// How long after the first of them it begins.
    pub start: Nanos,
}

/// A program whose output was imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedBy {
    /// Its name, such as `fio`.
    pub tool: String,
    /// Its release as printed, such as `3.33`. `None` if the output does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
}

impl PrintedBy {
    /// Major and minor number of the release. `None` if it is not printed or has another form.
    ///
    /// ```
    /// let by = plan::PrintedBy { tool: "mdtest".to_owned(), release: Some("3.4.0+dev".to_owned()) };
    /// assert_eq!(by.numbers(), Some((3, 4)));
    /// ```
    #[must_use]
    pub fn numbers(&self) -> Option<(u32, u32)> {
        let mut parts = self.release.as_deref()?.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next().and_then(Result::ok).unwrap_or(0)))
    }
}

impl Case {
    /// A case that runs `phases` once, without pause or limit, outside any sweep.
    #[must_use]
    pub fn new(id: impl Into<String>, workload: Workload, phases: Vec<Phase>) -> Self {
        let id = id.into();
        Self {
            group: id.clone(),
            id,
            title: String::new(),
            workload,
            phases,
            target: String::new(),
            layout: None,
            settings: Vec::new(),
            protocol: Protocol::default(),
            repetitions: 1,
            delay: Nanos(0),
            time_limit: None,
            in_turn: false,
            concurrent: None,
            stated: None,
            printed_by: None,
            not_printed: None,
        }
    }

    /// Whether both run at the same time.
    #[must_use]
    pub fn runs_with(&self, other: &Self) -> bool {
        self.concurrent
            .as_ref()
            .zip(other.concurrent.as_ref())
            .is_some_and(|(one, other)| one.name == other.name)
    }

    /// Whether it is selected by `name`: that of its workload, or of the workloads that run at the same time.
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        self.group == name || self.concurrent.as_ref().is_some_and(|concurrent| concurrent.name == name)
    }

    /// The name of the `[[workload]]` that it comes from.
    #[must_use]
    pub fn workload_table(&self) -> &str {
        self.concurrent.as_ref().map_or(&self.group, |concurrent| &concurrent.alone)
    }

    /// The phase that runs at the same time as those of others: the only one with a result that neither begins nor ends
    /// what others need. `None` if there are several.
    #[must_use]
    pub fn concurrent_phase(&self) -> Option<Phase> {
        let mut all =
            self.phases.iter().filter(|phase| phase.is_result() && !phase.begins() && !phase.ends());
        all.next().copied().filter(|_| all.next().is_none())
    }

    /// Whether `phase` runs at the same time as those of other cases.
    #[must_use]
    pub fn is_concurrent(&self, phase: Phase) -> bool {
        self.concurrent.is_some() && self.concurrent_phase() == Some(phase)
    }

    /// Conditions attached to every figure of `phase`: those of the workload, or those stated by an imported
    /// text.
    #[must_use]
    pub fn conditions(&self, phase: Phase) -> String {
        match &self.stated {
            Some(stated) => format!("{phase}, {stated}"),
            None => self.workload.conditions(phase),
        }
    }

    /// The number of members of its target that the case uses, if its sweep selects them.
    #[must_use]
    pub fn members(&self) -> Option<u32> {
        let value = |key: &str| self.settings.iter().find(|setting| setting.key == key).map(|one| &one.value);
        match (value("members"), value("member")) {
            (Some(SettingValue::Count(count)), _) => u32::try_from(*count).ok(),
            (None, None) => None,
            _ => Some(u32::try_from(self.workload.files.targets.len()).unwrap_or(u32::MAX).max(1)),
        }
    }

    /// Whether it reads files of [`crate::Placement`] without writing, filling or wiping any.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        let Self { workload, protocol, phases, .. } = self;
        workload.work.is_transfers()
            && !(workload.files.fill || protocol.wipe || protocol.precondition > 0)
            && !phases.iter().any(|phase| phase.writes())
    }

    /// Number of passes of the case if nothing ends it earlier.
    #[must_use]
    pub fn passes_max(&self) -> u32 {
        self.passes_of(self.repetitions)
    }

    /// Number of passes for `repetitions`, including warm-up and early rounds.
    fn passes_of(&self, repetitions: u32) -> u32 {
        repetitions.saturating_mul(self.rounds()).saturating_add(self.protocol.warm_up)
    }

    /// Number of passes after which [`Protocol::stopping`] can end the case.
    #[must_use]
    pub fn passes_min(&self) -> u32 {
        self.passes_of(self.repetitions_least().min(self.repetitions))
    }

    /// The least number of passes that count.
    #[must_use]
    pub const fn repetitions_least(&self) -> u32 {
        match self.protocol.stopping {
            Stopping::Count => self.repetitions,
            Stopping::Interval { least, .. } => least,
            Stopping::Steady { window, .. } => window,
        }
    }

    /// Whether the media are prepared before pass number `pass`: wiped and preconditioned, as far as the protocol says.
    ///
    /// Without a wipe this is once, before the first pass. What a wipe makes equal is the start of each repetition, so
    /// it precedes the first pass and the first round of every repetition. Only the repetitions of
    /// [`Stopping::Steady`] follow each other without a wipe: they are the rounds by which one test of the SNIA
    /// specification approaches its steady state.
    #[must_use]
    pub const fn is_prepared_before(&self, pass: u32) -> bool {
        match pass.checked_sub(self.protocol.warm_up) {
            Some(after) if self.wipes_repeatedly() => pass == 0 || after.is_multiple_of(self.rounds()),
            _ => pass == 0,
        }
    }

    /// The number of times that the media are prepared in the first `passes` passes.
    #[must_use]
    pub fn preparations(&self, passes: u32) -> u32 {
        if !self.wipes_repeatedly() {
            return passes.min(1);
        }
        let before = self.protocol.warm_up.min(passes).min(1);
        before + passes.saturating_sub(self.protocol.warm_up).div_ceil(self.rounds())
    }

    const fn wipes_repeatedly(&self) -> bool {
        self.protocol.wipe && !matches!(self.protocol.stopping, Stopping::Steady { .. })
    }

    const fn rounds(&self) -> u32 {
        if self.protocol.rounds == 0 { 1 } else { self.protocol.rounds }
    }

    /// The purpose of pass number `pass` (from 0; the record's repetition).
    #[must_use]
    pub fn role(&self, pass: u32) -> PassRole {
        let rounds = self.rounds();
        match pass.checked_sub(self.protocol.warm_up) {
            None => PassRole::WarmUp,
            Some(after) if after % rounds == rounds - 1 => PassRole::Recorded,
            Some(_) => PassRole::EarlierRound,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bytes, Case, Geometry, PassRole, Phase, Protocol, Stopping, WorkloadSpec};

    fn case(repetitions: u32, protocol: Protocol) -> Case {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(4), segments: 1 };
        let workload = WorkloadSpec::new("w", "f", geometry).validate().expect("valid");
        Case { repetitions, protocol, ..Case::new("w", workload, vec![Phase::Write]) }
    }

    #[test]
    fn of_two_rounds_the_second_counts() {
        let case = case(2, Protocol { rounds: 2, warm_up: 1, ..Protocol::default() });
        assert_eq!(case.passes_max(), 5);
        let roles: Vec<PassRole> = (0..5).map(|pass| case.role(pass)).collect();
        let (warm_up, earlier, recorded) = (PassRole::WarmUp, PassRole::EarlierRound, PassRole::Recorded);
        assert_eq!(roles, [warm_up, earlier, recorded, earlier, recorded]);
    }

    #[test]
    fn the_rounds_of_each_repetition_begin_with_a_wipe() {
        let prepared = |repetitions: u32, protocol: Protocol| {
            let case = case(repetitions, protocol);
            let passes = case.passes_max();
            let before: Vec<u32> = (0..passes).filter(|pass| case.is_prepared_before(*pass)).collect();
            for passes in 0..=passes {
                let counted = before.iter().filter(|pass| **pass < passes).count();
                assert_eq!(case.preparations(passes) as usize, counted, "{passes} passes");
            }
            before
        };
        let wiped = Protocol { wipe: true, rounds: 2, ..Protocol::default() };
        assert_eq!(prepared(5, wiped.clone()), [0, 2, 4, 6, 8]);
        assert_eq!(prepared(2, Protocol { warm_up: 3, ..wiped.clone() }), [0, 3, 5]);
        assert_eq!(prepared(3, Protocol { rounds: 1, ..wiped.clone() }), [0, 1, 2]);
        assert_eq!(prepared(3, Protocol { wipe: false, precondition: 2, ..wiped.clone() }), [0]);
        let stopping = Stopping::Steady { window: 5, excursion: 0.2, slope: 0.1 };
        assert_eq!(
            prepared(25, Protocol { stopping, ..wiped }),
            [0],
            "its repetitions are the rounds of one test"
        );
    }

    #[test]
    fn without_a_protocol_every_pass_counts() {
        let case = case(3, Protocol::default());
        assert!((0..case.passes_max()).all(|pass| case.role(pass) == PassRole::Recorded));
    }
}
