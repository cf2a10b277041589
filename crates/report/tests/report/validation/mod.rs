//! The validation bench: records of known truth go through figures, findings and all six forms, and what
//! is stated is counted against the truth. `docs/VALIDATION.md` tells how, and has the table.

pub(crate) mod draw;
mod levels;
pub(crate) mod rules;
pub(crate) mod said;
pub(crate) mod scenario;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use analysis::{RateName, figures::Figure};
use report::{Screen, Study};
use serde_json::Value;

use draw::{Fault, Random};
use said::{Kind, Said};
use scenario::{FAMILIES, Trial, USUAL, drawn};

/// All six forms are made of each family once in so many rounds; a page has megabytes of code of its charts.
const FORMS_EVERY: usize = 10;

/// The share of trials without an effect in which a kind may be stated all the same.
pub(crate) const FALSE_MAX: f64 = 0.01;
/// The share of effects of 10 %, with six repetitions and 2 % noise, that are to be stated.
pub(crate) const STATED_MIN: f64 = 0.90;
/// Standard errors below a promise, beyond which it never passes.
const NEVER_BELOW: f64 = 4.0;
/// The error rate of a bound from five repetitions, 2⁻⁵, for promises that are missed by less.
pub(crate) const NEAR_MAX: f64 = 0.031;

/// A median is above the truth in half of all cases.
const MEDIAN_MAX: f64 = 0.5;
/// Standard deviations that a share may be off by chance.
const SCATTER: f64 = 3.0;
/// A count may be one that is no less probable than this at its limit: that of being three standard deviations of a normal
/// distribution above it.
const BY_CHANCE: f64 = 0.00135;

/// Under what a statement was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Under {
    /// It may not be said.
    Zero,
    /// It is true: of 10 %, at 2 % noise, with six repetitions.
    Usual,
    /// It is true, of another size, noise or number of repetitions.
    Other,
    /// A promise that is missed by more than four standard errors.
    FarBelow,
    /// A promise that is missed by less, judged by the bound of an interval.
    Near,
    /// The same, judged by the median: that is on either side as often as its noise puts it there.
    NearMedian,
    /// Figures that count for nothing.
    Faulty,
}

/// What was said in how many trials.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    pub(crate) trials: u64,
    pub(crate) wrong: u64,
    pub(crate) right: u64,
}

impl Count {
    fn wrong_share(self) -> f64 {
        self.wrong as f64 / self.trials as f64
    }

    fn right_share(self) -> f64 {
        self.right as f64 / self.trials as f64
    }
}

/// Intervals of one number of repetitions.
#[derive(Debug, Clone, Default)]
struct Intervals {
    held: u64,
    nominal: f64,
    /// Relative widths, of 2 % noise.
    widths: Vec<f64>,
    n: u64,
}

/// All that was counted.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) counts: BTreeMap<(Kind, Under), Count>,
    intervals: BTreeMap<(&'static str, usize), Intervals>,
    /// Kinds that the JSON document and the findings do not both have.
    forms_apart: BTreeMap<Kind, u64>,
    trials: usize,
}

/// Draws `trials` trials and counts.
pub(crate) fn table(trials: usize, seed: u64) -> Table {
    let mut random = Random(seed);
    let mut table = Table { trials, ..Table::default() };
    for index in 0..trials {
        let trial = drawn(index, &mut random);
        table.add(&trial, (index / FAMILIES).is_multiple_of(FORMS_EVERY));
    }
    table
}

impl Table {
    fn add(&mut self, trial: &Trial, all_forms: bool) {
        let figures = analysis::figures::figures(&trial.run, RateName::ByWall);
        let findings = analysis::findings::findings(&trial.run, &figures);
        let mut stated = said::what_is_said(&findings, &figures);
        if let Some((before, after)) = &trial.compared {
            let compared = said::rates_compared(before, after);
            stated.extend(said::what_comparison_says(&compared));
            if trial.setup.fault == Fault::None {
                for one in &compared {
                    let Some(interval) = one.difference.interval else { continue };
                    let key = ("change between two runs", one.difference.n.0);
                    let level = 1.0 - analysis::statistics::DIFFERENCE_LEVEL;
                    self.add_interval(key, level, interval, trial.setup.effect, trial);
                }
            }
        }
        for truth in &trial.truths {
            let of_kind: Vec<&Said> = stated.iter().filter(|one| one.kind == truth.kind).collect();
            let is_subject = |one: &&Said| truth.subject.is_none_or(|subject| subject == one.subject);
            let wrong = of_kind.iter().any(|one| truth.wrong.contains(&one.way) || !is_subject(one));
            let right = of_kind.iter().any(|one| truth.right == Some(one.way) && is_subject(one));
            let count = self.counts.entry((truth.kind, under(trial, truth.right.is_some()))).or_default();
            count.trials += 1;
            count.wrong += u64::from(wrong);
            count.right += u64::from(right);
        }
        if trial.setup.fault == Fault::None {
            self.add_intervals(trial, &figures);
        }
        if all_forms {
            self.add_forms(trial, &stated);
        }
    }

    fn add_intervals(&mut self, trial: &Trial, figures: &[Figure]) {
        // Of several nodes the rate of the whole is a sum, whose median is not the sum of medians.
        for (figure, &rate) in figures.iter().zip(&trial.rates).filter(|(figure, _)| figure.nodes.len() < 2) {
            if let Some(one) = figure.bytes_per_second.median_interval {
                let n = figure.bytes_per_second.n;
                self.add_interval(
                    ("median of one figure", n),
                    one.confidence,
                    (one.low / rate, one.high / rate),
                    1.0,
                    trial,
                );
            }
        }
    }

    fn add_interval(
        &mut self,
        key: (&'static str, usize),
        nominal: f64,
        (low, high): (f64, f64),
        truth: f64,
        trial: &Trial,
    ) {
        let known = self.intervals.entry(key).or_default();
        known.n += 1;
        known.nominal = nominal;
        known.held += u64::from((low..=high).contains(&truth));
        if trial.setup.noise == USUAL.noise {
            known.widths.push(high - low);
        }
    }

    fn add_forms(&mut self, trial: &Trial, stated: &[Said]) {
        let study = Study::of(&trial.run);
        let mut page = Vec::new();
        study.html(&mut page).expect("memory takes it");
        for form in [study.text_in_full(Screen::PLAIN), study.markdown(), study.csv(), study.openmetrics()] {
            assert!(!form.is_empty());
        }
        let document: Value = serde_json::from_str(&study.json()).expect("JSON");
        for kind in said::apart(stated, &document) {
            *self.forms_apart.entry(kind).or_default() += 1;
        }
    }

    /// Every row, and whether it holds its limit but for what so many trials scatter by chance.
    fn judged(&self) -> Vec<(Kind, Under, Count, bool)> {
        let judge = |(&(kind, under), &count): (&(Kind, Under), &Count)| {
            let false_max = match under {
                Under::Zero | Under::Usual | Under::Other => FALSE_MAX,
                Under::Near => NEAR_MAX,
                Under::NearMedian => MEDIAN_MAX,
                Under::FarBelow | Under::Faulty => 0.0,
            };
            let missed_max = if under == Under::Usual { 1.0 - STATED_MIN } else { 1.0 };
            let within = |found: u64, share: f64| by_chance(found, count.trials, share);
            let holds = within(count.wrong, false_max) && within(count.trials - count.right, missed_max);
            (kind, under, count, holds)
        };
        self.counts.iter().map(judge).collect()
    }

    /// The limits of `docs/VALIDATION.md` that do not hold.
    pub(crate) fn broken_limits(&self) -> Vec<String> {
        let failing = self.judged().into_iter().filter(|(.., holds)| !holds);
        let mut broken: Vec<String> =
            failing.map(|(kind, under, ..)| format!("{kind:?}: {}", under.name())).collect();
        if !self.intervals_hold() {
            broken.push("an interval holds the truth less often than it says".to_owned());
        }
        let apart = self.forms_apart.keys();
        broken.extend(apart.map(|kind| format!("{kind:?}: the JSON form and the findings differ")));
        broken
    }

    /// As it stands in `docs/VALIDATION.md`.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "{} trials.\n\n| statement | where | trials | false | true | limit |\n|---|---|---|---|---|---|\n",
            self.trials
        );
        let faulty = |under: &Under| matches!(under, Under::Faulty);
        for (kind, under, count, holds) in self.judged() {
            if faulty(&under) && count.wrong == 0 {
                continue;
            }
            let right = match under {
                Under::Usual | Under::Other => percent(count.right_share()),
                _ => String::new(),
            };
            let wrong = percent(count.wrong_share());
            let holds = if holds { "holds" } else { "does not hold" };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {wrong} | {right} | {holds} |",
                kind.name(),
                under.name(),
                count.trials
            );
        }
        text.push_str("\n| interval | repetitions | nominal | truth within | median width at 2 % noise |\n|---|---|---|---|---|\n");
        for ((of, n), one) in &self.intervals {
            let mut widths = one.widths.clone();
            widths.sort_by(f64::total_cmp);
            let width = widths.get(widths.len() / 2).map(|width| percent(*width)).unwrap_or_default();
            let _ = writeln!(
                text,
                "| {of} | {n} | {} | {} | {width} |",
                percent(one.nominal),
                percent(one.held as f64 / one.n as f64)
            );
        }
        text
    }

    /// Whether each interval holds the truth as often as it says, minus 1 % and what so many draws scatter.
    fn intervals_hold(&self) -> bool {
        self.intervals.values().all(|one| {
            let scatter = SCATTER * (one.nominal * (1.0 - one.nominal) / one.n as f64).sqrt();
            one.held as f64 / one.n as f64 >= one.nominal - 0.01 - scatter
        })
    }
}

impl Under {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Zero => "nothing to state",
            Self::Usual => "10 %, noise 2 %, 6 repetitions",
            Self::Other => "other effects",
            Self::FarBelow => "truth more than 4 standard errors off",
            Self::Near => "truth nearer, by the bound",
            Self::NearMedian => "truth nearer, by the median",
            Self::Faulty => "figures that count for nothing",
        }
    }
}

fn under(trial: &Trial, is_true: bool) -> Under {
    match (trial.setup.fault, trial.distance) {
        (Fault::None, Some(distance)) if !is_true && distance.abs() > NEVER_BELOW => Under::FarBelow,
        (Fault::None, Some(_)) if !is_true && trial.by_bound => Under::Near,
        (Fault::None, Some(_)) if !is_true => Under::NearMedian,
        (Fault::None, _) if !is_true => Under::Zero,
        (Fault::None, None) if trial.setup == USUAL => Under::Usual,
        (Fault::None, _) => Under::Other,
        _ => Under::Faulty,
    }
}

/// Whether `found` of `trials` may be chance where the probability of each is `share`: not less probable than
/// [`BY_CHANCE`], by the binomial distribution.
fn by_chance(found: u64, trials: u64, share: f64) -> bool {
    if share <= 0.0 || share >= 1.0 {
        return found == 0 || share >= 1.0;
    }
    let odds = (share / (1.0 - share)).ln();
    // The logarithm of the probability of none, one, two …
    let mut each = trials as f64 * (1.0 - share).ln();
    let mut below = 0.0;
    for count in 0..found {
        below += each.exp();
        each += ((trials - count) as f64 / (count + 1) as f64).ln() + odds;
    }
    1.0 - below >= BY_CHANCE
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
