//! An index of the journal without the rows: the cases, how each of them ended, where its phases are, and
//! which tables contain it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use plan::Phase;
use plan::limits::JOURNAL_DAMAGED_LINES;

use crate::events::interrupted::{Attempt, LaunchLine};
use crate::events::journal::{JournalReader, Line, LinePosition, WholeLines};
use crate::events::layout_history;
use crate::files::limits::NAMED_LINES_MAX;
use crate::files::line_sum::LineState;
use crate::table::parquet_store::SealedTable;
use crate::{Clocks, Damage, FailedCase, LayoutLifetime, Pause, RunState, WarningRow, Wiped};

/// The outcome of an attempt at a case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum CaseEnd {
    /// It has not ended: it is in progress, or the run ended during it.
    #[default]
    Not,
    /// It succeeded.
    Well,
    /// It failed with this error.
    Badly(String),
}

/// One attempt at a case. The attempt with number 0 contains what belongs to the run as a whole.
#[derive(Debug, Default)]
pub(crate) struct CaseIndex {
    pub(crate) id: String,
    pub(crate) phases: Vec<LinePosition>,
    pub(crate) warnings: Vec<WarningRow>,
    pub(crate) ended: CaseEnd,
    /// The batch whose tables contain it.
    pub(crate) batch: Option<u32>,
    /// Whether a line of it cannot be read.
    pub(crate) damaged: bool,
}

impl CaseIndex {
    /// Whether it need not run again: it succeeded, and its rows are complete.
    pub(crate) fn is_finished(&self) -> bool {
        self.ended == CaseEnd::Well && (!self.damaged || self.batch.is_some())
    }
}

/// Tables that were sealed together.
#[derive(Debug, Default)]
pub(crate) struct BatchIndex {
    pub(crate) sealed: Vec<SealedTable>,
}

/// The state of the run according to the journal.
#[derive(Debug, Default)]
pub(crate) struct JournalIndex {
    /// The line with the manifest, and the start of the run that it names.
    pub(crate) manifest: Option<(LinePosition, i64)>,
    /// The cases by number, without attempts that were superseded by later ones.
    pub(crate) cases: BTreeMap<u32, CaseIndex>,
    /// Attempts at cases that have launches, including superseded attempts.
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) batches: BTreeMap<u32, BatchIndex>,
    /// The highest batch number used.
    pub(crate) last_batch: u32,
    /// The highest case number used.
    pub(crate) current: u32,
    /// What was wiped, including in superseded attempts.
    pub(crate) wiped: Vec<(String, Wiped)>,
    /// The layouts that were created, one entry for each creation.
    pub(crate) layouts: Vec<LayoutLifetime>,
    /// The comparisons of clocks.
    pub(crate) clocks: Vec<Clocks>,
    /// The last number of each case, and how often the case was started.
    numbers: HashMap<String, (u32, u32)>,
    /// Times between an end of the run and its next start.
    pub(crate) pauses: Vec<Pause>,
    /// Time of the last event that has a time.
    last_unix_ns: Option<i64>,
    end: Option<RunState>,
    pub(crate) finished_unix_ns: Option<i64>,
    pub(crate) held: bool,
    pub(crate) whole: WholeLines,
    /// Lines that were changed, or that follow missing lines.
    pub(crate) damaged_lines: Vec<u64>,
    /// Damaged lines that were handled when the run was resumed.
    known_damage: Vec<u64>,
    /// Checksums of the manifest, each recorded before the manifest was written. Empty in the journal of
    /// an earlier program.
    pub(crate) manifests: Vec<String>,
    /// Why the rest of the journal could not be read, if that is so.
    pub(crate) stopped: Option<String>,
}

impl JournalIndex {
    /// Scans `journal` once; unreadable parts are added to `damage`.
    pub(crate) fn read(journal: &mut JournalReader, path: &Path, damage: &mut Vec<Damage>) -> Self {
        let held = journal.is_held();
        Self::read_lines(journal, held, path, damage)
    }

    /// Like [`JournalIndex::read`], if it is already known whether a recorder holds the journal.
    pub(crate) fn read_lines<F: std::io::Read>(
        journal: &mut JournalReader<F>,
        held: bool,
        path: &Path,
        damage: &mut Vec<Damage>,
    ) -> Self {
        let mut index = Self { held, ..Self::default() };
        let mut told = Vec::new();
        index.read_all(journal, &mut told);
        // Cases that were damaged before the run was resumed have been measured again.
        told.retain(|(line, _)| !index.known_damage.contains(line));
        index.damaged_lines = told.iter().map(|(line, _)| *line).collect();
        let more = told.len().saturating_sub(NAMED_LINES_MAX);
        let many = if told.len() == JOURNAL_DAMAGED_LINES { "or more " } else { "" };
        told.truncate(NAMED_LINES_MAX);
        let more = (more > 0).then(|| format!("{more} {many}more lines cannot be used; they are skipped"));
        let all = told.into_iter().map(|(_, what)| what).chain(more);
        damage.extend(all.map(|what| Damage { path: path.to_path_buf(), what }));
        index
    }

    /// Scans all lines, and adds the damage with its line numbers to `told`.
    fn read_all<F: std::io::Read>(&mut self, journal: &mut JournalReader<F>, told: &mut Vec<(u64, String)>) {
        let index = self;
        let mut tell = |line: u64, what: String| {
            if told.len() < JOURNAL_DAMAGED_LINES {
                told.push((line, what));
            }
        };
        loop {
            match journal.next() {
                Ok(None) => return,
                Ok(Some((place, text, whole))) => {
                    let state = match whole {
                        true => index.whole.sums.check(text, place.line),
                        false => LineState::Whole,
                    };
                    let line = match state {
                        LineState::Whole => Line::parse(text, whole),
                        LineState::AfterGap(what) => {
                            tell(place.line, what);
                            Line::parse(text, whole)
                        }
                        LineState::Changed(why) => Err(format!("it is not what was written: {why}")),
                    };
                    match line.and_then(|line| index.take(line, place)) {
                        Ok(()) => {
                            (index.whole.bytes, index.whole.lines) = (place.end(), place.line);
                            index.whole.unended = !whole;
                        }
                        // The run is in progress, and the line is still being written.
                        Err(_) if !whole && index.held => {}
                        Err(_) if !whole => tell(
                            place.line,
                            format!(
                                "line {} is incomplete after {} bytes: the run ended while it was being \
                                 written; its content is lost",
                                place.line,
                                text.len()
                            ),
                        ),
                        Err(error) => {
                            (index.whole.bytes, index.whole.lines) = (place.end(), place.line);
                            let last = index.current;
                            let could_be = |(number, case): &(&u32, &mut CaseIndex)| {
                                **number == last || case.ended == CaseEnd::Not
                            };
                            let may_lack = index.cases.iter_mut().filter(could_be);
                            may_lack.for_each(|(_, case)| case.damaged = true);
                            let what = format!("line {} cannot be used: {error}; it is skipped", place.line);
                            tell(place.line, what);
                        }
                    }
                }
                Err(error) => {
                    let what = format!("reading stopped after line {}: {error}", journal.line);
                    index.stopped = Some(what.clone());
                    tell(journal.line + 1, what);
                    return;
                }
            }
        }
    }

    /// The state of the run.
    pub(crate) fn state(&self) -> RunState {
        match &self.end {
            Some(state) => state.clone(),
            None if self.held => RunState::Running,
            None => RunState::Killed,
        }
    }

    /// Whether a manifest with this checksum is the one that was written, as far as known. The run may
    /// have been killed between recording the checksum and writing the file. A `finished` manifest was
    /// written after the end of the run, which is missing in a truncated journal.
    pub(crate) fn knows_manifest(&self, checksum: &str, finished: bool) -> bool {
        let cut = finished && self.end.is_none();
        cut || self.manifests.is_empty() || self.manifests.iter().rev().take(2).any(|one| one == checksum)
    }

    /// The cases that succeeded, in the order in which they ran.
    pub(crate) fn finished(&self) -> Vec<String> {
        let well = self.cases.values().filter(|case| case.ended == CaseEnd::Well);
        well.map(|case| case.id.clone()).collect()
    }

    /// The cases that failed.
    pub(crate) fn failed(&self) -> Vec<FailedCase> {
        let failed = |case: &CaseIndex| match &case.ended {
            CaseEnd::Badly(message) => Some(FailedCase { case: case.id.clone(), message: message.clone() }),
            CaseEnd::Not | CaseEnd::Well => None,
        };
        self.cases.values().filter_map(failed).collect()
    }

    /// The line of the phase that ended last.
    pub(crate) fn last_phase(&self) -> Option<u64> {
        self.cases.values().flat_map(|case| &case.phases).map(|place| place.line).max()
    }

    fn take(&mut self, line: Line<'_>, place: LinePosition) -> Result<(), String> {
        match line.event.as_ref() {
            "run-started" => {
                self.manifest = line.started_unix_ns().transpose()?.map(|start| (place, start));
            }
            "manifest" => self.manifests.extend(line.checksum),
            "run-resumed" => {
                let times =
                    self.last_unix_ns.or_else(|| self.manifest.map(|(_, start)| start)).zip(line.at_unix_ns);
                self.pauses.extend(times.map(|(from_unix_ns, to_unix_ns)| Pause {
                    from_unix_ns,
                    to_unix_ns,
                    killed: self.end.is_none(),
                }));
                self.end = None;
                self.finished_unix_ns = None;
                self.known_damage.extend(line.damaged_lines);
                if line.sealed_again {
                    self.forget_tables();
                }
            }
            "case-started" => {
                let number = line.number.ok_or("a case started without a number")?;
                self.begin(number, line.case.ok_or("a case started without a name")?);
            }
            "phase-finished" => {
                let id = line.case.ok_or("a phase finished without a case")?;
                self.case_of(&id).phases.push(place);
                if let Some((repetition, phase @ (Phase::Load | Phase::Jobs))) =
                    line.repetition.zip(line.phase)
                {
                    self.add_launches(id, LaunchLine { repetition, phase, whole: true, place });
                }
            }
            "launches-ended" => {
                let id = line.case.ok_or("launches ended without a case")?;
                let key = line.repetition.zip(line.phase);
                let (repetition, phase) = key.ok_or("launches ended without a phase")?;
                self.case_of(&id);
                self.add_launches(id, LaunchLine { repetition, phase, whole: false, place });
            }
            "warning" => {
                for warning in line.warnings {
                    let number = self.number_of(&warning);
                    self.cases.entry(number).or_default().warnings.push(warning);
                }
            }
            // Version 1 sealed each case separately.
            "case-sealed" => {
                let number = line.number.ok_or("a case was sealed without a number")?;
                self.seal(number, vec![number], line.sealed);
            }
            "batch-sealed" => {
                let number = line.number.ok_or("a batch was sealed without a number")?;
                self.seal(number, line.cases, line.sealed);
            }
            "case-finished" => self.end_of(line.case, CaseEnd::Well),
            "case-failed" => self.end_of(line.case, CaseEnd::Badly(line.message.unwrap_or_default())),
            "clocks-compared" => self.clocks.push(Clocks {
                case: line.case,
                at_unix_ns: line.at_unix_ns.ok_or("clocks were compared without a time")?,
                nodes: line.clocks,
            }),
            "layout" => {
                let (layout, news) = line.layout.zip(line.news).ok_or("a layout without its name or news")?;
                layout_history::note(&mut self.layouts, layout, line.at_unix_ns.unwrap_or_default(), news);
            }
            "wiped" => self.wiped.extend(line.case.zip(line.wiped)),
            "run-finished" => {
                self.finished_unix_ns = line.at_unix_ns;
                self.end = Some(match line.outcome.as_deref() {
                    Some("complete") => RunState::Complete,
                    Some("interrupted") => RunState::Interrupted,
                    _ => RunState::Failed { message: line.message.unwrap_or_default() },
                });
            }
            // An event that a later program with the same format version has added.
            _ => {}
        }
        self.last_unix_ns = line.at_unix_ns.or(self.last_unix_ns);
        Ok(())
    }

    /// Makes all cases refer only to the journal.
    pub(crate) fn forget_tables(&mut self) {
        self.batches.clear();
        self.cases.values_mut().for_each(|case| case.batch = None);
    }

    /// Begins a case. If it is started again, this supersedes its earlier observations.
    fn begin(&mut self, number: u32, id: String) {
        let known = self.numbers.entry(id.clone()).or_default();
        let (before, attempt) = *known;
        *known = (number, attempt + 1);
        if attempt > 0 {
            self.cases.remove(&before);
        }
        self.current = self.current.max(number);
        self.cases.insert(number, CaseIndex { id, ..CaseIndex::default() });
    }

    /// Adds a line with launches of the case `id`.
    fn add_launches(&mut self, id: String, line: LaunchLine) {
        let number = self.attempts_at(&id);
        match self.attempts.last_mut().filter(|last| last.case == id && last.number == number) {
            Some(last) => last.lines.push(line),
            None => self.attempts.push(Attempt { case: id, number, lines: vec![line] }),
        }
    }

    /// How often the case `id` was started.
    pub(crate) fn attempts_at(&self, id: &str) -> u32 {
        self.numbers.get(id).map_or(0, |&(_, attempts)| attempts)
    }

    /// The number of the case `id`, if it is in progress.
    fn under_way(&self, id: &str) -> Option<u32> {
        let number = self.numbers.get(id).map(|&(number, _)| number)?;
        self.cases
            .get(&number)
            .filter(|case| case.ended == CaseEnd::Not && case.batch.is_none())
            .map(|_| number)
    }

    /// The case `id`, which is in progress.
    fn case_of(&mut self, id: &str) -> &mut CaseIndex {
        let number = self.under_way(id).unwrap_or_else(|| self.begin_damaged(id));
        self.cases.entry(number).or_default()
    }

    /// Begins the case `id`, since the line that started it was lost.
    fn begin_damaged(&mut self, id: &str) -> u32 {
        self.begin(self.current + 1, id.to_owned());
        self.cases.entry(self.current).or_default().damaged = true;
        self.current
    }

    fn end_of(&mut self, id: Option<String>, ended: CaseEnd) {
        let Some(id) = id else { return };
        let number = self.numbers.get(&id).map(|&(number, _)| number);
        let number = number.unwrap_or_else(|| self.begin_damaged(&id));
        if let Some(case) = self.cases.get_mut(&number) {
            case.ended = ended;
        }
    }

    fn seal(&mut self, number: u32, cases: Vec<u32>, sealed: Vec<SealedTable>) {
        for case in &cases {
            if let Some(case) = self.cases.get_mut(case) {
                case.batch = Some(number);
            }
        }
        self.last_batch = self.last_batch.max(number);
        self.batches.insert(number, BatchIndex { sealed });
    }

    /// A warning belongs to its case if that is in progress, as in the recorder; otherwise it belongs to
    /// the run.
    fn number_of(&self, warning: &WarningRow) -> u32 {
        warning.key.as_ref().and_then(|key| self.under_way(&key.case)).unwrap_or(0)
    }
}
