//! The resolved settings of a command line of IOzone.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::test::{THROUGHPUT_ORDER, Test};

/// The unit of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unit {
    /// kB/s, with 1024 bytes per kB.
    #[default]
    Kilobytes,
    /// `-O`: records per second.
    Operations,
    /// `-N`: microseconds per record.
    Microseconds,
}

/// A placeholder in [`Settings::printed_options`] for the line of `-M`, which is only known during the
/// run.
pub(super) const MACHINE: &str = "\u{0}machine";

/// One line of a client list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Client {
    pub host: String,
    pub directory: PathBuf,
}

/// All settings. Sizes are in kB, as in IOzone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub auto: bool,
    pub auto2: bool,
    pub cross_over: bool,
    pub tests: BTreeSet<u8>,
    pub sizes_kb: Vec<u64>,
    pub records_kb: Vec<u64>,
    pub size_least_kb: u64,
    pub size_most_kb: u64,
    pub record_least_kb: u64,
    pub record_most_kb: u64,
    pub multiplier: u64,
    /// Numbers of processes, in the order of execution; empty in single mode.
    pub processes: Vec<u32>,
    pub lower: Option<u32>,
    pub upper: Option<u32>,
    pub file: PathBuf,
    pub names: Vec<PathBuf>,
    pub clients: Vec<Client>,
    pub stride: u64,
    pub unit: Unit,
    pub depth: u32,
    pub direct: bool,
    pub mmap: bool,
    pub sync_writes: bool,
    /// Whether `-+D` is given, so that only data is synced.
    pub data_sync: bool,
    pub include_close: bool,
    pub include_flush: bool,
    pub keep: bool,
    pub overwrite: bool,
    pub read_only: bool,
    pub no_retest: bool,
    pub no_stonewall: bool,
    pub constant_size: bool,
    pub show_children: bool,
    pub show_cpu: bool,
    pub extension: bool,
    pub verify: bool,
    pub drop_caches: bool,
    pub latencies: bool,
    pub read_percent: u8,
    pub sequential_mix: bool,
    pub delay_seconds: u64,
    pub report: bool,
    pub report_file: Option<PathBuf>,
    pub cache_kb: u64,
    pub line_bytes: u64,
    /// The lines that IOzone prints for options, in order.
    #[serde(rename = "said")]
    pub printed_options: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auto: false,
            auto2: false,
            cross_over: false,
            tests: BTreeSet::new(),
            sizes_kb: Vec::new(),
            records_kb: Vec::new(),
            size_least_kb: 64,
            size_most_kb: 512 << 10,
            record_least_kb: 4,
            record_most_kb: 16 << 10,
            multiplier: 2,
            processes: Vec::new(),
            lower: None,
            upper: None,
            file: PathBuf::from("iozone.tmp"),
            names: Vec::new(),
            clients: Vec::new(),
            stride: 17,
            unit: Unit::Kilobytes,
            depth: 0,
            direct: false,
            mmap: false,
            sync_writes: false,
            data_sync: false,
            include_close: false,
            include_flush: false,
            keep: false,
            overwrite: false,
            read_only: false,
            no_retest: false,
            no_stonewall: false,
            constant_size: false,
            show_children: false,
            show_cpu: false,
            extension: false,
            verify: false,
            drop_caches: false,
            latencies: false,
            read_percent: 50,
            sequential_mix: false,
            delay_seconds: 0,
            report: false,
            report_file: None,
            cache_kb: 1024,
            line_bytes: 32,
            printed_options: Vec::new(),
        }
    }
}

/// Automatic mode skips small records for files of at least this size.
const LARGE_FILE_KB: u64 = 32 << 10;
/// The smallest record for such files.
const LARGE_RECORD_KB: u64 = 64;
/// The default sizes.
const SIZE_DEFAULT_KB: u64 = 512;
const RECORD_DEFAULT_KB: u64 = 4;

impl Settings {
    /// Whether processes run concurrently and their rates are added.
    pub(super) fn is_throughput(&self) -> bool {
        !self.processes.is_empty()
    }

    /// Whether the table has a row for each pair of sizes.
    fn is_auto(&self) -> bool {
        self.auto || self.auto2
    }

    /// Sizes of files, in kB.
    pub(super) fn sizes(&self) -> Vec<u64> {
        if !self.sizes_kb.is_empty() {
            return self.sizes_kb.clone();
        }
        if !self.is_auto() {
            return vec![SIZE_DEFAULT_KB];
        }
        powers(self.size_least_kb, self.size_most_kb, self.multiplier)
    }

    /// Sizes of records for files of any size, in kB.
    pub(super) fn all_records(&self) -> Vec<u64> {
        if !self.records_kb.is_empty() {
            return self.records_kb.clone();
        }
        if !self.is_auto() {
            return vec![RECORD_DEFAULT_KB];
        }
        powers(self.record_least_kb, self.record_most_kb, self.multiplier)
    }

    /// Sizes of records for files of `size_kb`, in kB.
    pub(super) fn records(&self, size_kb: u64) -> Vec<u64> {
        let all = self.all_records();
        if !self.records_kb.is_empty() || !self.is_auto() {
            return all;
        }
        let dense = self.cross_over || self.auto2;
        let fits = |record: &u64| {
            *record <= size_kb && (dense || size_kb < LARGE_FILE_KB || *record >= LARGE_RECORD_KB)
        };
        all.into_iter().filter(fits).collect()
    }

    /// The tests of a row or of a number of processes, in order.
    pub(super) fn wanted(&self) -> Vec<Test> {
        let asked = |test: &Test| match self.tests.is_empty() {
            true if self.auto2 => test.number() <= 1,
            // Without -i IOzone runs every test for which its table has a column.
            true => test.number() <= 7 || (self.is_throughput() && test.number() == 8),
            false => self.tests.contains(&test.number()),
        };
        let runs = |test: &Test| {
            asked(test)
                && !(self.no_retest && test.is_again())
                && !(test.is_stream() && (self.mmap || self.depth > 0))
        };
        if self.is_throughput() {
            return THROUGHPUT_ORDER.into_iter().filter(runs).collect();
        }
        Test::columns().filter(runs).filter(|test| self.extension || !test.is_extension()).collect()
    }

    /// Whether the time of a test includes its close.
    pub(super) fn counts_close(&self) -> bool {
        self.include_close || self.include_flush
    }
}

fn powers(least: u64, most: u64, multiplier: u64) -> Vec<u64> {
    let next = |size: &u64| size.checked_mul(multiplier.max(2));
    std::iter::successors(Some(least.max(1)), next).take_while(|size| *size <= most).collect()
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn automatic_mode_has_the_pairs_that_iozone_has() {
        let auto = Settings { auto: true, ..Settings::default() };
        assert_eq!(
            auto.sizes(),
            [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131_072, 262_144, 524_288]
        );
        assert_eq!(auto.records(64), [4, 8, 16, 32, 64]);
        assert_eq!(auto.records(32768), [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]);
        let dense = Settings { cross_over: true, ..auto.clone() };
        assert_eq!(dense.records(32768)[..2], [4, 8]);
        let one = Settings { records_kb: vec![4], ..auto };
        assert_eq!(one.records(524_288), [4]);
        assert_eq!(Settings::default().sizes(), [512]);
    }
}
