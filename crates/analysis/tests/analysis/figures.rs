//! Figures: all repetitions, with name, conditions and warnings.

use analysis::{RateName, View, figures};
use plan::{Phase, Plan};
use record::{LatencyRow, Operation, PhaseRow, SeriesRow, TaskRow, Warning, WarningRow};

use crate::rows::{SECOND, bucket, case, key, phase, plan, second, task, workload};

const MIB: u64 = 1 << 20;

#[derive(Default)]
struct Rows {
    phases: Vec<PhaseRow>,
    tasks: Vec<TaskRow>,
    latency: Vec<LatencyRow>,
    series: Vec<SeriesRow>,
    warnings: Vec<WarningRow>,
}

impl Rows {
    fn view<'a>(&'a self, plan: &'a Plan) -> View<'a> {
        View {
            plan,
            phases: &self.phases,
            tasks: &self.tasks,
            latency: &self.latency,
            series: &self.series,
            warnings: &self.warnings,
        }
    }

    fn add(&mut self, repetition: u32, what: Phase, seconds: u64, latency_ns: u64) {
        let key = key(repetition, what);
        let operation = if what == Phase::Read { Operation::Read } else { Operation::Write };
        self.phases.push(phase(&key, 60 * MIB, seconds * SECOND));
        self.tasks.push(task(&key, 0, 60 * MIB, (0, seconds * SECOND)));
        self.latency.push(bucket(&key, operation, (latency_ns, latency_ns), 100));
        self.series.extend((0..seconds).map(|at| second(&key, operation, at, 60 * MIB / seconds)));
        self.warnings
            .push(WarningRow { key: Some(key), warning: Warning::CachedReads { device_share: 0.5 } });
    }
}

fn two_repetitions() -> (Plan, Rows) {
    let phases = vec![Phase::Fill, Phase::Write, Phase::Read];
    let plan = plan(vec![case(workload(|_| {}), phases)]);
    let mut rows = Rows::default();
    for (repetition, seconds) in [(0, 10), (1, 20)] {
        rows.add(repetition, Phase::Fill, 1, 5);
        rows.add(repetition, Phase::Write, seconds, 300);
        rows.add(repetition, Phase::Read, seconds, 100 * u64::from(repetition + 1));
    }
    (plan, rows)
}

#[test]
fn a_figure_has_all_repetitions_its_conditions_and_the_name_of_its_rate() {
    let (plan, rows) = two_repetitions();
    let figures = figures(rows.view(&plan), RateName::ByIo);
    let phases: Vec<_> = figures.iter().map(|figure| figure.phase).collect();
    assert_eq!(phases, [Phase::Write, Phase::Read], "a fill is no result");
    let read = &figures[1];
    assert_eq!((read.case.as_str(), read.title.as_str()), ("c", "a case"));
    assert_eq!(read.conditions, "4 KiB sequential read, buffered, psync depth 1, 1 task");
    assert_eq!(read.rate, RateName::ByIo);
    let repetitions: Vec<_> = read.repetitions.iter().map(|one| one.repetition).collect();
    assert_eq!(repetitions, [0, 1]);
    let mib = MIB as f64;
    assert_eq!((read.bytes_per_second.min, read.bytes_per_second.max), (3.0 * mib, 6.0 * mib));
    assert_eq!(read.bytes_per_second.median, 4.5 * mib);
    assert_eq!(read.transfers_per_second.median, 4.5 * mib / 4096.0);
}

#[test]
fn latency_is_merged_over_all_transfers() {
    let (plan, rows) = two_repetitions();
    let figures = figures(rows.view(&plan), RateName::ByWall);
    let read = figures[1].response(Operation::Read).expect("reads");
    assert_eq!((read.count(), read.percentile(50.0), read.percentile(50.5)), (200, 100, 200));
    let second = figures[1].repetitions[1].response(Operation::Read).expect("reads");
    assert_eq!((second.count(), second.percentile(50.0)), (100, 200));
    assert_eq!(figures[1].response(Operation::Write), None);
}

#[test]
fn a_warning_of_every_repetition_is_shown_once() {
    let (plan, rows) = two_repetitions();
    let figures = figures(rows.view(&plan), RateName::ByWall);
    assert_eq!(figures[1].warnings, [Warning::CachedReads { device_share: 0.5 }]);
    assert_eq!(figures[1].repetitions[0].warnings.len(), 1);
}

#[test]
fn a_rate_that_a_repetition_lacks_is_replaced_by_name() {
    let (plan, rows) = two_repetitions();
    let figures = figures(rows.view(&plan), RateName::AtStonewall);
    assert_eq!(figures[0].rate, RateName::ByWall);
}

#[test]
fn a_case_that_was_not_reached_has_no_figure() {
    let plan = plan(vec![case(workload(|_| {}), vec![Phase::Read])]);
    assert!(figures(Rows::default().view(&plan), RateName::ByWall).is_empty());
}

/// Rows may stand in any order, as when several nodes wrote them.
#[test]
fn the_order_of_the_rows_does_not_matter() {
    let (plan, rows) = two_repetitions();
    let mut turned = Rows {
        phases: rows.phases.clone(),
        tasks: rows.tasks.clone(),
        latency: rows.latency.clone(),
        series: rows.series.clone(),
        warnings: rows.warnings.clone(),
    };
    turned.phases.reverse();
    turned.tasks.reverse();
    turned.latency.reverse();
    turned.series.reverse();
    assert_eq!(
        figures(rows.view(&plan), RateName::Sustained),
        figures(turned.view(&plan), RateName::Sustained)
    );
}
