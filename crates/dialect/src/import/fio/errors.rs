//! Errors and warnings that fio prints about its own run, and the error with which a job ended.

use record::{ReportedError, Warning};

use crate::import::draft::{Pass, Test};
use crate::import::error::shown;
use crate::import::text::lines::Line;
use crate::import::text::messages::{Words, kind};

/// Words of a line, all of which it has, and what it reports. Seen in outputs of fio 3: a failed request has its
/// direction after the error, `sync` and `datasync` included.
const KINDS: [Words; 9] = [
    (&["io_u error", ": sync offset"], ReportedError::NotDurable),
    (&["io_u error", ": datasync offset"], ReportedError::NotDurable),
    (&["io_u error", ": sync_file_range offset"], ReportedError::NotDurable),
    (&["io_u error"], ReportedError::Failed),
    (&["verify failed"], ReportedError::WrongData),
    (&["verify: bad"], ReportedError::WrongData),
    (&["cache invalidation", "failed"], ReportedError::Caches),
    (&["cache flush bypassed"], ReportedError::Caches),
    (&["fio:", "clock"], ReportedError::Clock),
];
/// `EILSEQ`, with which a job ends that has read wrong data.
const WRONG_DATA: u64 = 84;

/// The messages in the lines around results.
#[derive(Debug, Default)]
pub(super) struct Errors(Vec<(ReportedError, String)>);

/// The error that fio prints with the results of a job.
#[derive(Debug, Clone)]
pub(super) struct JobError {
    pub(super) number: u64,
    /// The number of failed requests, or 1 if only the first is known.
    pub(super) count: u64,
    pub(super) text: String,
}

impl Errors {
    pub(super) fn of<'a>(lines: impl Iterator<Item = Line<'a>>) -> Self {
        let error = |line: Line<'_>| Some((kind(line.text, &KINDS)?, shown(line.text)));
        Self(lines.filter_map(error).collect())
    }

    /// Adds the error with which a job ended, as what the messages say about it.
    pub(super) fn of_job(&self, pass: &mut Pass, error: &JobError) {
        let by_number = match error.number {
            WRONG_DATA => ReportedError::WrongData,
            _ => ReportedError::Failed,
        };
        let said = self.0.iter().filter(|(kind, _)| is_of_data(*kind));
        let said = said.min_by_key(|(kind, _)| *kind == ReportedError::Failed);
        let (kind, text) = match said {
            Some((kind, text)) if by_number == ReportedError::Failed => (*kind, text),
            _ => (by_number, &error.text),
        };
        pass.reported(kind, error.count, text);
    }

    /// Adds the messages that concern all jobs: warnings, and errors if no job has one of its own.
    pub(super) fn tell(&self, tests: &mut [Test]) {
        let is_data =
            |warning: &Warning| matches!(warning, Warning::Reported { error, .. } if is_of_data(*error));
        let passes = || tests.iter().flat_map(|test| &test.passes);
        let told = passes().any(|pass| pass.warnings.iter().any(is_data));
        for (kind, text) in self.0.iter().filter(|(kind, _)| !told || !is_of_data(*kind)) {
            for pass in tests.iter_mut().flat_map(|test| &mut test.passes) {
                pass.reported(*kind, 1, text);
            }
        }
    }
}

/// Whether an error is one of requests, as opposed to caches and clocks.
fn is_of_data(kind: ReportedError) -> bool {
    !matches!(kind, ReportedError::Caches | ReportedError::Clock)
}
