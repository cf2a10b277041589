//! `journal.jsonl` has one event per line. Each event is durable before the run continues. The journal is
//! authoritative during a run, and after the run was killed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use plan::Phase;
use plan::limits::JOURNAL_LINE_BYTES;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::events::journal_table::{self, KEY_COLUMNS};
use crate::files::directory::{self, RunDirectory};
use crate::files::line_sum::{self, LineSums};
use crate::format::JOURNAL;
use crate::rows::phase_record::PhaseRecord;
use crate::table::parquet_store::SealedTable;
use crate::table::tables::{self, TableRow, TableVisitor, each_table};
use crate::table::{Cell, Row};
use crate::{
    CaseId, LaunchRow, LayoutEvent, Manifest, NodeClock, PhaseKey, PhaseRow, RecordError, StepRow,
    WarningRow, Wiped,
};

/// An event of a run.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event<'a> {
    RunStarted {
        manifest: &'a Manifest,
    },
    /// Checksum of the manifest that will be written next.
    Manifest {
        checksum: &'a str,
    },
    RunResumed {
        program_version: &'a str,
        at_unix_ns: i64,
        /// Whether earlier sealed tables have become invalid.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        sealed_again: bool,
        /// Lines that were found damaged at this time. The affected cases are measured again.
        #[serde(skip_serializing_if = "<[u64]>::is_empty")]
        damaged_lines: &'a [u64],
    },
    CaseStarted {
        case: &'a str,
        number: u32,
        at_unix_ns: i64,
    },
    PhaseFinished {
        #[serde(flatten)]
        key: &'a PhaseKey,
        tables: Tables<'a>,
        warnings: &'a [WarningRow],
    },
    /// Launches of a phase of jobs that is in progress.
    LaunchesEnded {
        #[serde(flatten)]
        key: &'a PhaseKey,
        tables: LaunchTables<'a>,
        at_unix_ns: i64,
    },
    Warning {
        warnings: [&'a WarningRow; 1],
    },
    ClocksCompared {
        case: Option<&'a str>,
        clocks: &'a [NodeClock],
        at_unix_ns: i64,
    },
    Wiped {
        case: &'a str,
        wiped: &'a Wiped,
        at_unix_ns: i64,
    },
    Layout {
        layout: &'a str,
        news: &'a LayoutEvent,
        at_unix_ns: i64,
    },
    BatchSealed {
        number: u32,
        cases: &'a [u32],
        sealed: &'a [SealedTable],
    },
    CaseFinished {
        case: &'a str,
    },
    CaseFailed {
        case: &'a str,
        message: &'a str,
    },
    RunFinished {
        outcome: &'static str,
        message: Option<&'a str>,
        at_unix_ns: Option<i64>,
    },
}

/// The tables of a phase, by column: `{"latency": {"low_ns": [..], ..}, ..}`.
#[derive(Debug)]
pub(crate) struct Tables<'a>(pub(crate) &'a PhaseRecord);

impl Serialize for Tables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = TableEntries { map: serializer.serialize_map(None)?, record: self.0 };
        entry(&mut entries.map, std::slice::from_ref(&self.0.phase))?;
        each_table(&mut entries)?;
        entries.map.end()
    }
}

/// Writes the tables of a record as entries of a map.
struct TableEntries<'a, M> {
    map: M,
    record: &'a PhaseRecord,
}

impl<M: SerializeMap> TableVisitor for TableEntries<'_, M> {
    type Error = M::Error;

    fn visit<R: TableRow>(&mut self) -> Result<(), M::Error> {
        entry(&mut self.map, R::of(self.record))
    }
}

/// Launches and their steps, by column as in [`Tables`].
#[derive(Debug)]
pub(crate) struct LaunchTables<'a> {
    pub(crate) launches: &'a [LaunchRow],
    pub(crate) steps: &'a [StepRow],
}

impl Serialize for LaunchTables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        entry(&mut map, self.launches)?;
        entry(&mut map, self.steps)?;
        map.end()
    }
}

fn entry<M: SerializeMap, R: Row>(map: &mut M, rows: &[R]) -> Result<(), M::Error> {
    if rows.is_empty() { Ok(()) } else { map.serialize_entry(R::TABLE, &TableOf(rows)) }
}

struct TableOf<'a, R>(&'a [R]);

impl<R: Row> Serialize for TableOf<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            R::COLUMNS.iter().skip(KEY_COLUMNS).map(|column| (column.name, ColumnOf(self.0, column.cell))),
        )
    }
}

struct ColumnOf<'a, R>(&'a [R], for<'b> fn(&'b R) -> Cell<'b>);

/// A text that is the same in all rows is written once, because a histogram has hundreds of rows.
impl<R> Serialize for ColumnOf<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cells = self.0.iter().map(|row| (self.1)(row));
        match cells.next() {
            Some(first @ Cell::Text(_)) if cells.all(|cell| cell == first) => first.serialize(serializer),
            _ => serializer.collect_seq(self.0.iter().map(|row| (self.1)(row))),
        }
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Null => serializer.serialize_none(),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Integer(number) => serializer.serialize_i64(*number),
            Cell::Number(number) => serializer.serialize_f64(*number),
        }
    }
}

/// Appends events. Holds a lock on the file during the run, by which a reader can distinguish a running run from a
/// killed one.
#[derive(Debug)]
pub(crate) struct JournalWriter {
    path: PathBuf,
    file: File,
    /// Length of the complete lines in bytes.
    length: u64,
    /// Number of complete lines.
    lines: u64,
    /// The number used in the checksum of the next line. `None` in a journal without checksums, which was created by
    /// an earlier program.
    next_number: Option<u64>,
}

/// The lines of a journal up to the last complete one.
#[derive(Debug, Default)]
pub(crate) struct WholeLines {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// Whether the last line is complete except for its newline.
    pub(crate) unended: bool,
    /// State of the line checksums.
    pub(crate) sums: LineSums,
}

/// The process that has locked `file`, according to `/proc/locks`. `None` if it is not on this node, or in another
/// namespace. Source: `proc_locks(5)`: number, kind, mode, access, process, `MAJOR:MINOR:INODE` of the file, …
fn locked_by(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let of_file = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", process, place, ..] = words[..] else { return None };
        (place.rsplit(':').next() == Some(&inode)).then(|| process.parse().ok())?
    };
    locks.lines().find_map(of_file).filter(|process| *process > 0)
}

/// Why a run whose journal has a second hard link is not resumed: the owner of that file is unknown.
const LINKED: &str = "its journal.jsonl has a second name (a hard link), under which it would also change; \
                      copy the directory with `cp -r` and resume the copy";

impl JournalWriter {
    pub(crate) fn create(directory: &RunDirectory) -> Result<Self, RecordError> {
        let path = directory.join(JOURNAL);
        let open = || {
            let file = directory::create_to_append(directory, &path)?;
            // Without file locks, a reader cannot distinguish "running" from "killed"; there is no other
            // disadvantage.
            let _ = file.lock();
            Ok(file)
        };
        let file = open().map_err(|source: io::Error| match source.kind() {
            // Another run has just been created here.
            ErrorKind::AlreadyExists => RecordError::NotEmpty { path: directory.path().to_owned() },
            _ => RecordError::Io { action: "write", path: path.clone(), source },
        })?;
        Ok(Self { path, file, length: 0, lines: 0, next_number: Some(1) })
    }

    /// Checks that its name in `directory` still leads to it. What was written to a file without a name is lost.
    pub(crate) fn check_in_place(&self, directory: &RunDirectory) -> Result<(), RecordError> {
        match directory.names(JOURNAL, &self.file) {
            Ok(true) => Ok(()),
            Ok(false) => Err(RecordError::Unreadable {
                path: self.path.clone(),
                message: "it was removed or replaced while the run was being recorded, so its lines are lost; find \
                          out who writes to that directory, and start a new run"
                    .to_owned(),
            }),
            Err(source) => Err(RecordError::io("read", &self.path)(source)),
        }
    }

    /// The number of lines written.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Reopens the journal in `directory`. No other process may hold it.
    pub(crate) fn resume(directory: &RunDirectory) -> Result<Self, RecordError> {
        let path = directory.join(JOURNAL);
        let file = directory::open_to_append(directory, &path).map_err(RecordError::io("write", &path))?;
        if file.metadata().map_err(RecordError::io("read", &path))?.nlink() > 1 {
            return Err(RecordError::CannotResume {
                path: directory.path().to_owned(),
                why: LINKED.to_owned(),
            });
        }
        match file.try_lock() {
            // As above: a file system without locks has no other disadvantage.
            Ok(()) | Err(TryLockError::Error(_)) => {
                Ok(Self { path, file, length: 0, lines: 0, next_number: None })
            }
            Err(TryLockError::WouldBlock) => {
                Err(RecordError::Running { path: directory.path().to_owned(), process: locked_by(&file) })
            }
        }
    }

    /// Truncates the journal after its complete lines, `whole`, and adds the last newline if it is missing.
    pub(crate) fn cut(&mut self, whole: &WholeLines) -> Result<(), RecordError> {
        self.length = whole.bytes;
        self.lines = whole.lines;
        self.next_number = whole.sums.next_number(whole.lines);
        let cut = || {
            self.file.set_len(whole.bytes)?;
            if whole.unended { (&self.file).write_all(b"\n") } else { Ok(()) }
        };
        cut().map_err(RecordError::io("write", &self.path))?;
        self.length += u64::from(whole.unended);
        Ok(())
    }

    /// Appends a line and returns its position. A partial write is undone, so that later lines remain readable.
    pub(crate) fn append(&mut self, event: &Event<'_>, durable: bool) -> Result<LinePosition, RecordError> {
        let mut line = serde_json::to_vec(event).map_err(|error| RecordError::Unreadable {
            path: self.path.clone(),
            message: format!("an event could not be encoded: {error}; report this as a bug"),
        })?;
        if let Some(number) = self.next_number {
            line_sum::seal(&mut line, number);
        }
        line.push(b'\n');
        let written =
            self.file.write_all(&line).and_then(|()| if durable { self.file.sync_data() } else { Ok(()) });
        match written {
            Ok(()) => {
                self.lines += 1;
                self.next_number = self.next_number.map(|number| number + 1);
                let place = LinePosition { start: self.length, length: line.len(), line: self.lines };
                self.length += line.len() as u64;
                Ok(place)
            }
            Err(source) => {
                // If this fails as well, nothing more can be done. A reader skips an incomplete line.
                let _ = self.file.set_len(self.length);
                Err(RecordError::Io { action: "write", path: self.path.clone(), source })
            }
        }
    }
}

/// A line as read, with the fields of all kinds of events. Unknown events and fields of later versions are ignored.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Line<'a> {
    #[serde(borrow)]
    pub(crate) event: Cow<'a, str>,
    pub(crate) case: Option<String>,
    pub(crate) repetition: Option<u32>,
    pub(crate) phase: Option<Phase>,
    pub(crate) number: Option<u32>,
    #[serde(default)]
    pub(crate) cases: Vec<u32>,
    pub(crate) message: Option<String>,
    pub(crate) outcome: Option<String>,
    pub(crate) at_unix_ns: Option<i64>,
    pub(crate) wiped: Option<Wiped>,
    pub(crate) layout: Option<String>,
    pub(crate) news: Option<LayoutEvent>,
    #[serde(default)]
    pub(crate) clocks: Vec<NodeClock>,
    #[serde(default)]
    pub(crate) sealed_again: bool,
    #[serde(default)]
    pub(crate) damaged_lines: Vec<u64>,
    #[serde(borrow)]
    manifest: Option<&'a RawValue>,
    pub(crate) checksum: Option<String>,
    #[serde(borrow)]
    tables: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) warnings: Vec<WarningRow>,
    #[serde(default)]
    pub(crate) sealed: Vec<SealedTable>,
}

/// Separates the key of a finished phase from its rows, which are the largest part of a journal.
const TABLES: &[u8] = b",\"tables\":";
/// The key of a finished phase ends within this many bytes.
const KEY_BYTES_MAX: usize = 4096;

impl<'a> Line<'a> {
    /// Parses the event in `text`. If it is a finished phase and the line is `whole`, only the key is parsed;
    /// [`Line::all`] parses the rows on demand.
    pub(crate) fn parse(text: &'a [u8], whole: bool) -> Result<Self, String> {
        const PHASE: &[u8] = b"{\"event\":\"phase-finished\",";
        if whole && text.starts_with(PHASE) && text.ends_with(b"}\n") {
            let head = &text[..text.len().min(KEY_BYTES_MAX)];
            let tables = head.windows(TABLES.len()).position(|window| window == TABLES);
            let key = tables.and_then(|tables| PhaseHead::parse(&head[..tables]));
            if let Some(PhaseHead { case, repetition, phase }) = key {
                let (case, repetition, phase) = (Some(case), Some(repetition), Some(phase));
                return Ok(Self {
                    event: "phase-finished".into(),
                    case,
                    repetition,
                    phase,
                    ..Self::default()
                });
            }
        }
        Self::all(text)
    }

    /// Parses the event in `text` completely.
    pub(crate) fn all(text: &'a [u8]) -> Result<Self, String> {
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }
}

/// The key of a finished phase.
#[derive(Deserialize)]
struct PhaseHead {
    case: String,
    repetition: u32,
    phase: Phase,
}

impl PhaseHead {
    /// Parses the beginning of a line, up to its rows.
    fn parse(head: &[u8]) -> Option<Self> {
        let mut object = head.to_vec();
        object.push(b'}');
        serde_json::from_slice(&object).ok()
    }
}

impl Line<'_> {
    /// The start of the run, if the event has the manifest.
    pub(crate) fn started_unix_ns(&self) -> Option<Result<i64, String>> {
        #[derive(Deserialize)]
        struct Start {
            started_unix_ns: i64,
        }
        let parse = |raw: &RawValue| serde_json::from_str(raw.get()).map_err(|error| error.to_string());
        self.manifest.map(|raw| parse(raw).map(|start: Start| start.started_unix_ns))
    }

    fn key(&self) -> Result<PhaseKey, String> {
        let key = || {
            Some(PhaseKey {
                case: self.case.clone()?.into(),
                repetition: self.repetition?,
                phase: self.phase?,
            })
        };
        key().ok_or_else(|| "the event does not name its phase".to_owned())
    }

    fn tables(&self) -> Result<RawTables<'_>, String> {
        let tables = self.tables.ok_or("the event contains no tables")?;
        serde_json::from_str(tables.get()).map_err(|error| error.to_string())
    }

    /// The launches in an event, and their steps.
    fn launches(&self) -> Result<(Vec<LaunchRow>, Vec<StepRow>), String> {
        let (key, tables) = (self.key()?, self.tables()?);
        Ok((rows(&key, &tables)?, rows(&key, &tables)?))
    }

    /// The rows of a finished phase.
    fn record(&self) -> Result<PhaseRecord, String> {
        let (key, tables) = (self.key()?, self.tables()?);
        let phase = phase_row(&key, &tables)?;
        let record = PhaseRecord { warnings: self.warnings.clone(), ..PhaseRecord::new(phase) };
        let mut reader = TableReader { key: &key, tables: &tables, record };
        each_table(&mut reader)?;
        let mut record = reader.record;
        // Up to version 2 a run had one node, which its tasks name.
        if let Some(task) = record.tasks.first() {
            let unnamed = record.devices.iter_mut().filter(|device| device.node.is_empty());
            unnamed.for_each(|device| device.node.clone_from(&task.node));
        }
        Ok(record)
    }

    /// A finished phase, whose rows are checked and left where they are in the line `text`.
    fn checked(self, text: &[u8], place: LinePosition) -> Result<(PhaseLine, Vec<WarningRow>), String> {
        let (key, tables) = (self.key()?, self.tables()?);
        phase_row(&key, &tables)?;
        let mut checker = TableChecker { key: &key, tables: &tables, text, places: Vec::new() };
        checker.check::<PhaseRow>()?;
        each_table(&mut checker)?;
        let tables = checker.places.into();
        let PhaseKey { repetition, phase, .. } = key;
        Ok((PhaseLine { repetition, phase, place, tables }, self.warnings))
    }
}

/// The tables of an event, by name.
type RawTables<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

fn rows<R: Row>(key: &PhaseKey, tables: &RawTables<'_>) -> Result<Vec<R>, String> {
    tables.get(R::TABLE).map_or_else(|| Ok(Vec::new()), |table| journal_table::rows(key, table.get()))
}

fn phase_row(key: &PhaseKey, tables: &RawTables<'_>) -> Result<PhaseRow, String> {
    rows(key, tables)?.pop().ok_or_else(|| "the event contains no row of the phase itself".to_owned())
}

/// Reads the tables of an event into a record.
struct TableReader<'a> {
    key: &'a PhaseKey,
    tables: &'a RawTables<'a>,
    record: PhaseRecord,
}

impl TableVisitor for TableReader<'_> {
    type Error = String;

    fn visit<R: TableRow>(&mut self) -> Result<(), String> {
        *R::of_mut(&mut self.record) = rows(self.key, self.tables)?;
        Ok(())
    }
}

/// Checks the tables of an event, and notes where they are in its line.
struct TableChecker<'a> {
    key: &'a PhaseKey,
    tables: &'a RawTables<'a>,
    text: &'a [u8],
    places: Vec<TablePosition>,
}

impl TableChecker<'_> {
    fn check<R: Row>(&mut self) -> Result<(), String> {
        let Some(table) = self.tables.get(R::TABLE).map(|table| table.get()) else { return Ok(()) };
        journal_table::check::<R>(self.key, table)?;
        let place = |bytes: usize| u32::try_from(bytes).map_err(|error| error.to_string());
        let start = place(table.as_ptr().addr() - self.text.as_ptr().addr())?;
        self.places.push(TablePosition { table: number_of(R::TABLE)?, start, length: place(table.len())? });
        Ok(())
    }
}

impl TableVisitor for TableChecker<'_> {
    type Error = String;

    fn visit<R: TableRow>(&mut self) -> Result<(), String> {
        self.check::<R>()
    }
}

/// A finished phase in the journal, whose rows are read on demand.
#[derive(Debug, Clone)]
pub(crate) struct PhaseLine {
    repetition: u32,
    phase: Phase,
    pub(crate) place: LinePosition,
    /// Its tables with rows.
    tables: Box<[TablePosition]>,
}

/// The position of a table in its line. There is one for each table of each phase.
#[derive(Debug, Clone, Copy)]
struct TablePosition {
    /// Its place in [`tables::TABLES`].
    table: u8,
    start: u32,
    length: u32,
}

/// The place of `table` in [`tables::TABLES`].
fn number_of(table: &str) -> Result<u8, String> {
    let place = tables::TABLES.iter().position(|known| *known == table);
    place.and_then(|place| u8::try_from(place).ok()).ok_or_else(|| format!("{table} is no table"))
}

/// Number of bytes read at once, since a journal is read from beginning to end.
const READ_BYTES: usize = 256 << 10;
/// A buffer that was larger than this for one line is released before the next one. The manifest is such a line.
const KEPT_BYTES: usize = 1 << 20;

/// Reads the lines of a journal one at a time, and keeps track of their positions.
pub(crate) struct JournalReader<F = File> {
    file: BufReader<F>,
    buffer: Vec<u8>,
    /// Position of the next line.
    position: u64,
    /// Number of the last line that was read, starting at 1.
    pub(crate) line: u64,
}

/// The position of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinePosition {
    start: u64,
    length: usize,
    /// Number of the line, starting at 1.
    pub(crate) line: u64,
}

impl LinePosition {
    /// Position of the next line.
    pub(crate) fn end(self) -> u64 {
        self.start + self.bytes()
    }

    /// Its length.
    pub(crate) const fn bytes(self) -> u64 {
        self.length as u64
    }
}

impl JournalReader {
    /// Opens the journal of the run in `directory`.
    pub(crate) fn open(directory: &RunDirectory) -> std::io::Result<Self> {
        directory::open(directory, &directory.join(JOURNAL)).map(Self::of)
    }

    /// Whether a recorder holds the journal.
    pub(crate) fn is_held(&self) -> bool {
        match self.file.get_ref().try_lock_shared() {
            Ok(()) => {
                // This only releases the lock of this reader.
                let _ = self.file.get_ref().unlock();
                false
            }
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => false,
        }
    }

    /// Reads the finished phase in the line at `place`.
    pub(crate) fn record(&mut self, place: LinePosition) -> Result<PhaseRecord, String> {
        let text = self.again(place).map_err(|error| error.to_string())?;
        Line::all(text)?.record()
    }

    /// Reads the launches in the line at `place`, and their steps.
    pub(crate) fn launches(&mut self, place: LinePosition) -> Result<(Vec<LaunchRow>, Vec<StepRow>), String> {
        let text = self.again(place).map_err(|error| error.to_string())?;
        Line::all(text)?.launches()
    }

    /// Checks the finished phase in the line at `place`. Returns an error if the line cannot be read now, and a
    /// description if the line is damaged.
    pub(crate) fn check(
        &mut self,
        place: LinePosition,
    ) -> std::io::Result<Result<(PhaseLine, Vec<WarningRow>), String>> {
        let text = self.again(place)?;
        Ok(Line::all(text).and_then(|line| line.checked(text, place)))
    }

    /// Reads the rows of one table of a finished phase of `case`.
    pub(crate) fn rows<R: Row>(&mut self, case: &CaseId, line: &PhaseLine) -> Result<Vec<R>, String> {
        let number = number_of(R::TABLE)?;
        let Some(table) = line.tables.iter().find(|table| table.table == number) else {
            return Ok(Vec::new());
        };
        let start = line.place.start + u64::from(table.start);
        let text = self.bytes(start, table.length as usize).map_err(|error| error.to_string())?;
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        let key = PhaseKey { case: case.clone(), repetition: line.repetition, phase: line.phase };
        journal_table::rows(&key, text)
    }

    /// Reads the manifest in the line at `place`.
    pub(crate) fn manifest(&mut self, place: LinePosition) -> Result<Manifest, String> {
        let text = self.again(place).map_err(|error| error.to_string())?;
        let manifest = Line::all(text)?.manifest.ok_or("the event contains no manifest")?;
        serde_json::from_str(manifest.get()).map_err(|error| error.to_string())
    }

    /// Reads the line at `place` again.
    fn again(&mut self, place: LinePosition) -> std::io::Result<&[u8]> {
        self.bytes(place.start, place.length)
    }

    fn bytes(&mut self, start: u64, length: usize) -> std::io::Result<&[u8]> {
        self.clear();
        self.buffer.resize(length, 0);
        // Through the buffer of the file, the few bytes of a table would take the reading of all that fits in it.
        self.file.get_ref().read_exact_at(&mut self.buffer, start)?;
        Ok(&self.buffer)
    }
}

impl<F: Read> JournalReader<F> {
    pub(crate) fn of(file: F) -> Self {
        let file = BufReader::with_capacity(READ_BYTES, file);
        Self { file, buffer: Vec::new(), position: 0, line: 0 }
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BYTES);
    }

    /// Reads the next line: its position, its text, and whether its end was written. If the line contains zero bytes,
    /// of which a sparse file may have any number, the text is truncated before the first one.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<(LinePosition, &[u8], bool)>> {
        self.clear();
        let (mut length, mut whole, mut zeros) = (0, false, false);
        while !whole {
            let read = self.file.fill_buf()?;
            if read.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', read);
            let taken = end.map_or(read.len(), |end| end + 1);
            whole = end.is_some();
            if !zeros {
                self.buffer.extend_from_slice(&read[..taken]);
                zeros = memchr::memchr(0, &read[..taken]).is_some();
            }
            self.file.consume(taken);
            length += taken;
            if length as u64 > JOURNAL_LINE_BYTES {
                self.buffer = Vec::new();
                let what = format!("the next line has more than {}", plan::Bytes(JOURNAL_LINE_BYTES));
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, what));
            }
        }
        if length == 0 {
            return Ok(None);
        }
        self.line += 1;
        let place = LinePosition { start: self.position, length, line: self.line };
        self.position += length as u64;
        Ok(Some((place, &self.buffer, whole)))
    }
}
