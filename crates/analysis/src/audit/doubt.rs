//! What an audit says: the check that found something doubtful, the numbers, and what to do.

/// Something doubtful, with evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Which check found it.
    pub check: Check,
    /// The figure; none where it concerns the study or a published figure.
    pub figure: Option<usize>,
    /// What it concerns, in words: conditions of the figure, or the id of a published one.
    pub concerns: String,
    /// The numbers that show it.
    pub evidence: String,
    /// What to do about it.
    pub advice: String,
    /// A commitment cannot pass with it.
    pub disqualifies: bool,
}

/// The checks of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// Reads or writes that memory answered.
    Cached,
    /// Reads that a memory on the way may have answered, as nothing excludes it.
    MemoryNotExcluded,
    /// A rate above a device, link or controller.
    AboveCeiling,
    /// A phase that is too short for a rate.
    TooShort,
    /// A standard deviation that no such values can have; a mean outside of its range.
    ImpossibleStatistic,
    /// Tasks that do not divide over the targets.
    Unbalanced,
    /// Figures that are whole MiB/s × 256, or a decimal unit where a binary one was meant.
    UnitMixUp,
    /// The best of several shown where a typical value is meant.
    BestAsTypical,
    /// A ratio of sums beside a mean of ratios.
    RatioOfSums,
    /// A latency that no such device can have.
    ImplausibleLatency,
    /// Latency × rate against the transfers under way.
    LittlesLaw,
    /// The working set against the caches, or the data against the memory of the servers.
    WorkingSet,
    /// Somebody else used the host or the storage.
    NotQuiet,
    /// The instrument set the rate.
    HarnessBound,
    /// A printed figure that its own table contradicts.
    Contradiction,
    /// Data that are not what was written.
    WrongData,
    /// A node that is much slower than the others.
    SlowNode,
    /// Parts of a job that do not add up to the whole that the kernel tells of.
    Accounts,
    /// Jobs that did not complete.
    FailedJobs,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 19] = [
        Self::Cached,
        Self::MemoryNotExcluded,
        Self::AboveCeiling,
        Self::TooShort,
        Self::ImpossibleStatistic,
        Self::Unbalanced,
        Self::UnitMixUp,
        Self::BestAsTypical,
        Self::RatioOfSums,
        Self::ImplausibleLatency,
        Self::LittlesLaw,
        Self::WorkingSet,
        Self::NotQuiet,
        Self::HarnessBound,
        Self::Contradiction,
        Self::WrongData,
        Self::SlowNode,
        Self::Accounts,
        Self::FailedJobs,
    ];

    /// Whether what it doubts can only have made a figure better than the storage is: one that breaks a
    /// promise all the same breaks it without doubt.
    #[must_use]
    pub const fn can_only_raise_figures(self) -> bool {
        matches!(self, Self::MemoryNotExcluded)
    }

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cached => "cached",
            Self::MemoryNotExcluded => "memory not excluded",
            Self::AboveCeiling => "above ceiling",
            Self::TooShort => "too short",
            Self::ImpossibleStatistic => "impossible statistic",
            Self::Unbalanced => "unbalanced",
            Self::UnitMixUp => "unit mix-up",
            Self::BestAsTypical => "best as typical",
            Self::RatioOfSums => "ratio of sums",
            Self::ImplausibleLatency => "implausible latency",
            Self::LittlesLaw => "Little's law",
            Self::WorkingSet => "working set",
            Self::NotQuiet => "not quiet",
            Self::HarnessBound => "harness bound",
            Self::Contradiction => "contradiction",
            Self::WrongData => "wrong data",
            Self::SlowNode => "slow node",
            Self::Accounts => "accounts",
            Self::FailedJobs => "failed jobs",
        }
    }
}
