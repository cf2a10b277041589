//! Compares targets by how little their rates vary over the points of a sweep.

use crate::audit::Use;
use crate::figures::{RateOf, Subject, TARGET, grouped, sweeps};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, count, flag, rate, share},
};
use crate::statistics::{Summary, difference::difference};

/// The variation of the rates of a target over the points of its sweep.
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
    /// Whether it is shown to vary less than each other sweep of its phase and client over the same keys.
    pub steadiest: bool,
}

impl Statement for Consistency {
    const KIND: Kind = Kind::Consistency;
    const OF: Of = Of::Sweep;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "Standard deviation ÷ mean of the medians over the points of each sweep.";
    const COLUMNS: &'static [Column<Self>] = &[
        flag("steadiest", "steadiest", "it varies less than each other sweep of the same keys", |one| {
            one.steadiest.then_some(true)
        }),
        share("variation", "varies by", "standard deviation (n − 1) ÷ mean of the medians", |one| {
            Some(one.variation)
        }),
        rate("lowest_per_second", "lowest", "lowest median", |one| Some(one.min)),
        rate("highest_per_second", "highest", "highest median", |one| Some(one.max)),
        count("points", "points", "points of the sweep", |one| Some(one.n as u64)),
    ];
}

/// The spread of the medians over the points of each sweep, smallest first. The sweeps of one phase and client over
/// the same keys are compared, whether one workload sweeps the target or each target has a workload of its own;
/// sweeps with a disqualified figure are left out. A sweep of one point has no spread.
pub(crate) fn consistency(gate: &Gate<'_>) -> Vec<Stated<Consistency>> {
    let spreads = sweeps(&gate.subjects).into_iter().filter_map(|sweep| Some((spread(&sweep)?, sweep)));
    let together = |(_, sweep): &(Consistency, Vec<&Subject<'_>>)| {
        let keys = sweep[0].case.settings.iter().map(|setting| setting.key.clone());
        let keys: Vec<String> = keys.filter(|key| key != TARGET).collect();
        (sweep[0].figure.phase, sweep[0].client(), keys)
    };
    let mut stated = Vec::new();
    for mut race in grouped(spreads, together) {
        race.sort_by(|(one, _), (other, _)| one.variation.total_cmp(&other.variation));
        let usable = |sweep: &[&Subject<'_>]| sweep.iter().all(|one| gate.is_usable(one.index));
        let places = |sweep: &[&Subject<'_>]| sweep.iter().map(|one| one.index).collect::<Vec<_>>();
        let compared: Vec<Vec<f64>> =
            race.iter().map(|(_, sweep)| if usable(sweep) { of_passes(sweep) } else { Vec::new() }).collect();
        let first = race.iter().position(|(_, sweep)| usable(sweep));
        let of_all = race.iter().map(|(_, sweep)| sweep).filter(|sweep| usable(sweep));
        let of_all: Vec<usize> = of_all.flat_map(|sweep| places(sweep)).collect();
        for (place, (value, sweep)) in race.into_iter().enumerate() {
            let alike = as_steady_as(place, &compared);
            let is_told = alike == 0 && usable(&sweep);
            let value = Consistency {
                steadiest: first == Some(place) && is_told && of_all.len() > sweep.len(),
                ..value
            };
            // The place of a sweep depends on the others as well.
            let mut inputs = places(&sweep);
            if is_told {
                inputs.extend(of_all.iter().filter(|one| !places(&sweep).contains(one)));
            }
            stated.push(match is_told {
                true => gate.state_as(Use::Compared, inputs, value),
                false => gate.state_unranked(inputs, alike, value),
            });
        }
    }
    stated
}

fn spread(sweep: &[&Subject<'_>]) -> Option<Consistency> {
    let rates: Vec<f64> = sweep.iter().map(|subject| subject.rate()).collect();
    let Summary { n, variation, min, max, .. } = Summary::of(&rates).filter(|summary| summary.n > 1)?;
    Some(Consistency { n, variation, min, max, counts: sweep[0].figure.rate_of(), steadiest: false })
}

/// 1 + the variation over the points in each pass alone, for passes that all points have.
fn of_passes(sweep: &[&Subject<'_>]) -> Vec<f64> {
    let of_points: Vec<Vec<f64>> = sweep.iter().map(|one| one.figure.headline_of_passes()).collect();
    let passes = of_points.iter().map(Vec::len).min().unwrap_or(0);
    let variation = |pass: usize| {
        let rates: Vec<f64> = of_points.iter().map(|values| values[pass]).collect();
        Some(1.0 + Summary::of(&rates)?.variation)
    };
    (0..passes).filter_map(variation).collect()
}

/// The number of other sweeps that were not shown to vary more or less than number `place`, of those whose passes may
/// be compared. One is added to each variation, which may be 0 and would have no logarithm. All others have to be told
/// apart, so chance has two ways only: the least of several alike, and the largest.
fn as_steady_as(place: usize, race: &[Vec<f64>]) -> usize {
    let own = &race[place];
    let family = (race.len() - 1).min(2);
    let is_alike = |other: &Vec<f64>| !difference(other, own, family).is_some_and(|found| found.is_shown());
    let others = race.iter().enumerate().filter(|(other, passes)| *other != place && !passes.is_empty());
    others.filter(|(_, passes)| is_alike(passes)).count()
}
