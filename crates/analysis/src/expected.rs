//! Figures against data sheets and limits.

use std::collections::HashMap;

use plan::{Amount, Bytes, Case, Expectation, Layer, Order, Phase, Plan, TargetTerms};

use crate::Figure;
use crate::amount::{bytes_of_one, in_unit_of, measured};
use crate::gate::{Gate, Kind, Stated};
use crate::subject::nodes_of;
use crate::table::{
    Column, Of, Quantity, Statement, Value, amount, any, below, detail, flag, share, subject, text, word,
};
use crate::verdict::{number, unit};

/// A figure against a data sheet or a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The figure.
    pub figure: usize,
    /// [`plan::Expectation::name`].
    pub name: String,
    /// The limit of all of them together.
    pub amount: Amount,
    /// Measured ÷ expected; for latencies too.
    pub ratio: f64,
    /// No figure can be above it.
    pub ceiling: bool,
    /// Whether the figure's mean latency is within [`plan::Expectation::at_latency`]; none where
    /// the value is promised without one, or no latency was measured.
    pub in_time: Option<bool>,
    /// What reaching it means, where it is the highest grade that was reached; what missing it means, where it
    /// is the easiest and none was.
    pub reached: Option<String>,
    /// Where the value is from.
    pub source: String,
}

impl Statement for Expected {
    const KIND: Kind = Kind::Expected;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Measured ÷ expected";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("name", "by", "The data sheet or limit.", |one| &one.name)),
        amount("expected", "expected", "Of all nodes and devices together, in `unit`.", |one| {
            Value::amount(one.amount, number(one.amount))
        }),
        amount("measured", "measured", "Median, in `unit`.", |one| {
            Value::amount(one.amount, number(one.amount) * one.ratio)
        }),
        share("ratio", "ratio", "Measured ÷ expected; of latencies, too.", |one| Some(one.ratio)),
        flag("ceiling", "ceiling", "Whether no figure can be above it.", |one| one.ceiling.then_some(true)),
        flag(
            "in_time",
            "in time",
            "Whether the mean latency is within the one at which the value is promised.",
            |one| one.in_time,
        ),
        below(any(
            "reached",
            "means",
            "What reaching the grade means, or missing the easiest.",
            Quantity::Text,
            |one| Value::or_none(one.reached.clone(), Value::Text),
        )),
        below(word("source", "source", "Where it is from.", |one| &one.source)),
        detail(text("unit", "unit", "`bytes/s`, `ops/s` or `ns`.", |one| unit(one.amount).to_owned())),
    ];
}

/// Those of [`expected`], what reached a ceiling or a grade first.
pub(crate) fn of_gate(gate: &Gate<'_>, all: &[Expected]) -> Vec<Stated<Expected>> {
    let mut all = all.to_vec();
    all.sort_by_key(|one| one.reached.is_none() && !(one.ceiling && one.ratio > 1.0));
    all.into_iter().map(|one| gate.state(Kind::Expected, vec![one.figure], one)).collect()
}

/// Every figure against each expectation that is about it, in the order of the figures, and for
/// each in the order of the study.
///
/// An expectation is about a figure where all that it names agrees: target, phase, order, transfer
/// size and share of reads. Its limit counts for the nodes of the case and the devices of the
/// target. The figure is its median: the rate it is summarised by, operations and bytes
/// converted into each other at its transfer size; or the latency of all its transfers.
///
/// A mixed figure whose share of reads stands in no expectation is set against the two that
/// enclose it; see [`mix`].
///
/// [`Expected::reached`] is filled in for the highest grade that a figure reached: of 150, 100
/// and 50 MB/s for a drive, one that moves 120 has reached 100; one that moves 40 has missed them all.
#[must_use]
pub fn expected(plan: &Plan, figures: &[Figure]) -> Vec<Expected> {
    let cases: HashMap<&str, &Case> = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let targets: HashMap<&str, &TargetTerms> =
        plan.terms.targets.iter().map(|terms| (terms.name.as_str(), terms)).collect();
    let mut all = Vec::new();
    for (index, figure) in figures.iter().enumerate() {
        let Some(case) = cases.get(&*figure.case) else { continue };
        let subject = Subject { case, phase: figure.phase };
        let terms = targets.get(case.target.as_str());
        let (devices, layer) = terms.map_or((0, Layer::Unstated), |terms| (terms.devices, terms.layer));
        let devices = crate::subject::members_of(case).unwrap_or(devices);
        let nodes = u32::try_from(nodes_of(case)).unwrap_or(u32::MAX);
        let in_all = |one: &Expectation| one.in_all(nodes, devices, layer);
        let mut of_figure: Vec<(Expected, Option<&Expectation>)> = Vec::new();
        for expectation in subject.about(&plan.terms.expectations) {
            let limit = in_all(expectation);
            if !concerns(expectation, figure) {
                continue;
            }
            let Some(value) = measured(figure, limit) else { continue };
            of_figure.push((found(index, figure, expectation, limit, value), Some(expectation)));
        }
        for (expectation, limit) in subject.between(&plan.terms.expectations, in_all) {
            let Some(value) = measured(figure, limit) else { continue };
            let mut expected = found(index, figure, expectation, limit, value);
            expected.name = format!("{} at {} % reads", expectation.name, case.workload.read_percent);
            expected.ceiling = false;
            of_figure.push((expected, None));
        }
        grade(&mut of_figure, bytes_of_one(case, figure.phase));
        all.extend(of_figure.into_iter().map(|(expected, _)| expected));
    }
    all
}

/// Whether an expectation that names no phase means `figure` too: what is expected of transfers says
/// nothing of names and messages, but no bytes go over a link faster than it is.
fn concerns(expectation: &Expectation, figure: &Figure) -> bool {
    figure.phase.is_transfers()
        || expectation.phase.is_some()
        || (expectation.ceiling
            && matches!(expectation.amount, Amount::BytesPerSecond(_))
            && figure.bytes_per_second.median > 0.0)
}

fn found(figure: usize, of: &Figure, expectation: &Expectation, amount: Amount, value: f64) -> Expected {
    let mean = Amount::Latency { nanos: 0.0, percent: None };
    Expected {
        figure,
        name: expectation.name.clone(),
        amount,
        ratio: value / number(amount),
        ceiling: expectation.ceiling,
        in_time: expectation.at_latency.and_then(|at| Some(measured(of, mean)? <= at.0 as f64)),
        reached: None,
        source: expectation.source.clone(),
    }
}

/// Marks the hardest grade that was reached, among rates and among latencies; the easiest where none was.
fn grade(of_figure: &mut [(Expected, Option<&Expectation>)], transfer: Bytes) {
    let hardness = |amount: Amount| match amount {
        Amount::Latency { nanos, .. } => (true, -nanos),
        rate => (false, in_unit_of(rate, Amount::BytesPerSecond(0.0), transfer).unwrap_or(0.0)),
    };
    for of_latency in [false, true] {
        let is_kept = |ratio: f64| if of_latency { ratio <= 1.0 } else { ratio >= 1.0 };
        let graded = |(place, (expected, grade)): (usize, &(Expected, Option<&Expectation>))| {
            let (latency, hardness) = hardness(expected.amount);
            let is_grade = grade.is_some_and(|grade| !grade.reached.is_empty());
            (latency == of_latency && is_grade).then_some((place, hardness, is_kept(expected.ratio)))
        };
        let grades = || of_figure.iter().enumerate().filter_map(graded);
        let hardest = grades().filter(|one| one.2).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((place, _, kept)) = hardest.or_else(|| grades().min_by(|a, b| a.1.total_cmp(&b.1))) else {
            continue;
        };
        let (expected, grade) = &mut of_figure[place];
        let words = grade.map(|grade| if kept { &grade.reached } else { &grade.missed });
        expected.reached = words.filter(|words| !words.is_empty()).cloned();
    }
}

/// The expectations that are about `phase` of `case`.
pub(crate) fn about<'a>(
    case: &'a Case,
    phase: Phase,
    expectations: &'a [Expectation],
) -> impl Iterator<Item = &'a Expectation> {
    Subject { case, phase }.about(expectations)
}

/// What an expectation has to agree with.
#[derive(Clone, Copy)]
struct Subject<'a> {
    case: &'a Case,
    phase: Phase,
}

impl<'s> Subject<'s> {
    /// All but the share of reads.
    fn agrees(self, expectation: &Expectation) -> bool {
        let workload = &self.case.workload;
        let random = matches!(workload.order, Order::Random { .. });
        let of_transfers = expectation.random.is_some()
            || expectation.transfer.is_some()
            || expectation.read_percent.is_some();
        if of_transfers && !self.phase.is_transfers() {
            return false;
        }
        expectation.target.as_ref().is_none_or(|target| *target == self.case.target)
            && expectation.phase.is_none_or(|phase| phase == self.phase)
            && expectation.random.is_none_or(|wanted| wanted == random)
            && expectation.transfer.is_none_or(|transfer| transfer == workload.geometry.transfer)
    }

    /// The share of reads of the phase, in percent.
    fn read_percent(self) -> u8 {
        match self.phase {
            Phase::Mixed => self.case.workload.read_percent,
            Phase::Write | Phase::Fill => 0,
            _ => 100,
        }
    }

    fn about<'e>(
        self,
        expectations: &'e [Expectation],
    ) -> impl Iterator<Item = &'e Expectation> + use<'s, 'e> {
        expectations.iter().filter(move |expectation| {
            self.agrees(expectation)
                && expectation.read_percent.is_none_or(|share| share == self.read_percent())
        })
    }

    /// Interpolated limits where the share of reads stands in no expectation: one for each latency
    /// that the two neighbours have in common, with the neighbour of more writes.
    fn between(
        self,
        expectations: &[Expectation],
        in_all: impl Fn(&Expectation) -> Amount,
    ) -> Vec<(&Expectation, Amount)> {
        let share = self.read_percent();
        let mixes: Vec<(u8, &Expectation)> = expectations
            .iter()
            .filter(|expectation| self.agrees(expectation))
            .filter_map(|expectation| Some((expectation.read_percent?, expectation)))
            .collect();
        if self.phase != Phase::Mixed || mixes.iter().any(|(at, _)| *at == share) {
            return Vec::new();
        }
        let below = mixes.iter().filter(|(at, _)| *at < share);
        let nearest = below.clone().map(|(at, _)| *at).max();
        let mut found = Vec::new();
        for (low, expectation) in below.filter(|(at, _)| Some(*at) == nearest) {
            let above = mixes
                .iter()
                .filter(|(at, other)| *at > share && other.at_latency == expectation.at_latency)
                .min_by_key(|(at, _)| *at);
            let limit = above.and_then(|(high, other)| {
                let at = f64::from(share - low) / f64::from(high - low);
                match (in_all(expectation), in_all(other)) {
                    (Amount::OperationsPerSecond(low), Amount::OperationsPerSecond(high)) => {
                        mix(low, high, at).map(Amount::OperationsPerSecond)
                    }
                    (Amount::BytesPerSecond(low), Amount::BytesPerSecond(high)) => {
                        mix(low, high, at).map(Amount::BytesPerSecond)
                    }
                    _ => None,
                }
            });
            found.extend(limit.map(|limit| (*expectation, limit)));
        }
        found
    }
}

/// The rate of a mix between two known ones, `share` of the way from the first to the second: the
/// time of an operation, not the rate, is in proportion, `1 ÷ ((1 − share) ÷ low + share ÷ high)`,
/// because each operation takes its own time whatever runs beside it. Of the data sheet of study D
/// (650, 314, 195, 144 and 117 thousand at 100, 75, 50, 25 and 0 % reads) the outer two alone
/// give 304, 198 and 147 thousand between them; a straight line of rates would give 517, 384 and
/// 250. None where a rate is not above 0 or the share is outside of 0 to 1.
#[must_use]
pub fn mix(low: f64, high: f64, share: f64) -> Option<f64> {
    (low > 0.0 && high > 0.0 && (0.0..=1.0).contains(&share))
        .then(|| 1.0 / ((1.0 - share) / low + share / high))
}
