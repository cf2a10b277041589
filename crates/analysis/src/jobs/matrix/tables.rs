//! Matrices of jobs as rows: Tables 1 and 2 of the study for each system, its tests, and comparisons of systems.
//! Values that the study printed are rows of the same kinds, which rest on no figure.

use super::ratios::tests;
use super::{Amounts, JobAccounting, JobContrast, JobTest, Matrices, RatioStatistics, compare_matrices};
use crate::audit::Use;
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, below, bytes, count, detail, number, seconds, subject, word},
    untold,
};
use crate::jobs::whole;
use crate::statistics::{Difference, Summary};

/// The rows of all matrices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixTables {
    /// Table 1: sums over all launches.
    pub sums: Vec<Stated<JobSums>>,
    /// Comparisons of systems.
    pub contrasts: Vec<Stated<JobContrast>>,
    /// Table 2: ratios of CPU time to real time.
    pub ratios: Vec<Stated<JobRatios>>,
    /// Each test of each system.
    pub tests: Vec<Stated<JobTest>>,
}

/// Sums over all launches of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSums {
    pub(super) system: String,
    /// The number of launches in the sums, and the planned number. `None` for printed values.
    pub(super) launches: Option<(usize, usize)>,
    /// Means over passes.
    pub means: Amounts,
    /// Each column over the passes; empty for printed values.
    pub(super) passes: Vec<Summary>,
    /// The printed values, and the doubts of the audit about them.
    pub(super) printed: String,
}

impl JobSums {
    fn deviation(&self, column: usize) -> Option<f64> {
        let summary = self.passes.get(column)?;
        (summary.n > 1).then_some(summary.deviation_sample)
    }
}

impl Statement for JobSums {
    const KIND: Kind = Kind::JobSums;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Table 1: real time, memory and CPU time, summed over all launches; for \
                                   several passes, mean ± standard deviation. Peaks of memory need not occur \
                                   at the same time";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("system", "system", "The storage system.", |one| &one.system)),
        count("launches", "launches", "Launches that the sums cover.", |one| Some(one.launches?.0 as u64)),
        detail(count("asked", "asked", "Launches of a whole pass.", |one| Some(one.launches?.1 as u64))),
        count("passes", "passes", "Passes.", |one| Some(one.passes.first()?.n as u64)),
        seconds("real", "real", "Real time.", |one| Some(one.means[0])),
        seconds("real_deviation", "±", "Over passes.", |one| one.deviation(0)),
        bytes("memory", "memory", "Peaks of memory.", |one| Some(whole(one.means[1]))),
        bytes("memory_deviation", "±", "Over passes.", |one| one.deviation(1).map(whole)),
        seconds("user", "user", "User CPU time.", |one| Some(one.means[2])),
        seconds("user_deviation", "±", "Over passes.", |one| one.deviation(2)),
        seconds("system_cpu", "system CPU", "System CPU time.", |one| Some(one.means[3])),
        seconds("system_deviation", "±", "Over passes.", |one| one.deviation(3)),
        below(word("printed", "printed", "What is printed, and what the audit says about it.", |one| {
            &one.printed
        })),
    ];
}

/// (User + system CPU time) ÷ real time over the launches of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRatios {
    pub(super) system: String,
    /// Mean, standard deviation and range of the ratios of launches.
    pub(super) distribution: [f64; 3],
    pub(super) of_sums: f64,
    /// All statistics. `None` for printed values.
    pub(super) own: Option<RatioStatistics>,
    /// The number of launches per range of ratios, or the printed values with the doubts of the audit about them.
    pub(super) more: String,
}

impl Statement for JobRatios {
    const KIND: Kind = Kind::JobRatios;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Table 2: (user + system CPU time) ÷ real time of each launch; below 1 it waits, usually for \
                                   I/O, above 1 it is threaded";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("system", "system", "The storage system.", |one| &one.system)),
        count("launches", "launches", "Launches.", |one| Some(one.own?.summary.n as u64)),
        number("mean", "mean", "Mean of the ratios of processor time to real time.", |one| {
            Some(one.distribution[0])
        }),
        number("deviation", "standard deviation", "Standard deviation, n − 1.", |one| {
            Some(one.distribution[1])
        }),
        number("range", "range", "Largest − smallest.", |one| Some(one.distribution[2])),
        detail(number("minimum", "minimum", "The smallest.", |one| Some(one.own?.summary.min))),
        detail(number("maximum", "maximum", "The largest.", |one| Some(one.own?.summary.max))),
        number("of_sums", "ratio of sums", "All CPU time ÷ all real time.", |one| Some(one.of_sums)),
        count("waiting", "below 1", "Launches below 1.", |one| Some(one.own?.waiting as u64)),
        count("threaded", "above 1", "Launches above 1.", |one| Some(one.own?.threaded as u64)),
        below(word(
            "more",
            "more",
            "Distribution of the ratios over the launches; for a published system, what is printed, and what \
             the audit says about it.",
            |one| &one.more,
        )),
    ];
}

impl Statement for JobTest {
    const KIND: Kind = Kind::JobTest;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Tests: means over their launches";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("system", "system", "The storage system.", |one| &one.system)),
        subject(word("test", "test", "The test.", |one| &one.test)),
        word("kind", "kind", "`computation`, `memory` or `io`.", |one| &one.kind),
        count("launches", "launches", "Launches that completed.", |one| Some(one.launches as u64)),
        seconds("real", "real", "Real time.", |one| Some(one.amounts[0])),
        seconds("user", "user", "User CPU time.", |one| Some(one.amounts[2])),
        seconds("system_cpu", "system CPU", "System CPU time.", |one| Some(one.amounts[3])),
        bytes("memory", "memory", "Peak of memory.", |one| Some(whole(one.amounts[1]))),
        number("ratio", "ratio", "Mean of CPU time ÷ real time.", |one| Some(one.ratios?.summary.mean)),
        number(
            "deviation",
            "±",
            "Standard deviation (n − 1) of the ratios of processor time to real time.",
            |one| Some(one.ratios?.summary.deviation_sample),
        ),
        detail(number("of_sums", "of sums", "All CPU time ÷ all real time.", |one| {
            Some(one.ratios?.of_sums)
        })),
        word("standing", " ", "`waiting` below 1, `busy`, `threaded` above 1.", |one| {
            one.ratios.map_or("", |ratios| ratios.standing())
        }),
    ];
}

/// [`compare_matrices`] for two runs, each with its gate. Returns nothing unless all launches of both completed and
/// are paired.
#[must_use]
pub fn contrasts_of_runs(
    systems: [String; 2],
    first: (&Gate<'_>, &JobAccounting),
    second: (&Gate<'_>, &JobAccounting),
) -> Option<Vec<Stated<JobContrast>>> {
    let compared = compare_matrices(systems, first.1, second.1);
    let runs = [first, second].map(|(gate, matrix)| (gate, matrix.figure));
    let state = |(contrast, test): &(JobContrast, Option<Difference>)| {
        let stated = test.as_ref().filter(|test| test.is_stated());
        let may_be_why = |test: &&Difference| {
            let weighed = runs.map(|(gate, place)| gate.weighed(&[place], test.change));
            weighed.contains(&Use::Compared)
        };
        let statement = stated.filter(may_be_why).map_or(Use::Other, |_| Use::Compared);
        let more = test.as_ref().and_then(|test| untold(Kind::JobContrast, test));
        let sides = [&runs[..1], &runs[1..]];
        Gate::state_of_sides(Kind::JobContrast, sides, statement, more, contrast.clone())
    };
    compared.complete.then(|| compared.contrasts.iter().map(state).collect())
}

/// All rows of `matrices`, and of the `printed` one.
pub(crate) fn tables(gate: &Gate<'_>, matrices: &Matrices, printed: Option<MatrixTables>) -> MatrixTables {
    let mut found = MatrixTables::default();
    for one in &matrices.all {
        let (system, inputs) = (&one.system, || vec![one.figure]);
        if let [real, memory, user, cpu] = one.sums.as_slice() {
            let sums = JobSums {
                system: system.clone(),
                launches: Some((one.launches.len(), one.planned)),
                means: [real, memory, user, cpu].map(|sum| sum.mean),
                passes: one.sums.clone(),
                printed: String::new(),
            };
            found.sums.push(gate.state(inputs(), sums));
        }
        if let Some(own) = one.ratios {
            let all = own.summary;
            let ratios = JobRatios {
                system: system.clone(),
                distribution: [all.mean, all.deviation_sample, all.max - all.min],
                of_sums: own.of_sums,
                own: Some(own),
                more: one.histogram.in_words(|edge| format!("{edge:.3}")),
            };
            found.ratios.push(gate.state(inputs(), ratios));
        }
        let tests = tests(system, &one.launches).into_iter();
        found.tests.extend(tests.map(|test| gate.state(inputs(), test)));
    }
    for one in &matrices.comparisons {
        let inputs = [one.second, one.first].map(|place| matrices.all[place].figure).to_vec();
        found.contrasts.extend(one.contrasts.iter().cloned().map(|(contrast, test)| match test {
            Some(test) => {
                let stated = Some(test.change).filter(|_| test.is_stated());
                let statement = stated.map_or(Use::Other, |change| gate.weighed(&inputs, change));
                gate.state_tested(statement, inputs.clone(), &test, contrast)
            }
            None => gate.state(inputs.clone(), contrast),
        }));
    }
    if let Some(printed) = printed {
        found.sums.extend(printed.sums);
        found.contrasts.extend(printed.contrasts);
        found.ratios.extend(printed.ratios);
    }
    found
}
