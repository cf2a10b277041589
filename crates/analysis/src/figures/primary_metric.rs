//! Which rate of a phase comes first: bytes of transfers, operations of all else.

use plan::{Amount, Operation, Phase};
use record::{PhaseRow, PublishedUnit};

use crate::figures::{Figure, NodeFigure, NodeRate, Rate, RepetitionFigure};
use crate::statistics::Summary;

/// What the first rate of a phase counts. A curve, a comparison or a best point is of this rate; the other
/// one stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateOf {
    /// Bytes per second: transfers within files.
    Bytes,
    /// Operations per second: files, directories, objects, exchanges, most of which move nothing.
    Operations,
}

impl RateOf {
    /// What counts in `phase`.
    #[must_use]
    pub const fn phase(phase: Phase) -> Self {
        if phase.counts_bytes() { Self::Bytes } else { Self::Operations }
    }

    /// The one of two that counts: of bytes, or of operations.
    pub(crate) const fn pick<T: Copy>(self, bytes: T, operations: T) -> T {
        match self {
            Self::Bytes => bytes,
            Self::Operations => operations,
        }
    }

    /// The one of the two rates that counts.
    #[must_use]
    pub const fn get(self, rate: &Rate) -> f64 {
        self.pick(rate.bytes_per_second, rate.transfers_per_second)
    }

    /// A rate as an amount.
    pub(crate) const fn amount(self, rate: f64) -> Amount {
        self.pick(Amount::BytesPerSecond(rate), Amount::OperationsPerSecond(rate))
    }

    /// A rate with its unit.
    pub(crate) fn text(self, rate: f64) -> String {
        self.pick(PublishedUnit::BytesPerSecond, PublishedUnit::OperationsPerSecond).text(rate)
    }

    /// The unit in records of findings.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        self.pick("bytes/s", "ops/s")
    }

    /// Of one node in one pass.
    pub(crate) const fn of_node(self, node: &NodeRate) -> f64 {
        self.pick(node.bytes_per_second, node.transfers_per_second)
    }
}

/// What an operation of `phase` is called where many are counted, as in `creates`.
#[must_use]
pub const fn operations_of(phase: Phase) -> &'static str {
    match (phase, operation_of(phase)) {
        (Phase::Benchmark, _) => "operations",
        (Phase::FileWrite, _) => "writes",
        (Phase::FileRead, _) => "reads",
        (_, Some(Operation::Exchange)) => "RPC",
        (_, Some(Operation::Find)) => "names",
        (_, Some(Operation::Create)) => "creates",
        (_, Some(Operation::Stat)) => "stats",
        (_, Some(Operation::List)) => "lists",
        (_, Some(Operation::Rename)) => "renames",
        (_, Some(Operation::Remove)) => "removes",
        (_, Some(Operation::Read | Operation::Write) | None) => "transfers",
    }
}

/// The operation that a phase is named after; none of a phase that does several.
#[must_use]
pub const fn operation_of(phase: Phase) -> Option<Operation> {
    Some(match phase {
        Phase::Mixed | Phase::Benchmark | Phase::Jobs => return None,
        Phase::Fill | Phase::Load | Phase::Write | Phase::FileWrite => Operation::Write,
        Phase::Read | Phase::CheckWrite | Phase::CheckRead | Phase::FileRead => Operation::Read,
        Phase::Exchange => Operation::Exchange,
        Phase::Find => Operation::Find,
        Phase::TreeCreate | Phase::DirectoryCreate | Phase::FileCreate | Phase::Precreate => {
            Operation::Create
        }
        Phase::DirectoryStat | Phase::FileStat => Operation::Stat,
        Phase::DirectoryList => Operation::List,
        Phase::DirectoryRename | Phase::FileRename => Operation::Rename,
        Phase::DirectoryRemove | Phase::FileRemove | Phase::TreeRemove | Phase::Cleanup => Operation::Remove,
    })
}

impl Figure {
    /// What its first rate counts.
    #[must_use]
    pub const fn rate_of(&self) -> RateOf {
        RateOf::phase(self.phase)
    }

    /// Its first rate: bytes per second of transfers, operations per second of all else.
    #[must_use]
    pub const fn headline(&self) -> &Summary {
        self.counting(self.rate_of())
    }

    /// Its rate of one of both.
    pub(crate) const fn counting(&self, counts: RateOf) -> &Summary {
        counts.pick(&self.bytes_per_second, &self.transfers_per_second)
    }

    /// Likewise of all passes that count.
    pub(crate) fn passes_counting(&self, counts: RateOf) -> Vec<f64> {
        self.counted().filter_map(|pass| Some(counts.get(&pass.rates.get(self.rate)?))).collect()
    }

    /// The first rate of one of its passes, by the name that the figure is summarised by.
    #[must_use]
    pub fn headline_of(&self, pass: &RepetitionFigure) -> Option<f64> {
        pass.rates.get(self.rate).map(|rate| self.rate_of().get(&rate))
    }

    /// Those of all passes that count.
    #[must_use]
    pub fn headline_of_passes(&self) -> Vec<f64> {
        self.passes_counting(self.rate_of())
    }

    /// The first rate of one of its nodes.
    #[must_use]
    pub const fn headline_of_node<'a>(&self, node: &'a NodeFigure) -> &'a Summary {
        self.rate_of().pick(&node.bytes_per_second, &node.transfers_per_second)
    }

    /// Processor nanoseconds of all processes for one operation, over the passes that count; none where no time was
    /// recorded, as in an imported record.
    #[must_use]
    pub fn cpu_ns_per_operation(&self) -> Option<f64> {
        self.cpu_ns_per(PhaseRow::transfers)
    }

    /// Likewise for one of what is counted. Threads of the kernel, as those of a volume's driver, are not in it.
    pub(crate) fn cpu_ns_per(&self, counted: fn(&PhaseRow) -> u64) -> Option<f64> {
        let sum = |of: &dyn Fn(&PhaseRow) -> f64| self.counted().map(|one| of(&one.phase)).sum::<f64>();
        let cpu = sum(&|phase| (phase.user_cpu_ns + phase.system_cpu_ns) as f64);
        let all = sum(&|phase| counted(phase) as f64);
        (cpu > 0.0 && all > 0.0).then(|| cpu / all)
    }

    /// Bytes that the file system holds for each file that was looked at, over the passes that count; none
    /// where nothing was looked at.
    #[must_use]
    pub fn allocated_bytes_per_file(&self) -> Option<f64> {
        let looked_at = || {
            let phases = self.counted().map(|one| &one.phase);
            phases.filter_map(|one| Some((one.allocated_bytes? as f64, one.items as f64)))
        };
        let files: f64 = looked_at().map(|(_, files)| files).sum();
        (files > 0.0).then(|| looked_at().map(|(bytes, _)| bytes).sum::<f64>() / files)
    }

    /// Names that a search came across in its last pass that counts, and those of them that fit; none of other phases.
    #[must_use]
    pub fn searched(&self) -> Option<(u64, u64)> {
        let last = self.counted().last()?;
        Some((last.phase.items, last.phase.found?))
    }
}
