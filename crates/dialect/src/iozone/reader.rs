//! Words of a command line to settings.

use std::path::PathBuf;

use plan::OptionNote;

use super::options::{Key, OPTIONS, Spec, Takes, by_name};
use super::settings::{Settings, Unit};
use super::test::NUMBER_MAX;
use super::{clients, wrong};
use crate::ToolError;

/// What a line says, before anything is made of it.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub settings: Settings,
    pub notes: Vec<OptionNote>,
    pub help: bool,
    pub version: bool,
    /// The client list as it was written.
    pub list: Option<String>,
}

/// More processes than this are taken for a slip of the pen.
const PROCESSES_MAX: u64 = 1 << 20;
/// More kB than this are more than a file offset holds.
const SIZE_KB_MAX: u64 = 1 << 53;

impl Reader {
    /// Reads the words behind the program's name.
    pub(super) fn line(&mut self, words: &[String]) -> Result<(), ToolError> {
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                return Err(wrong(word, "is no option; options begin with -, as in -a or -s 1g".to_owned()));
            };
            let mut rest = letters;
            while let Some(letter) = rest.chars().next() {
                let plus = rest.strip_prefix('+').and_then(|rest| rest.chars().next());
                let length = plus.map_or(letter.len_utf8(), |letter| 1 + letter.len_utf8());
                let name = format!("-{}", &rest[..length]);
                let spec = by_name(&name).ok_or_else(|| unknown(&name))?;
                rest = &rest[length..];
                match spec.takes {
                    Takes::Nothing => self.set(spec, "", &name)?,
                    Takes::Value(expected) => {
                        let value = match std::mem::take(&mut rest) {
                            "" => words
                                .next()
                                .map(String::as_str)
                                .ok_or_else(|| wrong(&name, format!("needs a value: {expected}")))?,
                            attached => attached,
                        };
                        self.set(spec, value, &format!("{name} {value}"))?;
                    }
                    Takes::Words(expected) => {
                        let mut names: Vec<String> = Vec::new();
                        let attached = std::mem::take(&mut rest);
                        names.extend((!attached.is_empty()).then(|| attached.to_owned()));
                        while let Some(next) = words.next_if(|next| !next.starts_with('-')) {
                            names.push(next.clone());
                        }
                        if names.is_empty() {
                            return Err(wrong(&name, format!("needs a value: {expected}")));
                        }
                        self.settings.names = names.iter().map(PathBuf::from).collect();
                        let meaning = format!("{}; {} here", spec.about, names.len());
                        self.note(&format!("{name} {}", names.join(" ")), spec, meaning);
                    }
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, written: &str, spec: &Spec, meaning: String) {
        let name = spec.name.trim_start_matches('-').to_owned();
        self.notes.push(OptionNote { written: written.to_owned(), name, meaning });
    }

    fn say(&mut self, line: impl Into<String>) {
        self.settings.said.push(line.into());
    }

    fn set(&mut self, spec: &Spec, value: &str, written: &str) -> Result<(), ToolError> {
        if let Key::Refused(reason) = spec.key {
            return Err(wrong(written, reason.to_owned()));
        }
        let resolved = if is_size(spec.key) {
            format!(": {} bytes", size_kb(value, written)? << 10)
        } else {
            String::new()
        };
        if !(self.mode(spec.key) || self.figures(spec.key)) {
            self.sizes(spec.key, value, written)?;
            self.numbers(spec.key, value, written)?;
            self.texts(spec.key, value, written)?;
        }
        if let Key::Idle(said) = spec.key
            && !said.is_empty()
        {
            self.say(said);
        }
        self.note(written, spec, format!("{}{resolved}", spec.about));
        Ok(())
    }

    /// Flags of what is done.
    fn mode(&mut self, key: Key) -> bool {
        let set = &mut self.settings;
        let said = match key {
            Key::Auto => {
                set.auto = true;
                "Auto Mode"
            }
            Key::Auto2 => {
                set.auto2 = true;
                "Auto Mode 2. This option is obsolete. Use -az -i0 -i1 "
            }
            Key::CrossOver => {
                set.cross_over = true;
                "Cross over of record size disabled."
            }
            Key::Mmap => {
                set.mmap = true;
                "Using mmap files"
            }
            Key::Direct => {
                set.direct = true;
                "O_DIRECT feature enabled"
            }
            key @ (Key::SyncWrites | Key::SyncData) => {
                set.sync_writes = true;
                set.data_sync = key == Key::SyncData;
                "SYNC Mode. "
            }
            Key::Keep => {
                set.keep = true;
                "Setting no_unlink"
            }
            Key::NoRetest => {
                set.no_retest = true;
                "No retest option selected"
            }
            Key::NoStonewall => {
                set.no_stonewall = true;
                "Stonewall disabled"
            }
            Key::ReadOnly => {
                (set.read_only, set.keep) = (true, true);
                ">>> No Verify mode. <<<"
            }
            Key::SequentialMix => {
                set.sequential_mix = true;
                ">>> Sequential Mixed workload. <<<"
            }
            Key::Diagnose => {
                set.verify = true;
                ">>> I/O Diagnostic mode enabled. <<<"
            }
            Key::Latencies => {
                set.latencies = true;
                "Offset/latency files enabled."
            }
            Key::Extension | Key::ConstantSize | Key::Overwrite => {
                set.extension |= key == Key::Extension;
                set.constant_size |= key == Key::ConstantSize;
                set.overwrite |= key == Key::Overwrite;
                return true;
            }
            _ => return false,
        };
        self.say(said);
        true
    }

    /// Flags of what is shown.
    fn figures(&mut self, key: Key) -> bool {
        let set = &mut self.settings;
        let said = match key {
            Key::IncludeClose => {
                set.include_close = true;
                "Include close in write timing"
            }
            Key::IncludeFlush => {
                set.include_flush = true;
                "Include fsync in write timing"
            }
            Key::Operations => {
                set.unit = Unit::Operations;
                "OPS Mode. Output is in operations per second."
            }
            Key::Microseconds => {
                set.unit = Unit::Microseconds;
                "Microseconds/op Mode. Output is in microseconds per operation."
            }
            Key::Report => {
                set.report = true;
                "Excel chart generation enabled"
            }
            Key::ShowCpu => {
                set.show_cpu = true;
                "CPU utilization Resolution = 0.000 seconds.\n\tCPU utilization Excel chart enabled"
            }
            Key::Uname => super::printer::MACHINE,
            Key::ShowChildren | Key::Help | Key::Version => {
                set.show_children |= key == Key::ShowChildren;
                self.help |= key == Key::Help;
                self.version |= key == Key::Version;
                return true;
            }
            _ => return false,
        };
        self.say(said);
        true
    }

    fn sizes(&mut self, key: Key, value: &str, written: &str) -> Result<(), ToolError> {
        if !is_size(key) {
            return Ok(());
        }
        let size = size_kb(value, written)?;
        let set = &mut self.settings;
        let said = match key {
            Key::Size => {
                set.sizes_kb.push(size);
                format!("File size set to {size} kB")
            }
            Key::Record => {
                set.records_kb.push(size);
                format!("Record Size {size} kB")
            }
            Key::SizeLeast => {
                set.size_least_kb = size;
                format!("Using minimum file size of {size} kilobytes.")
            }
            Key::SizeMost => {
                set.size_most_kb = size;
                format!("Using maximum file size of {size} kilobytes.")
            }
            Key::RecordLeast => {
                set.record_least_kb = size;
                format!("Using Minimum Record Size {size} kB")
            }
            _ => {
                set.record_most_kb = size;
                format!("Using Maximum Record Size {size} kB")
            }
        };
        self.say(said);
        Ok(())
    }

    fn numbers(&mut self, key: Key, value: &str, written: &str) -> Result<(), ToolError> {
        let set = &mut self.settings;
        match key {
            Key::Test => {
                let test = number(value, written, 0, u64::from(NUMBER_MAX))?;
                set.tests.insert(u8::try_from(test).unwrap_or(NUMBER_MAX));
            }
            Key::Processes | Key::Lower | Key::Upper => {
                let processes = u32::try_from(number(value, written, 1, PROCESSES_MAX)?).unwrap_or(u32::MAX);
                match key {
                    Key::Lower => set.lower = Some(processes),
                    Key::Upper => set.upper = Some(processes),
                    _ => set.processes.push(processes),
                }
            }
            Key::Stride => set.stride = number(value, written, 1, 1 << 40)?,
            Key::Depth => {
                set.depth = u32::try_from(number(value, written, 1, 32_768)?).unwrap_or(1);
                let depth = set.depth;
                self.say(format!("POSIX Async I/O (no bcopy). Depth {depth} "));
            }
            Key::CacheSize => set.cache_kb = number(value, written, 0, u64::MAX)?,
            Key::LineSize => set.line_bytes = number(value, written, 0, u64::MAX)?,
            Key::Multiplier => set.multiplier = number(value, written, 2, 1 << 20)?,
            Key::ReadPercent => {
                set.read_percent = u8::try_from(number(value, written, 0, 100)?).unwrap_or(100);
                let percent = set.read_percent;
                self.say(format!("Percent read in mix test is {percent}"));
            }
            Key::Delay => {
                set.delay_seconds = number(value, written, 0, 1 << 30)?;
                let seconds = set.delay_seconds;
                self.say(format!("Delay {seconds} seconds between tests enabled."));
            }
            Key::Verify => {
                let pattern = number(value, written, 0, 255)?;
                set.verify = true;
                let lines = "Performance measurements are invalid in this mode.";
                self.say(format!("Verify Mode. Pattern {:x}\n\t{lines}", pattern * 0x0101_0101));
            }
            _ => {}
        }
        Ok(())
    }

    fn texts(&mut self, key: Key, value: &str, written: &str) -> Result<(), ToolError> {
        let set = &mut self.settings;
        match key {
            Key::File => set.file = PathBuf::from(value),
            Key::ReportFile => set.report_file = Some(PathBuf::from(value)),
            Key::Remount => set.drop_caches = true,
            Key::Host => self.say(format!("Hostname = {value}")),
            Key::Clients => {
                set.clients = clients::read(value.as_ref(), written)?;
                self.list = Some(written.to_owned());
                self.say("Network distribution mode enabled.");
            }
            _ => {}
        }
        Ok(())
    }
}

fn is_size(key: Key) -> bool {
    matches!(
        key,
        Key::Size | Key::Record | Key::SizeLeast | Key::SizeMost | Key::RecordLeast | Key::RecordMost
    )
}

fn unknown(name: &str) -> ToolError {
    let other: String = name
        .chars()
        .map(|letter| match letter.is_ascii_lowercase() {
            true => letter.to_ascii_uppercase(),
            false => letter.to_ascii_lowercase(),
        })
        .collect();
    let hint = match OPTIONS.iter().find(|spec| spec.name == other) {
        Some(spec) => format!("; {} is one", spec.name),
        None => String::new(),
    };
    wrong(name, format!("is no option of IOzone{hint}; -h lists all of them"))
}

/// A size in kB: a bare number is kB, and k, m and g are powers of 1024 bytes.
fn size_kb(value: &str, written: &str) -> Result<u64, ToolError> {
    let help = "a size is a whole number of kB, or one with k, m or g, as in 64 or 4m";
    let (digits, shift) = match value.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&value[..at], 0),
        Some((at, 'm' | 'M')) => (&value[..at], 10),
        Some((at, 'g' | 'G')) => (&value[..at], 20),
        Some((at, 't' | 'T')) => (&value[..at], 30),
        _ => (value, 0),
    };
    let number: u64 = digits.parse().map_err(|_| wrong(written, format!("{value:?} is no size; {help}")))?;
    match number.checked_mul(1 << shift) {
        Some(size @ 1..=SIZE_KB_MAX) => Ok(size),
        Some(0) => Err(wrong(written, format!("a size of 0 moves nothing; {help}"))),
        _ => Err(wrong(written, "is more than a file can hold; give a smaller size".to_owned())),
    }
}

fn number(value: &str, written: &str, least: u64, most: u64) -> Result<u64, ToolError> {
    match value.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(wrong(written, format!("{value:?} is no whole number from {least} to {most}"))),
    }
}
