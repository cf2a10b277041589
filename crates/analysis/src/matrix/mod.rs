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

use plan::{Phase, Plan, Setting, Work};
use record::{LaunchRow, Run};

pub use launches::{Amounts, LaunchMean, MatrixPass, NotCompleted, SumColumn};
pub use published::{PublishedCell, PublishedChange, PublishedMatrix, PublishedSystem, published_matrix};
pub use ratios::{RatioHistogram, RatioStanding, RatioStatistics, TestRatio};
pub use systems::{
    ColumnChange, MatrixComparison, PAIRED_LAUNCHES_MIN, SpreadChange, TimeChange, compare_matrices,
    same_jobs,
};

pub(crate) use tables::tables;
pub use tables::{JobContrast, JobRatios, JobSums, MatrixTables, job_contrasts};

use crate::{Check, Doubt, Figure, PrintedStatistics, Summary, check_statistics};

/// The outcome of a launch that did all it should.
const COMPLETE: &str = "complete";
/// Launches that a doubt names one by one.
const NAMED_MAX: usize = 3;

/// All matrices of jobs of a run, and what they say of each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrices {
    /// One for each case that launched jobs, in the order of the figures.
    pub all: Vec<Matrix>,
    /// Systems that ran the same matrix, each against its baseline.
    pub comparisons: Vec<MatrixComparison>,
    /// What the study of 2014 printed; none where the run launched no jobs.
    pub published: Option<PublishedMatrix>,
}

/// The launches of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The figure of its phase.
    pub figure: usize,
    /// Its case.
    pub case: String,
    /// The workload.
    pub group: String,
    /// The target: the storage system.
    pub target: String,
    /// The other swept keys and their values.
    pub settings: Vec<Setting>,
    /// Launches of one pass.
    pub asked: usize,
    /// Every pass that counts.
    pub passes: Vec<MatrixPass>,
    /// In no pass all launches completed: what follows is of those that did.
    pub partial: bool,
    /// The sums of each pass that is used, summarised, in the order of [`SumColumn::ALL`]; none where nothing
    /// completed.
    pub sums: Option<[Summary; 4]>,
    /// Means of each launch over the passes that are used, in the order of their tests, streams and rounds.
    pub launches: Vec<LaunchMean>,
    /// The tests, in the order of their first launch.
    pub tests: Vec<TestRatio>,
    /// Of the ratios of all launches.
    pub ratios: Option<RatioStatistics>,
    /// The same as counts. Bins of all systems of a workload have the same edges.
    pub histogram: RatioHistogram,
}

impl Matrix {
    /// In every pass that counts all launches completed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.passes.is_empty() && self.passes.iter().all(MatrixPass::is_complete)
    }
}

/// The matrices of `run`, whose figures are `figures`.
#[must_use]
pub fn matrices(run: &Run, figures: &[Figure]) -> Matrices {
    let plan = &run.manifest.plan;
    let of_jobs = figures.iter().enumerate().filter(|(_, figure)| figure.phase == Phase::Jobs);
    let mut all: Vec<Matrix> = of_jobs
        .filter_map(|(place, figure)| matrix(plan, place, figure, &run.launches(&figure.case)))
        .collect();
    ratios::fill_histograms(&mut all);
    let comparisons = systems::comparisons(plan, &all);
    let published = if all.is_empty() { None } else { published_matrix(record::published()) };
    Matrices { all, comparisons, published }
}

/// The matrix of one figure; none where the record has no launch of it.
fn matrix(plan: &Plan, place: usize, figure: &Figure, rows: &[LaunchRow]) -> Option<Matrix> {
    let case = plan.cases.iter().find(|case| case.id == figure.case)?;
    let planned = match &case.workload.work {
        Work::Jobs(jobs) => usize::try_from(jobs.launch_count()).unwrap_or(usize::MAX),
        _ => 0,
    };
    let passes: Vec<Vec<&LaunchRow>> = figure
        .counted()
        .map(|pass| {
            let of_pass =
                |row: &&LaunchRow| row.key.repetition == pass.repetition && row.key.phase == figure.phase;
            rows.iter().filter(of_pass).collect()
        })
        .collect();
    let asked = passes.iter().map(Vec::len).max().unwrap_or(0).max(planned);
    let passes: Vec<(MatrixPass, Vec<&LaunchRow>)> = figure
        .counted()
        .zip(passes)
        .map(|(pass, rows)| (MatrixPass::of(pass.repetition, asked, &rows), rows))
        .collect();
    if passes.iter().all(|(_, rows)| rows.is_empty()) {
        return None;
    }
    let partial = !passes.iter().any(|(pass, _)| pass.is_complete());
    let used = || passes.iter().filter(|(pass, _)| partial || pass.is_complete());
    let launches = launches::means(used().flat_map(|(_, rows)| rows.iter().copied()));
    let sums: Vec<&Amounts> = used().map(|(pass, _)| &pass.sums).collect();
    let ratios: Vec<f64> = launches.iter().filter_map(|one| one.ratio).collect();
    Some(Matrix {
        figure: place,
        case: figure.case.clone(),
        group: figure.group.clone(),
        target: figure.target.clone(),
        settings: case.settings.iter().filter(|one| one.key != crate::subject::TARGET).cloned().collect(),
        asked,
        partial,
        sums: if launches.is_empty() { None } else { launches::summarised(&sums) },
        tests: ratios::tests(&launches),
        ratios: RatioStatistics::of(&ratios, &launches),
        histogram: RatioHistogram::default(),
        passes: passes.into_iter().map(|(pass, _)| pass).collect(),
        launches,
    })
}

/// What is doubtful in `matrices`: launches that did not complete, and statistics that cannot be.
#[must_use]
pub(crate) fn doubts(matrices: &Matrices, figures: &[Figure]) -> Vec<Doubt> {
    matrices.all.iter().flat_map(|one| doubts_of(one, figures)).collect()
}

fn doubts_of(matrix: &Matrix, figures: &[Figure]) -> Vec<Doubt> {
    let concerns = figures.get(matrix.figure).map_or_else(
        || matrix.case.clone(),
        |figure| match matrix.target.as_str() {
            "" => figure.conditions.clone(),
            target => format!("{target}: {}", figure.conditions),
        },
    );
    let doubt = |check, evidence: String, advice: &str| Doubt {
        check,
        figure: Some(matrix.figure),
        concerns: concerns.clone(),
        evidence,
        advice: advice.to_owned(),
    };
    let mut found = Vec::new();
    if !matrix.is_complete() {
        let advice = "look at the messages of these launches and repeat the run: sums, ratios and times are those of \
                      another load";
        found.push(doubt(Check::FailedJobs, not_completed(matrix), advice));
    }
    let of_ratios = matrix.ratios.as_ref().map(|ratios| PrintedStatistics {
        n: Some(ratios.n as u64),
        min: Some(ratios.min),
        max: Some(ratios.max),
        mean: Some(ratios.mean),
        deviation: Some(ratios.deviation),
        ..PrintedStatistics::default()
    });
    let impossible = of_ratios.and_then(|printed| check_statistics(&printed).into_iter().next());
    found.extend(impossible.map(|why| {
        doubt(Check::ImpossibleStatistic, why.to_string(), "the record contradicts itself: do not use it")
    }));
    found
}

/// `3 of 101 launches did not complete in pass 0: 2 failed, 1 skipped (sort, stream 0, round 1: no space left)`.
fn not_completed(matrix: &Matrix) -> String {
    let broken = matrix.passes.iter().filter(|pass| !pass.is_complete());
    let words = |pass: &MatrixPass| {
        let missing = pass.asked - pass.completed;
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for one in &pass.not_completed {
            match kinds.iter_mut().find(|(word, _)| *word == one.outcome) {
                Some((_, count)) => *count += 1,
                None => kinds.push((&one.outcome, 1)),
            }
        }
        let unknown = missing - pass.not_completed.len().min(missing);
        if unknown > 0 {
            kinds.push(("not recorded", unknown));
        }
        let kinds: Vec<String> = kinds.iter().map(|(word, count)| format!("{count} {word}")).collect();
        let mut named: Vec<String> =
            pass.not_completed.iter().take(NAMED_MAX).map(ToString::to_string).collect();
        let more = pass.not_completed.len().saturating_sub(NAMED_MAX);
        if more > 0 {
            named.push(format!("and {more} more"));
        }
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join("; ")) };
        format!(
            "{missing} of {} launches did not complete in pass {}: {}{named}",
            pass.asked,
            pass.repetition,
            kinds.join(", ")
        )
    };
    broken.map(words).collect::<Vec<_>>().join("; ")
}
