//! Which rate of a phase comes first: bytes for transfers, operations for everything else.

use plan::{Amount, Bytes, Phase};
use record::{PhaseRow, PublishedUnit};

use crate::figures::{Figure, NodeFigure, NodeRate, Rate, RepetitionFigure};
use crate::statistics::Summary;

/// The least size of transfers whose rates are said in bytes rather than transfers.
pub const LARGE_TRANSFER: Bytes = Bytes::kib(64);

/// What the first rate of a phase counts. Curves, comparisons and best points use this rate; the other one is shown
/// next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateOf {
    /// Bytes per second, for transfers within files.
    Bytes,
    /// Operations per second, for files, directories, objects and exchanges, most of which move no data.
    Operations,
}

impl RateOf {
    /// The rate that comes first in `phase`.
    #[must_use]
    pub const fn phase(phase: Phase) -> Self {
        if phase.counts_bytes() { Self::Bytes } else { Self::Operations }
    }

    /// Selects the byte value or the operation value.
    pub(crate) const fn pick<T: Copy>(self, bytes: T, operations: T) -> T {
        match self {
            Self::Bytes => bytes,
            Self::Operations => operations,
        }
    }

    /// Selects the byte rate or the operation rate.
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

    /// The rate of one node in one pass.
    pub(crate) const fn of_node(self, node: &NodeRate) -> f64 {
        self.pick(node.bytes_per_second, node.transfers_per_second)
    }
}

impl Figure {
    /// What the figure's first rate counts.
    #[must_use]
    pub const fn rate_of(&self) -> RateOf {
        RateOf::phase(self.phase)
    }

    /// The figure's first rate: bytes per second for transfers, operations per second for everything else.
    #[must_use]
    pub const fn headline(&self) -> &Summary {
        self.counting(self.rate_of())
    }

    /// The rate of the given kind.
    pub(crate) const fn counting(&self, counts: RateOf) -> &Summary {
        counts.pick(&self.bytes_per_second, &self.transfers_per_second)
    }

    /// The rates of the given kind for all counted passes.
    pub(crate) fn passes_counting(&self, counts: RateOf) -> Vec<f64> {
        self.counted().filter_map(|pass| Some(counts.get(&pass.rates.get(self.rate)?))).collect()
    }

    /// The first rate of one of its passes, by the name of the rate that summarises the figure.
    #[must_use]
    pub fn headline_of(&self, pass: &RepetitionFigure) -> Option<f64> {
        pass.rates.get(self.rate).map(|rate| self.rate_of().get(&rate))
    }

    /// The first rates of all counted passes.
    #[must_use]
    pub fn headline_of_passes(&self) -> Vec<f64> {
        self.passes_counting(self.rate_of())
    }

    /// The first rate of one of its nodes.
    #[must_use]
    pub const fn headline_of_node<'a>(&self, node: &'a NodeFigure) -> &'a Summary {
        self.rate_of().pick(&node.bytes_per_second, &node.transfers_per_second)
    }

    /// Processor nanoseconds of all processes per operation, over the counted passes. Returns `None` if no time was
    /// recorded, as in an imported record, or if it is that of several workloads.
    #[must_use]
    pub fn cpu_ns_per_operation(&self) -> Option<f64> {
        self.cpu_ns_per(PhaseRow::transfers)
    }

    /// The same per unit of what `counted` counts. Kernel threads, such as those of a volume's driver, are not
    /// included.
    pub(crate) fn cpu_ns_per(&self, counted: fn(&PhaseRow) -> u64) -> Option<f64> {
        let sum = |of: &dyn Fn(&PhaseRow) -> f64| self.counted().map(|one| of(&one.phase)).sum::<f64>();
        let cpu = sum(&|phase| (phase.user_cpu_ns + phase.system_cpu_ns) as f64);
        let all = sum(&|phase| counted(phase) as f64);
        (cpu > 0.0 && all > 0.0 && !self.is_concurrent).then(|| cpu / all)
    }

    /// Bytes that the file system allocates per examined file, over the counted passes. Returns `None` if no file was
    /// examined.
    #[must_use]
    pub fn allocated_bytes_per_file(&self) -> Option<f64> {
        let looked_at = || {
            let phases = self.counted().map(|one| &one.phase);
            phases.filter_map(|one| Some((one.allocated_bytes? as f64, one.items as f64)))
        };
        let files: f64 = looked_at().map(|(_, files)| files).sum();
        (files > 0.0).then(|| looked_at().map(|(bytes, _)| bytes).sum::<f64>() / files)
    }

    /// The number of names that a search visited in its last counted pass, and the number of matches. Returns `None`
    /// for other phases.
    #[must_use]
    pub fn searched(&self) -> Option<(u64, u64)> {
        let last = self.counted().last()?;
        Some((last.phase.items, last.phase.found?))
    }
}
