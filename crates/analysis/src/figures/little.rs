//! Little's law: transfers in flight = rate × time of each. It holds for any system that is neither
//! filling up nor draining, so figures that violate it are inconsistent.

use plan::Case;

use crate::figures::Figure;

/// Compares a rate and a latency with the number of transfers that were kept in flight.
///
/// Source: Little, "A Proof for the Queuing Formula L = λW", Operations Research 9, 1961; study E
/// checks threads = IOPS × latency with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Little {
    /// Transfers in flight as predicted by rate and latency.
    pub predicted: f64,
    /// Tasks × queue depth that ran.
    pub ran: f64,
    /// Predicted ÷ ran: 1 if all agree. Below 1, tasks were busy with something else or idle; above 1,
    /// one of the three values is wrong.
    pub agreement: f64,
}

impl Little {
    /// Computes it from transfers per second, their mean latency in nanoseconds and the number of
    /// transfers kept in flight. Returns `None` if that number is not above 0.
    ///
    /// ```
    /// let little = analysis::figures::Little::of(1_200_000.0, 50_000.0, 64.0).expect("64 threads");
    /// assert!((little.predicted - 60.0).abs() < 1e-9);
    /// ```
    #[must_use]
    pub fn of(transfers_per_second: f64, latency_ns: f64, under_way: f64) -> Option<Self> {
        let predicted = transfers_per_second * latency_ns / 1e9;
        (under_way > 0.0 && predicted.is_finite()).then(|| Self {
            predicted,
            ran: under_way,
            agreement: predicted / under_way,
        })
    }
}

/// Little's law for the counted repetitions of `figure`: the sum of all latencies ÷ the sum of the I/O
/// times, compared with tasks × depth. Returns `None` if a rate is set, because latencies are measured
/// from the intended start and include waiting, so that the number of running transfers is not the
/// number in flight. Also returns `None` if the record has no latencies, or if an imported text does
/// not give the number of transfers in flight.
#[must_use]
pub fn little(case: &Case, figure: &Figure) -> Option<Little> {
    if case.workload.pace.is_some() {
        return None;
    }
    let under_way = case.in_flight()?;
    let latencies = figure.counted().flat_map(|one| &one.latency);
    let latencies: Vec<_> = latencies.filter(|one| one.measure == plan::Measure::Response).collect();
    if !latencies.iter().all(|one| one.knows_mean) {
        return None;
    }
    let latency_ns: f64 = latencies.iter().map(|one| one.mean_ns() * one.count as f64).sum();
    let transfers: u64 = latencies.iter().map(|one| one.count).sum();
    let io_ns: f64 = figure.counted().map(|one| one.phase.io_ns as f64).sum();
    if transfers == 0 || io_ns <= 0.0 {
        return None;
    }
    let transfers = transfers as f64;
    Little::of(transfers / io_ns * 1e9, latency_ns / transfers, under_way)
}
