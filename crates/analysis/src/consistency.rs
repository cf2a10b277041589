//! Targets by how little their rates vary over the points of a sweep.

use plan::{Client, Phase};

use crate::difference::{DIFFERENCE_LEAST, DIFFERENCE_LEVEL};
use crate::gate::{Gate, Kind, Stated};
use crate::headline::RateOf;
use crate::ranks::mann_whitney;
use crate::subject::{Subject, TARGET, sweeps};
use crate::summary::Summary;
use crate::table::{Column, Of, Statement, count, rate, share};

/// How much the rates of a target vary over the points of its sweep.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Consistency {
    pub n: usize,
    /// Standard deviation (n − 1) ÷ mean of the medians.
    pub variation: f64,
    /// Lowest median of the first rate.
    pub min: f64,
    pub max: f64,
    pub counts: RateOf,
    /// From 1 for the smallest variation among the sweeps of one phase and client over the same keys; none where that is
    /// not shown to vary less than each of the others.
    pub rank: Option<usize>,
}

impl Statement for Consistency {
    const KIND: Kind = Kind::Consistency;
    const OF: Of = Of::Sweep;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str =
        "Standard deviation ÷ mean of the medians over the points of each sweep; rank 1 varies least.";
    const COLUMNS: &'static [Column<Self>] = &[
        count("rank", "rank", "1 for the smallest variation among sweeps of the same keys", |one| {
            one.rank.map(|rank| rank as u64)
        }),
        share("variation", "varies by", "standard deviation (n − 1) ÷ mean of the medians", |one| {
            Some(one.variation)
        }),
        rate("lowest_per_second", "lowest", "lowest median", |one| Some(one.min)),
        rate("highest_per_second", "highest", "highest median", |one| Some(one.max)),
        count("points", "points", "points of the sweep", |one| Some(one.n as u64)),
    ];
}

/// What is ranked together: the phase, where the program ran, and the swept keys.
type Race<'a> = (Phase, Client, Vec<&'a str>);

/// A sweep with what is said of it.
struct Spread<'a> {
    race: Race<'a>,
    inputs: Vec<usize>,
    /// The variation over the points in each pass alone.
    of_passes: Vec<f64>,
    value: Consistency,
}

/// The spread of the medians over the points of each sweep, the smallest first. Ranks are among the sweeps of one phase
/// and client over the same keys, whether one workload sweeps the target or each target has a workload of its own; those
/// with a figure that is disqualified have none. A sweep of one point has no spread.
pub(crate) fn consistency(gate: &Gate<'_>) -> Vec<Stated<Consistency>> {
    let mut races: Vec<Vec<Spread<'_>>> = Vec::new();
    for sweep in sweeps(&gate.subjects) {
        let Some(spread) = spread(&sweep) else { continue };
        match races.iter_mut().find(|race| race[0].race == spread.race) {
            Some(race) => race.push(spread),
            None => races.push(vec![spread]),
        }
    }
    let mut stated = Vec::new();
    for mut race in races {
        race.sort_by(|one, other| one.value.variation.total_cmp(&other.value.variation));
        let usable = |one: &&Spread<'_>| one.inputs.iter().all(|&place| gate.is_usable(place));
        let shown = first_is_steadiest(&race.iter().filter(usable).collect::<Vec<_>>());
        let mut rank = 0;
        for one in &race {
            rank += usize::from(usable(&one));
            let value = Consistency { rank: shown.then_some(rank), ..one.value.clone() };
            let inputs = one.inputs.clone();
            stated.push(match shown {
                true => gate.state(Kind::Consistency, inputs, value),
                false => gate.state_unranked(Kind::Consistency, inputs, value),
            });
        }
    }
    stated
}

fn spread<'a>(sweep: &[&Subject<'a>]) -> Option<Spread<'a>> {
    let first = sweep[0];
    let rates: Vec<f64> = sweep.iter().map(|subject| subject.rate()).collect();
    let summary = Summary::of(&rates).filter(|summary| summary.n > 1)?;
    let settings = first.case.settings.iter().map(|setting| setting.key.as_str());
    Some(Spread {
        race: (first.figure.phase, first.client(), settings.filter(|&key| key != TARGET).collect()),
        inputs: sweep.iter().map(|one| one.index).collect(),
        of_passes: of_passes(sweep),
        value: Consistency {
            n: summary.n,
            variation: summary.variation,
            min: summary.min,
            max: summary.max,
            counts: first.figure.rate_of(),
            rank: None,
        },
    })
}

/// The variation over the points in each pass alone, as far as all points have passes.
fn of_passes(sweep: &[&Subject<'_>]) -> Vec<f64> {
    let values = |subject: &&Subject<'_>| -> Vec<f64> {
        subject.figure.counted().filter_map(|pass| subject.figure.headline_of(pass)).collect()
    };
    let of_points: Vec<Vec<f64>> = sweep.iter().map(values).collect();
    let passes = of_points.iter().map(Vec::len).min().unwrap_or(0);
    let variation = |pass: usize| {
        let rates: Vec<f64> = of_points.iter().map(|values| values[pass]).collect();
        Some(Summary::of(&rates)?.variation)
    };
    (0..passes).filter_map(variation).collect()
}

/// Whether the first varies less than each of the others, by ranks: variations near 0 have no logarithms to go by. All
/// others have to be shown, so their number needs no correction. Never where it is alone.
fn first_is_steadiest(race: &[&Spread<'_>]) -> bool {
    let Some((first, others)) = race.split_first() else { return false };
    let less = |other: &&Spread<'_>| {
        let (ours, theirs) = (&first.of_passes, &other.of_passes);
        let found = mann_whitney(ours, theirs).filter(|found| found.p_value <= DIFFERENCE_LEVEL);
        found.is_some_and(|found| 2.0 * found.u > (ours.len() * theirs.len()) as f64)
    };
    let enough = race.iter().all(|one| one.of_passes.len() >= DIFFERENCE_LEAST);
    enough && !others.is_empty() && others.iter().all(less)
}
