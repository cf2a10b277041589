//! Converts the options of a command line to settings.

use std::path::PathBuf;

use super::clients;
use super::options::{Key, OPTIONS};
use super::settings::{MACHINE, Settings, Unit};
use super::test::NUMBER_MAX;
use crate::ToolError;
use crate::options::Given;

/// A larger number of processes is taken for a typing error.
const PROCESSES_MAX: u64 = 1 << 20;
/// A larger number of kB exceeds a file offset.
const SIZE_KB_MAX: u64 = 1 << 53;

/// A flag of the settings.
type Flag = fn(&mut Settings) -> &mut bool;

/// Options that set one flag, and the line that IOzone prints for each; empty if it prints none.
const FLAGS: &[(Key, Flag, &str)] = &[
    (Key::Auto, |set| &mut set.auto, "Auto Mode"),
    (Key::Auto2, |set| &mut set.auto2, "Auto Mode 2. This option is obsolete. Use -az -i0 -i1 "),
    (Key::CrossOver, |set| &mut set.cross_over, "Cross over of record size disabled."),
    (Key::Mmap, |set| &mut set.mmap, "Using mmap files"),
    (Key::Direct, |set| &mut set.direct, "O_DIRECT feature enabled"),
    (Key::SyncWrites, |set| &mut set.sync_writes, "SYNC Mode. "),
    (Key::Keep, |set| &mut set.keep, "Setting no_unlink"),
    (Key::NoRetest, |set| &mut set.no_retest, "No retest option selected"),
    (Key::NoStonewall, |set| &mut set.no_stonewall, "Stonewall disabled"),
    (Key::ReadOnly, |set| &mut set.read_only, ">>> No Verify mode. <<<"),
    (Key::SequentialMix, |set| &mut set.sequential_mix, ">>> Sequential Mixed workload. <<<"),
    (Key::Diagnose, |set| &mut set.verify, ">>> I/O Diagnostic mode enabled. <<<"),
    (Key::Latencies, |set| &mut set.latencies, "Offset/latency files enabled."),
    (Key::Extension, |set| &mut set.extension, ""),
    (Key::ConstantSize, |set| &mut set.constant_size, ""),
    (Key::Overwrite, |set| &mut set.overwrite, ""),
    (Key::ShowChildren, |set| &mut set.show_children, ""),
    (Key::Remount, |set| &mut set.drop_caches, ""),
    (Key::IncludeClose, |set| &mut set.include_close, "Include close in write timing"),
    (Key::IncludeFlush, |set| &mut set.include_flush, "Include fsync in write timing"),
    (Key::Report, |set| &mut set.report, "Excel chart generation enabled"),
    (
        Key::ShowCpu,
        |set| &mut set.show_cpu,
        "CPU utilization Resolution = 0.000 seconds.\n\tCPU utilization Excel chart enabled",
    ),
];

impl Settings {
    /// Determines the settings of a command line.
    ///
    /// # Errors
    /// Returns an error about the first value that cannot be parsed or is not permitted.
    pub(super) fn of(given: &[Given<Key>]) -> Result<Self, ToolError> {
        let mut settings = Self::default();
        for option in given {
            let printed = settings.set(option)?;
            settings.printed_options.extend(Some(printed).filter(|line| !line.is_empty()));
        }
        Ok(settings)
    }

    /// Applies the option, and returns the line that IOzone prints for it.
    fn set(&mut self, given: &Given<Key>) -> Result<String, ToolError> {
        if let Some((key, flag, printed)) = FLAGS.iter().find(|(key, ..)| *key == given.key) {
            *flag(self) = true;
            match key {
                Key::SyncWrites => self.data_sync = false,
                Key::ReadOnly => self.keep = true,
                _ => {}
            }
            return Ok((*printed).to_owned());
        }
        Ok(match given.key {
            Key::Idle(printed) => printed.to_owned(),
            Key::Uname => MACHINE.to_owned(),
            Key::SyncData => {
                (self.sync_writes, self.data_sync) = (true, true);
                "SYNC Mode. ".to_owned()
            }
            Key::Operations => {
                self.unit = Unit::Operations;
                "OPS Mode. Output is in operations per second.".to_owned()
            }
            Key::Microseconds => {
                self.unit = Unit::Microseconds;
                "Microseconds/op Mode. Output is in microseconds per operation.".to_owned()
            }
            Key::Host => format!("Hostname = {}", given.text()),
            Key::Clients => {
                self.clients = clients::read(given)?;
                "Network distribution mode enabled.".to_owned()
            }
            key if is_size(key) => self.set_size(key, size_kb(given)?),
            _ => return self.set_value(given),
        })
    }

    fn set_size(&mut self, key: Key, size: u64) -> String {
        match key {
            Key::Size => {
                self.sizes_kb.push(size);
                format!("File size set to {size} kB")
            }
            Key::Record => {
                self.records_kb.push(size);
                format!("Record Size {size} kB")
            }
            Key::SizeLeast => {
                self.size_least_kb = size;
                format!("Using minimum file size of {size} kilobytes.")
            }
            Key::SizeMost => {
                self.size_most_kb = size;
                format!("Using maximum file size of {size} kilobytes.")
            }
            // Limits of the records also hold for large files.
            Key::RecordLeast => {
                (self.record_least_kb, self.cross_over) = (size, true);
                format!("Using Minimum Record Size {size} kB")
            }
            _ => {
                (self.record_most_kb, self.cross_over) = (size, true);
                format!("Using Maximum Record Size {size} kB")
            }
        }
    }

    fn set_value(&mut self, given: &Given<Key>) -> Result<String, ToolError> {
        let number = |least, most| number(given, least, most);
        let processes = || number(1, PROCESSES_MAX).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        match given.key {
            Key::File => self.file = PathBuf::from(given.text()),
            Key::ReportFile => self.report_file = Some(PathBuf::from(given.text())),
            Key::Names => self.names = given.values.iter().map(PathBuf::from).collect(),
            Key::Test => {
                self.tests.insert(test_number(given)?.0);
            }
            Key::Processes => self.processes.push(processes()?),
            Key::Lower => self.lower = Some(processes()?),
            Key::Upper => self.upper = Some(processes()?),
            Key::Stride => self.stride = number(1, 1 << 40)?,
            Key::CacheSize => self.cache_kb = number(0, u64::MAX)?,
            Key::LineSize => self.line_bytes = number(0, u64::MAX)?,
            Key::Multiplier => self.multiplier = number(2, 1 << 20)?,
            Key::Depth => {
                self.depth = u32::try_from(number(1, 32_768)?).unwrap_or(1);
                return Ok(format!("POSIX Async I/O (no bcopy). Depth {} ", self.depth));
            }
            Key::ReadPercent => {
                self.read_percent = u8::try_from(number(0, 100)?).unwrap_or(100);
                return Ok(format!("Percent read in mix test is {}", self.read_percent));
            }
            Key::Delay => {
                self.delay_seconds = number(0, 1 << 30)?;
                return Ok(format!("Delay {} seconds between tests enabled.", self.delay_seconds));
            }
            Key::Verify => {
                let pattern = number(0, 255)? * 0x0101_0101;
                self.verify = true;
                return Ok(format!(
                    "Verify Mode. Pattern {pattern:x}\n\tPerformance measurements are invalid in this mode."
                ));
            }
            _ => {}
        }
        Ok(String::new())
    }
}

/// The number that a value of `-i` begins with, and the rest, which IOzone does not look at.
fn test_number(given: &Given<Key>) -> Result<(u8, &str), ToolError> {
    let text = given.text();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match text[..digits].parse() {
        Ok(number @ 0..=NUMBER_MAX) => Ok((number, &text[digits..])),
        _ => Err(given.wrong(&format!("is not a test; give a whole number from 0 to {NUMBER_MAX}"))),
    }
}

/// Warnings about what IOzone does not look at either.
pub(super) fn warnings(given: &[Given<Key>]) -> Vec<String> {
    let tests = given.iter().filter(|option| option.key == Key::Test);
    let warning = |option: &Given<Key>| match test_number(option) {
        Ok((number, rest)) if !rest.is_empty() => Some(format!(
            "{}: {rest:?} has no effect, as in IOzone; only test {number} is run by it",
            option.written
        )),
        _ => None,
    };
    tests.filter_map(warning).collect()
}

/// The meaning of the option, for `--explain`.
///
/// # Errors
/// Errors if a size cannot be parsed.
pub(super) fn meaning(given: &Given<Key>) -> Result<String, ToolError> {
    let about = OPTIONS.about(given.key);
    Ok(match given.key {
        Key::Names => format!("{about}; {} here", given.values.len()),
        key if is_size(key) => format!("{about}: {} bytes", size_kb(given)? << 10),
        _ => about.to_owned(),
    })
}

fn is_size(key: Key) -> bool {
    matches!(
        key,
        Key::Size | Key::Record | Key::SizeLeast | Key::SizeMost | Key::RecordLeast | Key::RecordMost
    )
}

/// A size in kB. A number without a suffix is in kB, and k, m and g are powers of 1024 bytes.
fn size_kb(given: &Given<Key>) -> Result<u64, ToolError> {
    let help = "a size is a whole number of kB, or a number with k, m or g, as in 64 or 4m";
    let text = given.text();
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 0),
        Some((at, 'm' | 'M')) => (&text[..at], 10),
        Some((at, 'g' | 'G')) => (&text[..at], 20),
        Some((at, 't' | 'T')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| given.wrong(&format!("is not a size; {help}")))?;
    match number.checked_mul(1 << shift) {
        Some(size @ 1..=SIZE_KB_MAX) => Ok(size),
        Some(0) => Err(given.wrong(&format!("moves nothing; {help}"))),
        _ => Err(given.wrong("is more than a file can hold; give a smaller size")),
    }
}

fn number(given: &Given<Key>, least: u64, most: u64) -> Result<u64, ToolError> {
    match given.text().parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(given.wrong(&format!("is not a whole number from {least} to {most}"))),
    }
}
