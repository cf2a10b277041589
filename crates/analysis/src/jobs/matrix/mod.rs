//! Results for a whole matrix of jobs: sums over all launches, the ratio of CPU time to real time of each launch,
//! and a comparison of two storage systems that ran the same matrix.
//!
//! A *system* is what a case measured: a target. Its launches are those of the counted passes in which all
//! launches completed. If there is no such pass, they are the launches that completed in any pass, and the matrix
//! is *partial*.
//!
//! Source of the tables: the study of SAS on P3700 cards (2014), whose Table 1 adds up real time, memory, user and
//! system CPU of 101 launches, and whose Table 2 gives mean, standard deviation and range of their ratios.

mod launches;
mod published;
mod ratios;
mod system;
mod systems;
mod tables;

use plan::Phase;
use record::Run;

pub use launches::{Amounts, LaunchMean, MatrixPass};
pub use published::published_matrix;
pub use ratios::{JobTest, RatioStatistics};
pub use system::JobAccounting;
pub use systems::{JobContrast, MatrixComparison, compare_matrices, same_jobs};
pub(crate) use tables::tables;
pub use tables::{JobRatios, JobSums, MatrixTables, contrasts_of_runs};

use crate::audit::{AuditIssue, Check};
use crate::figures::{Figure, subjects};

/// The number of launches that a doubt names individually.
const NAMED_MAX: usize = 3;

/// All job matrices of a run, and their comparisons.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrices {
    /// One matrix for each case that launched jobs, in the order of the figures.
    pub all: Vec<JobAccounting>,
    /// Comparisons of systems that ran the same matrix with their baselines.
    pub comparisons: Vec<MatrixComparison>,
}

/// The matrices of `run`, whose figures are `figures`.
#[must_use]
pub fn matrices(run: &Run, figures: &[Figure]) -> Matrices {
    let plan = &run.manifest.plan;
    let subjects = subjects(plan, figures);
    let of_jobs = subjects.iter().filter(|one| one.figure.phase == Phase::Jobs);
    let mut all: Vec<JobAccounting> =
        of_jobs.filter_map(|one| system::matrix(one, &run.launches(&one.case.id))).collect();
    system::fill_histograms(&mut all);
    Matrices { comparisons: systems::comparisons(plan, &all), all }
}

/// The doubts about `matrices`: launches that did not complete.
#[must_use]
pub(crate) fn doubts(matrices: &Matrices, figures: &[Figure]) -> Vec<AuditIssue> {
    let doubt = |matrix: &JobAccounting| {
        let conditions = &figures[matrix.figure].conditions;
        let broken = || matrix.passes.iter().filter(|pass| pass.completed < matrix.planned);
        let interrupted = broken().count() > 0 && broken().all(MatrixPass::was_interrupted);
        let (check, advice) = match interrupted {
            true => (Check::Unfinished, "resume with `ioproof run --resume`, or measure the case again"),
            false => (
                Check::FailedJobs,
                "look at the messages of these launches and repeat the run: sums, ratios and times are those \
                 of a different load",
            ),
        };
        AuditIssue {
            check,
            figure: Some(matrix.figure),
            commitment: None,
            concerns: match matrix.case.target.as_str() {
                "" => conditions.clone(),
                target => format!("{target}: {conditions}"),
            },
            evidence: not_completed(matrix),
            advice: advice.to_owned(),
            severity: 0.0,
        }
    };
    matrices.all.iter().filter(|one| !one.is_complete()).map(doubt).collect()
}

/// Describes the incomplete launches, as in `3 of 101 launches did not complete in pass 0: 2 failed, 1 skipped
/// (sort, stream 0, round 1: no space left)`.
fn not_completed(matrix: &JobAccounting) -> String {
    let words = |pass: &MatrixPass| {
        let (planned, number) = (matrix.planned, pass.repetition);
        let missing = planned - pass.completed;
        if pass.was_interrupted() {
            return format!("{missing} of {planned} launches were interrupted in pass {number}");
        }
        let unknown = missing.saturating_sub(pass.others.len());
        let outcomes = pass.others.iter().map(|(outcome, _)| outcome.as_str());
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for outcome in outcomes.chain(std::iter::repeat_n("not recorded", unknown)) {
            match kinds.iter_mut().find(|(word, _)| *word == outcome) {
                Some((_, count)) => *count += 1,
                None => kinds.push((outcome, 1)),
            }
        }
        let kinds: Vec<String> = kinds.iter().map(|(word, count)| format!("{count} {word}")).collect();
        let mut named: Vec<String> =
            pass.others.iter().take(NAMED_MAX).map(|(_, words)| words.clone()).collect();
        if pass.others.len() > NAMED_MAX {
            named.push(format!("and {} more", pass.others.len() - NAMED_MAX));
        }
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join("; ")) };
        format!(
            "{missing} of {planned} launches did not complete in pass {number}: {}{named}",
            kinds.join(", ")
        )
    };
    let broken = matrix.passes.iter().filter(|pass| pass.completed < matrix.planned);
    broken.map(words).collect::<Vec<_>>().join("; ")
}
