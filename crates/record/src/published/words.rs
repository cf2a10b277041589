//! The enumerations by which published figures are classified.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An enumeration whose variants are written as fixed words, in data files and in tables alike.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in data files and tables.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The variant with this word.
            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

words! {
    /// The quantity of a published figure.
    Metric {
        /// Bytes per second of all tasks together.
        Bandwidth = "bandwidth",
        /// Operations per second.
        Iops = "iops",
        /// Time of one operation.
        Latency = "latency",
        /// A number of things.
        Count = "count",
        /// Operations on files or directories per second.
        Rate = "rate",
        /// A time.
        Seconds = "seconds",
        /// Processor time ÷ real time.
        CpuRealRatio = "cpu_real_ratio",
        /// Bandwidth ÷ (that of one device × devices).
        Scalability = "scalability",
        /// A part of a whole.
        Share = "share",
        /// Size of one file.
        FileSize = "file_size",
        /// Files created per second.
        Creates = "creates/s",
        /// Share of the time in which a device was busy.
        Utilisation = "utilisation",
        /// What a link can carry.
        LinkBandwidth = "link_bandwidth",
        /// Memory.
        Memory = "memory",
        /// Size of a file system.
        Capacity = "capacity",
        /// Bytes in all.
        Bytes = "bytes",
        /// Spread ÷ average.
        Fluctuation = "fluctuation",
        /// Bytes that were read.
        BytesRead = "bytes_read",
        /// Share of the time in which threads were at work.
        ThreadUtilisation = "thread_utilisation",
        /// What a layout loses against another.
        Tax = "tax",
        /// Depth from which on the rate stays the same.
        SaturationDepth = "saturation_depth",
        /// A quotient.
        Ratio = "ratio",
        /// Copies of a file.
        Copies = "copies",
        /// Size of an application's buffer.
        BufferSize = "buffer_size",
        /// What is read ahead.
        Readahead = "readahead",
        /// Differences between members.
        Variation = "variation",
    }
}

words! {
    /// The operation of a published figure.
    PublishedOperation {
        /// Reads.
        Read = "read",
        /// Writes.
        Write = "write",
        /// Writes, then reads; the figure is of both.
        WriteAndRead = "write+read",
        /// Writes over what was there.
        Rewrite = "rewrite",
        /// Reads a second time.
        Reread = "reread",
        /// Reads and writes together.
        Mixed = "mixed",
        /// Not said, or no matter.
        Any = "any",
        /// Files are created.
        Create = "create",
        /// Attributes of files are read.
        Stat = "stat",
        /// Files are removed.
        Remove = "remove",
        /// Directories are created.
        TreeCreate = "tree_create",
        /// Directories are removed.
        TreeRemove = "tree_remove",
        /// CPU time in user mode.
        UserCpu = "user_cpu",
        /// CPU time in the kernel.
        SystemCpu = "system_cpu",
        /// Sorting.
        Sort = "sort",
        /// Computing.
        Computation = "computation",
        /// Work in memory.
        Memory = "memory",
        /// Input and output.
        Io = "io",
    }
}

impl PublishedOperation {
    /// The direction of the transfers; none where there are both or none.
    #[must_use]
    pub const fn direction(self) -> Option<plan::Operation> {
        match self {
            Self::Read | Self::Reread => Some(plan::Operation::Read),
            Self::Write | Self::Rewrite => Some(plan::Operation::Write),
            _ => None,
        }
    }
}

words! {
    /// Which one of several values, or what else, a published figure is.
    PublishedStatistic {
        /// The best of several.
        Best = "best",
        /// The only one.
        Single = "single",
        /// Arithmetic mean.
        Mean = "mean",
        /// Standard deviation.
        Deviation = "sdev",
        /// Smallest.
        Min = "min",
        /// Largest.
        Max = "max",
        /// All together.
        Sum = "sum",
        /// What one more node adds, per second.
        Slope = "slope",
        /// Largest minus smallest.
        Range = "range",
        /// One figure minus another.
        Difference = "difference",
        /// The text does not say.
        Stated = "stated",
        /// A data sheet's.
        Spec = "spec",
        /// What the authors expected.
        Expected = "expected",
        /// What was to be reached.
        Target = "target",
        /// A limit between two judgements.
        Threshold = "threshold",
    }
}

words! {
    /// Where a published figure comes from.
    PublishedKind {
        /// Measured by the authors.
        Measured = "measured",
        /// A data sheet's.
        Spec = "spec",
        /// Expected by the authors.
        Expected = "expected",
        /// To be reached.
        Target = "target",
        /// Set by the authors.
        Parameter = "parameter",
        /// Computed by the authors.
        DerivedByAuthors = "derived_by_authors",
        /// Computed from what they print.
        Derived = "derived",
        /// Taken over from somebody else.
        Cited = "cited",
        /// Said without a measurement.
        Claim = "claim",
    }
}

words! {
    /// The precision of a figure.
    Qualifier {
        /// About this.
        Approximately = "approximately",
        /// This or more.
        AtLeast = "at_least",
        /// Less than this.
        LessThan = "less_than",
    }
}

impl Qualifier {
    /// The sign before a value.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Approximately => "≈ ",
            Self::AtLeast => "≥ ",
            Self::LessThan => "< ",
        }
    }
}

words! {
    /// What is wrong with something printed.
    MisprintSort {
        /// A wrong figure, unit or option.
        Misprint = "misprint",
        /// Damaged when the text was recognised.
        Damaged = "damaged",
        /// Two places of the study do not agree.
        Contradiction = "contradiction",
        /// A unit was meant other than printed.
        Unit = "unit",
        /// It cannot be so.
        Implausible = "implausible",
        /// A word that says something else than was meant.
        Wording = "wording",
    }
}

words! {
    /// The unit of a published value. Every value is in one of these, whatever was printed.
    PublishedUnit {
        /// Bytes per second.
        BytesPerSecond = "bytes/s",
        /// Operations per second.
        OperationsPerSecond = "ops/s",
        /// Seconds.
        Seconds = "s",
        /// Bytes.
        Bytes = "bytes",
        /// Part of 1.
        Fraction = "fraction",
        /// A quotient, 1 where both are equal.
        Ratio = "ratio",
        /// Things.
        Count = "count",
        /// Operations.
        Operations = "ops",
    }
}

/// Prefixes of powers of 1000, largest first.
const LARGE: [(f64, &str); 5] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
/// Parts of a second.
const SHORT: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];

impl PublishedUnit {
    /// `value` as a reader would say it, with four digits and a decimal prefix: `24.1 GB/s`.
    ///
    /// ```
    /// use record::PublishedUnit;
    /// assert_eq!(PublishedUnit::BytesPerSecond.text(24.1e9), "24.1 GB/s");
    /// assert_eq!(PublishedUnit::Fraction.text(0.091), "9.1 %");
    /// assert_eq!(PublishedUnit::Seconds.text(7.4e-5), "74 µs");
    /// assert_eq!(PublishedUnit::OperationsPerSecond.text(1_149_696.0), "1,149,696 ops/s");
    /// ```
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Self::BytesPerSecond => scaled(value, &LARGE, "B/s"),
            Self::Bytes => scaled(value, &LARGE, "B"),
            Self::Seconds => scaled(value, &SHORT, ""),
            Self::Fraction => format!("{} %", digits(value * 100.0)),
            Self::Ratio => digits(value),
            Self::OperationsPerSecond | Self::Operations => format!("{} {}", grouped(value), self.name()),
            Self::Count => grouped(value),
        }
    }
}

fn scaled(value: f64, steps: &[(f64, &str)], unit: &str) -> String {
    let size = value.abs();
    let fits = steps.iter().find(|(step, _)| size >= *step);
    // Below the smallest step: large ones have none for the unit itself, short ones end there.
    let (step, prefix) = match (fits, steps.last()) {
        (Some(&found), _) => found,
        (None, Some(&(last, prefix))) if last < 1.0 && size > 0.0 => (last, prefix),
        _ => (1.0, if unit.is_empty() { "s" } else { "" }),
    };
    format!("{} {prefix}{unit}", digits(value / step))
}

/// Four significant digits, without zeros at the end.
fn digits(value: f64) -> String {
    let places: usize = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        _ => 4,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// With commas between thousands; decimals only below 1000.
fn grouped(value: f64) -> String {
    if value.abs() < 1000.0 {
        return digits(value);
    }
    let whole = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0.0 { format!("-{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::{Metric, PublishedOperation, PublishedUnit, Qualifier};
    use plan::Operation;

    #[test]
    fn values_are_said_with_four_digits_and_a_prefix() {
        let rate = |value| PublishedUnit::BytesPerSecond.text(value);
        assert_eq!(rate(2.05e9), "2.05 GB/s");
        assert_eq!(rate(82_607e6), "82.61 GB/s");
        assert_eq!(rate(512.0), "512 B/s");
        assert_eq!(rate(0.0), "0 B/s");
        assert_eq!(PublishedUnit::Seconds.text(865e-9), "865 ns");
        assert_eq!(PublishedUnit::Seconds.text(72_480.0), "72480 s");
        assert_eq!(PublishedUnit::Seconds.text(0.0), "0 s");
        assert_eq!(PublishedUnit::Count.text(14_616.0), "14,616");
        assert_eq!(PublishedUnit::OperationsPerSecond.text(0.239), "0.239 ops/s");
        assert_eq!(PublishedUnit::Ratio.text(0.035), "0.035");
        assert_eq!(PublishedUnit::Fraction.text(1.0), "100 %");
    }

    #[test]
    fn words_are_found_again() {
        for &metric in Metric::ALL {
            assert_eq!(Metric::named(metric.name()), Some(metric));
        }
        assert_eq!(Metric::named("speed"), None);
        assert_eq!(format!("{:>10}", Qualifier::AtLeast), "  at_least");
    }

    #[test]
    fn reading_again_is_reading() {
        assert_eq!(PublishedOperation::Reread.direction(), Some(Operation::Read));
        assert_eq!(PublishedOperation::Mixed.direction(), None);
    }
}
