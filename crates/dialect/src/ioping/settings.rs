//! The settings specified by a command line of ioping.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::options::{Key, OPTIONS};
use super::words;
use crate::ToolError;
use crate::options::Given;

const SECOND_NS: u64 = 1_000_000_000;

/// The target of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Target {
    /// A file in this directory, which the run creates for itself.
    Directory,
    File,
    Device,
}

/// The kind of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Mode {
    Read,
    Write,
    /// Alternating writes and reads, beginning with a write.
    Both,
}

/// All settings, with their defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub path: PathBuf,
    pub target: Target,
    pub mode: Mode,
    pub size: u64,
    pub work_size: u64,
    pub warmup: u64,
    /// Number of requests; 0 means unlimited.
    pub count: u64,
    pub interval_ns: u64,
    pub work_time_ns: Option<u64>,
    pub min_time_ns: u64,
    pub max_time_ns: Option<u64>,
    pub print_count: Option<u64>,
    pub print_interval_ns: Option<u64>,
    pub asynchronous: bool,
    pub cached: bool,
    pub direct: bool,
    pub linear: bool,
    pub sync: bool,
    pub data_sync: bool,
    pub keep: bool,
    pub seed: u64,
    pub batch: bool,
    pub json: bool,
    pub quiet: bool,
    /// Time format as for `strftime(3)`.
    pub time: Option<String>,
}

impl Settings {
    /// Determines the settings from options and operands.
    ///
    /// # Errors
    /// Errors if a value makes no sense, or if the target does not exist.
    pub(super) fn of(given: &[Given<Key>], rest: &[String]) -> Result<Self, ToolError> {
        let path = match rest {
            [path] => PathBuf::from(path),
            [] => return Err(OPTIONS.error("the command line", "names no directory, file or device")),
            [_, second, ..] => {
                return Err(OPTIONS.error(second, "is a second target; ioping accepts one, so run it twice"));
            }
        };
        let (target, bytes) = look(&path)?;
        let has = |key: Key| given.iter().any(|option| option.key == key);
        let last = |key: Key| given.iter().rev().find(|option| option.key == key);
        let number = |key: Key, read: fn(&str) -> Result<u64, String>| {
            let read = |option: &Given<Key>| read(option.text()).map_err(|problem| option.wrong(&problem));
            last(key).map(read).transpose()
        };
        let (rapid, linear) = (has(Key::Rapid), has(Key::Linear));
        let size = number(Key::Size, words::read_size)?.filter(|size| *size > 0);
        let size = size.unwrap_or(if linear { 256 << 10 } else { 4096 });
        let wanted = number(Key::WorkSize, words::read_size)?.filter(|size| *size > 0);
        let work_size = match target {
            Target::Directory => wanted.unwrap_or(if rapid { 64 << 20 } else { 1 << 20 }),
            Target::File | Target::Device => wanted.unwrap_or(bytes).min(bytes),
        };
        if size > work_size {
            let problem = format!(
                "has room for {work_size} bytes, less than a request of {size}; give a smaller -s or a \
                 larger -S"
            );
            return Err(OPTIONS.error(&path.display().to_string(), &problem));
        }
        // A limit determines the interval if none is given.
        let limited = has(Key::RateLimit) || has(Key::SpeedLimit);
        let mut interval_ns =
            number(Key::Interval, words::read_time)?.unwrap_or(if rapid || limited { 0 } else { SECOND_NS });
        let per_second = |many: u64| SECOND_NS.checked_div(many).unwrap_or(0);
        if let Some(rate) = number(Key::RateLimit, words::read_count)? {
            interval_ns = interval_ns.max(per_second(rate));
        }
        if let Some(speed) = number(Key::SpeedLimit, words::read_size)?.filter(|speed| *speed > 0) {
            let nanos = u128::from(size) * u128::from(SECOND_NS) / u128::from(speed);
            interval_ns = interval_ns.max(u64::try_from(nanos).unwrap_or(u64::MAX));
        }
        let work_time = number(Key::WorkTime, words::read_time)?.filter(|time| *time > 0);
        let count = number(Key::Count, words::read_count)?.unwrap_or(0);
        let default_time = (rapid && count == 0).then_some(3 * SECOND_NS);
        let writes = given.iter().filter(|option| option.key == Key::Write).count();
        let mode = match (has(Key::ReadWrite), writes > 0) {
            (true, _) => Mode::Both,
            (false, true) => Mode::Write,
            (false, false) => Mode::Read,
        };
        if mode != Mode::Read && target != Target::Directory && writes < 3 {
            let problem = "would be overwritten; if that is intended, use -WWW";
            return Err(OPTIONS.error(&path.display().to_string(), problem));
        }
        let settings = Self {
            target,
            mode,
            size,
            work_size: work_size - work_size % size,
            warmup: number(Key::Warmup, words::read_count)?.unwrap_or(1),
            count,
            interval_ns,
            work_time_ns: work_time.or(default_time),
            min_time_ns: number(Key::MinTime, words::read_time)?.unwrap_or(0),
            max_time_ns: number(Key::MaxTime, words::read_time)?.filter(|time| *time > 0),
            print_count: number(Key::PrintCount, words::read_count)?.filter(|count| *count > 0),
            print_interval_ns: number(Key::PrintInterval, words::read_time)?.filter(|time| *time > 0),
            asynchronous: has(Key::Async),
            cached: has(Key::Cached),
            direct: has(Key::Direct),
            linear,
            sync: has(Key::Sync),
            data_sync: has(Key::DataSync),
            keep: has(Key::Keep),
            seed: number(Key::Entropy, words::read_count)?.filter(|seed| *seed > 0).unwrap_or(1),
            batch: has(Key::Batch),
            json: has(Key::Json),
            quiet: has(Key::Quiet) || rapid,
            time: last(Key::Time).map(|option| match option.text() {
                "" => "%b %d %H:%M:%S".to_owned(),
                format => format.to_owned(),
            }),
            path,
        };
        settings.check()
    }

    fn check(self) -> Result<Self, ToolError> {
        if self.asynchronous && !(self.cached || self.direct) && self.mode != Mode::Write {
            let problem = "drops the data from the page cache before each request, which asynchronous \
                           requests do not allow; add -D to bypass the page cache, or -C to measure it";
            return Err(OPTIONS.error("-A", problem));
        }
        if self.asynchronous && self.syncs() && !self.cached {
            let problem = "puts each write on stable storage, for which asynchronous requests support only \
                           fsync; leave out -A, or add -C";
            return Err(OPTIONS.error("-A", problem));
        }
        if let Some(format) = self.time.as_ref()
            && jiff::fmt::strtime::format(format, &jiff::Zoned::now()).is_err()
        {
            return Err(OPTIONS.error(&format!("-I{format}"), "is not a format of strftime(3)"));
        }
        Ok(self)
    }

    pub(super) fn reads(&self) -> bool {
        self.mode != Mode::Write
    }

    pub(super) fn writes(&self) -> bool {
        self.mode != Mode::Read
    }

    /// Whether each write is on stable storage when it ends.
    pub(super) fn syncs(&self) -> bool {
        self.writes() && (!self.cached || self.sync || self.data_sync)
    }

    /// Whether the range is dropped from the page cache before each read.
    pub(super) fn forgets(&self) -> bool {
        self.reads() && !self.cached && !self.direct
    }

    /// Number of requests after which it ends, if limited: by its count, or by a time limit for that many
    /// intervals.
    pub(super) fn requests(&self) -> Option<u64> {
        let by_count = (self.count > 0).then_some(self.count);
        let by_time = self.work_time_ns.filter(|_| self.interval_ns > 0 && self.count > 0);
        let by_time = by_time.map(|time| time.div_ceil(self.interval_ns).max(1));
        by_count.map(|count| by_time.map_or(count, |by_time| count.min(by_time)))
    }
}

/// Determines the type of the target at `path`, and the size of a file or device in bytes.
fn look(path: &Path) -> Result<(Target, u64), ToolError> {
    let failed = |what: &str, error: &std::io::Error| {
        OPTIONS.error(
            &path.display().to_string(),
            &format!("{what}: {error}; name a directory, a file or a block device"),
        )
    };
    let facts = std::fs::metadata(path).map_err(|error| failed("cannot be accessed", &error))?;
    if facts.is_dir() {
        return Ok((Target::Directory, 0));
    }
    if facts.is_file() {
        return Ok((Target::File, facts.len()));
    }
    if !facts.file_type().is_block_device() {
        let problem = "is neither a directory, nor a file, nor a block device";
        return Err(OPTIONS.error(&path.display().to_string(), problem));
    }
    let bytes = File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0)));
    bytes.map(|bytes| (Target::Device, bytes)).map_err(|error| failed("cannot be read", &error))
}
