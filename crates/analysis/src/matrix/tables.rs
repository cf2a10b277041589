//! Matrices of jobs as rows: Tables 1 and 2 of the study for each system, its tests, and systems beside each other. What
//! the study printed stands in rows of the same kinds, which rest on no figure.

use super::{
    Amounts, ColumnChange, Matrices, Matrix, MatrixComparison, PublishedCell, PublishedMatrix,
    RatioStatistics, SpreadChange, SumColumn, TestRatio, TimeChange,
};
use crate::gate::{Gate, Kind, Stated};
use crate::table::{Column, Of, Quantity, Statement, Value};
use crate::timeline::whole;
use crate::{Contrast, Difference, Steadier, Summary};

/// Rows of all matrices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixTables {
    /// Table 1: sums over all launches.
    pub sums: Vec<Stated<JobSums>>,
    /// Systems beside each other.
    pub contrasts: Vec<Stated<JobContrast>>,
    /// Table 2: ratios of CPU time to real time.
    pub ratios: Vec<Stated<JobRatios>>,
    /// Each test, after the name of its system.
    pub tests: Vec<Stated<(String, TestRatio)>>,
}

/// Sums over all launches of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSums {
    /// The system.
    pub system: String,
    /// Launches that the sums are of, and those that were to be; none of what is printed.
    pub launches: Option<(usize, usize)>,
    /// Means over passes.
    pub means: Amounts,
    /// Each column over passes, in the order of [`SumColumn::ALL`]; none of what is printed.
    pub passes: Option<[Summary; 4]>,
    /// What is printed, and what the audit says of it.
    pub printed: String,
}

impl JobSums {
    fn deviation(&self, column: SumColumn) -> Option<f64> {
        let summary = self.passes.as_ref()?[column as usize];
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
        Column::count("passes", |one: &Self| Some(one.passes.as_ref()?[0].n as u64), "Passes."),
        Column::seconds("real", |one: &Self| Some(one.means.real_seconds), "Real time."),
        Column::seconds("real_deviation", |one: &Self| one.deviation(SumColumn::Real), "Over passes.")
            .headed("±"),
        Column::bytes("memory", |one: &Self| Some(whole(one.means.memory_bytes)), "Peaks of memory."),
        Column::bytes(
            "memory_deviation",
            |one: &Self| one.deviation(SumColumn::Memory).map(whole),
            "Over passes.",
        )
        .headed("±"),
        Column::seconds("user", |one: &Self| Some(one.means.user_cpu_seconds), "User CPU time."),
        Column::seconds("user_deviation", |one: &Self| one.deviation(SumColumn::User), "Over passes.")
            .headed("±"),
        Column::seconds("system_cpu", |one: &Self| Some(one.means.system_cpu_seconds), "System CPU time.")
            .headed("system CPU"),
        Column::seconds("system_deviation", |one: &Self| one.deviation(SumColumn::System), "Over passes.")
            .headed("±"),
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
    /// The system.
    pub system: String,
    /// Mean, standard deviation and range of the ratios of launches.
    pub distribution: [f64; 3],
    /// All CPU time ÷ all real time.
    pub of_sums: f64,
    /// All statistics; none of what is printed.
    pub own: Option<RatioStatistics>,
    /// How many launches have which ratio, or what is printed and what the audit says of it.
    pub more: String,
}

impl Statement for JobRatios {
    const KIND: Kind = Kind::JobRatios;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Table 2: (user + system CPU time) ÷ real time of each launch; below 1 it waits, usually for \
                                   I/O, above 1 it is threaded";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("system", |one: &Self| one.system.clone(), "The storage system.").subject(),
        Column::count("launches", |one: &Self| Some(one.own?.n as u64), "Launches."),
        Column::number("mean", |one: &Self| Some(one.distribution[0]), "Of their ratios."),
        Column::number("deviation", |one: &Self| Some(one.distribution[1]), "Standard deviation, n − 1.")
            .headed("standard deviation"),
        Column::number("range", |one: &Self| Some(one.distribution[2]), "Largest − smallest."),
        Column::number("minimum", |one: &Self| Some(one.own?.min), "The smallest.").detail(),
        Column::number("maximum", |one: &Self| Some(one.own?.max), "The largest.").detail(),
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

impl Statement for (String, TestRatio) {
    const KIND: Kind = Kind::JobTest;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Tests: means over their launches";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("system", |one: &Self| one.0.clone(), "The storage system.").subject(),
        Column::text("test", |one: &Self| one.1.test.clone(), "The test.").subject(),
        Column::text("kind", |one: &Self| one.1.kind.clone(), "`computation`, `memory` or `io`."),
        Column::count("launches", |one: &Self| Some(one.1.launches as u64), "Launches that completed."),
        Column::seconds("real", |one: &Self| Some(one.1.amounts.real_seconds), "Real time."),
        Column::seconds("user", |one: &Self| Some(one.1.amounts.user_cpu_seconds), "User CPU time."),
        Column::seconds(
            "system_cpu",
            |one: &Self| Some(one.1.amounts.system_cpu_seconds),
            "System CPU time.",
        )
        .headed("system CPU"),
        Column::bytes("memory", |one: &Self| Some(whole(one.1.amounts.memory_bytes)), "Peak of memory."),
        Column::number("ratio", |one: &Self| Some(one.1.ratios?.mean), "Mean of CPU time ÷ real time."),
        Column::number("deviation", |one: &Self| Some(one.1.ratios?.deviation), "Of the ratios.").headed("±"),
        Column::number("of_sums", |one: &Self| Some(one.1.ratios?.of_sums), "All CPU time ÷ all real time.")
            .detail(),
        Column::text(
            "standing",
            |one: &Self| one.1.standing().map_or("", super::RatioStanding::name).to_owned(),
            "`waiting` below 1, `busy`, `threaded` above 1.",
        )
        .headed(" "),
    ];
}

/// One side of how two systems that ran the same jobs compare.
#[derive(Debug, Clone, PartialEq)]
pub struct JobContrast {
    /// The second system, and the first one, which is the baseline.
    pub systems: [String; 2],
    /// What is compared.
    pub what: &'static str,
    /// What it is of, as in `101 pairs of launches`.
    pub of: String,
    /// Of the first, and of the second.
    pub values: Option<[Value; 2]>,
    /// Second ÷ first − 1, and where that lies.
    pub change: Option<f64>,
    /// From and to.
    pub interval: Option<(f64, f64)>,
    /// What follows.
    pub verdict: String,
    /// What is printed, or how it was tested.
    pub how: String,
}

impl Statement for JobContrast {
    const KIND: Kind = Kind::JobContrast;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Systems beside each other. Sums are tested over passes; real times and spreads over launches, \
                                   which do not know how one pass differs from the next";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("system", |one: &Self| one.systems[0].clone(), "The system.").subject(),
        Column::text("against", |one: &Self| one.systems[1].clone(), "The baseline.").subject(),
        Column::text("what", |one: &Self| one.what.to_owned(), "What is compared.").subject(),
        Column::text("of", |one: &Self| one.of.clone(), "What it is of.").detail(),
        Column::new("first", "baseline", Quantity::Amount, |one: &Self| one.value(0), "Of the baseline."),
        Column::new("second", "system", Quantity::Amount, |one: &Self| one.value(1), "Of the system."),
        Column::change("change", |one: &Self| one.change, "System ÷ baseline − 1."),
        Column::new(
            "interval",
            "interval",
            Quantity::Interval,
            |one: &Self| Value::or_none(one.interval, |(low, high)| Value::Changes(low, high)),
            "Where the change lies.",
        ),
        Column::text("verdict", |one: &Self| one.verdict.clone(), "What follows."),
        Column::text("how", |one: &Self| one.how.clone(), "What is printed, or how it was tested.").below(),
    ];
}

impl JobContrast {
    fn value(&self, side: usize) -> Value {
        self.values.as_ref().map_or(Value::None, |values| values[side].clone())
    }

    /// All of `one`, with the test over passes where there is one.
    fn all(systems: &[String; 2], one: &MatrixComparison) -> Vec<(Self, Option<Difference>)> {
        let blank = |what| Self {
            systems: systems.clone(),
            what,
            of: format!("{} pairs of launches", one.pairs),
            values: None,
            change: None,
            interval: None,
            verdict: String::new(),
            how: String::new(),
        };
        let sum = |(column, change): (&SumColumn, &ColumnChange)| {
            let amount = |value| column.value(value);
            let verdict = match change.over_passes.map(|test| test.outcome) {
                Some(Contrast::Lower) => "less",
                Some(Contrast::Higher) => "more",
                Some(Contrast::NotShown) => "not shown",
                Some(Contrast::TooFew) | None => "too few passes",
            };
            let values = Some([amount(change.first), amount(change.second)]);
            let interval = change.over_passes.and_then(|test| test.interval);
            let verdict = verdict.to_owned();
            let sum = Self { values, change: change.share, interval, verdict, ..blank(column.name()) };
            (sum, change.over_passes)
        };
        let real = |change: &TimeChange| Self {
            change: Some(change.median),
            interval: change.interval.map(|held| (held.low, held.high)),
            verdict: match change.outcome {
                Contrast::Lower => "faster",
                Contrast::Higher => "slower",
                Contrast::NotShown => "no difference was shown",
                Contrast::TooFew => "too few launches",
            }
            .to_owned(),
            how: "median of second ÷ first − 1, by order statistics".to_owned(),
            ..blank("real time, launch by launch")
        };
        let spread = |what, drawn: &str, change: &SpreadChange| Self {
            of: format!("{} {drawn}", change.n),
            values: Some([change.first, change.second].map(Value::Number)),
            change: Some(change.ratio - 1.0),
            interval: change.interval.map(|(low, high)| (low - 1.0, high - 1.0)),
            verdict: match change.steadier {
                Steadier::First => format!("more consistent is {}", systems[1]),
                Steadier::Second => format!("more consistent is {}", systems[0]),
                Steadier::NoDifference => "no difference".to_owned(),
                Steadier::TooFew => format!("too few {drawn}"),
            },
            how: format!("paired bootstrap, {} samples, seed {}", change.samples, change.seed),
            ..blank(what)
        };
        let mut all: Vec<_> = SumColumn::ALL.iter().zip(&one.columns).map(sum).collect();
        all.extend(one.real.as_ref().map(|change| (real(change), None)));
        let ratios = one.ratio_spread.as_ref();
        all.extend(ratios.map(|one| (spread("spread of CPU ÷ real", "pairs of launches", one), None)));
        let times = one.time_spread.as_ref();
        all.extend(times.map(|one| (spread("spread of real times within a test", "tests", one), None)));
        all
    }
}

impl SumColumn {
    /// An amount of it.
    fn value(self, amount: f64) -> Value {
        match self {
            Self::Memory => Value::Bytes(whole(amount)),
            _ => Value::Seconds(amount),
        }
    }
}

/// How the matrices of two runs compare: the second of `systems` is the baseline.
#[must_use]
pub fn job_contrasts(systems: &[String; 2], one: &MatrixComparison) -> Vec<JobContrast> {
    JobContrast::all(systems, one).into_iter().map(|(contrast, _)| contrast).collect()
}

impl Matrix {
    /// The storage system: its target, and the other swept keys.
    #[must_use]
    pub fn system(&self) -> String {
        let name = if self.target.is_empty() { &self.group } else { &self.target };
        let settings = self.settings.iter().map(|one| format!(", {} {}", one.key, one.value));
        std::iter::once(name.clone()).chain(settings).collect()
    }

    /// `0.6 to 0.8: 3; 0.8 to 1: 11`.
    fn histogram_in_words(&self) -> String {
        let bin = |(bin, launches): (usize, &usize)| {
            let (from, to) = self.histogram.edges(bin);
            format!("{from:.3} to {to:.3}: {launches}")
        };
        self.histogram.counts.iter().enumerate().map(bin).collect::<Vec<_>>().join("; ")
    }
}

/// All rows of `matrices`.
pub(crate) fn tables(gate: &Gate<'_>, matrices: &Matrices) -> MatrixTables {
    let mut found = MatrixTables::default();
    for one in &matrices.all {
        let (system, inputs) = (one.system(), || vec![one.figure]);
        if let Some(sums) = one.sums {
            let [real, memory, user, cpu] = sums.map(|sum| sum.mean);
            let sums = JobSums {
                system: system.clone(),
                launches: Some((one.launches.len(), one.asked)),
                means: Amounts {
                    real_seconds: real,
                    memory_bytes: memory,
                    user_cpu_seconds: user,
                    system_cpu_seconds: cpu,
                },
                passes: Some(sums),
                printed: String::new(),
            };
            found.sums.push(gate.state(Kind::JobSums, inputs(), sums));
        }
        if let Some(own) = one.ratios {
            let ratios = JobRatios {
                system: system.clone(),
                distribution: [own.mean, own.deviation, own.range()],
                of_sums: own.of_sums,
                own: Some(own),
                more: one.histogram_in_words(),
            };
            found.ratios.push(gate.state(Kind::JobRatios, inputs(), ratios));
        }
        let tests = one.tests.iter().map(|test| (system.clone(), test.clone()));
        found.tests.extend(tests.map(|test| gate.state(Kind::JobTest, inputs(), test)));
    }
    for one in &matrices.comparisons {
        let both = [one.second, one.first].map(|place| &matrices.all[place]);
        let inputs = both.map(|matrix| matrix.figure).to_vec();
        for (contrast, test) in JobContrast::all(&both.map(Matrix::system), one) {
            found.contrasts.push(match test {
                Some(test) => gate.state_difference(Kind::JobContrast, inputs.clone(), &test, contrast),
                None => gate.state(Kind::JobContrast, inputs.clone(), contrast),
            });
        }
    }
    if let Some(published) = &matrices.published {
        put_published(&mut found, gate, published);
    }
    found
}

/// `printed 1208`, and what the audit says of it.
fn printed<'a>(cells: impl IntoIterator<Item = &'a PublishedCell>) -> String {
    let words = |one: &PublishedCell| {
        let doubts = one.doubts.iter().map(|one| format!(" (! {}: {})", one.check.name(), one.evidence));
        std::iter::once(one.printed.clone()).chain(doubts).collect::<String>()
    };
    format!("printed {}", cells.into_iter().map(words).collect::<Vec<_>>().join(", "))
}

fn put_published(found: &mut MatrixTables, gate: &Gate<'_>, published: &PublishedMatrix) {
    let title = |title: &str| format!("published: {title}");
    for one in &published.systems {
        let [real_seconds, memory_bytes, user_cpu_seconds, system_cpu_seconds] =
            one.sums.each_ref().map(|cell| cell.value);
        let sums = JobSums {
            system: title(&one.title),
            launches: None,
            means: Amounts { real_seconds, memory_bytes, user_cpu_seconds, system_cpu_seconds },
            passes: None,
            printed: format!("{}, in minutes and GB: {}", printed(&one.sums), published.cited),
        };
        found.sums.push(gate.state(Kind::JobSums, Vec::new(), sums));
        let ratios = JobRatios {
            system: title(&one.title),
            distribution: one.ratios.each_ref().map(|cell| cell.value),
            of_sums: one.ratio_of_sums,
            own: None,
            more: printed(&one.ratios),
        };
        found.ratios.push(gate.state(Kind::JobRatios, Vec::new(), ratios));
    }
    let [first, second] = &published.systems;
    for (column, one) in SumColumn::ALL.into_iter().zip(&published.changes) {
        let (divisor, unit) = if column == SumColumn::Memory { (1e9, "GB") } else { (60.0, "min") };
        // Without the digits that binary arithmetic adds to differences of printed numbers.
        let again = (one.recomputed / divisor * 1e6).round() / 1e6;
        let contrast = JobContrast {
            systems: [title(&second.title), title(&first.title)],
            what: column.name(),
            of: "sums of 101 launches".to_owned(),
            values: Some([first, second].map(|system| column.value(system.sums[column as usize].value))),
            change: Some(one.share),
            interval: None,
            verdict: if one.agrees() { "as printed" } else { "misprint" }.to_owned(),
            how: format!(
                "{}; computed again {again:+} {unit}, {:+.2} %",
                printed([&one.cell]),
                one.share * 100.0
            ),
        };
        found.contrasts.push(gate.state(Kind::JobContrast, Vec::new(), contrast));
    }
}
