//! The phases of IO500, in their fixed order.

use plan::Phase as Activity;

/// The score to which a phase contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// No score.
    None,
    /// The geometric mean of metadata rates, in 1,000 operations per second.
    Metadata,
    /// The geometric mean of bandwidths, in GiB/s.
    Bandwidth,
}

/// A phase of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Writes large transfers, to a separate file for each task.
    IorEasyWrite,
    /// Creates empty files, in a separate directory for each task.
    MdtestEasyWrite,
    /// Creates sets of objects.
    MdworkbenchCreate,
    /// Creates a time stamp, so that files of later phases can be distinguished by their time.
    Timestamp,
    /// Searches the files of `mdtest-easy`.
    FindEasy,
    /// Writes transfers of 47,008 bytes to a single file.
    IorHardWrite,
    /// Creates files of 3,901 bytes in a single directory.
    MdtestHardWrite,
    /// Searches all files.
    Find,
    /// Searches the files of `mdtest-hard`.
    FindHard,
    /// Executes steps on sets of objects.
    MdworkbenchBench,
    /// Reads the files of `ior-easy-write`.
    IorEasyRead,
    /// Examines the files of `mdtest-easy-write` with `stat`.
    MdtestEasyStat,
    /// Reads the file of `ior-hard-write`.
    IorHardRead,
    /// Examines the files of `mdtest-hard-write` with `stat`.
    MdtestHardStat,
    /// Removes the sets of objects.
    MdworkbenchDelete,
    /// Removes the files of `mdtest-easy`.
    MdtestEasyDelete,
    /// Reads the files of `mdtest-hard`.
    MdtestHardRead,
    /// Removes the files of `mdtest-hard`.
    MdtestHardDelete,
    /// Makes random reads of 4 KiB in the files of `ior-easy`.
    IorRnd4kEasyRead,
}

struct Row {
    phase: Phase,
    name: &'static str,
    group: Group,
    is_extended: bool,
    /// Whether it must last at least as long as the stonewall.
    has_stonewall: bool,
}

const fn row(phase: Phase, name: &'static str, group: Group) -> Row {
    Row { phase, name, group, is_extended: false, has_stonewall: false }
}

const fn write(row: Row) -> Row {
    Row { has_stonewall: true, ..row }
}

const fn extended(row: Row) -> Row {
    Row { is_extended: true, ..row }
}

const ROWS: [Row; 19] = [
    write(row(Phase::IorEasyWrite, "ior-easy-write", Group::Bandwidth)),
    write(row(Phase::MdtestEasyWrite, "mdtest-easy-write", Group::Metadata)),
    extended(row(Phase::MdworkbenchCreate, "mdworkbench-create", Group::None)),
    row(Phase::Timestamp, "timestamp", Group::None),
    extended(row(Phase::FindEasy, "find-easy", Group::Metadata)),
    write(row(Phase::IorHardWrite, "ior-hard-write", Group::Bandwidth)),
    write(row(Phase::MdtestHardWrite, "mdtest-hard-write", Group::Metadata)),
    row(Phase::Find, "find", Group::Metadata),
    extended(row(Phase::FindHard, "find-hard", Group::Metadata)),
    extended(row(Phase::MdworkbenchBench, "mdworkbench-bench", Group::Metadata)),
    row(Phase::IorEasyRead, "ior-easy-read", Group::Bandwidth),
    row(Phase::MdtestEasyStat, "mdtest-easy-stat", Group::Metadata),
    row(Phase::IorHardRead, "ior-hard-read", Group::Bandwidth),
    row(Phase::MdtestHardStat, "mdtest-hard-stat", Group::Metadata),
    extended(row(Phase::MdworkbenchDelete, "mdworkbench-delete", Group::None)),
    row(Phase::MdtestEasyDelete, "mdtest-easy-delete", Group::Metadata),
    row(Phase::MdtestHardRead, "mdtest-hard-read", Group::Metadata),
    row(Phase::MdtestHardDelete, "mdtest-hard-delete", Group::Metadata),
    row(Phase::IorRnd4kEasyRead, "ior-rnd4K-easy-read", Group::None),
];

impl Phase {
    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// All phases, in the order of a run.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.phase)
    }

    /// The phase with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|phase| phase.name() == name)
    }

    /// Its name in the configuration and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The score to which it contributes.
    #[must_use]
    pub const fn group(self) -> Group {
        self.row().group
    }

    /// Whether it only belongs to the extended mode.
    #[must_use]
    pub const fn is_extended(self) -> bool {
        self.row().is_extended
    }

    /// Whether its result is invalid if it was shorter than the stonewall.
    #[must_use]
    pub const fn has_stonewall(self) -> bool {
        self.row().has_stonewall
    }

    /// Whether it only removes files, as the phases of `--cleanup` do.
    #[must_use]
    pub const fn removes(self) -> bool {
        matches!(self, Self::MdworkbenchDelete | Self::MdtestEasyDelete | Self::MdtestHardDelete)
    }

    /// The directory of its files, below the data directory. For searches in all files it is the data
    /// directory itself.
    #[must_use]
    pub const fn directory(self) -> &'static str {
        match self {
            Self::IorEasyWrite | Self::IorEasyRead | Self::IorRnd4kEasyRead => "ior-easy",
            Self::IorHardWrite | Self::IorHardRead => "ior-hard",
            Self::MdtestEasyWrite | Self::MdtestEasyStat | Self::MdtestEasyDelete | Self::FindEasy => {
                "mdtest-easy"
            }
            Self::MdtestHardWrite
            | Self::MdtestHardStat
            | Self::MdtestHardRead
            | Self::MdtestHardDelete
            | Self::FindHard => "mdtest-hard",
            Self::MdworkbenchCreate | Self::MdworkbenchBench | Self::MdworkbenchDelete => "mdworkbench",
            Self::Timestamp | Self::Find => "",
        }
    }

    /// Whether it creates the files in its directory.
    #[must_use]
    pub const fn makes(self) -> bool {
        self.has_stonewall() || matches!(self, Self::MdworkbenchCreate)
    }

    /// The phase of the record that contains the result.
    pub(crate) const fn activity(self) -> Activity {
        match self {
            Self::IorEasyWrite | Self::IorHardWrite => Activity::Write,
            Self::IorEasyRead | Self::IorHardRead | Self::IorRnd4kEasyRead => Activity::Read,
            Self::MdtestEasyWrite | Self::MdtestHardWrite => Activity::FileCreate,
            Self::MdtestEasyStat | Self::MdtestHardStat => Activity::FileStat,
            Self::MdtestHardRead => Activity::FileRead,
            Self::MdtestEasyDelete | Self::MdtestHardDelete => Activity::FileRemove,
            Self::MdworkbenchCreate => Activity::Precreate,
            Self::MdworkbenchBench => Activity::Benchmark,
            Self::MdworkbenchDelete => Activity::Cleanup,
            Self::Find | Self::FindEasy | Self::FindHard | Self::Timestamp => Activity::Find,
        }
    }

    /// The unit of its result.
    #[must_use]
    pub fn unit(self) -> &'static str {
        // The benchmark decides by the first letter of the name.
        if self.name().starts_with('i') { "GiB/s" } else { "kIOPS" }
    }
}

#[cfg(test)]
mod tests {
    use super::{Phase, ROWS};

    #[test]
    fn rows_stand_in_the_order_of_the_phases() {
        assert!(ROWS.iter().enumerate().all(|(at, row)| row.phase as usize == at));
        assert_eq!(Phase::named("mdtest-hard-read"), Some(Phase::MdtestHardRead));
    }
}
