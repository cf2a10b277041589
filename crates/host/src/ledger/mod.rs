//! Ledgers: they record on stable storage how to undo an action, before it is carried out.
//!
//! A ledger consists of a JSON object, its head, and of lines with one event each. The head says what is to be
//! undone and on which host. Each event is appended, and synced to stable storage, before or after the action
//! that it describes. Events are numbered. If the last line is incomplete, it was cut off by a crash and is
//! ignored; this and missing numbers are reported as a [`LedgerLoss`]. Tuning and layouts have ledgers with
//! their own heads and events, which this module does not interpret.

mod error;
mod identity;
mod storage;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use error::LedgerError;
pub use identity::HostIdentity;
pub(crate) use identity::ProcessIdentity;
pub(crate) use storage::{check_directory, make_directory, open, sync_directory};

use storage::Unread;

/// The state directory of root, which contains the ledgers.
pub(crate) const STATE_DIRECTORY: &str = "/var/lib/ioproof";

/// The differences between the kinds of ledgers.
#[derive(Debug)]
pub(crate) struct LedgerKind {
    /// Format version. A later version may have events that this program does not know.
    pub(crate) version: u32,
    /// The next step if an event cannot be written.
    pub(crate) after_failed_write: &'static str,
    /// How to undo the changes without this program.
    pub(crate) by_hand: &'static str,
}

impl LedgerKind {
    fn damaged(&self, path: &Path, line: usize, reason: impl ToString) -> LedgerError {
        let (path, reason) = (path.to_owned(), reason.to_string());
        LedgerError::Damaged { path, line, reason, by_hand: self.by_hand }
    }
}

/// The file of a ledger.
#[derive(Debug, Clone)]
pub(crate) struct LedgerFile {
    kind: &'static LedgerKind,
    path: PathBuf,
    /// End of the last event. Anything after it was cut off by a crash or a full disk.
    end: u64,
    /// Whether the head does not end with a newline, as in layouts' ledgers of earlier versions.
    head_is_open: bool,
    /// The number of the next event.
    next: u64,
}

/// The parts of a ledger that are lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerLoss {
    /// Number of bytes of an incomplete last line.
    pub cut_bytes: usize,
    /// Number of events that are missing before others.
    pub missing: u64,
}

impl LedgerLoss {
    /// Describes what the ledger at `path` has lost and what that means, or returns `None` if nothing is
    /// lost.
    #[must_use]
    pub fn told(&self, path: &Path) -> Option<String> {
        let mut lost = Vec::new();
        if self.missing > 0 {
            lost.push(format!("{} of its lines are missing", self.missing));
        }
        if self.cut_bytes > 0 {
            lost.push(format!("its last line is cut off after {} bytes", self.cut_bytes));
        }
        (!lost.is_empty()).then(|| {
            format!("{} is damaged: {}; the other lines are used", path.display(), lost.join(", and "))
        })
    }
}

/// The content of a ledger: its head, and the events with their line numbers.
pub(crate) struct LedgerContent<H, E> {
    pub(crate) file: LedgerFile,
    pub(crate) head: H,
    pub(crate) events: Vec<(usize, E)>,
    pub(crate) loss: LedgerLoss,
    /// The first line before which events are missing.
    pub(crate) first_gap: Option<usize>,
}

/// The number of an event. Earlier versions did not write it.
#[derive(Deserialize)]
struct Numbered {
    number: Option<u64>,
}

impl LedgerFile {
    /// Creates a ledger with its head, atomically.
    pub(crate) fn create(kind: &'static LedgerKind, path: &Path, head: &impl Serialize) -> io::Result<Self> {
        let line = line(head)?;
        storage::replace(path, &line)?;
        Ok(Self { kind, path: path.to_owned(), end: line.len() as u64, head_is_open: false, next: 1 })
    }

    /// Reads the ledger at `path`, if there is one.
    pub(crate) fn read<H: DeserializeOwned, E: DeserializeOwned>(
        kind: &'static LedgerKind,
        path: &Path,
    ) -> Result<Option<LedgerContent<H, E>>, LedgerError> {
        if let Some(directory) = path.parent() {
            check_directory(directory)?;
        }
        let bytes = match storage::read(path) {
            Ok(bytes) => bytes,
            Err(Unread::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(Unread::Io(error)) => {
                return Err(LedgerError::io("read", path, error, "run as the owner of the file"));
            }
            Err(Unread::Refused(reason)) => {
                return Err(LedgerError::Untrusted { path: path.to_owned(), reason });
            }
        };
        let mut values = serde_json::Deserializer::from_slice(&bytes).into_iter::<serde_json::Value>();
        let head = values.next().unwrap_or(Ok(serde_json::Value::Null));
        let head = head.map_err(|error| kind.damaged(path, error.line(), error))?;
        // Checked first, because the head of a later version must not be interpreted.
        let version = head.get("version").and_then(serde_json::Value::as_u64);
        let version = version.ok_or_else(|| kind.damaged(path, 1, "it does not begin with its version"))?;
        if version != u64::from(kind.version) {
            return Err(kind.damaged(path, 1, format!("version {version}, written by a newer ioproof")));
        }
        let head = serde_json::from_value(head).map_err(|error| kind.damaged(path, 1, error))?;
        let (before, rest) = bytes.split_at(values.byte_offset());
        let first_line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut events = Vec::new();
        let (mut next, mut missing, mut first_gap) = (1, 0, None);
        for (index, text) in rest[..whole].split(|byte| *byte == b'\n').enumerate() {
            if !text.is_empty() {
                let line = first_line + index;
                let event = serde_json::from_slice(text).map_err(|error| kind.damaged(path, line, error))?;
                let number = serde_json::from_slice::<Numbered>(text).ok().and_then(|one| one.number);
                let number = number.unwrap_or(next);
                if number < next {
                    return Err(kind.damaged(path, line, format!("event {number} comes after a later one")));
                }
                if number > next {
                    missing = u64::saturating_add(missing, number - next);
                    first_gap = first_gap.or(Some(line));
                }
                events.push((line, event));
                next = number.saturating_add(1);
            }
        }
        let end = (before.len() + whole) as u64;
        let file = Self { kind, path: path.to_owned(), end, head_is_open: whole == 0, next };
        // A head without a newline may be followed by blanks.
        let cut_bytes = rest[whole..].trim_ascii().len();
        Ok(Some(LedgerContent { file, head, events, loss: LedgerLoss { cut_bytes, missing }, first_gap }))
    }

    /// Appends an event. It is on stable storage when this returns.
    pub(crate) fn append(&mut self, event: &impl Serialize) -> Result<(), LedgerError> {
        let write = || {
            let mut bytes = line(event)?;
            if bytes.ends_with(b"}\n") {
                bytes.truncate(bytes.len() - 2);
                bytes.extend_from_slice(format!(",\"number\":{}}}\n", self.next).as_bytes());
            }
            if self.head_is_open {
                bytes.insert(0, b'\n');
            }
            storage::append_at(&self.path, self.end, &bytes)?;
            Ok(bytes.len() as u64)
        };
        let next = self.kind.after_failed_write;
        let written =
            write().map_err(|error: io::Error| LedgerError::io("write", &self.path, error, next))?;
        self.end += written;
        self.next += 1;
        self.head_is_open = false;
        Ok(())
    }

    /// Makes an error about the content of line `line`.
    pub(crate) fn damaged(&self, line: usize, reason: impl ToString) -> LedgerError {
        self.kind.damaged(&self.path, line, reason)
    }

    /// The path of the ledger.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the ledger, when nothing is left to undo.
    pub(crate) fn remove(self) -> Result<(), LedgerError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let next = "everything in it has been undone: remove it by hand";
                Err(LedgerError::io("remove", &self.path, error, next))
            }
            _ => {
                let _ = sync_directory(&self.path);
                Ok(())
            }
        }
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{LedgerError, LedgerFile, LedgerKind};

    const KIND: LedgerKind = LedgerKind { version: 1, after_failed_write: "", by_hand: "" };

    fn events(path: &Path) -> (LedgerFile, Vec<Value>) {
        let content = LedgerFile::read::<Value, Value>(&KIND, path).unwrap().unwrap();
        (content.file, content.events.into_iter().map(|(_, event)| event).collect())
    }

    #[test]
    fn a_line_that_a_crash_cut_off_is_overwritten_by_the_next_event() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger");
        let mut file = LedgerFile::create(&KIND, &path, &json!({"version": 1})).unwrap();
        file.append(&json!(1)).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"x\":\0\0").unwrap();
        let (mut file, before) = events(&path);
        file.append(&json!(2)).unwrap();
        assert_eq!((before, events(&path).1), (vec![json!(1)], vec![json!(1), json!(2)]));
    }

    #[test]
    fn a_head_over_many_lines_without_a_last_newline_is_a_ledger() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger");
        fs::write(&path, "{\n  \"version\": 1\n}").unwrap();
        let (mut file, none) = events(&path);
        file.append(&json!(1)).unwrap();
        assert_eq!((none, events(&path).1), (vec![], vec![json!(1)]));
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{]\n").unwrap();
        let error = LedgerFile::read::<Value, Value>(&KIND, &path).err().unwrap();
        assert!(matches!(error, LedgerError::Damaged { line: 5, .. }), "{error}");
    }

    #[test]
    fn what_is_missing_is_told_and_the_rest_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger");
        let mut file = LedgerFile::create(&KIND, &path, &json!({"version": 1})).unwrap();
        for event in 1..=4 {
            file.append(&json!({"event": event})).unwrap();
        }
        let whole = fs::read_to_string(&path).unwrap();
        let loss = || LedgerFile::read::<Value, Value>(&KIND, &path).unwrap().unwrap().loss;
        assert_eq!(loss().told(&path), None);
        let lines: Vec<&str> = whole.lines().collect();
        fs::write(&path, format!("{}\n{}\n{}", lines[0], lines[3], &lines[4][..9])).unwrap();
        let (mut file, left) = events(&path);
        assert_eq!(left, [json!({"event": 3, "number": 3})]);
        assert_eq!((loss().missing, loss().cut_bytes), (2, 9));
        let told = loss().told(&path).unwrap();
        assert!(
            told.contains("2 of its lines are missing") && told.contains("cut off after 9 bytes"),
            "{told}"
        );
        file.append(&json!({"event": 4})).unwrap();
        assert_eq!((loss().missing, loss().cut_bytes), (2, 0), "the next one goes on with the numbers");
    }
}
