//! Targets by how little their rates vary over the points of a sweep.

use std::collections::HashMap;

use plan::{Phase, Plan};

use crate::findings::Consistency;
use crate::subject::{Subject, TARGET, subjects, sweeps};
use crate::{Figure, Summary};

/// The spread of the medians over the points of each sweep, from the most consistent target to the
/// least. Ranks are among the sweeps of one phase over the same keys, whether one workload sweeps
/// the target or each target has a workload of its own. A sweep of one point has no spread.
#[must_use]
pub fn consistency(plan: &Plan, figures: &[Figure]) -> Vec<Consistency> {
    of_subjects(&subjects(plan, figures))
}

/// What is ranked together: the phase and the swept keys.
type Race<'a> = (Phase, Vec<&'a str>);

/// As [`consistency`], of figures that were looked up already.
pub(crate) fn of_subjects(subjects: &[Subject<'_>]) -> Vec<Consistency> {
    let mut races: Vec<Vec<Consistency>> = Vec::new();
    let mut race_places: HashMap<Race<'_>, usize> = HashMap::new();
    for sweep in sweeps(subjects) {
        let first = sweep[0];
        let rates: Vec<f64> = sweep.iter().map(|subject| subject.rate()).collect();
        let Some(summary) = Summary::of(&rates).filter(|summary| summary.n > 1) else { continue };
        let settings = first.case.settings.iter().map(|setting| setting.key.as_str());
        let race = (first.figure.phase, settings.filter(|&key| key != TARGET).collect());
        let place = *race_places.entry(race).or_insert_with(|| {
            races.push(Vec::new());
            races.len() - 1
        });
        races[place].push(Consistency {
            group: first.case.group.clone(),
            target: first.case.target.clone(),
            phase: first.figure.phase,
            n: summary.n,
            variation: summary.variation,
            min: summary.min,
            max: summary.max,
            rank: 0,
        });
    }
    for race in &mut races {
        race.sort_by(|a, b| a.variation.total_cmp(&b.variation));
        for (before, one) in race.iter_mut().enumerate() {
            one.rank = before + 1;
        }
    }
    races.into_iter().flatten().collect()
}
