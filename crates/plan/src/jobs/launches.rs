//! The matrix of launches: which jobs there are, and their dependencies.

use std::collections::BTreeMap;

use super::{JobTest, Jobs};

/// A topological order of the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestOrder {
    /// Indices of tests; those in a cycle or depending on one come last, in the order of the workload.
    pub(super) tests: Vec<usize>,
    /// Tests that form a dependency cycle, each waiting for the next; empty if there is none.
    pub(super) circle: Vec<usize>,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Launch number, which is its task number.
    pub number: u32,
    /// Index of its test in [`Jobs::tests`].
    pub test: usize,
    /// The stream, and thus the data, that it works on, from 0.
    pub stream: u32,
    /// Its round within the stream, from 0.
    pub round: u32,
    /// Numbers of the launches that must finish before it starts.
    pub after: Vec<u32>,
}

impl Jobs {
    /// All launches, in the order in which those of a kind start if nothing delays them: the first round of all streams
    /// of all tests, then the second, and so on. The tests of a valid workload have no dependency cycle.
    #[must_use]
    pub fn launches(&self) -> Vec<Launch> {
        let rounds = self.tests.iter().map(|test| test.rounds).max().unwrap_or(0);
        let mut all: Vec<Launch> = Vec::new();
        for round in 0..rounds {
            for (place, test) in self.tests.iter().enumerate().filter(|(_, test)| round < test.rounds) {
                for stream in 0..test.streams {
                    let number = u32::try_from(all.len()).unwrap_or(u32::MAX);
                    all.push(Launch { number, test: place, stream, round, after: Vec::new() });
                }
            }
        }
        let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); self.tests.len()];
        let mut last = BTreeMap::new();
        for one in &mut all {
            numbers[one.test].push(one.number);
            let earlier = last.insert((one.test, one.stream), one.number);
            one.after.extend(earlier);
        }
        for (place, test) in self.tests.iter().enumerate() {
            let mut waits: Vec<u32> =
                self.before(test).into_iter().flat_map(|before| numbers[before].iter().copied()).collect();
            waits.sort_unstable();
            for one in all.iter_mut().filter(|one| (one.test, one.round) == (place, 0)) {
                one.after.clone_from(&waits);
            }
        }
        all
    }

    /// Indices of the tests that `test` depends on: those that it names, and those whose permanent outputs it
    /// reads.
    #[must_use]
    pub fn before(&self, test: &JobTest) -> Vec<usize> {
        let reads = |name: &str| test.steps.iter().any(|step| step.action.inputs().any(|one| one == name));
        let leaves = |other: &JobTest| {
            let outputs = other.steps.iter().filter_map(|step| step.action.output());
            outputs
                .filter(|output| output.space == super::JobSpace::Permanent)
                .any(|output| reads(&output.table))
        };
        let waits =
            |other: &JobTest| other.name != test.name && (test.after.contains(&other.name) || leaves(other));
        (0..self.tests.len()).filter(|&place| waits(&self.tests[place])).collect()
    }

    /// The order in which tests can be launched.
    pub(super) fn order(&self) -> TestOrder {
        let before: Vec<Vec<usize>> = self.tests.iter().map(|test| self.before(test)).collect();
        let mut done = vec![false; self.tests.len()];
        let mut tests = Vec::with_capacity(self.tests.len());
        while let Some(next) =
            (0..done.len()).find(|&place| !done[place] && before[place].iter().all(|&one| done[one]))
        {
            done[next] = true;
            tests.push(next);
        }
        let rest: Vec<usize> = (0..done.len()).filter(|&place| !done[place]).collect();
        let mut circle = Vec::new();
        // Each of the rest waits for another one of the rest: following these dependencies finds the cycle.
        let mut at = rest.first().copied();
        while let Some(place) = at {
            if let Some(first) = circle.iter().position(|&seen| seen == place) {
                circle.drain(..first);
                break;
            }
            circle.push(place);
            at = before[place].iter().copied().find(|&one| !done[one]);
        }
        tests.extend(rest);
        TestOrder { tests, circle }
    }
}
