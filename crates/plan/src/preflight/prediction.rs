//! Predicted rates and times: ranges, each with its source.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul};

use serde::{Deserialize, Serialize};

use super::{CaseEstimate, RunEnvironment};
use crate::{Case, Phase};

/// A range with a middle: `low` ≤ `middle` ≤ `high`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lowest expected value.
    pub low: f64,
    /// The single expected value.
    pub middle: f64,
    /// The highest expected value.
    pub high: f64,
}

impl Interval {
    /// A value that is known.
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self { low: value, middle: value, high: value }
    }

    /// The middle divided and multiplied by `factor`, which is at least 1.
    #[must_use]
    pub fn around(middle: f64, factor: f64) -> Self {
        Self { low: middle / factor, middle, high: middle * factor }
    }

    /// Applies `of` to each of the three values.
    #[must_use]
    pub fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self { low: of(self.low), middle: of(self.middle), high: of(self.high) }
    }

    /// The time of `amount` at these rates: the highest rate takes the least time.
    #[must_use]
    pub fn time_of(self, amount: f64) -> Self {
        let time = |rate: f64| amount / rate.max(f64::MIN_POSITIVE);
        Self { low: time(self.high), middle: time(self.middle), high: time(self.low) }
    }

    /// Limits each of the three values to at most that of `limit`.
    #[must_use]
    pub fn at_most(self, limit: Self) -> Self {
        Self {
            low: self.low.min(limit.low),
            middle: self.middle.min(limit.middle),
            high: self.high.min(limit.high),
        }
    }

    /// Limits each of the three values to at least that of `limit`.
    #[must_use]
    pub fn at_least(self, limit: Self) -> Self {
        Self {
            low: self.low.max(limit.low),
            middle: self.middle.max(limit.middle),
            high: self.high.max(limit.high),
        }
    }
}

impl Add for Interval {
    type Output = Self;

    /// Lower and upper ends are added separately, because whatever makes one phase slower than predicted affects
    /// the others as well.
    fn add(self, other: Self) -> Self {
        Self { low: self.low + other.low, middle: self.middle + other.middle, high: self.high + other.high }
    }
}

impl Mul<f64> for Interval {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        self.map(|value| value * factor)
    }
}

impl Sum for Interval {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::exact(0.0), Self::add)
    }
}

/// The source of a predicted rate, best source first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The user.
    Given,
    /// The model of this name.
    Model(String),
    /// Measurements of the run in this directory.
    Run(String),
    /// The study's expectation of this name, from a data sheet.
    Expected(String),
    /// The study's ceiling of this name. It is an upper bound, so the range below it is wide.
    Ceiling(String),
    /// The study's commitment of this name, where it is more than the assumed devices reach.
    Promised(String),
    /// No source: the devices are assumed, with the number and class given here.
    Assumed(String),
    /// No source: the model on which the plan runs gives no rate, and no device is assumed.
    Unknown,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(name) => write!(f, "the study's expectation `{name}`"),
            Self::Promised(name) => write!(f, "the study's commitment `{name}`, if it is kept"),
            Self::Ceiling(name) => write!(f, "the study's ceiling `{name}`, an upper bound"),
            other => f.write_str(&other.kind()),
        }
    }
}

impl Source {
    /// The source without the name of a single expectation, commitment or ceiling.
    fn kind(&self) -> String {
        match self {
            Self::Given => "rates given by hand".to_owned(),
            Self::Model(name) => format!("model {name}"),
            Self::Run(directory) => format!("run {directory}"),
            Self::Expected(_) => "the study's expectations".to_owned(),
            Self::Promised(_) => "the study's commitments, if they are kept".to_owned(),
            Self::Ceiling(_) => "the study's ceilings, which are upper bounds".to_owned(),
            Self::Assumed(devices) => devices.clone(),
            Self::Unknown => "nothing known".to_owned(),
        }
    }
}

/// The unit of a [`PredictedRate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateUnit {
    /// Bytes per second.
    Bytes,
    /// Operations per second: transfers, or whatever else the phase does.
    Operations,
}

/// The rate that a phase of a case is expected to reach.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedRate {
    /// The rate, in `unit` per second.
    pub rate: Interval,
    /// The counted unit.
    pub unit: RateUnit,
    /// The source of the rate.
    pub source: Source,
}

/// Rates that are known from outside the study, by case and phase.
///
/// ```
/// use plan::{Interval, Phase, PredictedRate, Predictions, RateUnit, Source};
/// let mut predictions = Predictions::default();
/// let rate = Interval { low: 0.8e9, middle: 1e9, high: 1.1e9 };
/// let rate = PredictedRate { rate, unit: RateUnit::Bytes, source: Source::Model("site".into()) };
/// predictions.add("scale:tasks=4", Phase::Read, rate);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predictions {
    /// The rates by case.
    rates: HashMap<String, Vec<(Phase, PredictedRate)>>,
    /// The noise by case.
    noise: HashMap<String, Vec<(Phase, f64)>>,
    unmatched: Vec<Source>,
}

impl Predictions {
    /// Adds the rate of `phase` of the case with the id `case`. Of several rates, the one from the best source is
    /// used. A fill and a preconditioning use the rate of [`Phase::Fill`].
    pub fn add(&mut self, case: &str, phase: Phase, rate: PredictedRate) {
        self.rates.entry(case.to_owned()).or_default().push((phase, rate));
    }

    /// Adds the noise of `phase` of the case with the id `case`: the standard deviation of ln(rate) between passes.
    pub fn add_noise(&mut self, case: &str, phase: Phase, noise: f64) {
        self.noise.entry(case.to_owned()).or_default().push((phase, noise));
    }

    /// The noise of `phase` of the case with the id `case`, if a run has measured it.
    #[must_use]
    pub fn noise(&self, case: &str, phase: Phase) -> Option<f64> {
        let all = self.noise.get(case)?;
        all.iter().find(|(of, _)| *of == phase).map(|(_, noise)| *noise)
    }

    /// Records that the user named `source` but that it has no rate for any phase of the plan.
    pub fn add_unmatched(&mut self, source: Source) {
        self.unmatched.push(source);
    }

    /// The sources that the user named but that have no rate for the plan, in words.
    pub fn unmatched(&self) -> impl Iterator<Item = String> {
        self.unmatched.iter().map(|source| format!("nothing in {} is close to this study", source.kind()))
    }

    /// Whether no rate is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// Adds the rates of `more`.
    pub fn append(&mut self, more: Self) {
        for (case, mut rates) in more.rates {
            self.rates.entry(case).or_default().append(&mut rates);
        }
        for (case, mut noise) in more.noise {
            self.noise.entry(case).or_default().append(&mut noise);
        }
        self.unmatched.extend(more.unmatched);
    }

    /// The rates of `phase` of `case`.
    pub(super) fn of(&self, case: &Case, phase: Phase) -> impl Iterator<Item = &PredictedRate> {
        let all = self.rates.get(&case.id).into_iter().flatten();
        all.filter(move |(of, _)| *of == phase).map(|(_, rate)| rate)
    }
}

/// The time that a whole plan is expected to take; stored with the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Seconds of all cases, as far as known.
    pub seconds: Interval,
    /// The sources in words, with their shares if there are several, and what is not included; empty if nothing
    /// takes time.
    pub source: String,
}

impl Prediction {
    /// The sum of `estimates`, which are those of `cases` in `environment`.
    ///
    /// ```
    /// let text = r#"
    ///     [protocol]
    ///     repetitions = 3
    ///     [[target]]
    ///     name = "disks"
    ///     directory = "/mnt/disks"
    ///     devices = 12
    ///     [[workload]]
    ///     name = "stream"
    ///     tasks = 12
    ///     transfer = "1MiB"
    ///     size = "96GiB"
    ///     phases = ["read"]
    ///     fill = false
    ///     [[expectation]]
    ///     name = "data sheet"
    ///     bandwidth = "1GB/s"
    ///     per = "device"
    /// "#;
    /// let plan = plan::study::read("scale.toml".as_ref(), text)?;
    /// let environment = plan::RunEnvironment::default();
    /// let estimates = plan::estimates(&plan, &environment).0;
    /// let predicted = plan::Prediction::of(&plan.cases, &estimates, &environment);
    /// // Three times 103 GB at 12 GB/s at most.
    /// assert!((predicted.seconds.low - 25.77).abs() < 0.1, "{predicted:?}");
    /// assert_eq!(predicted.source, "the study's expectations");
    /// # Ok::<(), plan::study::StudyErrors>(())
    /// ```
    #[must_use]
    pub fn of(cases: &[Case], estimates: &[CaseEstimate], environment: &RunEnvironment) -> Self {
        let mut shares: Vec<(String, f64)> = Vec::new();
        let mut count = |kind: String, seconds: f64| match shares.iter_mut().find(|(known, _)| *known == kind)
        {
            Some((_, sum)) => *sum += seconds,
            None => shares.push((kind, seconds)),
        };
        for (case, estimate) in cases.iter().zip(estimates) {
            let passes = f64::from(case.passes_max());
            let preparations = f64::from(estimate.preparations);
            let before =
                estimate.fill.iter().chain(&estimate.precondition).map(|phase| (phase, preparations));
            for (phase, times) in before.chain(estimate.phases.iter().map(|phase| (phase, passes))) {
                let seconds = phase.seconds.middle * times;
                match (phase.by_clock, seconds > 0.0) {
                    (_, false) => {}
                    (true, _) => count("fixed durations".to_owned(), seconds),
                    (false, _) => count(phase.source.kind(), seconds),
                }
            }
        }
        let seconds: Interval = estimates.iter().map(|estimate| estimate.seconds).sum();
        // JSON has no infinity.
        let seconds = seconds.map(|seconds| seconds.min(f64::MAX));
        shares.sort_by(|one, other| other.1.total_cmp(&one.1));
        let all: f64 = shares.iter().map(|(_, seconds)| seconds).sum();
        let several = shares.len() > 1;
        let words = shares.into_iter().map(|(kind, seconds)| match (several, 100.0 * seconds / all) {
            (false, _) => kind,
            (true, 0.0..1.0) => format!("{kind} (below 1 %)"),
            (true, percent) => format!("{kind} ({percent:.0} %)"),
        });
        let mut source = words.collect::<Vec<_>>().join(", ");
        let of_unknown = estimates.iter().flat_map(CaseEstimate::all_phases).filter(|one| one.is_unknown());
        let of_unknown: BTreeSet<&str> = of_unknown.map(|one| one.phase.name()).collect();
        let of_unknown: Vec<&str> = of_unknown.into_iter().collect();
        let mut add = |words: String| {
            let before = if source.is_empty() { "" } else { "; " };
            source = format!("{source}{before}{words}");
        };
        if !of_unknown.is_empty() {
            let phases = of_unknown.join(", ");
            add(format!("the time of {phases} is not known before the simulation and is not included"));
        }
        environment.predicted.unmatched().for_each(add);
        Self { seconds, source }
    }
}
