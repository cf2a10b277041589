//! The plan of a run, and the request that it answers.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cases::scaling::Scaling;
use crate::{Case, Criteria, Layout, Phase, PlanError, Selector, TargetDescription, WorkloadSpec};

/// An option of a foreign command line, for `--explain`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionNote {
    /// As written by the user, e.g. `-b1m`.
    pub written: String,
    /// The tool's long name of the option, e.g. `blockSize`.
    pub name: String,
    /// What it does here, with resolved values.
    pub meaning: String,
}

/// The request that a plan answers, as the user made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PlanSource {
    /// `ioproof run --quick DIR…`.
    Quick {
        /// The directory; with several, the first of them.
        directory: PathBuf,
        /// The others, which are measured in turn with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<PathBuf>,
    },
    /// `ioproof run STUDY.toml`.
    Study {
        /// The study file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// Overrides from the command line, e.g. `workload.stream.size=64MiB`.
        #[serde(default)]
        overrides: Vec<String>,
    },
    /// The command line of a foreign tool.
    Dialect {
        /// The tool, as in `ior`.
        tool: String,
        /// Its arguments, the program's name first.
        arguments: Vec<String>,
        /// What each of them means.
        notes: Vec<OptionNote>,
        /// What the dialect needs to reproduce its tool's output, in a dialect-specific format.
        #[serde(default)]
        memo: String,
    },
    /// `ioproof import FILE…`: output of other tools.
    Import {
        /// The files, in the order of the command line; `-` is the standard input.
        files: Vec<PathBuf>,
        /// Each tool with its version, as in `IOR 3.3.0`.
        tools: Vec<String>,
        /// The tools' own command lines, if printed.
        command_lines: Vec<String>,
        /// No text states when it was printed, so the times are those of the import.
        #[serde(default)]
        undated: bool,
        /// The texts print no time zone: the times are those that are printed, taken for UTC.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        zoneless: bool,
    },
    /// `ioproof cross-check DIR`: the same cases measured alternately by ioproof and another tool.
    CrossCheck {
        /// The directory.
        directory: PathBuf,
        /// The other tool with its version, as in `fio 3.33`.
        tool: String,
        /// Path of its executable.
        program: PathBuf,
        /// The other tool's cases.
        rivals: Vec<Rival>,
    },
}

/// A case measured by another tool in turn with one of ioproof's, with equal parameters as far as both tools
/// can express them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rival {
    /// [`Case::id`] of ioproof's case.
    pub own: String,
    /// [`Case::id`] of the other tool's case, which has [`Case::stated`].
    pub case: String,
    /// Its command line, the program first.
    pub command_line: Vec<String>,
}

/// All cases of a run, and the request they answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// A title for reports.
    pub title: String,
    /// The request.
    #[serde(rename = "question")]
    pub source: PlanSource,
    /// Source of every random choice for which no workload names a seed.
    pub seed: u64,
    /// The cases, in the order in which they run.
    pub cases: Vec<Case>,
    /// Serial numbers, WWNs or paths of block devices whose data may be destroyed.
    pub destroy_data_on: Vec<String>,
    /// Further statements of a study.
    #[serde(default, rename = "terms")]
    pub criteria: Criteria,
    /// The layouts that cases need; only one is in place at a time, so cases of one layout are adjacent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<Layout>,
    /// What was given up so that the study fits a budget. `None` if it runs as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
}

impl PlanSource {
    /// The directories of a quick run; empty for anything else.
    #[must_use]
    pub fn quick_directories(&self) -> Vec<&Path> {
        match self {
            Self::Quick { directory, others } => {
                std::iter::once(directory).chain(others).map(PathBuf::as_path).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Plan {
    /// A plan without criteria that may not destroy data on any device.
    #[must_use]
    pub fn new(title: impl Into<String>, source: PlanSource, seed: u64, cases: Vec<Case>) -> Self {
        Self {
            title: title.into(),
            source,
            seed,
            cases,
            destroy_data_on: Vec::new(),
            criteria: Criteria::default(),
            layouts: Vec::new(),
            scaling: None,
        }
    }

    /// The cases and result phases that a selection covers, each once.
    #[must_use]
    pub fn selected(&self, figures: &Selector) -> Vec<(&Case, Phase)> {
        let mut seen = HashSet::new();
        let all = self.cases.iter().flat_map(|case| case.phases.iter().map(move |&phase| (case, phase)));
        all.filter(|(case, phase)| phase.is_result() && figures.takes(case, *phase))
            .filter(|(case, phase)| seen.insert((case.id.as_str(), *phase)))
            .collect()
    }

    /// Keeps the cases that `keeps` accepts, and of the layouts those that they need. The first case that is left of
    /// each block begins it. Cases that run at the same time are kept if all of them are.
    pub fn keep_cases(&mut self, mut keeps: impl FnMut(&Case) -> bool) {
        let blocks: Vec<Range<usize>> = self.blocks().collect();
        let mut kept: Vec<bool> = self.cases.iter().map(&mut keeps).collect();
        for block in blocks {
            if self.cases[block.start].concurrent.is_some() && !kept[block.clone()].iter().all(|kept| *kept) {
                kept[block.clone()].fill(false);
            }
            if let Some(first) = block.clone().find(|place| kept[*place]) {
                self.cases[first].in_turn = false;
            }
        }
        let mut kept = kept.into_iter();
        self.cases.retain(|_| kept.next().unwrap_or(false));
        let needed: HashSet<&str> = self.cases.iter().filter_map(|case| case.layout.as_deref()).collect();
        self.layouts.retain(|layout| needed.contains(layout.name.as_str()));
    }

    /// Index ranges of the blocks of cases; the cases of a block take turns, pass by pass, or run at the same time.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        self.cases.chunk_by(|case, next| next.in_turn || next.runs_with(case)).map(move |block| {
            let start = end;
            end += block.len();
            start..end
        })
    }

    /// The passes of `block` in execution order, as case index and pass number: forward through the block in one
    /// repetition, backward in the next (A B B A, or A B C C B A), so that in every two repetitions a linear drift
    /// affects all of its cases equally. With an odd number n of repetitions one is left over; a drift then shifts a
    /// case by at most what it changes within one pass of the block ÷ n.
    ///
    /// The direction changes with the repetition, not the pass: of several rounds only the last counts, which would
    /// have the same direction in all repetitions if the number of rounds is even. If the cases have different
    /// numbers of rounds, those with the most decide.
    ///
    /// ```
    /// use plan::{Bytes, Case, Geometry, Phase, Plan, PlanSource, WorkloadSpec};
    /// let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 1 };
    /// let workload = WorkloadSpec::new("w", "file", geometry).validate()?;
    /// let before = Case { repetitions: 3, ..Case::new("before", workload.clone(), vec![Phase::Read]) };
    /// let after = Case { in_turn: true, ..before.clone() };
    /// let plan = Plan::new("", PlanSource::Quick { directory: "/".into(), others: Vec::new() }, 0, vec![before, after]);
    /// let turns: Vec<(usize, u32)> = plan.blocks().flat_map(|block| plan.turns(block)).collect();
    /// assert_eq!(turns, [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (1, 2)]);
    /// # Ok::<(), plan::PlanError>(())
    /// ```
    pub fn turns(&self, block: Range<usize>) -> impl Iterator<Item = (usize, u32)> + '_ {
        let cases = &self.cases[block.clone()];
        let most = cases.iter().map(Case::passes_max).max().unwrap_or(0);
        let rounds = cases.iter().map(|case| case.protocol.rounds).max().unwrap_or(1).max(1);
        let both_ways = move |pass: u32| {
            let Range { start, end } = block;
            (start..end).map(move |place| {
                (if (pass / rounds).is_multiple_of(2) { place } else { start + end - 1 - place }, pass)
            })
        };
        (0..most).flat_map(both_ways).filter(|&(place, pass)| pass < self.cases[place].passes_max())
    }

    /// The described targets that its cases use; all of them if no case names one. Targets not chosen on the
    /// command line are described but unused.
    pub fn described_targets(&self) -> impl Iterator<Item = &TargetDescription> {
        let used: HashSet<&str> = self.cases.iter().map(|case| case.target.as_str()).collect();
        let names_one = used.iter().any(|name| !name.is_empty());
        self.criteria
            .targets
            .iter()
            .filter(move |criteria| !names_one || used.contains(criteria.name.as_str()))
    }

    /// Makes each process of every case keep its last `operations` operations, and traces the devices
    /// alongside.
    ///
    /// # Errors
    /// Errors if the number is 0, or more than [`crate::HISTORY_MAX`].
    pub fn keep_history(&mut self, operations: u64) -> Result<(), PlanError> {
        for case in &mut self.cases {
            let mut spec = WorkloadSpec::from(case.workload.clone());
            (spec.history, spec.untraced) = (Some(operations), false);
            case.workload = spec.validate()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bytes, Case, Geometry, PassRole, Phase, Plan, PlanSource, Protocol, WorkloadSpec};

    /// A block of cases that take turns, each with `repetitions` of `rounds` after `warm_up` passes.
    fn block(cases: usize, repetitions: u32, rounds: u32, warm_up: u32) -> Plan {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(4), segments: 1 };
        let workload = WorkloadSpec::new("w", "f", geometry).validate().expect("valid");
        let protocol = Protocol { rounds, warm_up, ..Protocol::default() };
        let case = |place: usize| Case {
            in_turn: place > 0,
            repetitions,
            protocol: protocol.clone(),
            ..Case::new(format!("case {place}"), workload.clone(), vec![Phase::Read])
        };
        let source = PlanSource::Quick { directory: "/".into(), others: Vec::new() };
        Plan::new("", source, 0, (0..cases).map(case).collect())
    }

    /// The mean that each case would measure on storage whose rate is the number of the turn.
    fn drifting(plan: &Plan) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); plan.cases.len()];
        for (turn, (place, pass)) in plan.turns(0..plan.cases.len()).enumerate() {
            if plan.cases[place].role(pass) == PassRole::Recorded {
                sums[place].0 += turn as f64;
                sums[place].1 += 1.0;
            }
        }
        sums.into_iter().map(|(sum, count)| sum / count).collect()
    }

    #[test]
    fn a_linear_drift_is_in_all_cases_alike() {
        for cases in 2..=5 {
            for (repetitions, rounds, warm_up) in
                [(2, 1, 0), (6, 1, 0), (6, 1, 1), (4, 2, 0), (4, 2, 3), (6, 3, 1)]
            {
                let means = drifting(&block(cases, repetitions, rounds, warm_up));
                let same = means.iter().all(|mean| (mean - means[0]).abs() < 1e-9);
                assert!(same, "{cases} cases, {repetitions} of {rounds} after {warm_up}: {means:?}");
            }
        }
    }

    /// One pass of the block is left over, which starts with the first case.
    #[test]
    fn an_odd_number_of_repetitions_leaves_a_share_of_one_pass() {
        for repetitions in [1, 3, 5, 7] {
            let means = drifting(&block(3, repetitions, 1, 0));
            assert!((means[2] - means[0] - 2.0 / f64::from(repetitions)).abs() < 1e-9, "{means:?}");
        }
    }

    #[test]
    fn the_first_case_that_is_left_of_a_block_begins_it() {
        let mut plan = block(3, 2, 1, 0);
        plan.keep_cases(|case| case.id != "case 0");
        assert_eq!(plan.cases.iter().map(|case| case.in_turn).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn three_cases_go_there_and_back() {
        let order: Vec<usize> = block(3, 2, 1, 0).turns(0..3).map(|(place, _)| place).collect();
        assert_eq!(order, [0, 1, 2, 2, 1, 0]);
    }
}
