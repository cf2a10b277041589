//! The matrix of launches: which jobs there are, and which wait for which.

use super::{JobTest, Jobs};

/// One job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Its number: the task that it is.
    pub number: u32,
    /// The place of its test in [`Jobs::tests`].
    pub test: usize,
    /// Which data it works on, from 0.
    pub stream: u32,
    /// Which of the launches of its stream it is, from 0.
    pub round: u32,
    /// The launches that have ended before it begins, by number.
    pub after: Vec<u32>,
}

impl Jobs {
    /// All launches, in the order in which they are started where nothing holds them back: the first round of
    /// all streams of all tests, then the second one, and so on. The tests of a valid workload wait for each
    /// other in no circle.
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
        let numbers_of = |wanted: &dyn Fn(&Launch) -> bool| -> Vec<u32> {
            all.iter().filter(|one| wanted(one)).map(|one| one.number).collect()
        };
        let waits: Vec<Vec<u32>> = all
            .iter()
            .map(|one| match one.round {
                0 => {
                    let before = self.before(&self.tests[one.test]);
                    numbers_of(&|other| before.contains(&other.test))
                }
                round => numbers_of(&|other| {
                    (other.test, other.stream, other.round + 1) == (one.test, one.stream, round)
                }),
            })
            .collect();
        all.iter_mut().zip(waits).for_each(|(one, after)| one.after = after);
        all
    }

    /// The places of the tests that `test` waits for: those that it names, and those whose permanent outputs it
    /// reads.
    #[must_use]
    pub fn before(&self, test: &JobTest) -> Vec<usize> {
        let reads = |name: &str| test.steps.iter().any(|step| step.action.inputs().any(|one| one == name));
        let leaves = |other: &JobTest| {
            let outputs = other.steps.iter().filter_map(|step| step.action.output());
            outputs
                .filter(|output| output.space == super::Space::Permanent)
                .any(|output| reads(&output.table))
        };
        let waits =
            |other: &JobTest| other.name != test.name && (test.after.contains(&other.name) || leaves(other));
        (0..self.tests.len()).filter(|&place| waits(&self.tests[place])).collect()
    }
}
