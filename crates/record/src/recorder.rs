//! Writes a run: the journal as things happen, the tables when a case ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::files::{replace, sync_directory};
use crate::journal::{Event, JOURNAL, JournalWriter, Tables};
use crate::manifest::MANIFEST;
use crate::sealed::{SealedTable, TableWriter};
use crate::{DeviceRow, LatencyRow, Manifest, PhaseRow, RecordError, SeriesRow, TaskRow, WarningRow, Wiped};

/// Everything that was observed in one phase of one repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseRecord {
    /// The phase as a whole.
    pub phase: PhaseRow,
    /// Its tasks.
    pub tasks: Vec<TaskRow>,
    /// Its latency histogram.
    pub latency: Vec<LatencyRow>,
    /// Its seconds.
    pub series: Vec<SeriesRow>,
    /// Its devices.
    pub devices: Vec<DeviceRow>,
    /// What a reader must know beside its figures.
    pub warnings: Vec<WarningRow>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All cases were gone through.
    Complete,
    /// The user ended it.
    Interrupted,
    /// It could not go on, and why.
    Failed(String),
}

/// Writes the record of a run.
///
/// What a call has returned from is on stable storage, except that [`Recorder::create`] leaves
/// that to the first phase: before it there is nothing to lose, and a run should start at once.
pub struct Recorder {
    directory: PathBuf,
    manifest: Manifest,
    journal: JournalWriter,
    case: Option<OpenCase>,
    cases: u32,
    run_warnings: Vec<WarningRow>,
    durable: bool,
}

/// The rows of the case under way.
struct OpenCase {
    id: String,
    number: u32,
    phases: TableWriter<PhaseRow>,
    tasks: TableWriter<TaskRow>,
    latency: TableWriter<LatencyRow>,
    series: TableWriter<SeriesRow>,
    devices: TableWriter<DeviceRow>,
    warnings: TableWriter<WarningRow>,
}

impl OpenCase {
    fn new(directory: &Path, id: &str, number: u32) -> Self {
        Self {
            id: id.to_owned(),
            number,
            phases: TableWriter::new(directory, number),
            tasks: TableWriter::new(directory, number),
            latency: TableWriter::new(directory, number),
            series: TableWriter::new(directory, number),
            devices: TableWriter::new(directory, number),
            warnings: TableWriter::new(directory, number),
        }
    }

    fn add(&mut self, record: &PhaseRecord) -> Result<(), RecordError> {
        self.phases.add(std::slice::from_ref(&record.phase))?;
        self.tasks.add(&record.tasks)?;
        self.latency.add(&record.latency)?;
        self.series.add(&record.series)?;
        self.devices.add(&record.devices)?;
        self.warnings.add(&record.warnings)
    }

    fn seal(self) -> Result<Vec<SealedTable>, RecordError> {
        let sealed = [
            self.phases.seal()?,
            self.tasks.seal()?,
            self.latency.seal()?,
            self.series.seal()?,
            self.devices.seal()?,
            self.warnings.seal()?,
        ];
        Ok(sealed.into_iter().flatten().collect())
    }
}

impl Recorder {
    /// Makes the run directory and starts its record.
    ///
    /// # Errors
    /// The directory holds something already, or cannot be written.
    pub fn create(directory: &Path, manifest: &Manifest) -> Result<Self, RecordError> {
        let existed = directory.exists();
        fs::create_dir_all(directory).map_err(RecordError::io("make the run directory", directory))?;
        let mut entries = fs::read_dir(directory).map_err(RecordError::io("read", directory))?;
        if entries.next().is_some() {
            return Err(RecordError::NotEmpty { path: directory.to_path_buf() });
        }
        let directory = fs::canonicalize(directory).map_err(RecordError::io("find", directory))?;
        let journal = start(&directory, manifest).inspect_err(|_| {
            // The error that counts is the first; the directory is left as it was found.
            let _ = fs::remove_file(directory.join(JOURNAL));
            if !existed {
                let _ = fs::remove_dir(&directory);
            }
        })?;
        Ok(Self {
            directory,
            manifest: manifest.clone(),
            journal,
            case: None,
            cases: 0,
            run_warnings: Vec::new(),
            durable: false,
        })
    }

    /// Where the run is recorded, as an absolute path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A case begins.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn case_started(&mut self, case: &str) -> Result<(), RecordError> {
        let number = self.cases + 1;
        let at_unix_ns = now_unix_ns();
        self.journal.append(&Event::CaseStarted { case, number, at_unix_ns }, false)?;
        self.cases = number;
        self.case = Some(OpenCase::new(&self.directory, case, number));
        Ok(())
    }

    /// A phase has ended; all of it is on stable storage when this returns.
    ///
    /// # Errors
    /// The journal cannot be written, or the case is not under way.
    pub fn phase_finished(&mut self, record: &PhaseRecord) -> Result<(), RecordError> {
        let key = &record.phase.key;
        let Some(case) = self.case.as_mut().filter(|case| key.case == case.id) else {
            return Err(RecordError::NoSuchCase { what: "a phase", case: key.case.to_string() });
        };
        let event = Event::PhaseFinished { key, tables: Tables(record), warnings: &record.warnings };
        self.journal.append(&event, true)?;
        if !self.durable {
            write_manifest(&self.directory, &self.manifest, true)?;
            self.directory.parent().map_or(Ok(()), sync_directory)?;
            self.durable = true;
        }
        case.add(record)
    }

    /// A warning that belongs to no finished phase.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn warning(&mut self, warning: &WarningRow) -> Result<(), RecordError> {
        self.journal.append(&Event::Warning { warnings: [warning] }, true)?;
        let of_case = |case: &&mut OpenCase| warning.key.as_ref().is_some_and(|key| key.case == case.id);
        match self.case.as_mut().filter(of_case) {
            Some(case) => case.warnings.add(std::slice::from_ref(warning)),
            None => {
                self.run_warnings.push(warning.clone());
                Ok(())
            }
        }
    }

    /// Data was wiped before the first pass of `case`: that is on stable storage when this returns.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn wiped(&mut self, case: &str, wiped: &Wiped) -> Result<(), RecordError> {
        self.journal.append(&Event::Wiped { case, wiped, at_unix_ns: now_unix_ns() }, true)
    }

    /// A case has ended well: its rows are sealed into tables.
    ///
    /// # Errors
    /// A table or the journal cannot be written; the rows are in the journal already.
    pub fn case_finished(&mut self, case: &str) -> Result<(), RecordError> {
        self.seal(case)?;
        self.journal.append(&Event::CaseFinished { case }, true)
    }

    /// A case has ended badly: the rows of its finished phases are sealed all the same.
    ///
    /// # Errors
    /// A table or the journal cannot be written; the rows are in the journal already.
    pub fn case_failed(&mut self, case: &str, message: &str) -> Result<(), RecordError> {
        self.journal.append(&Event::CaseFailed { case, message }, true)?;
        self.seal(case)
    }

    fn seal(&mut self, case: &str) -> Result<(), RecordError> {
        let Some(open) = self.case.take_if(|open| open.id == case) else {
            return Err(RecordError::NoSuchCase { what: "its end", case: case.to_owned() });
        };
        let number = open.number;
        let sealed = open.seal()?;
        self.journal.append(&Event::CaseSealed { case: Some(case), number, sealed: &sealed }, true)
    }

    /// The run has ended: writes the end into journal and manifest. A case that is still under
    /// way keeps the rows of its finished phases.
    ///
    /// # Errors
    /// A table, the journal or the manifest cannot be written.
    pub fn finish(mut self, outcome: &Outcome) -> Result<Manifest, RecordError> {
        let sealed = self.seal_the_rest();
        let at_unix_ns = now_unix_ns();
        let (outcome, message) = match outcome {
            Outcome::Complete => ("complete", None),
            Outcome::Interrupted => ("interrupted", None),
            Outcome::Failed(message) => ("failed", Some(message.as_str())),
        };
        self.journal.append(&Event::RunFinished { outcome, message, at_unix_ns }, true)?;
        self.manifest.finished_unix_ns = Some(at_unix_ns);
        write_manifest(&self.directory, &self.manifest, true)?;
        sealed.map(|()| self.manifest)
    }

    fn seal_the_rest(&mut self) -> Result<(), RecordError> {
        if let Some(id) = self.case.as_ref().map(|case| case.id.clone()) {
            self.seal(&id)?;
        }
        let mut warnings = TableWriter::new(&self.directory, 0);
        warnings.add(&std::mem::take(&mut self.run_warnings))?;
        match warnings.seal()? {
            Some(sealed) => {
                self.journal.append(&Event::CaseSealed { case: None, number: 0, sealed: &[sealed] }, true)
            }
            None => Ok(()),
        }
    }
}

fn start(directory: &Path, manifest: &Manifest) -> Result<JournalWriter, RecordError> {
    let mut journal = JournalWriter::create(directory)?;
    journal.append(&Event::RunStarted { manifest }, false)?;
    write_manifest(directory, manifest, false)?;
    Ok(journal)
}

fn write_manifest(directory: &Path, manifest: &Manifest, durable: bool) -> Result<(), RecordError> {
    let path = directory.join(MANIFEST);
    let mut text = serde_json::to_vec_pretty(manifest).map_err(|error| RecordError::Unreadable {
        path: path.clone(),
        message: format!("the manifest could not be written down: {error}; report this as a defect"),
    })?;
    text.push(b'\n');
    replace(&path, &text, durable)
}

fn now_unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
