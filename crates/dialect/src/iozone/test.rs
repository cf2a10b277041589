//! The tests of IOzone: their numbers, names and columns, and their equivalents in a plan.

use plan::{Backend, Order, Phase};
use serde::{Deserialize, Serialize};

/// One measured column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Test {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    BackwardRead,
    RecordRewrite,
    StrideRead,
    Fwrite,
    Refwrite,
    Fread,
    Refread,
    Pwrite,
    Repwrite,
    Pread,
    Repread,
    Pwritev,
    Repwritev,
    Preadv,
    Repreadv,
    Mixed,
}

/// The words that a throughput test prints, and their layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Throughput {
    /// `initial writers`.
    pub who: &'static str,
    /// Whether the number of processes is at least two characters wide.
    pub wide: bool,
    /// The tabs before the equals sign, in the line of the children and in that of the parent.
    pub tabs: (&'static str, &'static str),
    /// `  Initial write `: the row of the `-R` report.
    pub row: &'static str,
}

/// One row of the table below.
struct TestRow {
    test: Test,
    number: u8,
    slug: &'static str,
    title: &'static str,
    width: usize,
    phase: Phase,
    again: bool,
    throughput: Option<Throughput>,
}

const fn throughput(
    who: &'static str,
    wide: bool,
    tabs: (&'static str, &'static str),
    row: &'static str,
) -> Option<Throughput> {
    Some(Throughput { who, wide, tabs, row })
}

const fn row(
    test: Test,
    (number, slug, title, width): (u8, &'static str, &'static str, usize),
    (phase, again): (Phase, bool),
    throughput: Option<Throughput>,
) -> TestRow {
    TestRow { test, number, slug, title, width, phase, again, throughput }
}

const ONE: (&str, &str) = ("\t", "\t");
const TWO: (&str, &str) = ("\t\t", "\t\t");
const PARENT: (&str, &str) = ("\t", "\t\t");
const W: Phase = Phase::Write;
const R: Phase = Phase::Read;

/// In the order of the columns. The widths are those printed by IOzone 3.471 and 3.489.
#[rustfmt::skip]
const TESTS: [TestRow; 22] = [
    row(Test::Write, (0, "write", "Writer report", 9), (W, false), throughput("initial writers", true, ONE, "  Initial write ")),
    row(Test::Rewrite, (0, "rewrite", "Re-writer report", 9), (W, true), throughput("rewriters", true, ONE, "        Rewrite ")),
    row(Test::Read, (1, "read", "Reader report", 9), (R, false), throughput("readers", true, TWO, "           Read ")),
    row(Test::Reread, (1, "reread", "Re-Reader report", 9), (R, true), throughput("re-readers", false, ONE, "        Re-read ")),
    row(Test::RandomRead, (2, "random-read", "Random read report", 9), (R, false), throughput("random readers", false, ONE, "    Random read ")),
    row(Test::RandomWrite, (2, "random-write", "Random write report", 9), (W, false), throughput("random writers", false, ONE, "   Random write ")),
    row(Test::BackwardRead, (3, "backward-read", "Backward read report", 9), (R, false), throughput("reverse readers", false, ONE, "   Reverse Read ")),
    row(Test::RecordRewrite, (4, "record-rewrite", "Record rewrite report", 10), (W, false), None),
    row(Test::StrideRead, (5, "stride-read", "Stride read report", 10), (R, false), throughput("stride readers", false, ONE, "    Stride read ")),
    row(Test::Fwrite, (6, "fwrite", "Fwrite report", 9), (W, false), throughput("fwriters", true, PARENT, "         Fwrite ")),
    row(Test::Refwrite, (6, "refwrite", "Re-Fwrite report", 9), (W, true), None),
    row(Test::Fread, (7, "fread", "Fread report", 9), (R, false), throughput("freaders", true, PARENT, "          Fread ")),
    row(Test::Refread, (7, "refread", "Re-Fread report", 9), (R, true), None),
    row(Test::Pwrite, (9, "pwrite", "Pwrite report", 9), (W, false), throughput("pwrite writers", false, ONE, "         Pwrite ")),
    row(Test::Repwrite, (9, "repwrite", "Re-Pwrite report", 9), (W, true), None),
    row(Test::Pread, (10, "pread", "Pread report", 8), (R, false), throughput("pread readers", false, ONE, "          Pread ")),
    row(Test::Repread, (10, "repread", "Re-Pread report", 9), (R, true), None),
    row(Test::Pwritev, (11, "pwritev", "Pwritev report", 9), (W, false), None),
    row(Test::Repwritev, (11, "repwritev", "Re-Pwritev report", 10), (W, true), None),
    row(Test::Preadv, (12, "preadv", "Preadv report", 10), (R, false), None),
    row(Test::Repreadv, (12, "repreadv", "Re-Preadv report", 9), (R, true), None),
    row(Test::Mixed, (8, "mixed", "", 0), (Phase::Mixed, false), throughput("mixed workload", false, ONE, " Mixed workload ")),
];

/// The order of the tests in throughput mode.
pub(super) const THROUGHPUT_ORDER: [Test; 13] = [
    Test::Write,
    Test::Rewrite,
    Test::Read,
    Test::Reread,
    Test::BackwardRead,
    Test::StrideRead,
    Test::RandomRead,
    Test::Mixed,
    Test::RandomWrite,
    Test::Pwrite,
    Test::Pread,
    Test::Fwrite,
    Test::Fread,
];

/// The highest number that `-i` accepts.
pub(super) const NUMBER_MAX: u8 = 12;
/// Maximum number of records that IOzone passes to one `preadv` or `pwritev`.
pub(super) const VECTORS_MAX: u64 = 16;

impl Test {
    /// The columns of the table, in their order.
    pub(super) fn columns() -> impl Iterator<Item = Self> {
        TESTS.iter().filter(|facts| facts.width > 0).map(|facts| facts.test)
    }

    fn facts(self) -> &'static TestRow {
        TESTS.iter().find(|facts| facts.test == self).unwrap_or(&TESTS[0])
    }

    /// The number for `-i`.
    pub(super) fn number(self) -> u8 {
        self.facts().number
    }

    /// Its name in ids of cases.
    pub(super) fn slug(self) -> &'static str {
        self.facts().slug
    }

    /// The heading of its block in the `-R` report of single and automatic mode.
    pub(super) fn title(self) -> &'static str {
        self.facts().title
    }

    /// The width of its column in characters.
    pub(super) fn width(self) -> usize {
        self.facts().width
    }

    pub(super) fn phase(self) -> Phase {
        self.facts().phase
    }

    /// Whether it is a retest, which `-+n` leaves out.
    pub(super) fn is_again(self) -> bool {
        self.facts().again
    }

    pub(super) fn throughput(self) -> Option<Throughput> {
        self.facts().throughput
    }

    /// Whether it is one of the extension tests, which are only in the table with `-E`.
    pub(super) fn is_extension(self) -> bool {
        (9..=12).contains(&self.number())
    }

    /// Whether it uses streams of the C library.
    pub(super) fn is_stream(self) -> bool {
        matches!(self.number(), 6 | 7)
    }

    /// Whether it moves several records with one call.
    pub(super) fn is_vectored(self) -> bool {
        matches!(self.number(), 11 | 12)
    }

    /// The order of its transfers. `seed` and `stride` are those of the command line.
    pub(super) fn order(self, seed: u64, stride: u64, sequential_mix: bool) -> Order {
        match self {
            Self::RandomRead | Self::RandomWrite => Order::Random { seed },
            Self::Mixed if !sequential_mix => Order::Random { seed },
            Self::BackwardRead => Order::Backward,
            Self::RecordRewrite => Order::Same,
            Self::StrideRead => Order::Strided { stride },
            _ => Order::Sequential,
        }
    }

    /// The default backend.
    pub(super) fn backend(self) -> Backend {
        match self.number() {
            6 | 7 => Backend::Stdio,
            _ => Backend::Psync,
        }
    }
}
