//! Matrices of jobs as rows: Tables 1 and 2 of the study for each system, its tests, and systems beside each other. What
//! the study printed stands in rows of the same kinds, which rest on no figure.

use super::ratios::tests;
use super::{Amounts, JobContrast, JobTest, Matrices, RatioStatistics};
use crate::Summary;
use crate::gate::{Gate, Kind, Stated};
use crate::table::{Column, Of, Statement};
use crate::timeline::whole;

/// Rows of all matrices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixTables {
    /// Table 1: sums over all launches.
    pub sums: Vec<Stated<JobSums>>,
    /// Systems beside each other.
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
    /// Launches that the sums are of, and those that were to be; none of what is printed.
    pub(super) launches: Option<(usize, usize)>,
    /// Means over passes.
    pub means: Amounts,
    /// Each column over passes; empty of what is printed.
    pub(super) passes: Vec<Summary>,
    /// What is printed, and what the audit says of it.
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
    const CAPTION: &'static str = "Table 1: real time, memory and CPU time, summed over all launches; of several passes mean ± \
                                   standard deviation. Peaks of memory need not be at the same time";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("system", |one: &Self| one.system.clone(), "The storage system.").subject(),
        Column::count(
            "launches",
            |one: &Self| Some(one.launches?.0 as u64),
            "Launches that the sums are of.",
        ),
        Column::count("asked", |one: &Self| Some(one.launches?.1 as u64), "Launches of a whole pass.")
            .detail(),
        Column::count("passes", |one: &Self| Some(one.passes.first()?.n as u64), "Passes."),
        Column::seconds("real", |one: &Self| Some(one.means[0]), "Real time."),
        Column::seconds("real_deviation", |one: &Self| one.deviation(0), "Over passes.").headed("±"),
        Column::bytes("memory", |one: &Self| Some(whole(one.means[1])), "Peaks of memory."),
        Column::bytes("memory_deviation", |one: &Self| one.deviation(1).map(whole), "Over passes.")
            .headed("±"),
        Column::seconds("user", |one: &Self| Some(one.means[2]), "User CPU time."),
        Column::seconds("user_deviation", |one: &Self| one.deviation(2), "Over passes.").headed("±"),
        Column::seconds("system_cpu", |one: &Self| Some(one.means[3]), "System CPU time.")
            .headed("system CPU"),
        Column::seconds("system_deviation", |one: &Self| one.deviation(3), "Over passes.").headed("±"),
        Column::text(
            "printed",
            |one: &Self| one.printed.clone(),
            "What is printed, and what the audit says of it.",
        )
        .below(),
    ];
}

/// (User + system CPU time) ÷ real time over the launches of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRatios {
    pub(super) system: String,
    /// Mean, standard deviation and range of the ratios of launches.
    pub(super) distribution: [f64; 3],
    pub(super) of_sums: f64,
    /// All statistics; none of what is printed.
    pub(super) own: Option<RatioStatistics>,
    /// How many launches have which ratio, or what is printed and what the audit says of it.
    pub(super) more: String,
}

impl Statement for JobRatios {
    const KIND: Kind = Kind::JobRatios;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Table 2: (user + system CPU time) ÷ real time of each launch; below 1 it waits, usually for \
                                   I/O, above 1 it is threaded";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("system", |one: &Self| one.system.clone(), "The storage system.").subject(),
        Column::count("launches", |one: &Self| Some(one.own?.summary.n as u64), "Launches."),
        Column::number("mean", |one: &Self| Some(one.distribution[0]), "Of their ratios."),
        Column::number("deviation", |one: &Self| Some(one.distribution[1]), "Standard deviation, n − 1.")
            .headed("standard deviation"),
        Column::number("range", |one: &Self| Some(one.distribution[2]), "Largest − smallest."),
        Column::number("minimum", |one: &Self| Some(one.own?.summary.min), "The smallest.").detail(),
        Column::number("maximum", |one: &Self| Some(one.own?.summary.max), "The largest.").detail(),
        Column::number("of_sums", |one: &Self| Some(one.of_sums), "All CPU time ÷ all real time.")
            .headed("ratio of sums"),
        Column::count("waiting", |one: &Self| Some(one.own?.waiting as u64), "Launches below 1.").headed("below 1"),
        Column::count("threaded", |one: &Self| Some(one.own?.threaded as u64), "Launches above 1.").headed("above 1"),
        Column::text(
            "more",
            |one: &Self| one.more.clone(),
            "How many launches have which ratio; of a published system what is printed, and what the audit says of it.",
        )
        .below(),
    ];
}

impl Statement for JobTest {
    const KIND: Kind = Kind::JobTest;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Tests: means over their launches";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("system", |one: &Self| one.system.clone(), "The storage system.").subject(),
        Column::text("test", |one: &Self| one.test.clone(), "The test.").subject(),
        Column::text("kind", |one: &Self| one.kind.clone(), "`computation`, `memory` or `io`."),
        Column::count("launches", |one: &Self| Some(one.launches as u64), "Launches that completed."),
        Column::seconds("real", |one: &Self| Some(one.amounts[0]), "Real time."),
        Column::seconds("user", |one: &Self| Some(one.amounts[2]), "User CPU time."),
        Column::seconds("system_cpu", |one: &Self| Some(one.amounts[3]), "System CPU time.")
            .headed("system CPU"),
        Column::bytes("memory", |one: &Self| Some(whole(one.amounts[1])), "Peak of memory."),
        Column::number("ratio", |one: &Self| Some(one.ratios?.summary.mean), "Mean of CPU time ÷ real time."),
        Column::number(
            "deviation",
            |one: &Self| Some(one.ratios?.summary.deviation_sample),
            "Of the ratios.",
        )
        .headed("±"),
        Column::number("of_sums", |one: &Self| Some(one.ratios?.of_sums), "All CPU time ÷ all real time.")
            .detail(),
        Column::text(
            "standing",
            |one: &Self| one.ratios.map_or("", |ratios| ratios.standing()).to_owned(),
            "`waiting` below 1, `busy`, `threaded` above 1.",
        )
        .headed(" "),
    ];
}

/// All rows of `matrices`, and of the `printed` one.
pub(crate) fn tables(gate: &Gate<'_>, matrices: &Matrices, printed: Option<MatrixTables>) -> MatrixTables {
    let mut found = MatrixTables::default();
    for one in &matrices.all {
        let (system, inputs) = (&one.system, || vec![one.figure]);
        if let [real, memory, user, cpu] = one.sums.as_slice() {
            let sums = JobSums {
                system: system.clone(),
                launches: Some((one.launches.len(), one.asked)),
                means: [real, memory, user, cpu].map(|sum| sum.mean),
                passes: one.sums.clone(),
                printed: String::new(),
            };
            found.sums.push(gate.state(Kind::JobSums, inputs(), sums));
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
            found.ratios.push(gate.state(Kind::JobRatios, inputs(), ratios));
        }
        let tests = tests(system, &one.launches).into_iter();
        found.tests.extend(tests.map(|test| gate.state(Kind::JobTest, inputs(), test)));
    }
    for one in &matrices.comparisons {
        let inputs = [one.second, one.first].map(|place| matrices.all[place].figure).to_vec();
        found.contrasts.extend(one.contrasts.iter().cloned().map(|(contrast, test)| match test {
            Some(test) => gate.state_difference(Kind::JobContrast, inputs.clone(), &test, contrast),
            None => gate.state(Kind::JobContrast, inputs.clone(), contrast),
        }));
    }
    if let Some(printed) = printed {
        found.sums.extend(printed.sums);
        found.contrasts.extend(printed.contrasts);
        found.ratios.extend(printed.ratios);
    }
    found
}
