//! The parameters of one test of IOR, as set by its command line, directives and scripts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::options::{Key, OPTIONS};
use crate::ToolError;
use crate::ior_family::missing_library;
use crate::options::Given;

/// `-l` and `--dataPacketType`: what IOR would write into its buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Packet {
    /// IOR's default, printed as `g`.
    #[default]
    Generic,
    Offset,
    Incompressible,
    Timestamp,
    Random,
}

impl Packet {
    /// IOR only uses the first letter.
    fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().chars().next()? {
            'g' => Some(Self::Generic),
            'o' => Some(Self::Offset),
            'i' => Some(Self::Incompressible),
            't' => Some(Self::Timestamp),
            'r' => Some(Self::Random),
            _ => None,
        }
    }

    /// The letter printed in the `Parameters` block.
    pub(super) const fn letter(self) -> char {
        match self {
            Self::Generic => 'g',
            Self::Offset => 'o',
            Self::Incompressible => 'i',
            Self::Timestamp => 't',
            Self::Random => 'r',
        }
    }
}

/// `-M`: memory of the node that is held during the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HeldMemory {
    #[default]
    None,
    Bytes(u64),
    Percent(u8),
}

/// The settings of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Settings {
    /// As written, because IOR prints it in the same case.
    pub api: String,
    pub ref_num: i64,
    pub block: u64,
    pub transfer: u64,
    pub segments: u64,
    pub repetitions: u32,
    /// The number given with `-N`; `None` means all tasks of the launcher.
    pub asked_tasks: Option<u32>,
    /// The resolved number of tasks.
    pub tasks: u32,
    /// The resolved number of nodes on which tasks run.
    pub nodes: u32,
    /// Number of tasks on the first node; 0 in records of versions that only supported one node.
    #[serde(default)]
    pub tasks_on_node0: u32,
    /// Number of tasks of each process; 0 if one process runs all.
    #[serde(default)]
    pub tasks_per_rank: u32,
    /// Whether the launcher has distributed the processes over the nodes round-robin.
    #[serde(default)]
    pub in_turn: bool,
    pub test_file: String,
    pub read: bool,
    pub write: bool,
    pub check_read: bool,
    pub check_write: bool,
    pub file_per_proc: bool,
    pub unique_dir: bool,
    pub dual_mount: bool,
    pub multi_file: bool,
    pub keep: bool,
    pub keep_with_error: bool,
    pub use_existing: bool,
    pub preallocate: bool,
    pub fsync: bool,
    pub fsync_per_write: bool,
    pub direct: bool,
    pub barriers: bool,
    pub single_attempt: bool,
    pub quit_on_error: bool,
    pub random_offset: u32,
    pub random_seed: Option<i64>,
    pub reorder: bool,
    pub reorder_random: u32,
    pub reorder_seed: i64,
    pub task_offset: u32,
    pub delay: u64,
    pub deadline: u64,
    pub wear_out: bool,
    pub wear_out_iterations: Option<u64>,
    pub status_file: Option<PathBuf>,
    pub min_time: u64,
    pub max_minutes: u64,
    pub outlier: u64,
    pub signature: i64,
    pub packet: Packet,
    pub memory_per_node: HeldMemory,
    pub memory_per_task: u64,
    pub aio_pending: u32,
    pub rank_csv: Option<PathBuf>,
    pub dry_run: bool,
    pub warnings_as_errors: bool,
    pub verbose: u32,
}

impl Default for Settings {
    /// IOR's defaults, as its help prints them.
    fn default() -> Self {
        Self {
            api: "POSIX".to_owned(),
            ref_num: 0,
            block: 1 << 20,
            transfer: 256 << 10,
            segments: 1,
            repetitions: 1,
            asked_tasks: None,
            tasks: 1,
            nodes: 1,
            tasks_on_node0: 0,
            tasks_per_rank: 0,
            in_turn: false,
            test_file: "testFile".to_owned(),
            read: false,
            write: false,
            check_read: false,
            check_write: false,
            file_per_proc: false,
            unique_dir: false,
            dual_mount: false,
            multi_file: false,
            keep: false,
            keep_with_error: false,
            use_existing: false,
            preallocate: false,
            fsync: false,
            fsync_per_write: false,
            direct: false,
            barriers: false,
            single_attempt: false,
            quit_on_error: false,
            random_offset: 0,
            random_seed: None,
            reorder: false,
            reorder_random: 0,
            reorder_seed: 0,
            task_offset: 1,
            delay: 0,
            deadline: 0,
            wear_out: false,
            wear_out_iterations: None,
            status_file: None,
            min_time: 0,
            max_minutes: 0,
            outlier: 0,
            signature: 0,
            packet: Packet::Generic,
            memory_per_node: HeldMemory::None,
            memory_per_task: 0,
            aio_pending: AIO_PENDING_DEFAULT,
            rank_csv: None,
            dry_run: false,
            warnings_as_errors: false,
            verbose: 0,
        }
    }
}

/// IOR's default of `--aio.max-pending`.
const AIO_PENDING_DEFAULT: u32 = 128;
/// IOR's highest level of verbosity.
const VERBOSE_MAX: u32 = 5;
/// A larger number of repetitions is taken for a typing error.
const REPETITIONS_MAX: u32 = 1_000_000;
/// A longer time limit in seconds (three years) is taken for a typing error.
const SECONDS_MAX: u64 = 100_000_000;

impl Settings {
    /// Applies the option.
    ///
    /// # Errors
    /// Errors if a value cannot be parsed or is not permitted.
    pub(super) fn set(&mut self, given: &Given<Key>) -> Result<(), ToolError> {
        match given.key {
            Key::Api => self.set_api(given)?,
            Key::RefNum => self.ref_num = given.whole()?,
            Key::Block => self.block = given.size()?,
            Key::Transfer => self.transfer = given.size()?,
            Key::Segments => self.segments = given.size()?,
            Key::Repetitions => self.repetitions = given.count32(REPETITIONS_MAX)?.max(1),
            Key::Tasks => self.asked_tasks = tasks(given)?,
            Key::TestFile => self.set_test_file(given)?,
            Key::Read => self.read = given.flag()?,
            Key::Write => self.write = given.flag()?,
            Key::CheckRead => self.check_read = given.flag()?,
            Key::CheckWrite => self.check_write = given.flag()?,
            Key::FilePerProc => self.file_per_proc = given.flag()?,
            Key::UniqueDir => self.unique_dir = given.flag()?,
            Key::DualMount => self.dual_mount = given.flag()?,
            Key::MultiFile => self.multi_file = given.flag()?,
            Key::Keep => self.keep = given.flag()?,
            Key::KeepWithError => self.keep_with_error = given.flag()?,
            Key::UseExisting => self.use_existing = given.flag()?,
            Key::Preallocate => self.preallocate = given.flag()?,
            Key::Fsync => self.fsync = given.flag()?,
            Key::FsyncPerWrite => self.fsync_per_write = given.flag()?,
            Key::Direct => self.direct = given.flag()?,
            Key::Barriers => self.barriers = given.flag()?,
            Key::SingleAttempt => self.single_attempt = given.flag()?,
            Key::QuitOnError => self.quit_on_error = given.flag()?,
            Key::RandomOffset => self.random_offset = repeated(given, self.random_offset)?,
            Key::ReorderRandom => self.reorder_random = repeated(given, self.reorder_random)?,
            _ => self.set_more(given)?,
        }
        Ok(())
    }

    fn set_more(&mut self, given: &Given<Key>) -> Result<(), ToolError> {
        match given.key {
            Key::RandomSeed => self.random_seed = Some(given.whole()?).filter(|&seed| seed != -1),
            Key::Reorder => self.reorder = given.flag()?,
            Key::ReorderSeed => self.reorder_seed = given.whole()?,
            Key::TaskOffset => self.task_offset = given.count32(u32::MAX)?,
            Key::Delay => self.delay = rest(given)?,
            Key::Deadline => self.deadline = seconds(given)?,
            Key::WearOut => self.wear_out = given.flag()?,
            Key::WearOutIterations => {
                self.wear_out_iterations = Some(given.count(u64::MAX)?).filter(|&n| n > 0);
            }
            Key::StatusFile => self.status_file = Some(given.path()?),
            Key::MinTime => self.min_time = seconds(given)?,
            Key::MaxMinutes => self.max_minutes = seconds(given)?,
            Key::Outlier => self.outlier = seconds(given)?,
            Key::Signature => self.signature = given.whole()?,
            Key::Packet => {
                self.packet = Packet::parse(given.text()).ok_or_else(|| {
                    given.wrong("is not a packet type; give offset, incompressible, timestamp or random")
                })?;
            }
            Key::StoreOffset => self.packet = if given.flag()? { Packet::Offset } else { self.packet },
            Key::MemoryPerNode => self.memory_per_node = memory(given)?,
            Key::MemoryPerTask => self.memory_per_task = given.size()?,
            Key::AioPending => self.aio_pending = given.count32(u32::MAX)?,
            Key::RankCsv => self.rank_csv = Some(given.path()?),
            Key::DryRun => self.dry_run = given.flag()?,
            Key::WarningsAsErrors => self.warnings_as_errors = given.flag()?,
            Key::Verbose => {
                let verbose = match given.values.is_empty() {
                    true => self.verbose.saturating_add(1),
                    false => given.count32(u32::MAX)?,
                };
                self.verbose = verbose.min(VERBOSE_MAX);
            }
            // These options concern the whole command line or its output, or have no effect.
            _ => {}
        }
        Ok(())
    }

    fn set_api(&mut self, given: &Given<Key>) -> Result<(), ToolError> {
        if ["POSIX", "MMAP", "DUMMY", "AIO"].iter().any(|api| given.text().eq_ignore_ascii_case(api)) {
            given.text().clone_into(&mut self.api);
            return Ok(());
        }
        match missing_library(given.text()) {
            Some(reason) => {
                let next = "ioproof supports POSIX, MMAP, DUMMY and AIO; use -a POSIX";
                Err(OPTIONS.error(&given.written, &format!("is refused: {reason}; {next}")))
            }
            None => Err(given.wrong("is not an API of IOR; ioproof supports POSIX, MMAP, DUMMY and AIO")),
        }
    }

    fn set_test_file(&mut self, given: &Given<Key>) -> Result<(), ToolError> {
        given.paths()?;
        given.text().clone_into(&mut self.test_file);
        Ok(())
    }
}

fn memory(given: &Given<Key>) -> Result<HeldMemory, ToolError> {
    let Some(percent) = given.text().strip_suffix('%') else {
        return given
            .size()
            .map(|bytes| if bytes == 0 { HeldMemory::None } else { HeldMemory::Bytes(bytes) });
    };
    match percent.parse::<u8>() {
        Ok(0) => Ok(HeldMemory::None),
        Ok(percent @ 1..=100) => Ok(HeldMemory::Percent(percent)),
        _ => Err(given.wrong("is not a share of the node's memory; give 0% to 100%, or a size such as 2g")),
    }
}

/// A flag whose repetition has a meaning, as in `-z -z`.
fn repeated(given: &Given<Key>, before: u32) -> Result<u32, ToolError> {
    match given.values.is_empty() {
        true => Ok(before.saturating_add(1)),
        // A script gives the number as a value.
        false => given.text().parse().or_else(|_| given.flag().map(u32::from)),
    }
}

/// -1 (the default) and 0 (according to the documentation) mean all tasks of the launcher.
fn tasks(given: &Given<Key>) -> Result<Option<u32>, ToolError> {
    match given.whole()? {
        -1 | 0 => Ok(None),
        number => match u32::try_from(number) {
            Ok(number) => Ok(Some(number)),
            Err(_) => {
                Err(given.wrong("is not a number of tasks; give 1 or more, or -1 for all of the launcher"))
            }
        },
    }
}

/// Seconds without their fraction, which IOR truncates.
fn rest(given: &Given<Key>) -> Result<u64, ToolError> {
    let text = given.text();
    match text.split_once('.').filter(|_| text.parse::<f64>().is_ok()) {
        Some((whole, _)) => whole
            .parse()
            .ok()
            .filter(|seconds| *seconds <= SECONDS_MAX)
            .ok_or_else(|| given.wrong("is not a number of seconds")),
        None => given.count(SECONDS_MAX),
    }
}

/// Whole seconds (or minutes).
fn seconds(given: &Given<Key>) -> Result<u64, ToolError> {
    if given.text().parse::<f64>().is_ok_and(|number| number.fract() != 0.0) {
        return Err(given.wrong("has a fraction, which IOR would truncate; give a whole number"));
    }
    given.count(SECONDS_MAX)
}
