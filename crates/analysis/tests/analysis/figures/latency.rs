//! Latency statistics compared with the underlying transfers.

use analysis::figures::{Latency, PercentileBounds};
use plan::{Measure, Operation, Phase};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use record::LatencyRow;

use crate::common::rows::{bucket, key};

/// Buckets with a width of 2^-7 of their values, as in a histogram with an error below 1 %.
fn edges(nanos: u64) -> (u64, u64) {
    let shift = (64 - nanos.leading_zeros()).saturating_sub(8);
    let low = nanos >> shift << shift;
    (low, low + (1 << shift) - 1)
}

fn histogram(repetition: u32, nanos: &[u64]) -> Vec<LatencyRow> {
    let key = key(repetition, Phase::Read);
    nanos.iter().map(|&nanos| bucket(&key, Operation::Read, edges(nanos), 1)).collect()
}

fn latency(rows: &[LatencyRow]) -> Option<Latency> {
    Latency::of(rows, Operation::Read, Measure::Response)
}

/// From seven values printed by a tool, the mean can only be bounded between two of them.
#[test]
fn a_mean_between_few_percentiles_is_not_known() {
    assert!(latency(&histogram(0, &[100, 2000, 30_000])).expect("reads").knows_mean());
    let key = key(0, Phase::Read);
    let rows = [bucket(&key, Operation::Read, (10, 20), 90), bucket(&key, Operation::Read, (20, 900), 10)];
    assert!(!latency(&rows).expect("reads").knows_mean());
}

/// A row that counts nothing has the printed mean, which is known whatever the buckets are.
#[test]
fn a_printed_mean_is_kept() {
    let key = key(0, Phase::Read);
    let of = |count: u64, mean: u64| {
        let buckets = bucket(&key, Operation::Read, (10, 9000), count);
        latency(&[buckets, bucket(&key, Operation::Read, (mean, mean), 0)]).expect("reads")
    };
    let mut all = of(100, 60);
    assert!(all.knows_mean() && (all.mean_ns() - 60.0).abs() < 1e-9, "{}", all.mean_ns());
    all.add(&of(300, 20));
    assert_eq!(all.count(), 400);
    assert!((all.mean_ns() - 30.0).abs() < 1e-9, "{}", all.mean_ns());
}

/// More transfers in flight take more of them. If their number is not known, none is enough.
#[test]
fn without_the_number_in_flight_the_passes_give_no_upper_bound() {
    let passes: Vec<Latency> =
        (0..40).map(|pass| latency(&histogram(pass, &[1000; 500])).expect("reads")).collect();
    let passes: Vec<&Latency> = passes.iter().collect();
    let upper = |in_flight| PercentileBounds::of(&passes, (90.0, 1), in_flight).by_passes.high;
    assert!(upper(Some(1.0)).is_some());
    assert_eq!((upper(Some(1e6)), upper(None)), (None, None));
}

#[test]
fn known_values() {
    let key = key(0, Phase::Read);
    let rows = [
        bucket(&key, Operation::Read, (100, 100), 50),
        bucket(&key, Operation::Read, (200, 201), 49),
        bucket(&key, Operation::Read, (1000, 1007), 1),
        bucket(&key, Operation::Write, (5, 5), 7),
    ];
    let latency = latency(&rows).expect("reads");
    assert_eq!(latency.count(), 100);
    assert_eq!((latency.min_ns(), latency.max_ns()), (100, 1007));
    let percentiles = [0.0, 50.0, 50.1, 99.0, 99.1, 100.0].map(|percent| latency.percentile(percent));
    assert_eq!(percentiles, [100, 100, 201, 201, 1007, 1007]);
    assert!((latency.mean_ns() - (100.0 * 50.0 + 200.5 * 49.0 + 1003.5) / 100.0).abs() < 1e-9);
}

#[test]
fn no_transfers_have_no_latency() {
    assert_eq!(latency(&[]), None);
    assert_eq!(latency(&[bucket(&key(0, Phase::Read), Operation::Read, (1, 1), 0)]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The percentile of the histogram is at or above that of the transfers, by less than 1 %.
    #[test]
    fn percentiles_are_those_of_the_transfers(mut nanos in vec(1_u64..1 << 40, 1..300), percent in 0.0_f64..=100.0) {
        let latency = latency(&histogram(0, &nanos)).expect("transfers");
        nanos.sort_unstable();
        let rank = nanos.iter().enumerate()
            .position(|(index, _)| (index + 1) as f64 >= percent / 100.0 * nanos.len() as f64)
            .expect("the last has them all");
        let (truth, shown) = (nanos[rank] as f64, latency.percentile(percent) as f64);
        prop_assert!(truth <= shown && shown <= truth * 1.01, "{} for {}", shown, truth);
        let mean = nanos.iter().sum::<u64>() as f64 / nanos.len() as f64;
        prop_assert!((latency.mean_ns() - mean).abs() <= 0.01 * mean);
        prop_assert_eq!(latency.count(), nanos.len() as u64);
    }

    #[test]
    fn percentiles_never_fall(nanos in vec(1_u64..1 << 40, 1..300), a in 0.0_f64..=100.0, b in 0.0_f64..=100.0) {
        let latency = latency(&histogram(0, &nanos)).expect("transfers");
        let (low, high) = (latency.percentile(a.min(b)), latency.percentile(a.max(b)));
        prop_assert!(low <= high);
        prop_assert!(latency.min_ns() <= low && high <= latency.max_ns());
    }

    /// Merging repetitions gives the same result as a single repetition with all transfers.
    #[test]
    fn a_merge_is_the_histogram_of_all(a in vec(1_u64..1 << 20, 1..100), b in vec(1_u64..1 << 20, 1..100)) {
        let mut merged = latency(&histogram(0, &a)).expect("transfers");
        merged.add(&latency(&histogram(1, &b)).expect("transfers"));
        let merged = Some(merged);
        let together = latency(&histogram(0, &[a.clone(), b.clone()].concat()));
        prop_assert_eq!(&merged, &together);
        // Passing the rows of both repetitions gives the same result.
        prop_assert_eq!(latency(&[histogram(0, &a), histogram(1, &b)].concat()), together);
    }
}
