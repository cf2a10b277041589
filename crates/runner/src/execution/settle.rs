//! The stopping rule: determines whether the values of a case have settled.

use plan::{Case, Nanos, PassRole, Phase, Stopping};
use record::{PhaseKey, PhaseRow, Warning};

/// The values of a case so far: bytes per second of wall time, for each pass after the warm-up.
pub(crate) struct Settling<'a> {
    case: &'a Case,
    /// One list per result phase.
    values: Vec<(Phase, Vec<f64>)>,
}

impl<'a> Settling<'a> {
    /// The state of `case` before its first pass.
    pub(crate) fn new(case: &'a Case) -> Self {
        let mut phases: Vec<Phase> = case.phases.iter().copied().filter(|phase| phase.is_result()).collect();
        phases.sort_unstable();
        phases.dedup();
        Self { case, values: phases.into_iter().map(|phase| (phase, Vec::new())).collect() }
    }

    /// Adds a finished phase of a pass.
    pub(crate) fn add(&mut self, row: &PhaseRow) {
        let PhaseKey { repetition, phase, .. } = row.key;
        let counts = row.wall_ns > 0 && self.case.role(repetition) == PassRole::Recorded;
        let list = self.values.iter_mut().find(|(result, _)| *result == phase);
        if let Some((_, values)) = list.filter(|_| counts) {
            // Items are counted by number, because many have no bytes.
            let amount = if phase.counts_bytes() { row.bytes() } else { row.transfers() };
            values.push(amount as f64 / Nanos(row.wall_ns).as_secs_f64());
        }
    }

    /// Whether the finished `pass` was the last one needed.
    pub(crate) fn is_over_after(&self, pass: u32) -> bool {
        let all = self.values.iter().map(|(_, values)| values.as_slice());
        self.case.role(pass) == PassRole::Recorded
            && analysis::statistics::all_settled(all, self.case.protocol.stopping)
    }

    /// The phases that had not settled at the end of the case.
    pub(crate) fn unsettled(&self) -> Vec<(Phase, Warning)> {
        let unsettled_phase = |(phase, values): &(Phase, Vec<f64>)| {
            let stopping = self.case.protocol.stopping;
            if analysis::statistics::settled(values, stopping) {
                return None;
            }
            let repetitions = u32::try_from(values.len()).unwrap_or(u32::MAX);
            let warning = match stopping {
                Stopping::Count => return None,
                Stopping::Interval { share: share_max, .. } => {
                    let share = analysis::statistics::interval_share(values);
                    // The interval is narrow enough, but there are fewer repetitions than the study's
                    // minimum.
                    if share.is_some_and(|share| share <= share_max) {
                        return None;
                    }
                    Warning::WideInterval { repetitions, share, share_max }
                }
                Stopping::Steady { window, excursion: range_max, slope: drift_max } => {
                    let state = analysis::statistics::steady(values, stopping);
                    let (range, drift) = (state.map(|s| s.range_share), state.map(|s| s.slope_share));
                    Warning::NotSteady { repetitions, window, range, range_max, drift, drift_max }
                }
            };
            Some((*phase, warning))
        };
        self.values.iter().filter_map(unsettled_phase).collect()
    }
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Case, Geometry, Nanos, Phase, Protocol, Stopping, WorkloadSpec};
    use record::{PhaseKey, PhaseRow, Warning};

    use super::Settling;

    const STEADY: Stopping = Stopping::Steady { window: 5, excursion: 0.2, slope: 0.1 };

    fn case(stopping: Stopping) -> Case {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(4), segments: 1 };
        let workload = WorkloadSpec::new("w", "f", geometry).validate().expect("valid");
        let protocol = Protocol { stopping, warm_up: 1, ..Protocol::default() };
        let phases = vec![Phase::Write, Phase::CheckWrite, Phase::Read];
        Case { repetitions: 25, protocol, ..Case::new("w", workload, phases) }
    }

    /// Adds a pass with these rates and says whether it was the last.
    fn pass(settling: &mut Settling<'_>, pass: u32, write: u64, read: u64) -> bool {
        for (phase, bytes) in [(Phase::Write, write), (Phase::CheckWrite, 1), (Phase::Read, read)] {
            let key = PhaseKey { case: "w".into(), repetition: pass, phase };
            let wall_ns = Nanos::secs(1).0;
            settling.add(&PhaseRow { write_bytes: bytes, wall_ns, ..PhaseRow::new(key) });
        }
        settling.is_over_after(pass)
    }

    #[test]
    fn a_case_is_over_when_every_result_phase_is_steady() {
        let case = case(STEADY);
        let mut settling = Settling::new(&case);
        // The warm-up does not count; writes settle from pass 1 on, reads from pass 3 on.
        let reads = [1, 900, 500, 300, 301, 299, 300, 302];
        let over: Vec<bool> =
            reads.iter().zip(0..).map(|(read, number)| pass(&mut settling, number, 100, *read)).collect();
        assert_eq!(over, [false, false, false, false, false, false, false, true]);
        assert_eq!(settling.unsettled(), []);
    }

    #[test]
    fn what_did_not_settle_is_told_with_its_numbers() {
        let case = case(STEADY);
        let mut settling = Settling::new(&case);
        for number in 0..6 {
            assert!(!pass(&mut settling, number, 100, 100 * u64::from(number + 1)));
        }
        let unsettled = settling.unsettled();
        let [(Phase::Read, warning)] = &unsettled[..] else { panic!("only reads: {unsettled:?}") };
        let expected = "not steady after 5 repetitions: over the last 5 the rate spans 100.0 % of its mean \
                        (at most 20.0 %) and drifts by 100.0 % (at most 10.0 %)";
        assert_eq!(warning.to_string(), expected);
    }

    #[test]
    fn too_few_repetitions_for_an_interval_are_told_too() {
        let case = case(Stopping::Interval { share: 0.05, least: 3 });
        let mut settling = Settling::new(&case);
        for number in 0..4 {
            pass(&mut settling, number, 100, 100);
        }
        let unsettled = settling.unsettled();
        assert!(
            matches!(unsettled[..], [(_, Warning::WideInterval { repetitions: 3, share: None, .. }), _]),
            "{unsettled:?}"
        );
        for number in 4..9 {
            pass(&mut settling, number, 100, 100);
        }
        assert!(settling.is_over_after(8), "eight equal values have an interval of no width");
    }
}
