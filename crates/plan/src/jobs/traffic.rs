//! The predicted data volume and computation of the steps of jobs.

use super::{JobTest, Jobs, StepPass};
use crate::Bytes;

/// Bytes that jobs read and write in all spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
}

impl Jobs {
    /// The volume of all launches: inputs and outputs of all their steps, copies and runs of sorts, entries of
    /// indexes, and rows of sums whose keys do not fit in memory. Additional merge passes of sorted runs, which
    /// are needed if memory is small, are not included; tables with random keys have their expected sizes.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        let mut sum = Traffic::default();
        for test in &self.tests {
            let one = self.traffic_of(test);
            let launches = u64::from(test.streams) * u64::from(test.rounds);
            let more = |sum: Bytes, one: Bytes| Bytes(sum.0.saturating_add(one.0.saturating_mul(launches)));
            sum = Traffic { read: more(sum.read, one.read), written: more(sum.written, one.written) };
        }
        sum
    }

    /// The volume of one launch of `test`.
    fn traffic_of(&self, test: &JobTest) -> Traffic {
        let (mut read, mut written) = (0_u64, 0_u64);
        let mut known = self.permanent();
        test.walk(&mut known, |place, known| {
            for [reads, writes] in self.passes(&test.steps[place], known).iter().map(StepPass::bytes) {
                read = read.saturating_add(reads);
                written = written.saturating_add(writes);
            }
        });
        Traffic { read: Bytes(read), written: Bytes(written) }
    }

    /// Seconds that the computing steps of all launches take at `per_second` operations per thread on
    /// `processors` processors, if none waits for data: the sum divided among the processors that can be busy,
    /// but at least the rounds of a single stream.
    #[must_use]
    pub fn computed_seconds(&self, processors: u32, per_second: f64) -> f64 {
        let (mut all, mut longest, mut threads) = (0.0, 0.0_f64, 0.0);
        for test in &self.tests {
            let (streams, rounds) = (f64::from(test.streams), f64::from(test.rounds));
            let computing =
                test.steps.iter().map(|step| (step.action.operations() as f64, f64::from(step.threads)));
            let (mut operations, mut alone) = (0.0, 0.0);
            for (count, threads) in computing {
                operations += count;
                alone += count / threads.max(1.0);
            }
            all += operations * streams * rounds;
            longest = longest.max(alone * rounds);
            let widest = test.steps.iter().map(|step| step.threads).max().unwrap_or(1);
            threads += streams * f64::from(widest);
        }
        let widest =
            self.tests.iter().flat_map(|test| &test.steps).map(|step| step.threads).max().unwrap_or(1);
        let most = match self.concurrency {
            0 => threads,
            most => threads.min(f64::from(most) * f64::from(widest)),
        };
        (all / most.min(f64::from(processors)).max(1.0)).max(longest) / per_second
    }
}
