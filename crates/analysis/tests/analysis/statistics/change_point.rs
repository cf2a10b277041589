//! Level changes: the false alarm rate without a change, and the detection rate with one.

use analysis::statistics::{CHANGE_VALUES_MIN, ChangePoint, DIFFERENCE_LEVEL, Dependence, change_point};

use crate::common::random::Random;
use crate::common::studies::said;
use crate::common::study::{Study, reads};

const DRAWS: usize = 2_000;

/// Normally distributed values with mean 100, standard deviation `noise`, and this autocorrelation.
fn drawn(random: &mut Random, n: usize, noise: f64, autocorrelation: f64) -> Vec<f64> {
    let fresh = (1.0 - autocorrelation * autocorrelation).sqrt();
    let mut state = random.normal();
    let mut next = || {
        let value = 100.0 + noise * state;
        state = autocorrelation * state + fresh * random.normal();
        value
    };
    (0..n).map(|_| next()).collect()
}

/// The share of series in which a change of any size is reported at the level of a single test.
fn alarms(dependence: Dependence, mut series: impl FnMut() -> Vec<f64>) -> f64 {
    let called = (0..DRAWS).filter(|_| {
        change_point(&series(), dependence).is_some_and(|found| found.p_value <= DIFFERENCE_LEVEL)
    });
    called.count() as f64 / DRAWS as f64
}

/// Two standard errors of such a count above the level.
const ALARMS_MAX: f64 = DIFFERENCE_LEVEL + 2.0 * 0.0022;

#[test]
fn seconds_that_depend_on_each_other_give_no_alarm_without_a_change() {
    for autocorrelation in [0.0, 0.3, 0.6, 0.8, 0.9, 0.95] {
        for n in [45, 60, 120, 300] {
            let random = &mut Random::seeded(n as u64);
            let share = alarms(Dependence::Consecutive, || drawn(random, n, 5.0, autocorrelation));
            assert!(share <= ALARMS_MAX, "{n} values, autocorrelation {autocorrelation}: {share}");
        }
    }
}

/// Without the correction for dependence the level would be exceeded. Otherwise the correction would be useless.
#[test]
fn dependent_values_taken_for_independent_ones_give_many_alarms() {
    let random = &mut Random::seeded(5);
    let share = alarms(Dependence::Independent, || drawn(random, 60, 5.0, 0.9));
    assert!(share > 0.1, "{share}");
}

#[test]
fn repetitions_give_no_alarm_without_a_change_whatever_their_distribution() {
    for n in [CHANGE_VALUES_MIN, 24, 60] {
        let random = &mut Random::seeded(n as u64);
        let share = alarms(Dependence::Independent, || drawn(random, n, 5.0, 0.0));
        assert!(share <= ALARMS_MAX, "{n} normal values: {share}");
        let with_stalls =
            |random: &mut Random| if random.uniform() < 0.05 { 5.0 } else { 100.0 + random.normal() };
        let share = alarms(Dependence::Independent, || (0..n).map(|_| with_stalls(random)).collect());
        assert!(share <= ALARMS_MAX, "{n} values of which one in twenty stalls: {share}");
        let share =
            alarms(Dependence::Independent, || (0..n).map(|_| (0.3 * random.normal()).exp()).collect());
        assert!(share <= ALARMS_MAX, "{n} skewed values: {share}");
    }
}

/// The share of series with 2 % noise in which a 10 % change at the fraction `part` of the series is found at the
/// right position.
fn found(n: usize, part: f64, dependence: Dependence, autocorrelation: f64, family: usize) -> f64 {
    let random = &mut Random::seeded(9);
    let place = (n as f64 * part).round();
    let is_found = |_: &usize| {
        let mut values = drawn(random, n, 2.0, autocorrelation);
        values
            .iter_mut()
            .zip(0_u32..)
            .filter(|(_, at)| f64::from(*at) >= place)
            .for_each(|(value, _)| *value *= 0.9);
        let found = change_point(&values, dependence);
        found.is_some_and(|one| one.is_shown(family) && (one.at as f64 - place).abs() <= 0.1 * n as f64)
    };
    (0..DRAWS / 4).filter(is_found).count() as f64 / (DRAWS / 4) as f64
}

#[test]
fn a_change_of_ten_percent_with_two_percent_noise_is_found() {
    let (independent, consecutive) = (Dependence::Independent, Dependence::Consecutive);
    for (n, part, dependence, autocorrelation, family) in [
        (20, 0.5, independent, 0.0, 1),
        (24, 0.3, independent, 0.0, 1),
        (60, 0.5, consecutive, 0.0, 6),
        (60, 0.25, consecutive, 0.0, 1),
        (120, 0.3, consecutive, 0.3, 6),
        (300, 0.7, consecutive, 0.6, 6),
    ] {
        let share = found(n, part, dependence, autocorrelation, family);
        assert!(share >= 0.9, "{n} values, change at {part}, autocorrelation {autocorrelation}: {share}");
    }
}

#[test]
fn a_single_stall_is_no_change_of_level() {
    for place in [0, 1, 20, 59] {
        let mut values = drawn(&mut Random::seeded(2), 60, 1.0, 0.0);
        values[place] = 0.0;
        let found = change_point(&values, Dependence::Consecutive).expect("sixty values");
        assert!(!found.is_shown(1), "{place}: {found:?}");
    }
}

#[test]
fn a_small_change_is_not_told_however_sure_it_is() {
    let step = |high: f64| (0..60).map(|at| if at < 30 { 100.0 } else { high }).collect::<Vec<_>>();
    let told = |high: f64| change_point(&step(high), Dependence::Independent).expect("sixty values");
    assert!(told(104.0).p_value < 1e-6 && !told(104.0).is_shown(1));
    assert!(told(106.0).is_shown(1) && told(94.0).is_shown(1));
    assert!(!told(100.0).is_shown(1) && told(100.0).p_value > 0.5);
    let stopped = told(0.0);
    assert!(stopped.is_shown(1) && stopped.change() == Some(-1.0), "{stopped:?}");
}

#[test]
fn too_few_values_or_none_that_are_numbers_have_no_change() {
    assert_eq!(change_point(&[1.0; CHANGE_VALUES_MIN - 1], Dependence::Independent), None);
    assert_eq!(change_point(&[f64::NAN; 40], Dependence::Independent), None);
    // Sixty seconds with this much autocorrelation are worth three independent ones.
    let close = drawn(&mut Random::seeded(8), 60, 5.0, 0.95);
    assert_eq!(change_point(&close, Dependence::Consecutive), None);
}

/// The unit does not matter. Reversing the time only changes the position.
#[test]
fn a_change_has_no_unit() {
    let mut values = drawn(&mut Random::seeded(6), 50, 3.0, 0.0);
    values[20..].iter_mut().for_each(|value| *value += 20.0);
    let of = |values: &[f64]| change_point(values, Dependence::Independent).expect("fifty values");
    let ChangePoint { at, p_value, .. } = of(&values);
    assert_eq!(at, 20);
    let scaled: Vec<f64> = values.iter().map(|value| value * 1e9).collect();
    assert!(of(&scaled).at == at && (of(&scaled).p_value / p_value - 1.0).abs() < 1e-9);
    let reversed: Vec<f64> = values.iter().rev().copied().collect();
    assert!(of(&reversed).at == 50 - at && (of(&reversed).p_value / p_value - 1.0).abs() < 1e-9);
}

/// Storage that got slower after the tenth of twenty passes, and storage that did not.
#[test]
fn a_change_over_passes_is_stated_with_the_pass() {
    let random = &mut Random::seeded(1);
    let mut rates = |change: f64| -> Vec<u64> {
        let level = |at: u32| if at < 10 { 100_000.0 } else { 100_000.0 * change };
        (0..20).map(|at| counted(level(at) * (0.02 * random.normal()).exp())).collect()
    };
    let study = Study::default().with(reads("falls"), &rates(0.8)).with(reads("stays"), &rates(1.0));
    let found = analysis::findings::findings(&study.run(), &study.figures()).changes;
    let [(figures, change)] = said(&found)[..] else { panic!("one change: {found:?}") };
    assert_eq!(
        (change.series.as_str(), change.place.as_str(), change.family),
        ("passes", "from pass 11 on", 2)
    );
    assert!((change.change.change().expect("a rate before") + 0.2).abs() < 0.03, "{change:?}");
    assert_eq!(figures, [0]);
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate far below the limits")]
fn counted(rate: f64) -> u64 {
    rate as u64
}

/// Stored runs of one study, one per day. The three passes of a run are similar, and each run has its own level. Runs
/// from the day `from` on are slower by `loss`. Their names are not in the order in which they were measured.
fn stored(from: u32, loss: f64) -> record::Run {
    let random = &mut Random::seeded(7);
    let mut runs: Vec<record::Run> = (0..24)
        .map(|day| {
            let level =
                100_000.0 * (0.03 * random.normal()).exp() * if day >= from { 1.0 - loss } else { 1.0 };
            let rates: Vec<u64> = (0..3).map(|_| counted(level * (0.001 * random.normal()).exp())).collect();
            let mut run = Study::default().with(reads("a"), &rates).run();
            run.manifest.run_id = format!("day {day}");
            run.manifest.started_unix_ns = i64::from(day) * 86_400_000_000_000;
            run
        })
        .collect();
    runs.reverse();
    record::merge(runs).expect("runs of one study")
}

fn changes_of(run: &record::Run) -> Vec<(String, String)> {
    let figures = analysis::figures::figures(run, plan::RateName::ByWall);
    let found = analysis::findings::findings(run, &figures).changes;
    said(&found).into_iter().map(|(_, one)| (one.series.clone(), one.place.clone())).collect()
}

#[test]
fn a_change_over_stored_runs_is_stated_with_the_run() {
    assert_eq!(changes_of(&stored(14, 0.2)), [("runs".to_owned(), "from run day 14 on".to_owned())]);
}

/// Similar passes within a run are no reason to report the next run as a change.
#[test]
fn runs_that_differ_from_day_to_day_are_no_change() {
    assert_eq!(changes_of(&stored(24, 0.0)), []);
}
