//! What a matrix of jobs says as a whole: sums over all launches, the ratio of CPU time to real time of each, and
//! how two storage systems that ran the same matrix compare.
//!
//! A *system* is what a case measured: a target. Its launches are those of the passes that count and in which all
//! launches completed; where there is no such pass, those that completed in any, and the matrix is *partial*.
//!
//! Source of the tables: the study of SAS on P3700 cards (2014), whose Table 1 adds up real time, memory, user and
//! system CPU of 101 launches, and whose Table 2 gives mean, standard deviation and range of their ratios.

mod launches;
mod published;
mod ratios;
mod systems;
mod tables;

use plan::{Phase, Setting};
use record::{LaunchRow, PhaseKey, Run};

pub use launches::{Amounts, LaunchMean, MatrixPass};
pub use published::published_matrix;
pub use ratios::{JobTest, RatioStatistics};
pub use systems::{JobContrast, MatrixComparison, compare_matrices, same_jobs};
pub(crate) use tables::tables;
pub use tables::{JobRatios, JobSums, MatrixTables};

use crate::histogram::Histogram;
use crate::subject::{Subject, subjects};
use crate::{Check, Doubt, Figure, Summary};

/// Launches that a doubt names one by one.
const NAMED_MAX: usize = 3;

/// All matrices of jobs of a run, and what they say of each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrices {
    /// One for each case that launched jobs, in the order of the figures.
    pub all: Vec<Matrix>,
    /// Systems that ran the same matrix, each against its baseline.
    pub comparisons: Vec<MatrixComparison>,
}

/// The launches of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The storage system: its target, and the other swept keys.
    pub system: String,
    figure: usize,
    /// Its case.
    pub case: String,
    /// The workload.
    pub group: String,
    /// The target.
    pub target: String,
    /// The other swept keys and their values.
    pub settings: Vec<Setting>,
    /// Launches of one pass.
    pub asked: usize,
    /// Every pass that counts.
    pub passes: Vec<MatrixPass>,
    /// In no pass all launches completed: what follows is of those that did.
    pub partial: bool,
    /// The sums of each pass that is used, summarised by column; empty where nothing completed.
    pub sums: Vec<Summary>,
    /// Means of each launch over the passes that are used, in the order of their tests, streams and rounds.
    pub launches: Vec<LaunchMean>,
    tests: Vec<JobTest>,
    /// Of the ratios of all launches.
    pub ratios: Option<RatioStatistics>,
    /// The ratios as counts. Bins of all systems of a workload have the same width.
    pub histogram: Histogram,
}

impl Matrix {
    /// In every pass that counts all launches completed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.passes.iter().all(|pass| pass.completed == self.asked)
    }

    /// The passes that are used.
    fn used(&self) -> impl Iterator<Item = &MatrixPass> {
        self.passes.iter().filter(|pass| self.partial || pass.completed == self.asked)
    }
}

/// The matrices of `run`, whose figures are `figures`.
#[must_use]
pub fn matrices(run: &Run, figures: &[Figure]) -> Matrices {
    let plan = &run.manifest.plan;
    let subjects = subjects(plan, figures);
    let of_jobs = subjects.iter().filter(|one| one.figure.phase == Phase::Jobs);
    let mut all: Vec<Matrix> = of_jobs.filter_map(|one| matrix(one, &run.launches(&one.case.id))).collect();
    ratios::fill_histograms(&mut all);
    Matrices { comparisons: systems::comparisons(plan, &all), all }
}

/// The matrix of one figure; none where the record has no launch of it.
fn matrix(subject: &Subject<'_>, rows: &[LaunchRow]) -> Option<Matrix> {
    let (case, figure) = (subject.case, subject.figure);
    let planned = case.workload.work.jobs().map_or(0, plan::Jobs::launch_count);
    let of_key = |key: &PhaseKey| rows.iter().filter(|row| row.key == *key).collect::<Vec<_>>();
    let rows: Vec<Vec<&LaunchRow>> = figure.counted().map(|pass| of_key(&pass.phase.key)).collect();
    let seen = rows.iter().map(Vec::len).max().filter(|&most| most > 0)?;
    let asked = seen.max(usize::try_from(planned).unwrap_or(usize::MAX));
    let passes: Vec<MatrixPass> =
        figure.counted().zip(&rows).map(|(pass, rows)| MatrixPass::of(pass.repetition, rows)).collect();
    let partial = passes.iter().all(|pass| pass.completed < asked);
    let used = || passes.iter().zip(&rows).filter(|(pass, _)| partial || pass.completed == asked);
    let launches = launches::means(used().flat_map(|(_, rows)| rows.iter().copied()));
    let column = |column| Summary::of(&used().map(|(pass, _)| pass.sums[column]).collect::<Vec<_>>());
    let sums = if launches.is_empty() { Vec::new() } else { (0..4).filter_map(column).collect() };
    let settings = subject.settings();
    let name = if figure.target.is_empty() { &figure.group } else { &figure.target };
    let more = settings.iter().map(|one| format!(", {} {}", one.key, one.value));
    let system: String = std::iter::once(name.clone()).chain(more).collect();
    Some(Matrix {
        figure: subject.index,
        case: figure.case.clone(),
        group: figure.group.clone(),
        target: figure.target.clone(),
        settings,
        asked,
        partial,
        sums,
        tests: ratios::tests(&system, &launches),
        ratios: RatioStatistics::of(&launches),
        histogram: Histogram::default(),
        system,
        passes,
        launches,
    })
}

/// What is doubtful in `matrices`: launches that did not complete.
#[must_use]
pub(crate) fn doubts(matrices: &Matrices, figures: &[Figure]) -> Vec<Doubt> {
    let doubt = |matrix: &Matrix| {
        let conditions = &figures[matrix.figure].conditions;
        Doubt {
            check: Check::FailedJobs,
            figure: Some(matrix.figure),
            concerns: match matrix.target.as_str() {
                "" => conditions.clone(),
                target => format!("{target}: {conditions}"),
            },
            evidence: not_completed(matrix),
            advice: "look at the messages of these launches and repeat the run: sums, ratios and times are those of \
                     another load"
                .to_owned(),
        }
    };
    matrices.all.iter().filter(|one| !one.is_complete()).map(doubt).collect()
}

/// `3 of 101 launches did not complete in pass 0: 2 failed, 1 skipped (sort, stream 0, round 1: no space left)`.
fn not_completed(matrix: &Matrix) -> String {
    let words = |pass: &MatrixPass| {
        let missing = matrix.asked - pass.completed;
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
        let (asked, number) = (matrix.asked, pass.repetition);
        format!(
            "{missing} of {asked} launches did not complete in pass {number}: {}{named}",
            kinds.join(", ")
        )
    };
    let broken = matrix.passes.iter().filter(|pass| pass.completed < matrix.asked);
    broken.map(words).collect::<Vec<_>>().join("; ")
}
