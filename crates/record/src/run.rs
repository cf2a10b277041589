//! Reads a run, whole or not: what can be read is returned, what cannot is named.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::journal::{JOURNAL, JournalReader, Line, Place};
use crate::manifest::MANIFEST;
use crate::recorder::PhaseRecord;
use crate::sealed::{SealedTable, read_table, table_path, verify};
use crate::store::{Rows, Store, add, rows_of};
use crate::{
    CaseId, DeviceRow, FORMAT_VERSION, LatencyRow, Manifest, PhaseRow, RecordError, Row, SeriesRow, TaskRow,
    WarningRow, Wiped,
};

/// How far a run came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// All cases were gone through.
    Complete,
    /// The user ended it; the finished phases are there.
    Interrupted,
    /// It could not go on.
    Failed {
        /// Why.
        message: String,
    },
    /// Its journal ends without an end: it was killed, or the host went down.
    Killed,
    /// It goes on: the program that writes it holds the journal.
    Running,
}

/// A case that ended badly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCase {
    /// [`plan::Case::id`].
    pub case: String,
    /// Why.
    pub message: String,
}

/// Something in the run directory that could not be read. All the rest is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, and what was read in its place or is lost.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

/// A run as it can be read.
///
/// The journal is the truth while a run goes on. Tables are read where they are whole, which is
/// faster; where they are not, the journal fills the rest. Rows stand in the order of the cases.
///
/// Phases and warnings are in memory. Of the other tables the rows of one case are handed out when
/// they are asked for, as a long study has millions.
#[derive(Debug, Clone)]
pub struct Run {
    /// Where it is.
    pub directory: PathBuf,
    /// What was asked, and where it ran.
    pub manifest: Manifest,
    /// Phases.
    pub phases: Vec<PhaseRow>,
    /// Warnings.
    pub warnings: Vec<WarningRow>,
    /// How far it came.
    pub state: RunState,
    /// Cases that ended well, in order.
    pub finished_cases: Vec<String>,
    /// Cases that ended badly.
    pub failed_cases: Vec<FailedCase>,
    /// What was wiped before which case, in order.
    pub wiped: Vec<(String, Wiped)>,
    /// What could not be read.
    pub damage: Vec<Damage>,
    store: Store,
}

impl Run {
    /// A complete run that is in no directory: made of `records`, in the order in which they stand.
    #[must_use]
    pub fn in_memory(manifest: Manifest, records: Vec<PhaseRecord>) -> Self {
        let mut run = Self {
            directory: PathBuf::new(),
            manifest,
            phases: Vec::new(),
            warnings: Vec::new(),
            state: RunState::Complete,
            finished_cases: Vec::new(),
            failed_cases: Vec::new(),
            wiped: Vec::new(),
            damage: Vec::new(),
            store: Store::default(),
        };
        for record in records {
            run.take(record);
        }
        run.finished_cases = run.store.cases.iter().map(ToString::to_string).collect();
        run
    }

    /// The cases that have rows, in the order in which these stand on disk. Going through cases in
    /// this order reads everything once.
    #[must_use]
    pub fn cases(&self) -> &[CaseId] {
        &self.store.cases
    }

    /// The tasks of all phases of `case`.
    #[must_use]
    pub fn tasks(&self, case: &str) -> Rows<TaskRow> {
        rows_of(&self.store.tasks, case)
    }

    /// The latency histograms of all phases of `case`.
    #[must_use]
    pub fn latency(&self, case: &str) -> Rows<LatencyRow> {
        rows_of(&self.store.latency, case)
    }

    /// The seconds of all phases of `case`.
    #[must_use]
    pub fn series(&self, case: &str) -> Rows<SeriesRow> {
        rows_of(&self.store.series, case)
    }

    /// The devices in all phases of `case`.
    #[must_use]
    pub fn devices(&self, case: &str) -> Rows<DeviceRow> {
        rows_of(&self.store.devices, case)
    }

    /// Reads the run in `directory`.
    ///
    /// # Errors
    /// There is no run, a later program wrote it, or neither the manifest nor the journal says
    /// what the run was. All lesser damage is in [`Run::damage`].
    pub fn open(directory: &Path) -> Result<Self, RecordError> {
        let (manifest_path, journal_path) = (directory.join(MANIFEST), directory.join(JOURNAL));
        if !manifest_path.exists() && !journal_path.exists() {
            return Err(RecordError::NotARun { path: directory.to_path_buf() });
        }
        let mut damage = Vec::new();
        let manifest = match read_manifest(directory, &manifest_path) {
            Err(error @ RecordError::NewerVersion { .. }) => return Err(error),
            other => other,
        };
        let (mut journal, index) = read_journal(&journal_path, &mut damage);
        let manifest = match (manifest, index.manifest.clone()) {
            (Ok(manifest), _) => manifest,
            (Err(error), Some(manifest)) => {
                check_version(directory, manifest.format_version)?;
                damage.push(Damage {
                    path: manifest_path,
                    what: format!("{error}; read from the journal instead"),
                });
                manifest
            }
            (Err(error), None) => return Err(error),
        };
        let mut run = Self {
            directory: directory.to_path_buf(),
            manifest,
            phases: Vec::new(),
            warnings: Vec::new(),
            state: index.state(),
            finished_cases: index.finished,
            failed_cases: index.failed,
            wiped: index.wiped,
            damage,
            store: Store::default(),
        };
        match journal.as_mut() {
            Some(journal) => run.fill(journal, index.cases),
            None => {
                run.state =
                    RunState::Failed { message: "its journal is lost: how it ended is not known".to_owned() };
                run.fill_without_journal();
            }
        }
        if run.manifest.finished_unix_ns.is_none() {
            run.manifest.finished_unix_ns = index.finished_unix_ns;
        }
        Ok(run)
    }

    /// Takes each case from its tables, or from the journal where a table is not whole.
    fn fill(&mut self, journal: &mut JournalReader, cases: BTreeMap<u32, CaseIndex>) {
        for (number, case) in cases {
            let broken = match &case.sealed {
                Some(sealed) => self.take_tables(number, sealed),
                None => true,
            };
            if !broken {
                continue;
            }
            self.warnings.extend(case.warnings);
            for place in case.phases {
                match read_phase(journal, place) {
                    Ok(record) => self.take(record),
                    Err(what) => self.damage.push(Damage {
                        path: self.directory.join(JOURNAL),
                        what: format!("line {}: {what}; the phase it was about is lost", place.line),
                    }),
                }
            }
        }
    }

    /// Reads the tables of one case; when one of them is damaged none is taken and `true` is
    /// returned, so that the case is read from the journal as a whole.
    fn take_tables(&mut self, number: u32, sealed: &[SealedTable]) -> bool {
        let mut rows = CaseRows::default();
        let mut broken = false;
        for table in sealed {
            let path = table_path(&self.directory, &table.table, number);
            if let Err(error) = verify(&path, table).and_then(|()| rows.read(&table.table, &path)) {
                broken = true;
                self.damage.push(Damage {
                    path,
                    what: format!("{error}; its rows were read from the journal instead"),
                });
            }
        }
        if !broken {
            self.append(rows);
        }
        broken
    }

    /// Without a journal the tables that are there are all there is.
    fn fill_without_journal(&mut self) {
        for table in CaseRows::TABLES {
            for path in tables_in(&self.directory.join(table)) {
                match CaseRows::read_doubtful(table, &path) {
                    Ok(rows) => self.append(rows),
                    Err(error) => {
                        self.damage.push(Damage { path, what: format!("{error}; its rows are lost") })
                    }
                }
            }
        }
    }

    fn append(&mut self, rows: CaseRows) {
        for row in &rows.phases {
            if !self.store.cases.contains(&row.key.case) {
                self.store.cases.push(row.key.case.clone());
            }
        }
        self.phases.extend(rows.phases);
        add(&mut self.store.tasks, rows.tasks, |row| &row.key);
        add(&mut self.store.latency, rows.latency, |row| &row.key);
        add(&mut self.store.series, rows.series, |row| &row.key);
        add(&mut self.store.devices, rows.devices, |row| &row.key);
        self.warnings.extend(rows.warnings);
    }

    fn take(&mut self, mut record: PhaseRecord) {
        self.phases.push(record.phase.clone());
        self.warnings.append(&mut record.warnings);
        self.store.take(record);
    }
}

/// The rows of the tables of one case.
#[derive(Debug, Default)]
struct CaseRows {
    phases: Vec<PhaseRow>,
    tasks: Vec<TaskRow>,
    latency: Vec<LatencyRow>,
    series: Vec<SeriesRow>,
    devices: Vec<DeviceRow>,
    warnings: Vec<WarningRow>,
}

impl CaseRows {
    const TABLES: [&'static str; 6] = [
        PhaseRow::TABLE,
        TaskRow::TABLE,
        LatencyRow::TABLE,
        SeriesRow::TABLE,
        DeviceRow::TABLE,
        WarningRow::TABLE,
    ];

    /// Reads a table that is the one that was sealed.
    fn read(&mut self, table: &str, path: &Path) -> Result<(), String> {
        match table {
            PhaseRow::TABLE => self.phases = read_table(path)?,
            TaskRow::TABLE => self.tasks = read_table(path)?,
            LatencyRow::TABLE => self.latency = read_table(path)?,
            SeriesRow::TABLE => self.series = read_table(path)?,
            DeviceRow::TABLE => self.devices = read_table(path)?,
            WarningRow::TABLE => self.warnings = read_table(path)?,
            // A table of a later program in a directory of this version: nothing here asks for it.
            _ => {}
        }
        Ok(())
    }

    /// Reads a table that nothing vouches for. The table reader panics on some kinds of damage
    /// (a test has them), which ends here: the table is lost and nothing else.
    fn read_doubtful(table: &str, path: &Path) -> Result<Self, String> {
        let read = || {
            let mut rows = Self::default();
            rows.read(table, path).map(|()| rows)
        };
        std::panic::catch_unwind(read)
            .unwrap_or_else(|_| Err("its bytes make no sense to the table reader".to_owned()))
    }
}

/// What the journal says of one case; number 0 holds what belongs to the run as a whole.
#[derive(Debug, Default)]
struct CaseIndex {
    id: String,
    phases: Vec<Place>,
    warnings: Vec<WarningRow>,
    sealed: Option<Vec<SealedTable>>,
}

/// What the journal says of the run, without the rows.
#[derive(Debug, Default)]
struct JournalIndex {
    manifest: Option<Manifest>,
    cases: BTreeMap<u32, CaseIndex>,
    current: u32,
    finished: Vec<String>,
    failed: Vec<FailedCase>,
    wiped: Vec<(String, Wiped)>,
    end: Option<RunState>,
    finished_unix_ns: Option<i64>,
    held: bool,
}

impl JournalIndex {
    fn state(&self) -> RunState {
        match &self.end {
            Some(state) => state.clone(),
            None if self.held => RunState::Running,
            None => RunState::Killed,
        }
    }

    fn take(&mut self, line: Line<'_>, place: Place) -> Result<(), String> {
        match line.event.as_ref() {
            "run-started" => self.manifest = line.manifest().transpose()?,
            "case-started" => {
                self.current = line.number.ok_or("a case started without a number")?;
                let id = line.case.ok_or("a case started without a name")?;
                self.cases.insert(self.current, CaseIndex { id, ..CaseIndex::default() });
            }
            "phase-finished" => {
                let id = line.case.ok_or("a phase finished without a case")?;
                if self.cases.get(&self.current).is_none_or(|case| case.id != id) {
                    // The line that started the case was lost.
                    self.current += 1;
                    self.cases.insert(self.current, CaseIndex { id, ..CaseIndex::default() });
                }
                self.cases.entry(self.current).or_default().phases.push(place);
            }
            "warning" => {
                for warning in line.warnings {
                    let number = self.number_of(&warning);
                    self.cases.entry(number).or_default().warnings.push(warning);
                }
            }
            "case-sealed" => {
                let number = line.number.ok_or("a case was sealed without a number")?;
                self.cases.entry(number).or_default().sealed = Some(line.sealed);
            }
            "case-finished" => self.finished.extend(line.case),
            "case-failed" => self.failed.push(FailedCase {
                case: line.case.unwrap_or_default(),
                message: line.message.unwrap_or_default(),
            }),
            "wiped" => self.wiped.extend(line.case.zip(line.wiped)),
            "run-finished" => {
                self.finished_unix_ns = line.at_unix_ns;
                self.end = Some(match line.outcome.as_deref() {
                    Some("complete") => RunState::Complete,
                    Some("interrupted") => RunState::Interrupted,
                    _ => RunState::Failed { message: line.message.unwrap_or_default() },
                });
            }
            // An event that a later program of the same format version added.
            _ => {}
        }
        Ok(())
    }

    /// A warning belongs to the case under way, as the recorder puts it, or to the run.
    fn number_of(&self, warning: &WarningRow) -> u32 {
        let case = self.cases.get(&self.current).filter(|case| case.sealed.is_none());
        match (&warning.key, case) {
            (Some(key), Some(case)) if key.case == case.id => self.current,
            _ => 0,
        }
    }
}

fn read_journal(path: &Path, damage: &mut Vec<Damage>) -> (Option<JournalReader>, JournalIndex) {
    let mut index = JournalIndex::default();
    let mut damaged = |what: String| damage.push(Damage { path: path.to_path_buf(), what });
    let mut journal = match JournalReader::open(path) {
        Ok(journal) => journal,
        Err(error) => {
            damaged(format!("{error}; only sealed tables were read"));
            return (None, index);
        }
    };
    index.held = journal.is_held();
    loop {
        match journal.next() {
            Ok(None) => break,
            Ok(Some((place, text, whole))) => {
                let taken = serde_json::from_slice::<Line<'_>>(text)
                    .map_err(|error| error.to_string())
                    .and_then(|line| index.take(line, place));
                match taken {
                    Ok(()) => {}
                    // While the run goes on, the line is just being written.
                    Err(_) if !whole && index.held => {}
                    Err(_) if !whole => damaged(format!(
                        "line {} is torn after {} bytes: the run was ended while it was written; \
                         what it was about is lost",
                        place.line,
                        text.len()
                    )),
                    Err(error) => {
                        damaged(format!("line {} cannot be read: {error}; it is skipped", place.line))
                    }
                }
            }
            Err(error) => {
                damaged(format!("reading stopped after line {}: {error}", journal.line));
                break;
            }
        }
    }
    (Some(journal), index)
}

fn read_phase(journal: &mut JournalReader, place: Place) -> Result<PhaseRecord, String> {
    let text = journal.again(place).map_err(|error| error.to_string())?;
    let line: Line<'_> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    line.record()
}

fn read_manifest(directory: &Path, path: &Path) -> Result<Manifest, RecordError> {
    let text = fs::read(path).map_err(RecordError::io("read", path))?;
    let unreadable = |error: serde_json::Error| RecordError::Unreadable {
        path: path.to_path_buf(),
        message: format!("it is no manifest of a run ({error}); restore it, or repeat the run"),
    };
    let version: Version = serde_json::from_slice(&text).map_err(unreadable)?;
    check_version(directory, version.format_version)?;
    serde_json::from_slice(&text).map_err(unreadable)
}

/// The one field of a manifest that every version has.
#[derive(serde::Deserialize)]
struct Version {
    format_version: u32,
}

fn check_version(directory: &Path, found: u32) -> Result<(), RecordError> {
    if found > FORMAT_VERSION {
        return Err(RecordError::NewerVersion { path: directory.to_path_buf(), found });
    }
    Ok(())
}

/// The whole tables in `directory`, in the order of the cases.
fn tables_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let is_table = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "parquet")
            && path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_table).collect();
    paths.sort();
    paths
}
