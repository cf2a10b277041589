//! What each kind of statement requires, and its outcome if a requirement is not met: one row per kind. Nothing else
//! decides whether a statement is made.

use crate::audit::{
    Check,
    Outcome::{self, Marked, Withheld},
    Use,
};
use crate::statistics::DIFFERENCE_LEAST;

/// Why a statement is withheld or marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Because {
    /// The audit casts doubt on a figure that the statement rests on; the check's row determines the outcome.
    Doubted(Check),
    /// There are fewer repetitions than the statement needs.
    TooFew,
    /// The difference is obvious, but too few repetitions show it.
    Obvious,
    /// The difference is within the scatter.
    WithinScatter,
    /// The two sides of a comparison were measured under different conditions.
    OtherConditions,
    /// Other figures that could have changed the statement are disqualified and were left out, or may be faster than
    /// measured.
    LeftOut,
}

impl Because {
    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Doubted(check) => check.name(),
            Self::TooFew => "too few repetitions",
            Self::Obvious => "obvious",
            Self::WithinScatter => "within the scatter",
            Self::OtherConditions => "other conditions",
            Self::LeftOut => "figures left out",
        }
    }
}

/// How doubts about figures affect a kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubts {
    /// As given by the row of each check: withheld or marked.
    ByCheck,
    /// They only mark it, because it reports an observation.
    Marked,
    /// They only mark it, except for the statement that tasks waited for the storage, which is not an observation:
    /// there the check's row decides.
    OfWaiting,
    /// Not at all: the statement rests on no rate.
    Ignored,
}

impl Doubts {
    const fn name(self) -> &'static str {
        match self {
            Self::ByCheck => "by check",
            Self::Marked => "marked",
            Self::OfWaiting => "marked; by check where tasks waited for the storage",
            Self::Ignored => "–",
        }
    }
}

/// What a kind of statement requires.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Policy {
    pub kind: Kind,
    /// Its name in JSON, CSV and OpenMetrics.
    pub id: &'static str,
    pub title: &'static str,
    /// The report section that contains it.
    pub section: &'static str,
    /// The number of rows in human-readable formats; the others contain all rows.
    pub rows: usize,
    /// Whether its numbers are exported as OpenMetrics families.
    pub metrics: bool,
    /// Whether it has a CSV file of its own, with one row per statement.
    pub wide: bool,
    /// The minimum number of repetitions of each figure; with fewer, the value is marked with their number.
    pub(crate) least: usize,
    doubts: Doubts,
    /// The outcome within the scatter; `Stated` if nothing is compared.
    within_scatter: Outcome,
    /// The test that is used; empty if the statement is a value and not a comparison.
    test: &'static str,
}

/// A row of a value.
const fn row(kind: Kind, id: &'static str, title: &'static str, section: &'static str) -> Policy {
    Policy {
        kind,
        id,
        title,
        section,
        rows: usize::MAX,
        metrics: true,
        wide: false,
        least: 1,
        doubts: Doubts::ByCheck,
        within_scatter: Outcome::Stated,
        test: "",
    }
}

/// A median of too few values for bounds is inconclusive if it is within this share of a limit: three times the
/// scatter of common storage.
const UNBOUNDED_MEDIAN_OFF: f64 = 0.15;

/// Whether a median keeps a limit, if it is better than the limit by the share `margin` and its bounds are better by
/// `bounds`. Returns `None` if the limit is between the bounds, or if it is near and there are too few values for
/// bounds.
pub(crate) fn median_keeps(margin: f64, bounds: Option<(f64, f64)>) -> Option<bool> {
    let is_told = match bounds {
        Some((low, high)) => (low < 0.0) == (high < 0.0),
        None => margin.abs() > UNBOUNDED_MEDIAN_OFF,
    };
    is_told.then_some(margin >= 0.0)
}

/// The number of observation rows in human-readable formats.
const SHOWN: usize = 12;
/// The same for jobs and nodes.
const JOBS_SHOWN: usize = 40;
/// The same for launches and steps.
const TIMERS_SHOWN: usize = 300;

/// A row for an observation, from which nothing is concluded.
const fn observed(kind: Kind, id: &'static str, title: &'static str, section: &'static str) -> Policy {
    Policy { doubts: Doubts::Marked, rows: SHOWN, metrics: false, ..row(kind, id, title, section) }
}

/// A row for something that was fixed before the run and judged after it. Doubts and too few repetitions are part of
/// the judgement, by the policies of the checks for kept and broken commitments.
const fn judged(kind: Kind, id: &'static str, title: &'static str, section: &'static str) -> Policy {
    row(kind, id, title, section).undoubted().tested("as fixed before the run")
}

impl Policy {
    /// Whether it reports an observation or its subject, so that nothing is concluded from it.
    #[must_use]
    pub fn is_observation(&self) -> bool {
        self.doubts != Doubts::ByCheck && self.test.is_empty()
    }

    const fn rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    const fn metrics(self, metrics: bool) -> Self {
        Self { metrics, ..self }
    }

    /// Requires as many repetitions as a comparison.
    const fn repeated(self) -> Self {
        Self { least: DIFFERENCE_LEAST, ..self }
    }

    const fn undoubted(self) -> Self {
        Self { doubts: Doubts::Ignored, ..self }
    }

    /// The observation is used for a judgement, so doubts are weighed as for a value.
    const fn by_check(self) -> Self {
        Self { doubts: Doubts::ByCheck, ..self }
    }

    /// Withholds the statement if the test shows no difference.
    const fn withheld_within_scatter(self) -> Self {
        Self { within_scatter: Withheld, ..self }
    }

    /// Doubts only mark it, except for the statement that tasks waited for the storage.
    const fn doubted_waiting(self) -> Self {
        Self { doubts: Doubts::OfWaiting, ..self }
    }

    const fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    const fn tested(self, test: &'static str) -> Self {
        Self { test, ..self }
    }

    /// Marks the statement if the test shows no difference.
    const fn compared(self, test: &'static str) -> Self {
        Self { within_scatter: Marked, test, ..self }
    }
}

const OF_NODES: &str =
    "far below the median, and difference from the others, corrected for the number of nodes";

/// Declares [`Kind`] and [`POLICY`], in the order in which statements are reported.
macro_rules! policies {
    ($($kind:ident: $row:ident($($word:expr),+)$(.$method:ident($($argument:expr),*))*,)+) => {
        /// A kind of statement; the title of its row in [`POLICY`] says which.
        #[expect(missing_docs, reason = "the rows of the policy say what they are")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($kind,)+
        }

        /// The policy: one row per kind.
        pub const POLICY: [Policy; [$(Kind::$kind),+].len()] =
            [$($row(Kind::$kind, $($word),+)$(.$method($($argument),*))*),+];
    };
}

policies! {
    Commitment: judged("commitment", "Commitments", "summary"),
    Claim: judged("claim", "Statements, tested with own data", "claims"),
    BenchmarkScore: observed("benchmark_score", "Scores of IO500", "scores").metrics(true),
    Best: row("best", "Best points", "best")
        .repeated()
        .compared("difference from the second best, corrected for the number of points"),
    Scaling: row("scaling", "Scaling", "targets").repeated(),
    LayerOverhead: row("tax", "Tax", "targets")
        .repeated()
        .withheld_within_scatter()
        .tested("difference at the points that both have, corrected for the number of pairs and points"),
    TargetContrast: row("target_contrast", "Targets in turns", "targets")
        .repeated()
        .tested("difference from the first target, corrected for the number of figures"),
    Consistency: row("consistency", "Consistency over the points of a sweep", "targets")
        .compared("difference of 1 + the variation in each pass alone, between each two targets"),
    Beside: row("beside_others", "Each workload beside the others", "together")
        .repeated()
        .tested("difference from the rate alone, corrected for all workloads that ran beside others"),
    Together: row("all_together", "All workloads together", "together").repeated(),
    Cost: row("cost", "Cost", "cost").repeated(),
    Placement: row("placement", "Placement", "cost")
        .repeated()
        .tested("the interval of reads ÷ writes lies on one side of the ratio"),
    JobCost: observed("job_cost", "Cost of jobs", "cost"),
    Expected: observed("expected", "Measured ÷ expected", "expected")
        .by_check()
        .metrics(true)
        .rows(2 * SHOWN),
    WeakestLink: observed("weakest_link", "Weakest links", "expected").by_check(),
    Iops: observed("iops", "IOPS, by what is meant", "iops"),
    Published: observed("published", "Published figures and own ones", "beside")
        .metrics(true)
        .rows(usize::MAX),
    Job: observed("job", "Jobs", "jobs").rows(JOBS_SHOWN),
    LimitedBy: observed("limited_by", "Processor or storage", "limits").doubted_waiting(),
    CoveredJob: observed("covered_job", "Jobs of the study", "coverage").undoubted().rows(JOBS_SHOWN),
    CoveredNode: observed("covered_node", "Nodes of the study", "coverage")
        .undoubted()
        .rows(JOBS_SHOWN),
    CurveShape: row("curve", "Shapes of sweeps", "sweeps")
        .metrics(false)
        .rows(2 * SHOWN)
        .tested("lack of fit: better than a flat or a straight model"),
    Overlay: row("overlay", "Lines of a sweep beside each other", "sweeps")
        .metrics(false)
        .tested("difference, corrected for the points in common"),
    Peaks: row("peaks", "Peaks of two workloads", "sweeps")
        .metrics(false)
        .tested("difference, corrected for the points of the longer line"),
    Dispersion: row("dispersion", "Spread of repetitions over sizes", "repetitions")
        .metrics(false)
        .repeated()
        .tested("likeliest change of the variance, and a factor of 3"),
    RateChange: row("rate_change", "Changes while it was measured", "repetitions")
        .metrics(false)
        .rows(2 * SHOWN)
        .tested("change point at 1 %, corrected for all series of the run"),
    NodeSet: row("nodes", "Nodes compared", "nodes-compared").rows(2 * SHOWN).tested(OF_NODES),
    Node: row("node", "Each node", "nodes-compared").rows(JOBS_SHOWN).tested(OF_NODES),
    Crossover: row("crossover", "Where layers meet", "weak-scaling")
        .metrics(false)
        .tested("interval of the line at the most nodes"),
    WeakScaling: row("weak_scaling", "Weak scaling", "weak-scaling")
        .metrics(false)
        .rows(2 * SHOWN)
        .tested("lack of fit of a straight line and of a flat one"),
    Extrapolation: row("extrapolation", "Numbers of nodes that were not measured", "weak-scaling")
        .metrics(false)
        .tested("lack of fit of a straight line"),
    Layer: row("layer", "Layer by layer", "layers")
        .repeated()
        .rows(2 * SHOWN)
        .compared("difference from the layer below, corrected for the number of pairs"),
    DeviceSet: row("member_set", "Devices beside each other", "devices"),
    DeviceModel: row("device_model", "Models of devices", "devices").metrics(false),
    Device: row("member", "Each device", "devices").rows(16 * SHOWN),
    Seek: row("seek", "Seek time and transfer rate of one device", "devices")
        .tested("fit of a line to the times"),
    Strip: row("strip", "Block sizes of file systems", "devices").metrics(false),
    ProcessLimit: row("process_limit", "More devices for as many tasks", "devices")
        .metrics(false)
        .repeated()
        .tested("all rates within 10 %, and busy processors"),
    IoHistory: observed("io_history", "Operations one by one", "disk-view"),
    DiskView: observed("disk_view", "What the disks see", "disk-view"),
    ServerSide: observed("server_side", "At the servers", "servers"),
    Fit: observed("fit", "Slots and room", "cost").undoubted(),
    PrintedCheck: observed("printed_check", "Checks of printed values", "printed").rows(usize::MAX),
    RoundTrip: observed("round_trip", "Round trips of printed histories", "printed"),
    JobPass: observed("job_pass", "Jobs at a time", "job-times").metrics(true),
    JobProfile: observed("job_profile", "Throughput of jobs over time", "job-times").metrics(true),
    JobPublished: observed("job_published", "Published figures of jobs", "job-times"),
    JobSpace: observed("job_space", "Spaces of jobs", "job-spaces").metrics(true),
    JobInput: observed("job_input", "Input of jobs", "job-spaces"),
    FullTimer: observed("full_timer", "FULLSTIMER", "full-timer").rows(TIMERS_SHOWN).wide(),
    CrossCheck: row("cross_check", "Beside another tool", "cross-check")
        .repeated()
        .tested("difference of both tools, corrected for the number of cases"),
    JobSums: observed("job_sums", "Sums over jobs", "matrix").rows(JOBS_SHOWN),
    JobContrast: row("job_contrast", "Systems with the same jobs", "matrix")
        .metrics(false)
        .repeated()
        .rows(JOBS_SHOWN)
        .compared("difference over passes, corrected for the seven rows of a pair"),
    JobRatios: observed("job_ratios", "CPU time ÷ real time", "matrix").rows(JOBS_SHOWN),
    JobTest: observed("job_test", "Tests of jobs", "matrix").rows(JOBS_SHOWN),
    Comparison: row("comparison", "Two runs beside each other", "comparison")
        .metrics(false)
        .repeated()
        .compared("difference, corrected for all comparisons of both runs"),
}

impl Kind {
    /// The row of this kind.
    #[must_use]
    pub fn policy(self) -> &'static Policy {
        &POLICY[self as usize]
    }
}

impl Policy {
    /// The outcome of the statement for this reason, where `statement` is its use of the figure.
    #[must_use]
    pub const fn outcome(&self, because: Because, statement: Use) -> Outcome {
        match because {
            Because::Doubted(check) => match (self.doubts, statement) {
                (Doubts::Ignored, _) => Outcome::Stated,
                (Doubts::OfWaiting, Use::Waiting) | (Doubts::ByCheck, _) => check.outcome(statement),
                (Doubts::Marked | Doubts::OfWaiting, _) => Marked,
            },
            Because::WithinScatter => self.within_scatter,
            Because::OtherConditions => Withheld,
            Because::TooFew | Because::LeftOut | Because::Obvious => Marked,
        }
    }
}

/// The table of all kinds, for the documentation.
#[must_use]
pub fn policy_table() -> String {
    let head = "| statement | doubts about figures | least repetitions | difference within the scatter | test |\n\
                |---|---|---:|---|---|\n";
    let row = |row: &Policy| {
        format!(
            "| {} (*{}*) | {} | {} | {} | {} |\n",
            row.title,
            row.id,
            row.doubts.name(),
            row.least,
            if row.within_scatter == Outcome::Stated { "–" } else { row.within_scatter.name() },
            if row.test.is_empty() { "none: a value" } else { row.test },
        )
    };
    std::iter::once(head.to_owned()).chain(POLICY.iter().map(row)).collect()
}
