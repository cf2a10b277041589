//! The jobs of one storage system.

use plan::{Case, Setting};
use record::{LaunchRow, PhaseKey};

use super::launches::{self, LaunchMean, MatrixPass};
use super::ratios::{RatioStatistics, bin_width};
use crate::figures::{Subject, TARGET};
use crate::statistics::{Histogram, Summary};

/// The launches of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct JobAccounting {
    /// The storage system: its target, and the other swept keys.
    pub system: String,
    /// The index of its figure.
    pub figure: usize,
    /// Its case.
    pub case: Case,
    /// The swept keys and their values, without the target.
    pub settings: Vec<Setting>,
    /// The number of launches in one pass.
    pub planned: usize,
    /// All counted passes.
    pub passes: Vec<MatrixPass>,
    /// Whether no pass completed all launches; the values below are then those of the completed launches.
    pub partial: bool,
    /// The sums of each used pass, summarised by column; empty if nothing completed.
    pub sums: Vec<Summary>,
    /// Means of each launch over the used passes, ordered by test, stream and round.
    pub launches: Vec<LaunchMean>,
    /// Statistics of the ratios of all launches.
    pub ratios: Option<RatioStatistics>,
    /// The histogram of the ratios. The bins of all systems of a workload have the same width.
    pub histogram: Histogram,
}

impl JobAccounting {
    /// Whether all launches completed in every counted pass.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.passes.iter().all(|pass| pass.completed == self.planned)
    }

    /// The passes that are used.
    pub(super) fn used(&self) -> impl Iterator<Item = &MatrixPass> {
        self.passes.iter().filter(|pass| self.partial || pass.completed == self.planned)
    }
}

/// The matrix of one figure. Returns `None` if the record has no launch of it.
pub(super) fn matrix(subject: &Subject<'_>, rows: &[LaunchRow]) -> Option<JobAccounting> {
    let (case, figure) = (subject.case, subject.figure);
    let planned = case.workload.work.jobs().map_or(0, plan::Jobs::launch_count);
    let of_key = |key: &PhaseKey| rows.iter().filter(|row| row.key == *key).collect::<Vec<_>>();
    let rows: Vec<Vec<&LaunchRow>> = figure.counted().map(|pass| of_key(&pass.phase.key)).collect();
    let seen = rows.iter().map(Vec::len).max().filter(|&most| most > 0)?;
    let planned = seen.max(usize::try_from(planned).unwrap_or(usize::MAX));
    let passes: Vec<MatrixPass> =
        figure.counted().zip(&rows).map(|(pass, rows)| MatrixPass::of(pass.repetition, rows)).collect();
    let partial = passes.iter().all(|pass| pass.completed < planned);
    let used = || passes.iter().zip(&rows).filter(|(pass, _)| partial || pass.completed == planned);
    let launches = launches::means(used().flat_map(|(_, rows)| rows.iter().copied()));
    let column = |column| Summary::of(&used().map(|(pass, _)| pass.sums[column]).collect::<Vec<_>>());
    let sums = if launches.is_empty() { Vec::new() } else { (0..4).filter_map(column).collect() };
    let settings = subject.settings(&[TARGET]);
    let name = if case.target.is_empty() { &case.group } else { &case.target };
    let more = settings.iter().map(|one| format!(", {} {}", one.key, one.value));
    let system: String = std::iter::once(name.clone()).chain(more).collect();
    Some(JobAccounting {
        figure: subject.index,
        case: case.clone(),
        settings,
        planned,
        partial,
        sums,
        ratios: RatioStatistics::of(&launches),
        histogram: Histogram::default(),
        system,
        passes,
        launches,
    })
}

/// Fills the histograms of the ratios, with one bin width for all matrices of a workload.
///
/// The width follows D. Freedman and P. Diaconis, "On the histogram as a density estimator", 1981: twice the
/// interquartile distance ÷ ∛n, over all ratios of all systems of the workload. It is rounded up to 1, 2 or 5
/// times a power of ten, so that the edges are round numbers and one of them is at 1. If the quartiles are
/// equal, a tenth of the range replaces the interquartile distance.
pub(super) fn fill_histograms(all: &mut [JobAccounting]) {
    let ratios =
        |one: &JobAccounting| one.launches.iter().filter_map(|launch| launch.ratio).collect::<Vec<f64>>();
    for systems in all.chunk_by_mut(|a, b| a.case.group == b.case.group) {
        let width = bin_width(systems.iter().flat_map(ratios).collect());
        for one in systems {
            one.histogram = Histogram::even(&ratios(one), width);
        }
    }
}
