//! Access to the rows of a run that are too many to keep in memory, case by case.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::events::journal::{JournalReader, LinePosition};
use crate::files::limits::{TextBudget, bytes_of_rows};
use crate::format::JOURNAL;
use crate::rows::phase_record::PhaseRecord;
use crate::table::parquet_store::{read_table, read_table_for_now, table_path};
use crate::{
    CaseId, Damage, DeviceRow, EndRow, HistoryRow, LatencyRow, LaunchRow, LoadRow, NodeSeriesRow, PhaseKey,
    PhaseRow, PrintedRow, Row, SeriesRow, ServerRow, ServerTextRow, SpaceRow, StepRow, TaskRow, WarningRow,
};

/// All tables.
pub(crate) const TABLES: [&str; 16] = [
    PhaseRow::TABLE,
    TaskRow::TABLE,
    LatencyRow::TABLE,
    SeriesRow::TABLE,
    NodeSeriesRow::TABLE,
    DeviceRow::TABLE,
    LoadRow::TABLE,
    HistoryRow::TABLE,
    PrintedRow::TABLE,
    EndRow::TABLE,
    LaunchRow::TABLE,
    StepRow::TABLE,
    SpaceRow::TABLE,
    ServerRow::TABLE,
    ServerTextRow::TABLE,
    WarningRow::TABLE,
];

/// The rows of one case in one table, in the order in which they were observed.
#[derive(Debug, Clone)]
pub struct Rows<R> {
    shared: Arc<Vec<R>>,
    range: Range<usize>,
}

impl<R> Deref for Rows<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        &self.shared[self.range.clone()]
    }
}

impl<R> From<Vec<R>> for Rows<R> {
    fn from(rows: Vec<R>) -> Self {
        Self { range: 0..rows.len(), shared: Arc::new(rows) }
    }
}

/// A table whose rows are handed out case by case.
pub(crate) trait Stored: Row {
    fn key(&self) -> &PhaseKey;
    fn key_mut(&mut self) -> &mut PhaseKey;
    fn of(record: PhaseRecord) -> Vec<Self>;
    fn of_memory(rows: &MemoryRows) -> &Arc<Vec<Self>>;
    fn cache(store: &Store) -> &Cache<Self>;
}

macro_rules! stored {
    ($($row:ident: $field:ident),+ $(,)?) => {
        /// Rows that are in memory: of one case, or of whole tables.
        #[derive(Debug, Default)]
        pub(crate) struct MemoryRows {
            $($field: Arc<Vec<$row>>,)+
        }

        impl MemoryRows {
            fn take(&mut self, record: PhaseRecord) {
                $(Arc::make_mut(&mut self.$field).extend(record.$field);)+
            }

            /// Adds the rows of the table at `path`, for which nothing vouches. A table that is not one
            /// of these is of no interest.
            pub(crate) fn read(
                &mut self,
                table: &str,
                (directory, path): (&Path, &Path),
                texts: &mut TextBudget,
            ) -> Result<(), String> {
                match table {
                    $($row::TABLE => {
                        Arc::make_mut(&mut self.$field).extend(read_table(directory, path, texts)?);
                    })+
                    _ => {}
                }
                Ok(())
            }

            fn by_case(self) -> HashMap<CaseId, Self> {
                let mut cases: HashMap<CaseId, Self> = HashMap::new();
                $(
                    for row in Arc::unwrap_or_clone(self.$field) {
                        let rows = cases.entry(row.key.case.clone()).or_default();
                        Arc::make_mut(&mut rows.$field).push(row);
                    }
                )+
                cases
            }
        }

        /// The memory that `rows` rows of `table` take.
        pub(crate) fn bytes_of_table(table: &str, rows: u64) -> u64 {
            match table {
                $($row::TABLE => bytes_of_rows::<$row>(rows),)+
                PhaseRow::TABLE => bytes_of_rows::<PhaseRow>(rows),
                _ => bytes_of_rows::<WarningRow>(rows),
            }
        }

        /// The batches of each table that were read last.
        #[derive(Default)]
        struct Caches {
            $($field: Cache<$row>,)+
        }

        $(impl Stored for $row {
            fn key(&self) -> &PhaseKey {
                &self.key
            }

            fn key_mut(&mut self) -> &mut PhaseKey {
                &mut self.key
            }

            fn of(record: PhaseRecord) -> Vec<Self> {
                record.$field
            }

            fn of_memory(rows: &MemoryRows) -> &Arc<Vec<Self>> {
                &rows.$field
            }

            fn cache(store: &Store) -> &Cache<Self> {
                &store.caches.$field
            }
        })+
    };
}

stored!(
    TaskRow: tasks,
    LatencyRow: latency,
    SeriesRow: series,
    NodeSeriesRow: nodes,
    DeviceRow: devices,
    LoadRow: load,
    HistoryRow: history,
    PrintedRow: printed,
    EndRow: ends,
    LaunchRow: launches,
    StepRow: steps,
    SpaceRow: spaces,
    ServerRow: servers,
    ServerTextRow: server_texts,
);

/// Where the rows of a case are.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// In memory.
    Memory(Arc<MemoryRows>),
    /// In the tables of a batch; in the journal, should they turn out to be damaged.
    Batch(Arc<BatchFiles>, Arc<[LinePosition]>),
    /// In lines of the journal of the run in a directory.
    Journal(Arc<PathBuf>, Arc<[LinePosition]>),
    /// In several runs that were merged, whose passes are given new numbers.
    Parts(Arc<[(Source, Renumber)]>),
}

/// How the passes of a part are numbered in the whole; those that are not named are left out.
pub(crate) type Renumber = Arc<HashMap<u32, u32>>;

/// The tables of a batch.
#[derive(Debug)]
pub(crate) struct BatchFiles {
    pub(crate) directory: PathBuf,
    pub(crate) number: u32,
    pub(crate) tables: Vec<String>,
}

/// The rows of a whole batch, by case.
#[derive(Debug)]
pub(crate) struct BatchRows<R> {
    rows: Arc<Vec<R>>,
    cases: HashMap<CaseId, Range<usize>>,
}

/// Batches that were read last: cases are mostly asked for in the order in which they stand.
pub(crate) type Cache<R> = Mutex<Vec<(Arc<BatchFiles>, Arc<BatchRows<R>>)>>;

/// How many batches of each table are kept: as many as are likely to be gone through at once.
const CACHED_BATCHES: usize = 2;

/// Where all rows are.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) cases: Vec<CaseId>,
    pub(crate) sources: HashMap<CaseId, Source>,
    caches: Caches,
    late: Mutex<Vec<Damage>>,
}

impl Store {
    /// Rows in memory.
    pub(crate) fn of(records: Vec<PhaseRecord>) -> Self {
        let mut store = Self::default();
        let mut rows: HashMap<CaseId, MemoryRows> = HashMap::new();
        for record in records {
            let id = record.phase.key.case.clone();
            if !rows.contains_key(&id) {
                store.cases.push(id.clone());
            }
            rows.entry(id).or_default().take(record);
        }
        store.sources = rows.into_iter().map(|(id, rows)| (id, Source::Memory(Arc::new(rows)))).collect();
        store
    }

    /// Rows of whole tables, for the cases in `order`.
    pub(crate) fn of_tables(order: impl Iterator<Item = CaseId>, rows: MemoryRows) -> Self {
        let mut cases = rows.by_case();
        let mut store = Self::default();
        for id in order {
            if !store.sources.contains_key(&id) {
                let rows = cases.remove(&id).unwrap_or_default();
                store.add(id, Source::Memory(Arc::new(rows)));
            }
        }
        store
    }

    /// A case whose rows are in `source`.
    pub(crate) fn add(&mut self, id: CaseId, source: Source) {
        if self.sources.insert(id.clone(), source).is_none() {
            self.cases.push(id);
        }
    }

    /// The rows of `case`; none where there are none.
    pub(crate) fn rows<R: Stored>(&self, case: &str) -> Rows<R> {
        let none = || Rows::from(Vec::new());
        self.sources.get(case).map_or_else(none, |source| self.rows_in(source, case))
    }

    fn rows_in<R: Stored>(&self, source: &Source, case: &str) -> Rows<R> {
        match source {
            Source::Memory(rows) => {
                let shared = Arc::clone(R::of_memory(rows));
                Rows { range: 0..shared.len(), shared }
            }
            Source::Batch(batch, places) => match self.batch::<R>(batch) {
                Ok(batch) => Rows {
                    shared: Arc::clone(&batch.rows),
                    range: batch.cases.get(case).cloned().unwrap_or_default(),
                },
                Err(damage) => {
                    self.found(damage);
                    self.in_journal(&batch.directory, places).into()
                }
            },
            Source::Journal(directory, places) => self.in_journal(directory, places).into(),
            Source::Parts(parts) => {
                let mut all: Vec<R> = Vec::new();
                for (source, numbers) in parts.iter() {
                    for row in self.rows_in::<R>(source, case).iter() {
                        if let Some(&number) = numbers.get(&row.key().repetition) {
                            let mut row = row.clone();
                            row.key_mut().repetition = number;
                            all.push(row);
                        }
                    }
                }
                all.into()
            }
        }
    }

    fn in_journal<R: Stored>(&self, directory: &Path, places: &[LinePosition]) -> Vec<R> {
        let path = directory.join(JOURNAL);
        let lost = |place: &LinePosition, what: String| Damage {
            path: path.clone(),
            what: format!("line {}: {what}; the phase it was about is lost", place.line),
        };
        let mut rows = Vec::new();
        let mut journal = JournalReader::open(directory).map_err(|error| error.to_string());
        for place in places {
            let record =
                journal.as_mut().map_err(|error| error.clone()).and_then(|journal| journal.record(*place));
            match record {
                Ok(record) => rows.extend(R::of(record)),
                Err(what) => self.found(lost(place, what)),
            }
        }
        rows
    }

    /// The rows of a batch in one table; kept until others are asked for.
    fn batch<R: Stored>(&self, files: &Arc<BatchFiles>) -> Result<Arc<BatchRows<R>>, Damage> {
        let cache = R::cache(self);
        let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
        let last_first = |kept: &mut Vec<(Arc<BatchFiles>, Arc<BatchRows<R>>)>| {
            let place = kept.iter().position(|(kept, _)| Arc::ptr_eq(kept, files))?;
            kept[..=place].rotate_right(1);
            Some(Arc::clone(&kept[0].1))
        };
        if let Some(rows) = last_first(&mut lock()) {
            return Ok(rows);
        }
        let rows = Arc::new(read_batch(files)?);
        let mut kept = lock();
        kept.truncate(CACHED_BATCHES - 1);
        kept.insert(0, (Arc::clone(files), Arc::clone(&rows)));
        Ok(rows)
    }

    fn found(&self, damage: Damage) {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if !late.contains(&damage) {
            late.push(damage);
        }
    }

    /// Data that could not be read when requested.
    pub(crate) fn late(&self) -> Vec<Damage> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("cases", &self.cases.len()).finish_non_exhaustive()
    }
}

fn read_batch<R: Stored>(files: &BatchFiles) -> Result<BatchRows<R>, Damage> {
    if !files.tables.iter().any(|table| table == R::TABLE) {
        return Ok(BatchRows { rows: Arc::default(), cases: HashMap::new() });
    }
    let path = table_path(&files.directory, R::TABLE, files.number);
    let rows: Vec<R> = read_table_for_now(&files.directory, &path).map_err(|what| Damage {
        path,
        what: format!("{what}; its rows were read from the journal instead"),
    })?;
    let mut cases = HashMap::new();
    let mut start = 0;
    for chunk in rows.chunk_by(|a, b| a.key().case == b.key().case) {
        cases.insert(chunk[0].key().case.clone(), start..start + chunk.len());
        start += chunk.len();
    }
    Ok(BatchRows { rows: Arc::new(rows), cases })
}
