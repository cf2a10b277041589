//! Statistical validation: records with known true values are processed into figures, findings and all six output
//! formats, and the resulting statements are counted against the true values. `docs/VALIDATION.md` describes the
//! method and has the table.

mod devices;
pub(crate) mod draw;
mod levels;
pub(crate) mod pages;
pub(crate) mod percentiles;
pub(crate) mod rules;
pub(crate) mod said;
pub(crate) mod scenario;
mod simulated;
mod simulation;
mod systems;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use analysis::{RateName, figures::Figure};
use report::{Screen, Study};
use serde_json::Value;

use serde::{Deserialize, Serialize};

use draw::{Fault, Random};
use said::{IntervalOf, Kind, Said};
use scenario::{Trial, USUAL};

/// All six formats are rendered for each family once per this many rounds, because a page contains megabytes of chart
/// code.
const FORMS_EVERY: usize = 10;

/// The maximum share of trials without an effect in which a kind may still be stated.
pub(crate) const FALSE_MAX: f64 = 0.01;
/// The minimum share of 10 % effects, with six repetitions and 2 % noise, that must be stated.
pub(crate) const STATED_MIN: f64 = 0.90;
/// Number of standard errors below a promise beyond which it must never pass.
const NEVER_BELOW: f64 = 4.0;
/// The error rate of a bound from five repetitions, 2⁻⁵, for promises that are missed by less.
pub(crate) const NEAR_MAX: f64 = 0.031;

/// Most statements need as many repetitions.
const MANY: u32 = 5;

/// A median is above the true value in half of all cases.
const MEDIAN_MAX: f64 = 0.5;
/// Number of standard deviations that a share may deviate by chance.
const SCATTER: f64 = 3.0;
/// A count is attributed to chance if its probability at the limit is at least this value, which is the probability
/// that a normal distribution is more than three standard deviations above its mean.
const BY_CHANCE: f64 = 0.00135;

/// The condition under which a statement was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Under {
    /// The statement is false.
    Zero,
    /// The same, of fewer repetitions than most statements need.
    ZeroFew,
    /// The statement is true: the effect is 10 %, with 2 % noise and six repetitions.
    Usual,
    /// The statement is true, with a different effect, noise or number of repetitions.
    Other,
    /// The statement is false, and the devices have troubles.
    ZeroTroubled,
    /// The statement is true, and the devices have troubles.
    Troubled,
    /// A promise that is missed by more than four standard errors.
    FarBelow,
    /// A promise that is missed by less, judged by the bound of an interval.
    Near,
    /// The same, judged by the median, which may be on either side according to its noise.
    NearMedian,
    /// Figures that do not count.
    Faulty,
}

/// How often something was stated, and in how many trials.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
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

/// Intervals for one number of repetitions.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Intervals {
    held: u64,
    nominal: f64,
    /// Relative widths at 2 % noise.
    widths: Vec<f64>,
    n: u64,
}

/// The origin of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    /// Drawn from distributions.
    Drawn,
    /// Produced by runs on models.
    Simulated,
}

/// All counts.
#[derive(Serialize, Deserialize)]
pub(crate) struct Table {
    source: Source,
    seed: u64,
    /// The state of the random number generator after the last trial.
    random: u64,
    trials: usize,
    #[serde(with = "pairs")]
    pub(crate) counts: BTreeMap<(Kind, Under), Count>,
    #[serde(with = "pairs")]
    intervals: BTreeMap<(IntervalOf, usize), Intervals>,
    /// Kinds that only one of the JSON document and the findings has.
    #[serde(with = "pairs")]
    forms_apart: BTreeMap<Kind, u64>,
}

impl Table {
    /// Creates counts without any trial.
    pub(crate) fn new(source: Source, seed: u64) -> Self {
        Self {
            source,
            seed,
            random: seed,
            trials: 0,
            counts: BTreeMap::new(),
            intervals: BTreeMap::new(),
            forms_apart: BTreeMap::new(),
        }
    }

    /// The number of completed trials, if they have this source and seed.
    pub(crate) fn trials_of(&self, source: Source, seed: u64) -> Option<usize> {
        ((self.source, self.seed) == (source, seed)).then_some(self.trials)
    }

    /// Runs more trials, up to this total number.
    pub(crate) fn go_on(&mut self, trials: usize) {
        let mut random = Random(self.random);
        while self.trials < trials {
            let (trial, families) = match self.source {
                Source::Drawn => (scenario::drawn(self.trials, &mut random), scenario::FAMILIES),
                Source::Simulated => (simulated::simulated(self.trials, &mut random), simulated::FAMILIES),
            };
            self.add(&trial, (self.trials / families).is_multiple_of(FORMS_EVERY));
            self.trials += 1;
        }
        self.random = random.0;
    }

    fn add(&mut self, trial: &Trial, all_forms: bool) {
        let figures = analysis::figures::figures(&trial.run, RateName::ByWall);
        let findings = analysis::findings::findings(&trial.run, &figures);
        let mut stated = said::what_is_said(&findings, &figures);
        if let Some((before, after)) = &trial.compared {
            let compared = said::rates_compared(before, after);
            stated.extend(said::what_comparison_says(&compared));
            if trial.setup.fault == Fault::None && !trial.troubled {
                for one in &compared {
                    let Some(interval) = one.difference.interval else { continue };
                    let key = (IntervalOf::Change, one.difference.n.0);
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
            for (of, target, n, (low, high)) in said::intervals(&findings, &figures) {
                let truths = trial.values.iter().filter(|one| one.0 == of && one.1 == target);
                for (.., truth) in truths {
                    let level = analysis::statistics::CONFIDENCE;
                    self.add_interval((of, n), level, (low / truth, high / truth), 1.0, trial);
                }
            }
        }
        if all_forms {
            self.add_forms(trial, &stated);
        }
    }

    fn add_intervals(&mut self, trial: &Trial, figures: &[Figure]) {
        // The rate of several nodes is a sum, whose median is not the sum of the medians.
        for (figure, &rate) in figures.iter().zip(&trial.rates).filter(|(figure, _)| figure.nodes.len() < 2) {
            if let Some(one) = figure.bytes_per_second.median_interval {
                let n = figure.bytes_per_second.n;
                self.add_interval(
                    (IntervalOf::Median, n),
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
        key: (IntervalOf, usize),
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

    /// Every row, and whether it is within its limit, apart from random variation for this number of trials.
    fn judged(&self) -> Vec<(Kind, Under, Count, bool)> {
        let judge = |(&(kind, under), &count): (&(Kind, Under), &Count)| {
            let false_max = match under {
                Under::Zero
                | Under::ZeroFew
                | Under::Usual
                | Under::Other
                | Under::ZeroTroubled
                | Under::Troubled => FALSE_MAX,
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

    /// The limits of `docs/VALIDATION.md` that are violated.
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

    /// The table as contained in `docs/VALIDATION.md`.
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
                Under::Usual | Under::Other | Under::Troubled => percent(count.right_share()),
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
        text.push_str("\n| interval | values | nominal | truth within | median width at 2 % noise |\n|---|---|---|---|---|\n");
        for ((of, n), one) in &self.intervals {
            let mut widths = one.widths.clone();
            widths.sort_by(f64::total_cmp);
            let width = widths.get(widths.len() / 2).map(|width| percent(*width)).unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | {n} | {} | {} | {width} |",
                of.name(),
                percent(one.nominal),
                percent(one.held as f64 / one.n as f64)
            );
        }
        text
    }

    /// Whether each interval contains the true value as often as stated, minus 1 % and the random variation of this
    /// many draws.
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
            Self::ZeroFew => "nothing to state, 1 or 3 repetitions",
            Self::Usual => "10 %, noise 2 %, 6 repetitions",
            Self::Other => "other effects",
            Self::ZeroTroubled => "nothing to state, devices with troubles",
            Self::Troubled => "an effect, devices with troubles",
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
        (Fault::None, _) if trial.troubled && is_true => Under::Troubled,
        (Fault::None, _) if trial.troubled => Under::ZeroTroubled,
        (Fault::None, _) if !is_true && trial.setup.repetitions < MANY => Under::ZeroFew,
        (Fault::None, _) if !is_true => Under::Zero,
        (Fault::None, None) if trial.setup == USUAL => Under::Usual,
        (Fault::None, _) => Under::Other,
        _ => Under::Faulty,
    }
}

/// Whether `found` of `trials` can be due to chance if each has the probability `share`: by the binomial
/// distribution, the probability is at least [`BY_CHANCE`].
fn by_chance(found: u64, trials: u64, share: f64) -> bool {
    if share <= 0.0 || share >= 1.0 {
        return found == 0 || share >= 1.0;
    }
    let odds = (share / (1.0 - share)).ln();
    // The logarithm of the probability of zero, one, two …
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

/// Serializes maps as lists of pairs, because JSON only allows strings as keys.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}
