//! What each kind of statement needs, and what becomes of it where that is missing: one row for each kind. Nothing else
//! decides whether a statement stands.

use std::fmt::Write as _;

use crate::Check;
use crate::audit::Severity::{self, Marked, Withheld};
use crate::audit::Use;
use crate::difference::DIFFERENCE_LEAST;

/// A kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The best point of a sweep.
    Best,
    /// A rate against the sum of single devices.
    Scaling,
    /// What a target loses or gains against another.
    Tax,
    /// Which target varies least over a sweep.
    Consistency,
    /// Time × devices and × rack units.
    Cost,
    /// Which data a target is for.
    Placement,
    /// What limited a figure: processors or storage.
    LimitedBy,
    /// A run of a case in the job table.
    Job,
    /// Run time of jobs × devices and × rack units.
    JobCost,
    /// A job of which a study was put together.
    CoveredJob,
    /// A node, and when it was measured.
    CoveredNode,
    /// What a curve looks like.
    CurveShape,
    /// Where two lines of a sweep are farthest apart.
    Overlay,
    /// Peaks of two workloads.
    Peaks,
    /// Spread of repetitions over a swept size.
    Dispersion,
    /// The nodes of a figure together.
    NodeSet,
    /// One of them.
    Node,
    /// From how many nodes on a node-local target is faster than a shared one.
    Crossover,
    /// Rates over nodes.
    WeakScaling,
    /// What a line over nodes says of more of them.
    Extrapolation,
    /// What a layer costs.
    Layer,
    /// Devices beside each other.
    DeviceSet,
    /// The devices of one model.
    DeviceModel,
    /// One device.
    Device,
    /// Seek time and rate of a device.
    Seek,
    /// A file system against what its devices say of its block size.
    Strip,
    /// As many tasks on more and more devices.
    ProcessLimit,
    /// What is in a row at the application and at the devices.
    DiskView,
    /// Whether devices have slots and data has room.
    Fit,
    /// A commitment, judged.
    Commitment,
    /// A statement of a study, tested.
    Claim,
    /// A figure against a data sheet or a limit.
    Expected,
    /// The lowest limit of a target.
    WeakestLink,
    /// Transfers per second by definition.
    Iops,
    /// An own figure beside a published one.
    Published,
    /// Whether printed values agree.
    PrintedCheck,
    /// Where the time of single operations of an I/O history went.
    RoundTrip,
    /// How many launches of a pass ran at a time, and how long.
    JobPass,
    /// Bytes per second of jobs over time.
    JobProfile,
    /// A published figure of jobs, and the own one.
    JobPublished,
    /// What jobs moved and held in a space.
    JobSpace,
    /// Which space of jobs is for what reads fast.
    JobPlacement,
    /// What tests of one kind are given and move.
    JobInput,
    /// What steps of one kind did.
    JobAction,
    /// A launch or a step, as the kernel accounts for it.
    FullTimer,
    /// Sums over all launches of a system.
    JobSums,
    /// How two systems that ran the same jobs compare.
    JobContrast,
    /// CPU time ÷ real time over the launches of a system.
    JobRatios,
    /// The launches of one test.
    JobTest,
}

/// Why a statement is withheld or marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Because {
    /// The audit doubts a figure that it rests on; the check's row says how much that weighs.
    Doubted(Check),
    /// There are fewer repetitions than it needs.
    TooFew,
    /// The difference is not larger than the scatter shows.
    WithinScatter,
    /// Other figures that could have changed it are disqualified, and were left out.
    LeftOut,
}

impl Because {
    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Doubted(check) => check.name(),
            Self::TooFew => "too few repetitions",
            Self::WithinScatter => "within the scatter",
            Self::LeftOut => "figures left out",
        }
    }
}

/// How doubts about figures touch a kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubts {
    /// Each as its check's row says: withheld or marked.
    ByCheck,
    /// They mark it: it says what was observed, whatever that is worth.
    Marked,
    /// Not at all: it rests on no rate.
    Ignored,
}

impl Doubts {
    const fn name(self) -> &'static str {
        match self {
            Self::ByCheck => "by check",
            Self::Marked => "marked",
            Self::Ignored => "–",
        }
    }
}

/// What a kind of statement needs.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The kind.
    pub kind: Kind,
    /// Its name in JSON, CSV and OpenMetrics.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The section of a report that it stands in.
    pub section: &'static str,
    /// Repetitions of each figure below which it has too few.
    pub least: usize,
    /// How doubts about figures touch it.
    pub doubts: Doubts,
    /// Rows that forms which are read show of it; the others have all.
    pub rows: usize,
    /// Whether its numbers are families of OpenMetrics.
    pub metrics: bool,
    /// Whether it has a file of comma-separated values of its own, with a row for each statement.
    pub wide: bool,
    /// Fewer repetitions than `least`.
    pub too_few: Severity,
    /// A difference that is not larger than the scatter shows; none where nothing is compared.
    pub within_scatter: Option<Severity>,
    /// How it is tested; empty where it is a value and no comparison.
    pub test: &'static str,
}

/// A row whose values are marked where there are too few repetitions.
const fn row(kind: Kind, id: &'static str, title: &'static str, section: &'static str) -> Policy {
    Policy {
        kind,
        id,
        title,
        section,
        least: 1,
        doubts: Doubts::ByCheck,
        rows: usize::MAX,
        metrics: true,
        wide: false,
        too_few: Marked,
        within_scatter: None,
        test: "",
    }
}

/// Rows of what was observed that forms which are read show.
const OBSERVED_SHOWN: usize = 12;

/// Jobs and nodes that forms which are read show.
const JOBS_SHOWN: usize = 40;

/// Launches and steps that forms which are read show.
const TIMERS_SHOWN: usize = 300;

/// A row of what was observed: nothing is concluded from it.
const fn observed(kind: Kind, id: &'static str, title: &'static str, section: &'static str) -> Policy {
    Policy { doubts: Doubts::Marked, rows: OBSERVED_SHOWN, metrics: false, ..row(kind, id, title, section) }
}

/// A row of what was fixed before the run and judged after it: doubts and too few repetitions are a part of the
/// judgement, by the policy of each check for kept and for broken promises.
const fn judged(kind: Kind, id: &'static str, title: &'static str, section: &'static str) -> Policy {
    Policy { doubts: Doubts::Ignored, test: "as fixed before the run", ..row(kind, id, title, section) }
}

/// The policy: one row for each kind.
pub const POLICY: [Policy; 49] = [
    judged(Kind::Commitment, "commitment", "Commitments", "summary"),
    judged(Kind::Claim, "claim", "Statements, tested with own data", "claims"),
    Policy {
        least: DIFFERENCE_LEAST,
        within_scatter: Some(Marked),
        test: "difference from the second best, corrected for the number of points",
        ..row(Kind::Best, "best", "Best points", "best")
    },
    Policy { least: DIFFERENCE_LEAST, ..row(Kind::Scaling, "scaling", "Scaling", "targets") },
    Policy {
        least: DIFFERENCE_LEAST,
        too_few: Withheld,
        within_scatter: Some(Withheld),
        test: "difference, corrected for the number of pairs",
        ..row(Kind::Tax, "tax", "Tax", "targets")
    },
    Policy {
        within_scatter: Some(Marked),
        test: "difference of the variations in each pass alone, between the steadiest target and each other one, corrected for their number",
        ..row(Kind::Consistency, "consistency", "Consistency over the points of a sweep", "targets")
    },
    Policy { least: DIFFERENCE_LEAST, ..row(Kind::Cost, "cost", "Cost", "cost") },
    Policy { least: DIFFERENCE_LEAST, ..row(Kind::Placement, "placement", "Placement", "cost") },
    observed(Kind::JobCost, "job_cost", "Cost of jobs", "cost"),
    Policy {
        metrics: true,
        rows: 2 * OBSERVED_SHOWN,
        ..observed(Kind::Expected, "expected", "Measured ÷ expected", "expected")
    },
    observed(Kind::WeakestLink, "weakest_link", "Weakest links", "expected"),
    observed(Kind::Iops, "iops", "IOPS, by what is meant", "iops"),
    Policy {
        metrics: true,
        rows: usize::MAX,
        ..observed(Kind::Published, "published", "Published figures and own ones", "beside")
    },
    Policy { rows: JOBS_SHOWN, ..observed(Kind::Job, "job", "Jobs", "jobs") },
    observed(Kind::LimitedBy, "limited_by", "Processor or storage", "limits"),
    Policy {
        rows: JOBS_SHOWN,
        doubts: Doubts::Ignored,
        ..observed(Kind::CoveredJob, "covered_job", "Jobs of the study", "coverage")
    },
    Policy {
        rows: JOBS_SHOWN,
        doubts: Doubts::Ignored,
        ..observed(Kind::CoveredNode, "covered_node", "Nodes of the study", "coverage")
    },
    Policy {
        metrics: false,
        rows: 2 * OBSERVED_SHOWN,
        test: "lack of fit: better than a flat or a straight model",
        ..row(Kind::CurveShape, "curve", "Shapes of sweeps", "sweeps")
    },
    Policy {
        metrics: false,
        test: "difference, corrected for the points in common",
        ..row(Kind::Overlay, "overlay", "Lines of a sweep beside each other", "sweeps")
    },
    Policy {
        metrics: false,
        test: "difference",
        ..row(Kind::Peaks, "peaks", "Peaks of two workloads", "sweeps")
    },
    Policy {
        metrics: false,
        test: "likeliest change of the variance, and a factor of 3",
        ..row(Kind::Dispersion, "dispersion", "Spread of repetitions over sizes", "repetitions")
    },
    Policy {
        rows: 2 * OBSERVED_SHOWN,
        test: "far below the median, and difference from the others, corrected for the number of nodes",
        ..row(Kind::NodeSet, "nodes", "Nodes compared", "nodes-compared")
    },
    Policy {
        rows: JOBS_SHOWN,
        test: "far below the median, and difference from the others, corrected for the number of nodes",
        ..row(Kind::Node, "node", "Each node", "nodes-compared")
    },
    Policy {
        metrics: false,
        test: "interval of the line at the most nodes",
        ..row(Kind::Crossover, "crossover", "Where layers meet", "weak-scaling")
    },
    Policy {
        rows: 2 * OBSERVED_SHOWN,
        metrics: false,
        test: "lack of fit of a straight line and of a flat one",
        ..row(Kind::WeakScaling, "weak_scaling", "Weak scaling", "weak-scaling")
    },
    Policy {
        metrics: false,
        test: "lack of fit of a straight line",
        ..row(Kind::Extrapolation, "extrapolation", "Numbers of nodes that were not measured", "weak-scaling")
    },
    Policy {
        least: DIFFERENCE_LEAST,
        within_scatter: Some(Marked),
        rows: 2 * OBSERVED_SHOWN,
        test: "difference from the layer below, corrected for the number of pairs",
        ..row(Kind::Layer, "layer", "Layer by layer", "layers")
    },
    row(Kind::DeviceSet, "member_set", "Devices beside each other", "devices"),
    Policy { metrics: false, ..row(Kind::DeviceModel, "device_model", "Models of devices", "devices") },
    Policy { rows: 16 * OBSERVED_SHOWN, ..row(Kind::Device, "member", "Each device", "devices") },
    Policy {
        test: "fit of a line to the times",
        ..row(Kind::Seek, "seek", "Seek time and transfer rate of one device", "devices")
    },
    Policy { metrics: false, ..row(Kind::Strip, "strip", "Block sizes of file systems", "devices") },
    Policy {
        metrics: false,
        least: DIFFERENCE_LEAST,
        test: "all rates within 10 %, and busy processors",
        ..row(Kind::ProcessLimit, "process_limit", "More devices for as many tasks", "devices")
    },
    observed(Kind::DiskView, "disk_view", "What the disks see", "disk-view"),
    Policy { doubts: Doubts::Ignored, ..observed(Kind::Fit, "fit", "Slots and room", "cost") },
    Policy {
        rows: usize::MAX,
        ..observed(Kind::PrintedCheck, "printed_check", "Checks of printed values", "printed")
    },
    observed(Kind::RoundTrip, "round_trip", "Round trips of printed histories", "printed"),
    Policy { metrics: true, ..observed(Kind::JobPass, "job_pass", "Jobs at a time", "job-times") },
    Policy {
        metrics: true,
        ..observed(Kind::JobProfile, "job_profile", "Throughput of jobs over time", "job-times")
    },
    observed(Kind::JobPublished, "job_published", "Published figures of jobs", "job-times"),
    Policy { metrics: true, ..observed(Kind::JobSpace, "job_space", "Spaces of jobs", "job-spaces") },
    Policy {
        least: DIFFERENCE_LEAST,
        ..row(Kind::JobPlacement, "job_placement", "Placement of spaces", "job-spaces")
    },
    observed(Kind::JobInput, "job_input", "Input of jobs", "job-spaces"),
    observed(Kind::JobAction, "job_action", "Steps by what they do", "job-spaces"),
    Policy {
        rows: TIMERS_SHOWN,
        wide: true,
        ..observed(Kind::FullTimer, "full_timer", "FULLSTIMER", "full-timer")
    },
    Policy { rows: JOBS_SHOWN, ..observed(Kind::JobSums, "job_sums", "Sums over jobs", "matrix") },
    Policy {
        metrics: false,
        least: DIFFERENCE_LEAST,
        within_scatter: Some(Marked),
        rows: JOBS_SHOWN,
        test: "difference of the sums over passes, corrected for the number of columns; real times of pairs of launches by order statistics, spreads by the bootstrap",
        ..row(Kind::JobContrast, "job_contrast", "Systems with the same jobs", "matrix")
    },
    Policy { rows: JOBS_SHOWN, ..observed(Kind::JobRatios, "job_ratios", "CPU time ÷ real time", "matrix") },
    Policy { rows: JOBS_SHOWN, ..observed(Kind::JobTest, "job_test", "Tests of jobs", "matrix") },
];

impl Kind {
    /// Its row.
    #[must_use]
    pub fn policy(self) -> &'static Policy {
        POLICY.iter().find(|row| row.kind == self).expect("a test looks for a row for each kind")
    }
}

impl Policy {
    /// What becomes of the statement for this reason; none where it does not touch it.
    #[must_use]
    pub fn severity(&self, because: Because) -> Option<Severity> {
        match because {
            Because::Doubted(check) => match self.doubts {
                Doubts::ByCheck => Some(check.severity(Use::Other)),
                Doubts::Marked => Some(Marked),
                Doubts::Ignored => None,
            },
            Because::TooFew => Some(self.too_few),
            Because::WithinScatter => self.within_scatter,
            Because::LeftOut => Some(Marked),
        }
    }
}

/// The table of all kinds for the documentation.
#[must_use]
pub fn policy_table() -> String {
    let mut out = String::from(
        "| statement | doubts about figures | least repetitions | fewer | difference within the scatter | test |\n\
         |---|---|---:|---|---|---|\n",
    );
    for row in &POLICY {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| {} (*{}*) | {} | {} | {} | {} | {} |",
            row.title,
            row.id,
            row.doubts.name(),
            row.least,
            if row.least > 1 { row.too_few.name() } else { "–" },
            row.within_scatter.map_or("–", Severity::name),
            if row.test.is_empty() { "none: a value" } else { row.test },
        );
    }
    out
}
