//! Promises of percentiles on records with known percentiles: how often one at the limit is called kept or broken,
//! and how often one with room is called kept.

use std::fmt::Write as _;

use analysis::{RateName, gate::Judgement};
use plan::{Amount, Bound, Commitment, Criteria, Measure, Operation, Phase, Statistic};
use record::{LatencyRow, PhaseKey, PhaseRecord, PhaseRow};

use super::draw::{Fault, Point, Random, plan, run_of};
use super::scenario::{Setup, USUAL, commitment, point};
use super::{FALSE_MAX, NEAR_MAX, by_chance, percent};

/// How far above the true percentile a promise is that is to be kept.
const ROOM: f64 = 1.2;
/// The mean time of a transfer, and of a stall.
const MEAN_NS: f64 = 1e6;
/// Autocorrelation of repetitions, or of transfers.
const AUTOCORRELATION: f64 = 0.5;
const SECOND: u64 = 1_000_000_000;

/// What differs between repetitions. Times are exponential.
#[derive(Clone, Copy)]
enum Storage {
    Alike,
    /// Each time is the sum of half of the one before and, in half of all cases, an exponential one (Gaver and Lewis,
    /// Advances in Applied Probability 12, 1980).
    EachLikeTheLast,
    /// So many stalls in a repetition on average, each of which delays all transfers in flight.
    Stalls(f64),
    /// This share of the repetitions takes so many times as long.
    Kinds(f64, f64),
    /// The logarithm of a repetition's mean has this standard deviation, and depends on that of the one before.
    Scatter(f64),
}

struct Model {
    name: &'static str,
    storage: Storage,
    percent: f64,
    transfers: u64,
    in_flight: u32,
    repetitions: &'static [u32],
}

const fn model(
    name: &'static str,
    storage: Storage,
    percent: f64,
    transfers: u64,
    repetitions: &'static [u32],
) -> Model {
    Model { name, storage, percent, transfers, in_flight: 1, repetitions }
}

const MODELS: [Model; 12] = [
    model("exponential, few transfers", Storage::Alike, 99.9, 50, &[6, 20, 60, 200]),
    model("exponential", Storage::Alike, 99.0, 1_000, &[17, 20, 30, 60]),
    model("exponential", Storage::Alike, 99.9, 10_000, &[17, 20, 30, 60]),
    model("each transfer half like the one before", Storage::EachLikeTheLast, 99.0, 1_000, &[17, 20, 30]),
    Model {
        in_flight: 32,
        ..model("stalls of all 32 in flight, few", Storage::Stalls(30.0), 99.0, 960, &[17, 20, 60])
    },
    Model {
        in_flight: 32,
        ..model("stalls of all 32 in flight, many", Storage::Stalls(300.0), 99.0, 9_600, &[17, 20, 60])
    },
    model(
        "half of the repetitions 1.3 times as long",
        Storage::Kinds(0.5, 1.3),
        99.0,
        1_000,
        &[17, 20, 30, 60],
    ),
    model("half of the repetitions 1.3 times as long", Storage::Kinds(0.5, 1.3), 99.9, 10_000, &[17, 20, 60]),
    model("one in four twice as long", Storage::Kinds(0.25, 2.0), 99.0, 1_000, &[17, 20, 60]),
    model(
        "repetitions half like the one before, 5 % scatter",
        Storage::Scatter(0.05),
        99.9,
        10_000,
        &[17, 20, 60],
    ),
    model(
        "repetitions half like the one before, 10 % scatter",
        Storage::Scatter(0.1),
        99.9,
        10_000,
        &[17, 20, 60],
    ),
    model(
        "repetitions half like the one before, 20 % scatter",
        Storage::Scatter(0.2),
        99.0,
        1_000,
        &[17, 20, 60],
    ),
];

impl Model {
    /// The share of the transfers that take longer than `limit` times the mean, over all repetitions.
    fn beyond(&self, limit: f64) -> f64 {
        match self.storage {
            Storage::Alike | Storage::EachLikeTheLast => (-limit).exp(),
            Storage::Stalls(stalls) => {
                stalls * f64::from(self.in_flight) / self.transfers as f64 * (-limit).exp()
            }
            Storage::Kinds(share, times) => (1.0 - share) * (-limit).exp() + share * (-limit / times).exp(),
            Storage::Scatter(scatter) => {
                // The trapezoidal rule over eight standard deviations.
                let at = |step: i32| f64::from(step) / 100.0;
                let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
                let term = |z: f64| density(z) * (-limit / (scatter * z).exp()).exp() / 100.0;
                (-800..=800).map(|step| term(at(step))).sum()
            }
        }
    }

    /// The true percentile, in multiples of the mean.
    fn truth(&self) -> f64 {
        let (mut low, mut high) = (0.0, 1e3);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if self.beyond(middle) > 1.0 - self.percent / 100.0 { low = middle } else { high = middle }
        }
        high
    }

    /// The transfers of each repetition that take longer than each of `limits`, which are in ascending order.
    fn draw(&self, repetitions: u32, limits: [f64; 3], random: &mut Random) -> Vec<[u64; 3]> {
        let mut state = random.normal();
        let mut pass = |_| match self.storage {
            Storage::Alike => tail(self.transfers, limits.map(|limit| (-limit).exp()), random),
            Storage::EachLikeTheLast => chain(self.transfers, limits, random),
            Storage::Stalls(stalls) => {
                // As many seconds as stalls are possible make the number of them almost a Poisson number.
                const MOMENTS: u64 = 1_000_000;
                let share = stalls / MOMENTS as f64;
                let struck = tail(MOMENTS, limits.map(|limit| share * (-limit).exp()), random);
                struck.map(|count| (count * u64::from(self.in_flight)).min(self.transfers))
            }
            Storage::Kinds(share, times) => {
                let mean = if random.uniform() < share { times } else { 1.0 };
                tail(self.transfers, limits.map(|limit| (-limit / mean).exp()), random)
            }
            Storage::Scatter(scatter) => {
                let mean = (scatter * state).exp();
                let fresh = (1.0 - AUTOCORRELATION * AUTOCORRELATION).sqrt();
                state = AUTOCORRELATION * state + fresh * random.normal();
                tail(self.transfers, limits.map(|limit| (-limit / mean).exp()), random)
            }
        };
        (0..repetitions).map(&mut pass).collect()
    }

    /// How a promise of the true percentile `truth` is judged, and one with [`ROOM`].
    fn judged(&self, truth: f64, repetitions: u32, random: &mut Random) -> [Judgement; 2] {
        let limits = [0.9 * truth, truth, ROOM * truth];
        let nanos = limits.map(|limit| (limit * MEAN_NS).round());
        let promise = |nanos: f64| Commitment {
            bound: Bound::AtMost,
            asked: Amount::Latency { nanos, percent: Some(self.percent) }.into(),
            ..commitment(Statistic::Median, 1.0)
        };
        let criteria =
            Criteria { commitments: vec![promise(nanos[1]), promise(nanos[2])], ..Criteria::default() };
        let setup = Setup { repetitions, fault: Fault::None, ..USUAL };
        let at = Point { phase: Phase::Read, tasks: self.in_flight, ..point(setup, "promise", "b", 1e9) };
        let plan = plan("Promises of percentiles", criteria, &[at]);
        let passes = self.draw(repetitions, limits, random);
        let records = (0..)
            .zip(passes)
            .map(|(pass, beyond)| record(&plan.cases[0].id, pass, self.transfers, nanos, beyond));
        let run = run_of(plan.clone(), records.collect());
        let figures = analysis::figures::figures(&run, RateName::ByWall);
        let found = analysis::comparisons::verdicts(&plan, &figures, &[]);
        [found[0].judgement, found[1].judgement]
    }
}

/// How many of `trials` are beyond limits that a trial exceeds with the probabilities `shares`, in descending order.
fn tail(trials: u64, shares: [f64; 3], random: &mut Random) -> [u64; 3] {
    let first = binomial(trials, shares[0], random);
    let second = binomial(first, shares[1] / shares[0], random);
    [first, second, binomial(second, shares[2] / shares[1], random)]
}

/// A binomial number: the trials between two successes have a geometric distribution.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; `as` saturates")]
fn binomial(trials: u64, share: f64, random: &mut Random) -> u64 {
    if share >= 1.0 {
        return trials;
    }
    let (mut at, mut count, failure) = (0_u64, 0, (-share).ln_1p());
    loop {
        let skipped = ((1.0 - random.uniform()).ln() / failure).floor() as u64;
        at = at.saturating_add(skipped).saturating_add(1);
        if at > trials {
            return count;
        }
        count += 1;
    }
}

/// The transfers beyond each limit if each depends on the one before.
fn chain(transfers: u64, limits: [f64; 3], random: &mut Random) -> [u64; 3] {
    let mut beyond = [0; 3];
    let fresh = |random: &mut Random| -(1.0 - random.uniform()).ln();
    let mut time = fresh(random);
    for _ in 0..transfers {
        for (count, limit) in beyond.iter_mut().zip(limits) {
            *count += u64::from(time > limit);
        }
        time *= AUTOCORRELATION;
        if random.uniform() >= AUTOCORRELATION {
            time += fresh(random);
        }
    }
    beyond
}

/// A pass of reads, whose histogram has an edge at each of `limits`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole nanoseconds")]
fn record(case: &str, repetition: u32, transfers: u64, limits: [f64; 3], beyond: [u64; 3]) -> PhaseRecord {
    let key = PhaseKey { case: case.into(), repetition, phase: Phase::Read };
    let [low, promised, room] = limits.map(|limit| limit as u64);
    let [over_low, over, over_room] = beyond;
    let bucket = |(low_ns, high_ns, count)| LatencyRow {
        key: key.clone(),
        operation: Operation::Read,
        measure: Measure::Response,
        low_ns,
        high_ns,
        count,
    };
    let latency = [
        (1, low, transfers - over_low),
        (low + 1, promised, over_low - over),
        (promised + 1, room, over - over_room),
        (room + 1, 2 * room, over_room),
    ];
    let latency = latency.into_iter().filter(|&(.., count)| count > 0).map(bucket).collect();
    let phase = PhaseRow {
        wall_ns: 30 * SECOND,
        io_ns: 30 * SECOND,
        read_bytes: transfers << 20,
        reads: transfers,
        ..PhaseRow::new(key.clone())
    };
    PhaseRecord { latency, ..PhaseRecord::new(phase) }
}

/// The judgements on one model with so many repetitions.
struct Counted {
    model: &'static Model,
    repetitions: u32,
    /// Promises of the true percentile that were called kept.
    passed: usize,
    /// The same that were called broken.
    failed: usize,
    /// Promises with [`ROOM`] that were called kept.
    kept: usize,
}

/// The judgements on all models.
pub(crate) struct Percentiles {
    trials: usize,
    rows: Vec<Counted>,
}

/// Draws this many studies of each model and number of repetitions.
pub(crate) fn percentiles(trials: usize, seed: u64) -> Percentiles {
    static ALL: [Model; MODELS.len()] = MODELS;
    let mut rows = Vec::new();
    for model in &ALL {
        let truth = model.truth();
        for &repetitions in model.repetitions {
            let mut random = Random(seed);
            let mut row = Counted { model, repetitions, passed: 0, failed: 0, kept: 0 };
            for _ in 0..trials {
                let [at_limit, with_room] = model.judged(truth, repetitions, &mut random);
                row.passed += usize::from(at_limit == Judgement::Holds);
                row.failed += usize::from(at_limit == Judgement::DoesNotHold);
                row.kept += usize::from(with_room == Judgement::Holds);
            }
            rows.push(row);
        }
    }
    Percentiles { trials, rows }
}

impl Percentiles {
    /// The rows in which a promise is called kept, or broken, too often.
    pub(crate) fn broken_limits(&self) -> Vec<String> {
        let within = |count: usize, share: f64| by_chance(count as u64, self.trials as u64, share);
        let holds = |one: &Counted| within(one.passed, FALSE_MAX) && within(one.failed, NEAR_MAX);
        let words =
            |one: &Counted| format!("p{}: {}, {}", one.model.percent, one.model.name, one.repetitions);
        self.rows.iter().filter(|one| !holds(one)).map(words).collect()
    }

    /// The table as contained in `docs/VALIDATION.md`.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "{} trials of each row.\n\n| storage | percentile | transfers of a repetition | repetitions | promise at the \
             limit: PASS | FAIL | 20 % above it: PASS |\n|---|---|---:|---:|---:|---:|---:|\n",
            self.trials
        );
        let share = |count: usize| percent(count as f64 / self.trials as f64);
        for one in &self.rows {
            let Model { name, percent, transfers, .. } = one.model;
            let (passed, failed, kept) = (share(one.passed), share(one.failed), share(one.kept));
            let n = one.repetitions;
            let _ =
                writeln!(text, "| {name} | p{percent} | {transfers} | {n} | {passed} | {failed} | {kept} |");
        }
        text
    }
}
