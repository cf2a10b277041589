//! Determines what is kept of an interrupted run when it is resumed.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use plan::Plan;
use plan::limits::TABLE_BYTES;

use crate::events::index::{BatchIndex, CaseEnd, CaseIndex, JournalIndex};
use crate::events::journal::JournalReader;
use crate::files::directory::{self, RunDirectory};
use crate::format::JOURNAL;
use crate::table::parquet_store::{compare, read_table_for_now, table_path};
use crate::table::tables::TABLES;
use crate::{Manifest, PhaseRow, RecordError, Row, RunState, Warning, WarningRow};

/// An interrupted run.
pub(crate) struct InterruptedRun {
    pub(crate) index: JournalIndex,
    pub(crate) state: RunState,
    /// The highest batch number used.
    pub(crate) batches: u32,
    /// Tables that are not in the journal: they were being sealed when the run ended. Their rows are
    /// sealed again with other numbers.
    unknown: Vec<PathBuf>,
    /// Finished cases that are not kept, each with the reason.
    again: Vec<(String, String)>,
}

impl InterruptedRun {
    /// Determines the state of the run of `plan` in `directory` from its `index`; `reader` reads its journal.
    /// Tables that did not reach stable storage before the host went down count as not sealed, so their
    /// cases are sealed again from the journal. A finished case whose lines are invalid runs again, with
    /// all cases that run at the same time.
    ///
    /// # Errors
    /// Errors if the journal or tables cannot be read now, or if tables contain cases that are not in the
    /// journal. Nothing may be removed in that case.
    pub(crate) fn of(
        mut index: JournalIndex,
        plan: &Plan,
        directory: &RunDirectory,
        reader: &mut JournalReader,
    ) -> Result<Self, RecordError> {
        let refuse = |why: String| RecordError::CannotResume { path: directory.path().to_owned(), why };
        if let Some(stopped) = &index.stopped {
            return Err(refuse(format!(
                "its {JOURNAL} cannot be read to the end: {stopped}; nothing was changed, try again when \
                 this is fixed"
            )));
        }
        let batches = index.last_batch;
        let mut whole = HashSet::new();
        for (&number, batch) in &index.batches {
            if is_whole(directory, number, batch)? {
                whole.insert(number);
            }
        }
        let path = directory.join(JOURNAL);
        let mut again = Vec::new();
        loop {
            index.batches.retain(|number, _| whole.contains(number));
            for case in index.cases.values_mut() {
                case.batch = case.batch.filter(|number| whole.contains(number));
                let is_known = case.damaged && again.iter().any(|(id, _)| *id == case.id);
                if case.ended != CaseEnd::Well || case.batch.is_some() || is_known {
                    continue;
                }
                let wrong = match case.damaged {
                    true => Some(format!("one of its lines in {JOURNAL} cannot be read")),
                    false => damage_of(case, reader).map_err(RecordError::io("read", &path))?,
                };
                if let Some(wrong) = wrong {
                    case.damaged = true;
                    again.push((case.id.clone(), wrong));
                }
            }
            // The tables of a case that runs again are given up; their other cases are sealed again.
            let sealed = give_up_sets(&mut index, plan, &mut again);
            if sealed.is_empty() {
                break;
            }
            whole.retain(|number| !sealed.contains(number));
        }
        let unknown = unknown_tables(&index, directory)?;
        let finished: HashSet<&str> = index
            .cases
            .values()
            .filter(|case| case.ended == CaseEnd::Well)
            .map(|case| case.id.as_str())
            .collect();
        for path in unknown.iter().filter(|path| is_table(path) && path.parent() == Some(&phases(directory)))
        {
            directory::open(directory, path)
                .and_then(|file| io::copy(&mut file.take(TABLE_BYTES), &mut io::sink()))
                .map_err(RecordError::io("read", path))?;
            // An invalid table did not reach stable storage.
            let rows: Vec<PhaseRow> = read_table_for_now(directory, path).unwrap_or_default();
            if let Some(row) = rows.iter().find(|row| !finished.contains(&*row.key.case)) {
                return Err(refuse(format!(
                    "{} contains case `{}`, whose end is not in {JOURNAL}: the journal was truncated or \
                     damaged; restore the complete journal, or move the tables with that number elsewhere \
                     to measure their cases again",
                    path.display(),
                    row.key.case
                )));
            }
        }
        Ok(Self { state: index.state(), index, batches, unknown, again })
    }

    /// The cases that need not run again: those that succeeded and whose rows are complete.
    pub(crate) fn finished(&self) -> Vec<String> {
        self.index.cases.values().filter(|case| case.is_finished()).map(|case| case.id.clone()).collect()
    }

    /// Whether every case of the plan is among them.
    pub(crate) fn is_all(&self, manifest: &Manifest) -> bool {
        let finished: HashSet<String> = self.finished().into_iter().collect();
        manifest.plan.cases.iter().all(|case| finished.contains(&case.id))
    }

    /// Warnings about finished cases that run again.
    pub(crate) fn warnings(&self) -> Vec<WarningRow> {
        let warning = |(case, reason): &(String, String)| Warning::MeasuredAgain {
            case: case.clone(),
            reason: reason.clone(),
        };
        self.again.iter().map(|again| WarningRow::of_run(warning(again))).collect()
    }

    /// Removes tables that are not in the journal.
    pub(crate) fn remove_unknown_tables(&self, directory: &RunDirectory) -> Result<(), RecordError> {
        self.unknown.iter().try_for_each(|path| directory.remove(path))
    }
}

/// Makes the finished cases run again that run at the same time as one which has to. Returns the batches whose tables contain
/// one of them.
fn give_up_sets(index: &mut JournalIndex, plan: &Plan, again: &mut Vec<(String, String)>) -> HashSet<u32> {
    let mut sealed = HashSet::new();
    for block in plan.blocks().filter(|block| plan.cases[block.start].concurrent.is_some()) {
        let cases = &plan.cases[block];
        let ids: HashSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let mut of_set: Vec<&mut CaseIndex> =
            index.cases.values_mut().filter(|case| ids.contains(case.id.as_str())).collect();
        // A case that has not ended goes on after its passes.
        let goes_on = |case: &CaseIndex| case.ended == CaseEnd::Not && !case.damaged;
        let kept = of_set.iter().filter(|case| case.is_finished() || goes_on(case)).count();
        if kept == cases.len() {
            continue;
        }
        for case in of_set.iter_mut().filter(|case| case.is_finished()) {
            case.damaged = true;
            sealed.extend(case.batch);
            again.push((case.id.clone(), "a case that runs at the same time is measured again".to_owned()));
        }
    }
    sealed
}

/// Whether all tables of a batch are as recorded in the journal.
fn is_whole(directory: &RunDirectory, number: u32, batch: &BatchIndex) -> Result<bool, RecordError> {
    for table in &batch.sealed {
        let path = table_path(directory, &table.table, number);
        match compare(directory, &path, table) {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(RecordError::io("read", &path)(error)),
        }
    }
    Ok(true)
}

/// What is wrong with the lines of `case`.
fn damage_of(case: &CaseIndex, reader: &mut JournalReader) -> io::Result<Option<String>> {
    for &place in &case.phases {
        if let Err(wrong) = reader.check(place)? {
            return Ok(Some(format!("line {} of {JOURNAL} cannot be read: {wrong}", place.line)));
        }
    }
    Ok(None)
}

/// The tables, complete or unfinished, that are not listed in `index`.
fn unknown_tables(index: &JournalIndex, directory: &RunDirectory) -> Result<Vec<PathBuf>, RecordError> {
    let of_batch = |(&number, batch): (&u32, &BatchIndex)| -> Vec<PathBuf> {
        batch.sealed.iter().map(|table| table_path(directory, &table.table, number)).collect()
    };
    let known: BTreeSet<PathBuf> = index.batches.iter().flat_map(of_batch).collect();
    let mut unknown = Vec::new();
    for table in TABLES {
        let listed = directory::list(directory, table);
        for path in listed.map_err(RecordError::io("read", &directory.join(table)))? {
            let unfinished = path.extension().is_some_and(|extension| extension == "unfinished");
            if (unfinished || is_table(&path)) && !known.contains(&path) {
                unknown.push(path);
            }
        }
    }
    Ok(unknown)
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet")
}

fn phases(directory: &RunDirectory) -> PathBuf {
    directory.join(PhaseRow::TABLE)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor, Read};
    use std::path::Path;

    use plan::{Plan, PlanSource};

    use super::InterruptedRun;
    use crate::RunDirectory;
    use crate::events::index::JournalIndex;
    use crate::events::journal::JournalReader;
    use crate::format::JOURNAL;

    /// As a network file system that goes away.
    struct Gone;

    impl Read for Gone {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the server is gone"))
        }
    }

    #[test]
    fn a_journal_that_cannot_be_read_to_its_end_is_not_taken_up() {
        let line = b"{\"event\":\"case-started\",\"case\":\"a\",\"number\":1}\n";
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join(JOURNAL);
        let directory = RunDirectory::from(place.path());
        let source = PlanSource::Quick { directory: "/data".into(), others: Vec::new() };
        let plan = Plan::new("", source, 0, Vec::new());
        std::fs::write(&path, line).expect("written");
        let kept = |rest: Option<Gone>| {
            let rest: Box<dyn Read> = match rest {
                Some(gone) => Box::new(gone),
                None => Box::new(io::empty()),
            };
            let mut journal = JournalReader::of(Cursor::new(line.to_vec()).chain(rest));
            let index = JournalIndex::read_lines(&mut journal, false, Path::new(JOURNAL), &mut Vec::new());
            let mut reader = JournalReader::open(&directory).expect("readable");
            InterruptedRun::of(index, &plan, &directory, &mut reader).map(drop)
        };
        kept(None).expect("it ends");
        let error = kept(Some(Gone)).expect_err("refused").to_string();
        assert!(error.contains("after line 1") && error.contains("the server is gone"), "{error}");
    }
}
