//! Targets by how little their rates vary over the points of a sweep.

use std::collections::HashMap;

use plan::{Client, Phase};

use crate::Summary;
use crate::gate::{Gate, Kind, Stated};
use crate::headline::RateOf;
use crate::subject::{TARGET, sweeps};
use crate::table::{Column, Of, Quantity, Statement, Value};

/// How much the rates of a target vary over the points of its sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Consistency {
    /// Points.
    pub n: usize,
    /// Standard deviation (n − 1) ÷ mean of the medians.
    pub variation: f64,
    /// Lowest median of the first rate.
    pub min: f64,
    /// Highest median.
    pub max: f64,
    /// What they count.
    pub counts: RateOf,
    /// From 1 for the smallest variation among the sweeps of one phase and client over the same keys.
    pub rank: usize,
}

impl Statement for Consistency {
    const KIND: Kind = Kind::Consistency;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str =
        "Standard deviation ÷ mean of the medians over the points of each sweep; rank 1 varies least.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(
            "rank",
            "rank",
            Quantity::Count,
            |one| Value::Count(one.rank as u64),
            "1 for the smallest variation among sweeps of the same keys",
        ),
        Column::new(
            "variation",
            "varies by",
            Quantity::Ratio,
            |one| Value::Share(one.variation),
            "standard deviation (n − 1) ÷ mean of the medians",
        ),
        Column::new(
            "lowest_per_second",
            "lowest",
            Quantity::Rate,
            |one| Value::Rate(one.min, one.counts),
            "lowest median",
        ),
        Column::new(
            "highest_per_second",
            "highest",
            Quantity::Rate,
            |one| Value::Rate(one.max, one.counts),
            "highest median",
        ),
        Column::new(
            "points",
            "points",
            Quantity::Count,
            |one| Value::Count(one.n as u64),
            "points of the sweep",
        ),
    ];
}

/// What is ranked together: the phase, where the program ran, and the swept keys.
type Race<'a> = (Phase, Client, Vec<&'a str>);

/// The spread of the medians over the points of each sweep. Ranks are among the sweeps of one phase and client over the
/// same keys, whether one workload sweeps the target or each target has a workload of its own; those with a figure that
/// is disqualified have none. A sweep of one point has no spread.
#[must_use]
pub(crate) fn consistency(gate: &Gate<'_>) -> Vec<Stated<Consistency>> {
    let mut found: Vec<(Race<'_>, Vec<usize>, Consistency)> = Vec::new();
    for sweep in sweeps(&gate.subjects) {
        let first = sweep[0];
        let rates: Vec<f64> = sweep.iter().map(|subject| subject.rate()).collect();
        let Some(summary) = Summary::of(&rates).filter(|summary| summary.n > 1) else { continue };
        let settings = first.case.settings.iter().map(|setting| setting.key.as_str());
        let keys = settings.filter(|&key| key != TARGET).collect();
        let value = Consistency {
            n: summary.n,
            variation: summary.variation,
            min: summary.min,
            max: summary.max,
            counts: first.figure.rate_of(),
            rank: 0,
        };
        found.push((
            (first.figure.phase, first.client(), keys),
            sweep.iter().map(|one| one.index).collect(),
            value,
        ));
    }
    found.sort_by(|(.., one), (.., other)| one.variation.total_cmp(&other.variation));
    let mut ranks: HashMap<Race<'_>, usize> = HashMap::new();
    let mut stated = Vec::with_capacity(found.len());
    for (race, inputs, value) in found {
        let usable = inputs.iter().all(|&place| gate.is_usable(place));
        let rank = ranks.entry(race).or_default();
        *rank += usize::from(usable);
        stated.push(gate.state(Kind::Consistency, inputs, Consistency { rank: *rank, ..value }));
    }
    stated
}
