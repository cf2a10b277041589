//! The test for differences compared with informal rules, on the same draws: false alarms and detections.

use std::cmp::Ordering;
use std::fmt::Write as _;

use analysis::comparisons::Division;
use analysis::statistics::Rule;

use super::draw::Random;
use super::{FALSE_MAX, STATED_MIN, by_chance, percent};

/// Repetitions per side.
const REPETITIONS: usize = 6;
/// How much higher the second side is, if there is an effect.
const EFFECT: f64 = 0.1;

/// A name, and a function that draws the rates of consecutive repetitions, as factors of one rate.
type Storage = (&'static str, fn(&mut Random) -> Vec<f64>);

const STORAGES: [Storage; 5] = [
    ("noise of 2 %", |random| repeated(random, |_, random| (0.02 * random.normal()).exp())),
    ("noise of 5 %", |random| repeated(random, |_, random| (0.05 * random.normal()).exp())),
    ("noise of 2 %, slower by 1 % each time", |random| {
        repeated(random, |place, random| (0.02 * random.normal() - 0.01 * f64::from(place)).exp())
    }),
    ("noise of 2 %, one in five loses up to half to others", |random| {
        repeated(random, |_, random| {
            let left = if random.uniform() < 0.2 { 1.0 - 0.5 * random.uniform() } else { 1.0 };
            left * (0.02 * random.normal()).exp()
        })
    }),
    ("noise of 2 %, each 0.8 like the one before", |random| {
        let mut state = random.normal();
        repeated(random, move |_, random| {
            let now = (0.02 * state).exp();
            state = 0.8 * state + 0.6 * random.normal();
            now
        })
    }),
];

fn repeated(random: &mut Random, mut next: impl FnMut(u32, &mut Random) -> f64) -> Vec<f64> {
    (0_u32..).take(2 * REPETITIONS).map(|place| next(place, random)).collect()
}

/// The results of a rule for comparisons on one storage.
struct Counted {
    storage: &'static str,
    division: Division,
    rule: Rule,
    /// Differences reported if both sides are equal.
    alarms: usize,
    /// Differences reported in the right direction, if the second side is higher.
    found: usize,
    /// Differences reported in the wrong direction, if the second side is higher.
    turned: usize,
}

/// The compared rules.
pub(crate) struct Rules {
    trials: usize,
    rows: Vec<Counted>,
}

/// Draws this many comparisons for each storage.
pub(crate) fn rules(trials: usize, seed: u64) -> Rules {
    let mut rows = Vec::new();
    for (storage, draw) in STORAGES {
        for division in Division::ALL {
            let mut random = Random(seed);
            let mut of: Vec<Counted> = Rule::ALL
                .map(|rule| Counted { storage, division, rule, alarms: 0, found: 0, turned: 0 })
                .into();
            for _ in 0..trials {
                let [first, second] = division.sides(&draw(&mut random));
                let higher: Vec<f64> = second.iter().map(|rate| rate * (1.0 + EFFECT)).collect();
                for one in &mut of {
                    one.alarms += usize::from(one.rule.says(&first, &second).is_some());
                    match one.rule.says(&first, &higher) {
                        Some(Ordering::Greater) => one.found += 1,
                        Some(_) => one.turned += 1,
                        None => {}
                    }
                }
            }
            rows.extend(of);
        }
    }
    Rules { trials, rows }
}

impl Rules {
    /// Where the test for differences violates its guarantees: false alarms, unless repetitions depend on each other,
    /// or on the time if one side follows the other, and detection of 10 % with 2 % noise.
    pub(crate) fn broken_limits(&self) -> Vec<String> {
        let within = |count: usize, share: f64| by_chance(count as u64, self.trials as u64, share);
        let of_test = self.rows.iter().filter(|one| one.rule == Rule::Test);
        let breaks = |one: &&Counted| {
            let place = STORAGES.iter().position(|(name, _)| *name == one.storage);
            let depends = place == Some(4) || place == Some(2) && one.division == Division::OneAfterOther;
            let errs = !within(one.alarms, FALSE_MAX) || !within(one.turned, FALSE_MAX);
            let misses = !within(self.trials - one.found, 1.0 - STATED_MIN);
            !depends && errs || place == Some(0) && misses
        };
        let words = |one: &Counted| format!("test of differences: {}, {:?}", one.storage, one.division);
        of_test.filter(breaks).map(words).collect()
    }

    /// The table as contained in `docs/VALIDATION.md`: a row for each storage and division, a column for each rule.
    pub(crate) fn markdown(&self) -> String {
        let mut text = "| storage | sides |".to_owned();
        for rule in Rule::ALL {
            let _ = write!(text, " {} |", rule.name());
        }
        let _ = write!(text, "\n|---|---|{}", "---|".repeat(Rule::ALL.len()));
        let share = |count: usize| percent(count as f64 / self.trials as f64);
        for of in self.rows.chunks(Rule::ALL.len()) {
            let sides = if of[0].division == Division::InTurn { "in turns" } else { "one after the other" };
            let _ = write!(text, "\n| {} | {sides} |", of[0].storage);
            for one in of {
                let _ = write!(text, " {}, {}, {} |", share(one.alarms), share(one.found), share(one.turned));
            }
        }
        text.push('\n');
        text
    }
}
