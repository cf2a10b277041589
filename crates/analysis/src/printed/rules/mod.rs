//! The rules of consistency of printed values. A rule belongs to a tool, its releases and a mode, and names where it
//! was learnt: what binds the values of one tool need not hold for those of another, or of another release.
//!
//! [`RULES`] is the table. Each tool has a file with its functions; [`statistics`] has those for several tools, which
//! hold only for the tools in the table.

mod elbencho;
mod fio;
mod gpfsperf;
mod io500;
mod ioping;
mod ior;
mod iozone;
mod mdtest;
mod printout;
mod statistics;

use std::ops::RangeInclusive;

use plan::PrintedBy;

pub use self::gpfsperf::{kbyte, latency_agrees, rate_of_records};
pub(crate) use self::iozone::SLOWEST_MOVED;
pub use self::iozone::{average_between, throughput_block, total_of_averages};
pub(super) use self::printout::{Found, Printout};
pub use self::statistics::one_iteration;

/// A rule, and what it applies to.
#[derive(Debug)]
pub struct Rule {
    /// Its name in `docs/IMPORT.md`.
    pub name: &'static str,
    /// The tools, as [`plan::PrintedBy::tool`] names them.
    pub tools: &'static [&'static str],
    /// The first and last release, each major and minor. [`EVERY`] includes outputs that do not name their release.
    pub releases: RangeInclusive<(u32, u32)>,
    /// The outputs of these to which it applies.
    pub mode: &'static str,
    /// Where it was learnt.
    pub learnt: &'static str,
    check: fn(&Printout<'_>) -> Vec<Found>,
}

/// All releases.
pub const EVERY: RangeInclusive<(u32, u32)> = (0, 0)..=(u32::MAX, u32::MAX);

/// All rules.
pub static RULES: &[Rule] = &[
    Rule {
        name: "total = tasks × average; min ≤ average ≤ max; min transferred ÷ each one's total = min ÷ max rate",
        tools: &["iozone"],
        releases: EVERY,
        mode: "throughput mode",
        learnt: "its manual, and the runs of study E",
        check: iozone::check,
    },
    Rule {
        name: "data rate = operation rate × record size; average latency = busy threads ÷ operation rate",
        tools: &["gpfsperf", "tsqosperf"],
        releases: EVERY,
        mode: "all",
        learnt: "published blocks",
        check: gpfsperf::check,
    },
    Rule {
        name: "maximum, minimum, mean and deviation of the iterations",
        tools: &["IOR"],
        releases: EVERY,
        mode: "all iterations printed",
        learnt: "its user guide, and its runs; published IO500 results: 635 outputs",
        check: ior::of_iterations,
    },
    Rule {
        name: "bandwidth × time = bytes moved",
        tools: &["IOR"],
        releases: EVERY,
        mode: "of each pass, and of the summary of one; with a deadline, where the bytes moved are printed",
        learnt: "its user guide; published IO500 results: 1,329 passes, 633 summaries",
        check: ior::amounts,
    },
    Rule {
        name: "IOPS × transfer × wr/rd = bandwidth × time; bandwidth = OPs × transfer",
        tools: &["IOR"],
        releases: (3, 0)..=(u32::MAX, u32::MAX),
        mode: "of each pass with IOPS; of the summary; with a deadline as above",
        learnt: "published IO500 results: 1,002 passes, 635 summaries",
        check: ior::operations,
    },
    Rule {
        name: "MB/s = MiB/s × 1.048576",
        tools: &["IOR"],
        releases: EVERY,
        mode: "the highest bandwidth",
        learnt: "published IO500 results: 703 outputs",
        check: ior::decimal,
    },
    Rule {
        name: "aggregate = tasks × segments × block size",
        tools: &["IOR"],
        releases: EVERY,
        mode: "with a deadline as above",
        learnt: "published IO500 results: 1,318 outputs, of which 4 are cut off at 64 bits",
        check: ior::aggregate,
    },
    Rule {
        name: "rate × time = operations: of a creation those printed, of a tree a whole number",
        tools: &["mdtest"],
        releases: (3, 3)..=(4, 1),
        mode: "with its table of times; highest rate × shortest time, lowest rate × longest time",
        learnt: "published IO500 results: 2,381 phases",
        check: mdtest::rates_and_times,
    },
    Rule {
        name: "rate × time = tasks × items at the deadline",
        tools: &["mdtest"],
        releases: (3, 3)..=(4, 1),
        mode: "one iteration that a deadline ended",
        learnt: "published IO500 results: 231 phases",
        check: mdtest::deadline,
    },
    Rule {
        name: "phases + delays ≤ finish − start",
        tools: &["mdtest"],
        releases: EVERY,
        mode: "one iteration, phases whose time or operations are printed",
        learnt: "a published page; published IO500 results: 2,359 outputs",
        check: mdtest::reconciled,
    },
    Rule {
        name: "one iteration has one value",
        tools: &["mdtest"],
        releases: (4, 0)..=(4, 1),
        mode: "one iteration",
        learnt: "published IO500 results: 462 outputs",
        check: mdtest::one_value,
    },
    Rule {
        name: "statistics of the same values: processes",
        tools: &["mdtest"],
        releases: (0, 0)..=(3, 4),
        mode: "all",
        learnt: "published IO500 results: 1,897 outputs; Popoviciu 1935",
        check: statistics::of_some_values,
    },
    Rule {
        name: "statistics of the same values: the iterations",
        tools: &["mdtest"],
        releases: (4, 0)..=(4, 1),
        mode: "all",
        learnt: "its manual; Popoviciu 1935 and Thomson 1955",
        check: statistics::of_iterations,
    },
    Rule {
        name: "geometric mean of the results; total = √(bandwidth × metadata)",
        tools: &["IO500"],
        releases: EVERY,
        mode: "results with scores above 0; the scripts of 2017 and 2018 may print the product as total",
        learnt: "its rules; 365 published results, of which 4 have the product",
        check: io500::scores,
    },
    Rule {
        name: "statistics of the same values: the iterations",
        tools: &["IOR"],
        releases: EVERY,
        mode: "all",
        learnt: "its user guide; Popoviciu 1935 and Thomson 1955",
        check: statistics::of_iterations,
    },
    Rule {
        name: "statistics of the same values",
        tools: &["ioping", "elbencho", "md-workbench"],
        releases: EVERY,
        mode: "latencies",
        learnt: "manuals; Popoviciu 1935 and Thomson 1955",
        check: statistics::of_some_values,
    },
    Rule {
        name: "rate × time = amount",
        tools: &["elbencho"],
        releases: EVERY,
        mode: "of the first worker and of all",
        learnt: "published outputs of 1.x to 2.1: 1,109 phases with bytes, 1,008 with files; runs of 3.1",
        check: elbencho::rates,
    },
    Rule {
        name: "total = reads + writes",
        tools: &["elbencho"],
        releases: EVERY,
        mode: "text, mixed phases",
        learnt: "its manual, and its runs of 3.1",
        check: elbencho::mixed,
    },
    Rule {
        name: "bandwidth = IOPS × block",
        tools: &["elbencho"],
        releases: EVERY,
        mode: "CSV and JSON, files of whole blocks, of all workers",
        learnt: "published outputs of 2.1: 61 phases; runs of 3.1",
        check: elbencho::operations,
    },
    Rule {
        name: "iops = requests ÷ time; speed = size ÷ time; time = requests × mean",
        tools: &["ioping"],
        releases: EVERY,
        mode: "from 1.0 on, which print the size or whole ns",
        learnt: "its manual, and its runs: 61 outputs of 1.3",
        check: ioping::totals,
    },
    Rule {
        name: "statistics of all requests",
        tools: &["ioping"],
        releases: EVERY,
        mode: "all requests printed",
        learnt: "its manual, and its runs: 40 outputs of 1.3",
        check: ioping::requests,
    },
    Rule {
        name: "statistics of the same values: latencies",
        tools: &["fio"],
        releases: EVERY,
        mode: "all",
        learnt: "its HOWTO; Popoviciu 1935 and Thomson 1955",
        check: fio::latencies,
    },
    Rule {
        name: "bandwidth = bytes ÷ time; requests per second = requests ÷ time",
        tools: &["fio"],
        releases: (2, 0)..=(u32::MAX, u32::MAX),
        mode: "JSON and text of a job",
        learnt: "its HOWTO; 5,400 published outputs of 2.2 to 3.34, and 192 of 3.33",
        check: fio::rates,
    },
    Rule {
        name: "bytes = requests × size",
        tools: &["fio"],
        releases: (2, 0)..=(u32::MAX, u32::MAX),
        mode: "requests of one size",
        learnt: "its HOWTO; 5,400 published outputs of 2.2 to 3.34, and 192 of 3.33",
        check: fio::sizes,
    },
    Rule {
        name: "mean latency = submission + completion",
        tools: &["fio"],
        releases: (3, 33)..=(u32::MAX, u32::MAX),
        mode: "engines whose submissions are timed",
        learnt: "its HOWTO; 736 published outputs of 3.33 and 3.34, and 192 of 3.33",
        check: fio::latency_parts,
    },
    Rule {
        name: "mean latency ≥ submission + completion",
        tools: &["fio"],
        releases: (2, 0)..=(3, 32),
        mode: "engines whose submissions are timed",
        learnt: "4,664 published outputs of 2.2 to 3.16, where it is up to 0.13 ms longer",
        check: fio::latency_above_parts,
    },
    Rule {
        name: "standard deviation of one iteration",
        tools: &["IOR"],
        releases: EVERY,
        mode: "one iteration",
        learnt: "its user guide",
        check: statistics::scatter,
    },
    Rule {
        name: "standard deviation of one iteration",
        tools: &["mdtest"],
        releases: (4, 0)..=(4, 1),
        mode: "one iteration",
        learnt: "published IO500 results: 462 outputs",
        check: statistics::scatter,
    },
];

impl Rule {
    /// Its releases in words, such as `3.4 and later`.
    #[must_use]
    pub fn release_range(&self) -> String {
        let ((first, minor), (last, of_last)) = (*self.releases.start(), *self.releases.end());
        match (first, last) {
            (0, u32::MAX) => "all".to_owned(),
            (_, u32::MAX) => format!("{first}.{minor} and later"),
            (0, _) => format!("to {last}.{of_last}"),
            _ => format!("{first}.{minor} to {last}.{of_last}"),
        }
    }

    /// Whether it is for the output of this program.
    fn is_for(&self, by: &PrintedBy) -> bool {
        let releases = &self.releases;
        let is_one = by.numbers().map_or(*releases == EVERY, |release| releases.contains(&release));
        self.tools.contains(&by.tool.as_str()) && is_one
    }
}

/// The checks of `printout` by all rules for the tool and release of its case.
pub(super) fn checks(printout: &Printout<'_>) -> Vec<Found> {
    let Some(by) = &printout.case.printed_by else { return Vec::new() };
    RULES.iter().filter(|rule| rule.is_for(by)).flat_map(|rule| (rule.check)(printout)).collect()
}
