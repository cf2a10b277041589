//! The enumerations by which published figures are classified.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Defines an enumeration whose variants are written as fixed words, both in data files and in tables.
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
        /// A number of items.
        Count = "count",
        /// Operations on files or directories per second.
        Rate = "rate",
        /// A time.
        Seconds = "seconds",
        /// Processor time divided by elapsed time.
        CpuRealRatio = "cpu_real_ratio",
        /// Bandwidth divided by the product of the number of devices and the bandwidth of one device.
        Scalability = "scalability",
        /// A part of a whole.
        Share = "share",
        /// Size of one file.
        FileSize = "file_size",
        /// Files created per second.
        Creates = "creates/s",
        /// Share of the time in which a device was busy.
        Utilisation = "utilisation",
        /// Capacity of a link.
        LinkBandwidth = "link_bandwidth",
        /// Memory.
        Memory = "memory",
        /// Size of a file system.
        Capacity = "capacity",
        /// Total number of bytes.
        Bytes = "bytes",
        /// Spread divided by average.
        Fluctuation = "fluctuation",
        /// Bytes that were read.
        BytesRead = "bytes_read",
        /// Share of the time in which threads were working.
        ThreadUtilisation = "thread_utilisation",
        /// Loss of a layout compared with another one.
        Tax = "tax",
        /// Depth from which on the rate no longer increases.
        SaturationDepth = "saturation_depth",
        /// A quotient.
        Ratio = "ratio",
        /// Copies of a file.
        Copies = "copies",
        /// Size of the buffer of an application.
        BufferSize = "buffer_size",
        /// Amount of data read ahead.
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
        /// Writes followed by reads; the figure covers both.
        WriteAndRead = "write+read",
        /// Overwriting of existing data.
        Rewrite = "rewrite",
        /// Writes, and overwriting of the same data in another test; the figure is the mean of both.
        WriteAndRewrite = "write+rewrite",
        /// Reads, and reading for a second time in another test; the figure is the mean of both.
        ReadAndReread = "read+reread",
        /// Reading for a second time.
        Reread = "reread",
        /// Reads and writes at the same time.
        Mixed = "mixed",
        /// Not stated, or irrelevant.
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
    /// The direction of the transfers, or `None` if there are both directions or no transfers.
    #[must_use]
    pub const fn direction(self) -> Option<plan::Operation> {
        match self {
            Self::Read | Self::Reread | Self::ReadAndReread => Some(plan::Operation::Read),
            Self::Write | Self::Rewrite | Self::WriteAndRewrite => Some(plan::Operation::Write),
            _ => None,
        }
    }
}

words! {
    /// The statistic of a published figure.
    PublishedStatistic {
        /// The best of several values.
        Best = "best",
        /// The only value.
        Single = "single",
        /// Arithmetic mean.
        Mean = "mean",
        /// Standard deviation.
        Deviation = "sdev",
        /// Smallest.
        Min = "min",
        /// Largest.
        Max = "max",
        /// The sum.
        Sum = "sum",
        /// Increase per second for each additional node.
        Slope = "slope",
        /// Largest minus smallest.
        Range = "range",
        /// One figure minus another.
        Difference = "difference",
        /// Not stated in the text.
        Stated = "stated",
        /// A value in a data sheet.
        Spec = "spec",
        /// A value that the authors expected.
        Expected = "expected",
        /// A value that was to be reached.
        Target = "target",
        /// A threshold between two verdicts.
        Threshold = "threshold",
    }
}

words! {
    /// The origin of a published figure.
    PublishedKind {
        /// Measured by the authors.
        Measured = "measured",
        /// From a data sheet.
        Spec = "spec",
        /// Expected by the authors.
        Expected = "expected",
        /// A value to be reached.
        Target = "target",
        /// Set by the authors.
        Parameter = "parameter",
        /// Computed by the authors.
        DerivedByAuthors = "derived_by_authors",
        /// Computed by this project from what the authors print.
        Derived = "derived",
        /// Quoted from somebody else.
        Cited = "cited",
        /// Stated without a measurement.
        Claim = "claim",
    }
}

words! {
    /// The precision of a figure.
    Qualifier {
        /// About this value.
        Approximately = "approximately",
        /// This value or more.
        AtLeast = "at_least",
        /// Less than this value.
        LessThan = "less_than",
    }
}

impl Qualifier {
    /// The sign printed before a value.
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
    /// The kind of problem with a printed text.
    MisprintSort {
        /// A wrong figure, unit or option.
        Misprint = "misprint",
        /// Damage caused by text recognition.
        Damaged = "damaged",
        /// Two places in the study contradict each other.
        Contradiction = "contradiction",
        /// A different unit was meant than printed.
        Unit = "unit",
        /// It is not possible.
        Implausible = "implausible",
        /// A word that does not mean what was intended.
        Wording = "wording",
    }
}

words! {
    /// The unit of a published value. Every value is in one of these units, whatever was printed.
    PublishedUnit {
        /// Bytes per second.
        BytesPerSecond = "bytes/s",
        /// Operations per second.
        OperationsPerSecond = "ops/s",
        /// Seconds.
        Seconds = "s",
        /// Bytes.
        Bytes = "bytes",
        /// A fraction of 1.
        Fraction = "fraction",
        /// A ratio, which is 1 if both values are equal.
        Ratio = "ratio",
        /// Items.
        Count = "count",
        /// Operations.
        Operations = "ops",
    }
}

/// Decimal prefixes, largest first.
const LARGE: [(f64, &str); 5] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
/// Units below a second.
const SHORT: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];

impl PublishedUnit {
    /// `value` in readable form, with four digits and a decimal prefix: `24.1 GB/s`.
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
    // Values below the smallest step: large values have no prefix then, durations end with the smallest
    // unit.
    let (step, prefix) = match (fits, steps.last()) {
        (Some(&found), _) => found,
        (None, Some(&(last, prefix))) if last < 1.0 && size > 0.0 => (last, prefix),
        _ => (1.0, if unit.is_empty() { "s" } else { "" }),
    };
    format!("{} {prefix}{unit}", digits(value / step))
}

/// Four significant digits, without trailing zeros.
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

/// Formats a number with commas between thousands, and decimals only below 1000.
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
