//! The checks of an audit and their effect on statements, in one table with one row per check.

use record::{ReportedError, Warning};

use self::Outcome::{Marked, Stated, Withheld};

/// What happens to a statement. If several outcomes apply, the later variant wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The statement is made without a remark.
    Stated,
    /// The statement is made, and the reasons for doubt are shown with it.
    Marked,
    /// The statement is not made; the reasons are given instead.
    Withheld,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Stated, Self::Marked, Self::Withheld];

    /// The name used in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Marked => "marked",
            Self::Withheld => "withheld",
        }
    }
}

/// The kind of statement about a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// A commitment was kept.
    PromiseKept,
    /// A commitment was broken.
    PromiseBroken,
    /// Tasks waited for the storage.
    Waiting,
    /// The figure was compared with another one, or missed a grade, and the cause may be something that slowed
    /// the program down.
    Compared,
    /// Any other statement.
    Other,
}

/// The checks of an audit, in the order of [`CHECKS`].
#[expect(missing_docs, reason = "the rows of the checks say when each of them speaks")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    Cached,
    CachedFileData,
    MemoryNotExcluded,
    UnstatedCaches,
    LessStored,
    ServerCaches,
    OtherTargets,
    AbsorbedWrites,
    AboveCeiling,
    AboveDevices,
    RandomAboveSequential,
    PassesJump,
    WriteDrift,
    DependentPasses,
    TooShort,
    ShortForPromise,
    SharedKernel,
    Unfinished,
    Damaged,
    WrongData,
    FailedSync,
    ReportedErrors,
    ImpossibleStatistic,
    ImplausibleLatency,
    LittlesLaw,
    IdleTasks,
    Contradiction,
    EndedApart,
    FailedJobs,
    Accounts,
    Unbalanced,
    RatioOfSums,
    WorkingSet,
    BestAsTypical,
    NotQuiet,
    Starved,
    HarnessBound,
    SlowNode,
    UnitMixUp,
}

/// The policy of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct CheckPolicy {
    pub check: Check,
    pub name: &'static str,
    /// When the check reports a doubt.
    pub means: &'static str,
    /// The outcome for "the commitment was kept".
    pub kept: Outcome,
    /// The outcome for "the commitment was broken". A doubt that can only have improved the figure does not
    /// affect this statement.
    pub broken: Outcome,
    /// The outcome for "the tasks waited for the storage": withheld if they may have waited for something else.
    pub waiting: Outcome,
    /// The outcome for a comparison, or for "a grade was missed", if the cause may be something that slowed the
    /// program down.
    pub compared: Outcome,
    pub other: Outcome,
    pub on_models: OnModels,
}

/// What a check reports about simulated figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnModels {
    /// The same as for measured figures.
    Same,
    /// The same doubt, but with this advice, because the advice for measured figures is about a host and its
    /// storage.
    Advises(&'static str),
    /// Nothing: the check looks for hidden properties of a host, and everything about a model is known.
    Nothing,
}

const fn row(check: Check, name: &'static str, all: Outcome) -> CheckPolicy {
    CheckPolicy {
        check,
        name,
        means: "",
        kept: all,
        broken: all,
        waiting: Marked,
        compared: all,
        other: all,
        on_models: OnModels::Same,
    }
}

/// A policy for a check that reports nothing about simulated figures.
const fn of_hosts(policy: CheckPolicy) -> CheckPolicy {
    CheckPolicy { on_models: OnModels::Nothing, ..policy }
}

impl CheckPolicy {
    const fn means(self, means: &'static str) -> Self {
        Self { means, ..self }
    }

    const fn advises_on_models(self, advice: &'static str) -> Self {
        Self { on_models: OnModels::Advises(advice), ..self }
    }
}

/// The policy of every check.
pub const CHECKS: [CheckPolicy; 39] = [
    CheckPolicy { broken: Marked, waiting: Withheld, ..row(Check::Cached, "cached", Withheld) }.means(
        "the devices moved less than 95 % of the bytes, or a buffered read took less than 2 µs on average; \
         for reads also: the clients took less than 95 % from servers, or servers or their disks moved less",
    ),
    CheckPolicy { waiting: Withheld, ..row(Check::CachedFileData, "cached file data", Marked) }.means(
        "the same where files or objects are counted instead of bytes: how many are created per second does \
         not depend on where their bytes are",
    ),
    // This check reports something unknown. If it withheld statements, storage without visible device counters
    // would have none at all.
    CheckPolicy { kept: Withheld, ..of_hosts(row(Check::MemoryNotExcluded, "memory not excluded", Marked)) }.means(
        "memory on the data path may have answered reads: neither counters nor data size exclude it",
    ),
    CheckPolicy {
        kept: Withheld,
        waiting: Stated,
        ..of_hosts(row(Check::UnstatedCaches, "caches not stated", Stated))
    }.means(
        "reads that a commitment is about, where the target states neither `caches` nor `server_memory`; or \
         the data is less than 20 times that, 4 times if it is read from front to back",
    ),
    CheckPolicy { kept: Withheld, ..of_hosts(row(Check::LessStored, "less stored", Marked)) }.means(
        "reads of files of which the storage may hold much less than their size: more than 5 % of the bytes are \
         compressed by the file system or share blocks with other files, or, of files that the run has not \
         written, more than 5 % of the sampled blocks hold one byte only or are equal to another one",
    ),
    of_hosts(row(Check::ServerCaches, "server caches", Marked)).means(
        "reads from storage whose servers report an enabled cache: `read_cache_enable` or \
         `writethrough_cache_enable` of a storage target is not 0",
    ),
    of_hosts(row(Check::OtherTargets, "other storage targets", Marked)).means(
        "storage targets that hold the files by their layout moved nothing, or other targets moved bytes",
    ),
    CheckPolicy { kept: Withheld, ..of_hosts(row(Check::AbsorbedWrites, "absorbed writes", Stated)) }.means(
        "writes that a commitment is about, where nothing shows that they were on stable storage when their \
         time ended: no fsync within it, and less than 95 % of them at devices without volatile write caches; \
         or the data is less than 20 times the declared `caches` or 2 times the memory of servers, or a pass \
         wrote less than that and the passes were not steady; or nothing is declared and there are no device \
         counters",
    ),
    row(Check::AboveCeiling, "above ceiling", Withheld).means(
        "a rate, or what the devices moved in a second of wall time, more than 1 % above an expectation \
         with `ceiling = true`; a rate of a target with `client = \"remote\"` above the network links of \
         the nodes, where the record has them",
    )
    .advises_on_models("compare the limits of the model with the ceiling of the study: one of them is wrong"),
    row(Check::AboveDevices, "above devices", Marked)
        .means("a rate more than 5 % above the sum of its devices, by the baseline of one")
        .advises_on_models("look at the caches and the devices of the model"),
    row(Check::RandomAboveSequential, "random above sequential", Marked).means(
        "random reads of at most 64 KiB reach the rate of sequential ones of the same data that are at \
         least 4 times as large, or exceed those of the same size by more than 20 %",
    )
    .advises_on_models("look at the caches of the model"),
    row(Check::PassesJump, "passes jump", Withheld).means(
        "reads of the same data: from some pass on, all passes reach at least 2.5 times the rate of every \
         earlier pass, or at most 1/2.5 of it",
    )
    .advises_on_models("look at the caches and the troubles of the model"),
    row(Check::WriteDrift, "write drift", Marked).means(
        "the same for writes: an SSD whose cache or free blocks run out, or files that the first pass \
         allocates",
    )
    .advises_on_models("look at the write caches and the troubles of the model, or continue until steady"),
    row(Check::DependentPasses, "dependent passes", Marked).means(
        "passes more than 5 % apart rise or fall from one to the next, or each is like the one before: \
         intervals assume that they are independent, and are too narrow",
    )
    .advises_on_models("look at the caches and the troubles of the model, or continue until steady"),
    row(Check::TooShort, "too short", Withheld)
        .means(
            "a phase below the protocol's `phase_min`; where it has none, below 2 s, or below 0.5 s if its scatter is \
             known from 5 passes, in each of which at least 3 operations follow each other for each one in flight",
        ),
    CheckPolicy { kept: Withheld, waiting: Stated, ..row(Check::ShortForPromise, "too short for a promise", Stated) }
        .means(
                "a phase that a commitment is about and that was below 2 s, where `phase_min` or the number of passes \
                 allows it",
            ),
    CheckPolicy { kept: Withheld, waiting: Stated, ..of_hosts(row(Check::SharedKernel, "shared kernel", Stated)) }
        .means(
            "a figure of several nodes that a commitment is about, some of which have one kernel \
             (`/proc/sys/kernel/random/boot_id`): they are containers of one machine",
        ),
    row(Check::Unfinished, "unfinished", Withheld)
        .means("fewer repetitions than requested, or the case never met its stopping rule"),
    CheckPolicy { kept: Withheld, broken: Withheld, ..row(Check::Damaged, "damaged record", Marked) }.means(
        "a line of the journal, a table or the manifest is not what was written, or is missing; for a merged \
         record, also in the runs that it was made from",
    ),
    row(Check::WrongData, "wrong data", Withheld).means("data that differ from what was written"),
    CheckPolicy { kept: Withheld, ..row(Check::FailedSync, "failed fsync", Marked) }.means(
        "imported: the tool itself printed that fsync failed, or that it left it out although it was asked for",
    ),
    row(Check::ReportedErrors, "reported errors", Marked).means(
        "imported: the tool itself printed failed requests, short transfers, or a warning of caches or clocks",
    ),
    row(Check::ImpossibleStatistic, "impossible statistic", Withheld)
        .means("statistics that cannot belong together, see below"),
    of_hosts(row(Check::ImplausibleLatency, "implausible latency", Withheld))
        .means("direct transfers with a mean below 2 µs; exchanges between nodes with a mean below 5 µs"),
    row(Check::LittlesLaw, "Little's law", Withheld)
        .means("operations per second × mean latency is more than 10 % above tasks × depth"),
    // Rates count the time in which tasks were idle, so this only explains why a figure is lower than it could be.
    CheckPolicy { kept: Stated, other: Stated, ..row(Check::IdleTasks, "idle tasks", Marked) }.means(
        "the same value is more than 10 % below; not checked where one task creates the trees of all tasks \
         or a round may rest",
    ),
    row(Check::Contradiction, "contradiction", Withheld)
        .means("imported or published: printed values that do not agree with each other, see below"),
    row(Check::EndedApart, "ended apart", Marked)
        .means("imported: the processes did not end together; their rates are correct nevertheless"),
    row(Check::FailedJobs, "failed jobs", Withheld).means(
        "a launch of a matrix of jobs failed, was killed, was skipped or left no row: the sums are those of \
         a different load",
    ),
    row(Check::Accounts, "accounts", Marked).means(
        "jobs: the CPU times of a launch's steps, its process and its control group differ by more than 2 % \
         and 30 ms; or a launch had less memory than one of its steps; or the per-second bytes of a space and \
         those of its launches differ by more than 1 %",
    ),
    row(Check::Unbalanced, "unbalanced", Marked).means(
        "a fixed volume in one file per task, where the number of tasks T is not a multiple of the number of \
         targets D: at most T ÷ (D · ⌈T ÷ D⌉) of the sum can be reached",
    ),
    row(Check::RatioOfSums, "ratio of sums", Marked).means(
        "the mean of the repetitions' rates differs from all bytes, or all operations, ÷ all time by more \
         than 5 %",
    ),
    of_hosts(row(Check::WorkingSet, "working set", Marked)).means(
        "caches above 5 % of the data, or servers' memory above 25 % of what is read, as far as the target \
         declares them",
    ),
    row(Check::BestAsTypical, "best as typical", Marked)
        .means("a commitment judged by the best repetition; a published best or maximum beside own medians"),
    CheckPolicy { waiting: Withheld, ..of_hosts(row(Check::NotQuiet, "not quiet", Marked)) }
        .means("somebody else used the host or the devices, or the study is not `exclusive`"),
    // This doubt makes a figure worse, so a commitment that was kept in spite of it still counts as kept.
    CheckPolicy {
        broken: Withheld,
        waiting: Withheld,
        compared: Withheld,
        ..of_hosts(row(Check::Starved, "starved", Marked))
    }.means(
        "a node held the program back: the program was stopped, frozen or paused for 1 % of the time, its \
         control group used up the processor quota in 5 % of the periods, its tasks waited for a processor \
         for 10 % of the time with no more tasks than processors while others used as many, a hypervisor \
         gave 10 % of the time of the node's processors to others, with direct I/O its control group waited \
         for memory for 10 % of the time (through the page cache, the workload itself causes that, and \
         pressure on the whole node includes that of others), or nothing completed while threads were held \
         in the kernel and no device had a request",
    ),
    of_hosts(row(Check::HarnessBound, "harness bound", Marked)).means(
        "the program's processors set the rate; for files, objects and messages only its own time counts, \
         because the kernel's time is what is measured",
    ),
    row(Check::SlowNode, "slow node", Marked).means(
        "of several nodes one has less than 93 % of the median rate and a robust z-score of at most −3.5; \
         of two or three, less than 75 % of the median; one doubt for each node, which says `may be slow` where \
         the test of differences does not confirm it",
    )
    .advises_on_models("look at the links and devices of the model behind this node"),
    row(Check::UnitMixUp, "unit mix-up", Marked).means("published figures only, see below"),
];

/// The checks of figures that a commitment is about. Other statements about them are not affected.
pub(crate) const OF_PROMISES: [Check; 4] =
    [Check::AbsorbedWrites, Check::UnstatedCaches, Check::ShortForPromise, Check::SharedKernel];

impl Check {
    /// The row of this check in the table.
    #[must_use]
    pub const fn policy(self) -> CheckPolicy {
        CHECKS[self as usize]
    }

    /// The check that reports for a figure what `warning` reports for one of its passes.
    #[must_use]
    pub const fn of(warning: &Warning) -> Option<Self> {
        Some(match warning {
            Warning::CachedReads { .. } | Warning::CachedWrites { .. } => Self::Cached,
            Warning::LessStored { .. } => Self::LessStored,
            Warning::NotDurable { .. } => Self::AbsorbedWrites,
            Warning::TooShort { .. } => Self::TooShort,
            Warning::WrongData { .. } => Self::WrongData,
            Warning::Reported { error, .. } => match error {
                ReportedError::WrongData => Self::WrongData,
                ReportedError::NotDurable => Self::FailedSync,
                ReportedError::Failed
                | ReportedError::Short
                | ReportedError::Caches
                | ReportedError::Clock => Self::ReportedErrors,
            },
            Warning::NotQuiet { .. } => Self::NotQuiet,
            Warning::Starved { .. } => Self::Starved,
            Warning::HarnessBound { .. } => Self::HarnessBound,
            _ => return None,
        })
    }

    /// Whether the check applies to figures, depending on whether they are `simulated`.
    #[must_use]
    pub const fn speaks(self, simulated: bool) -> bool {
        !(simulated && matches!(self.policy().on_models, OnModels::Nothing))
    }

    /// The check whose evidence contains what `warning` reports, so that both are one doubt.
    #[must_use]
    pub const fn covering(warning: &Warning) -> Option<Self> {
        match warning {
            Warning::MemoryBelow { .. } | Warning::DevicesUnknown { .. } => Some(Self::MemoryNotExcluded),
            Warning::NotSteady { .. } => Some(Self::Unfinished),
            _ => Self::of(warning),
        }
    }

    /// Whether it casts doubt on a figure: a statement about the figure alone is withheld or marked. Other checks only
    /// explain why a figure is as it is.
    #[must_use]
    pub fn is_doubt(self) -> bool {
        let CheckPolicy { kept, other, .. } = self.policy();
        kept != Stated || other != Stated
    }

    /// The stable name, used in every report format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.policy().name
    }

    /// The outcome for a statement that rests on a figure with this doubt.
    #[must_use]
    pub const fn outcome(self, statement: Use) -> Outcome {
        let policy = self.policy();
        match statement {
            Use::PromiseKept => policy.kept,
            Use::PromiseBroken => policy.broken,
            Use::Waiting => policy.waiting,
            Use::Compared => policy.compared,
            Use::Other => policy.other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CHECKS;

    #[test]
    fn every_check_has_the_row_of_its_place() {
        for (place, row) in CHECKS.iter().enumerate() {
            assert_eq!(row.check as usize, place, "{}", row.name);
        }
    }
}
