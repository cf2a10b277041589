//! Workloads that ran at the same time: what each did beside the others, and what it lost to them.

use analysis::RateName;
use analysis::audit::Check;
use analysis::comparisons::{Verdict, paired, verdicts};
use analysis::figures::{Gap, figures};
use analysis::findings::{Findings, findings};
use analysis::gate::{Because, Gate, Judgement, Outcome};
use analysis::targets::expected;
use analysis::together::{AllTogether, Beside};
use plan::{
    Amount, Asked, Bound, Case, Commitment, Concurrent, Expectation, FigureQuantity, Nanos, Operation, Phase,
    Plan, Selector, Statistic,
};
use record::{DeviceRow, PhaseRecord, Provenance, Reference, SeriesRow, TaskRow};

use crate::common::random::Random;
use crate::common::rows::{self, SECOND, second, task};
use crate::common::study::key;

/// A workload in one repetition.
#[derive(Clone)]
struct Ran {
    /// Nanoseconds after the start of the first.
    starts_ns: u64,
    /// Bytes in each second, from its start.
    seconds: Vec<u64>,
    /// Bytes of each task; an equal part of all where it is empty.
    tasks: Vec<u64>,
    latency_max_ns: u64,
}

fn ran(bytes_per_second: u64, seconds: usize) -> Ran {
    Ran {
        starts_ns: 0,
        seconds: vec![bytes_per_second; seconds],
        tasks: Vec::new(),
        latency_max_ns: 7_000_000,
    }
}

const NAMES: [&str; 3] = ["checkpoint", "restart", "scan"];
const TASKS: u32 = 4;

/// Workloads that were measured alone, then at the same time.
#[derive(Clone)]
struct Study {
    plan: Plan,
    records: Vec<PhaseRecord>,
}

fn case(id: &str, concurrent: Option<Concurrent>, repetitions: usize) -> Case {
    let workload = rows::workload(|spec| (spec.tasks, spec.direct) = (TASKS, true));
    Case {
        repetitions: u32::try_from(repetitions).expect("few"),
        concurrent,
        ..Case::new(id, workload, vec![Phase::Read])
    }
}

fn record(case: &Case, repetition: usize, ran: &Ran) -> PhaseRecord {
    let key = key(case, repetition, Phase::Read);
    let (bytes, length) = (ran.seconds.iter().sum::<u64>(), ran.seconds.len() as u64 * SECOND);
    let mut phase = rows::phase(&key, bytes, length);
    // Open and close take longer for some than for others, and are no part of what is compared.
    phase.wall_ns = length + SECOND / 2;
    let repetition = i64::try_from(repetition).expect("few");
    phase.started_unix_ns = repetition * 1_000_000_000_000 + i64::try_from(ran.starts_ns).expect("small");
    let of_each = |at: usize| ran.tasks.get(at).copied().unwrap_or(bytes / u64::from(TASKS));
    let tasks: Vec<TaskRow> =
        (0..TASKS).map(|at| task(&key, at, of_each(at as usize), (0, length))).collect();
    let series: Vec<SeriesRow> = (0..)
        .zip(&ran.seconds)
        .filter(|(_, bytes)| **bytes > 0)
        .map(|(at, bytes)| SeriesRow {
            latency_max_ns: ran.latency_max_ns,
            ..second(&key, Operation::Read, at, *bytes)
        })
        .collect();
    PhaseRecord { tasks, series, ..PhaseRecord::new(phase) }
}

impl Study {
    /// `alone` and `beside` have the repetitions of each workload.
    fn new(alone: &[Vec<Ran>], beside: &[Vec<Ran>]) -> Self {
        let mut study = Self { plan: rows::plan(Vec::new()), records: Vec::new() };
        for (name, all) in NAMES.iter().zip(alone) {
            study.add(case(name, None, all.len()), all);
        }
        study.add_beside("both", beside);
        study
    }

    fn add(&mut self, case: Case, all: &[Ran]) {
        self.records.extend(all.iter().enumerate().map(|(at, ran)| record(&case, at, ran)));
        self.plan.cases.push(case);
    }

    fn add_beside(&mut self, set: &str, beside: &[Vec<Ran>]) {
        let names = &NAMES[..beside.len()];
        for (name, all) in names.iter().zip(beside) {
            let together =
                Concurrent { name: set.to_owned(), alone: (*name).to_owned(), start: plan::Nanos(0) };
            self.add(case(&format!("{set}:{name}"), Some(together), all.len()), all);
        }
    }

    /// Five repetitions, each with the same rates, which are 1/1000 apart.
    fn of_rates(alone: &[u64], beside: &[u64]) -> Self {
        let five = |rate: &u64| (0..5).map(|at| ran(rate + at * rate / 1000, 20)).collect();
        Self::new(&alone.iter().map(five).collect::<Vec<_>>(), &beside.iter().map(five).collect::<Vec<_>>())
    }

    fn findings(&self) -> Findings {
        let run = rows::run(&self.plan, self.records.clone());
        findings(&run, &figures(&run, RateName::ByWall))
    }

    /// What is stated of each workload.
    fn beside(&self) -> Vec<Beside> {
        self.findings().beside_others.iter().filter_map(|one| one.says().cloned()).collect()
    }

    fn all(&self) -> AllTogether {
        self.findings().all_together[0].says().expect("it is stated").clone()
    }
}

fn is_near(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-3
}

#[test]
fn each_workload_has_its_rate_beside_the_others_and_what_it_loses() {
    let study = Study::of_rates(&[400_000_000, 600_000_000], &[280_000_000, 540_000_000]);
    let told = study.beside();
    let words: Vec<_> =
        told.iter().map(|one| (&*one.concurrent, &*one.workload, &one.others[..], one.outcome())).collect();
    assert_eq!(
        words,
        [
            ("both", "checkpoint", &["restart".to_owned()][..], "less than alone"),
            ("both", "restart", &["checkpoint".to_owned()][..], "less than alone"),
        ]
    );
    let first = &told[0];
    assert!(is_near(first.alone.expect("it ran alone"), 400_800_000.0), "{first:?}");
    assert!(is_near(first.rates.expect("rates").median, 280_560_000.0), "{first:?}");
    assert!((first.loss().expect("it loses") - 0.3).abs() < 1e-6, "{first:?}");
    let (low, high) = first.loss_interval().expect("an interval");
    assert!(low < 0.3 && 0.3 < high && 0.29 < low && high < 0.31, "{low} {high}");
    assert!((told[1].loss().expect("it loses") - 0.1).abs() < 1e-6);
    assert!((first.share.expect("all move bytes") - 280.0 / 820.0).abs() < 1e-6);
    let all = study.all();
    assert!(is_near(all.rates.expect("a sum").median, 820_000_000.0 * 1.002), "{all:?}");
    assert_eq!(all.windows.map(|all| (all.n, all.median)), Some((5, 20.0)));
    assert_eq!(all.workloads, ["checkpoint", "restart"]);
    assert!(all.left_out.is_empty());
}

#[test]
fn a_statement_names_the_figure_beside_the_others_before_that_alone() {
    let found = Study::of_rates(&[400_000_000, 600_000_000], &[280_000_000, 594_000_000]).findings();
    let inputs: Vec<&[usize]> = found.beside_others.iter().map(|one| &one.inputs[..]).collect();
    assert_eq!(inputs, [&[2, 0][..], &[3, 1]]);
    assert_eq!(found.all_together[0].inputs, [2, 3]);
    assert!(found.taxes.is_empty() && found.target_contrasts.is_empty() && found.peaks.is_empty());
    assert!(found.best.is_empty() && found.overlays.is_empty(), "they are no points of a sweep");
}

#[test]
fn without_a_difference_no_loss_is_told() {
    let scatter = [1000, 1004, 996, 1002, 998].map(|part: u64| ran(part * 400_000, 20));
    let mut later = scatter.to_vec();
    later.reverse();
    let study = Study::new(&[scatter.to_vec(), scatter.to_vec()], &[later.clone(), later]);
    for one in study.beside() {
        assert_eq!((one.outcome(), one.loss()), ("no difference shown", None));
        assert!(one.rates.is_some() && one.loss_interval().is_some(), "the rate is told all the same");
    }
}

#[test]
fn two_passes_state_no_small_loss() {
    let two = |rate: u64| vec![ran(rate, 20), ran(rate + rate / 1000, 20)];
    let study = Study::new(&[two(400_000_000), two(600_000_000)], &[two(360_000_000), two(590_000_000)]);
    for one in study.findings().beside_others {
        assert_eq!(one.outcome, Outcome::Marked);
        assert!(one.reasons.iter().any(|why| why.because == Because::TooFew));
        assert_eq!(one.says().map(Beside::outcome), Some("too few values"));
    }
}

/// The first runs for 20 s, at 100 MB/s until the other comes after 10.5 s, then at 40 MB/s; the other for 20 s from
/// then, at 60 MB/s, and at 100 MB/s when it is alone.
fn apart() -> Study {
    let five = |ran: &Ran| vec![ran.clone(); 5];
    let mut first = ran(100_000_000, 20);
    first.seconds[10] = 70_000_000;
    first.seconds[11..].fill(40_000_000);
    let mut later = ran(60_000_000, 20);
    later.starts_ns = 10 * SECOND + SECOND / 2;
    later.seconds[9] = 80_000_000;
    later.seconds[10..].fill(100_000_000);
    let alone = five(&ran(100_000_000, 20));
    Study::new(&[alone.clone(), alone], &[five(&first), five(&later)])
}

#[test]
fn a_rate_beside_others_is_of_the_time_while_all_ran() {
    let study = apart();
    let all = study.all();
    assert_eq!(all.windows.map(|all| all.median), Some(9.5));
    let told = study.beside();
    // Half of the interval in which the other came counts.
    let first = (35_000_000.0 + 9.0 * 40_000_000.0) / 9.5;
    let later = (9.0 * 60_000_000.0 + 40_000_000.0) / 9.5;
    let rates: Vec<f64> = told.iter().map(|one| one.rates.expect("rates").median).collect();
    assert!(is_near(rates[0], first) && is_near(rates[1], later), "{rates:?}");
    assert!(is_near(all.rates.expect("a sum").median, first + later));
    assert!((told[0].share.expect("a share") - first / (first + later)).abs() < 1e-6);
}

#[test]
fn what_began_within_an_interval_counts_from_then_on() {
    let mut study = apart();
    // The first transfer of the later one began 400 ms after its start, with all that the first second has.
    for record in study.records.iter_mut().filter(|one| &*one.phase.key.case == "both:restart") {
        record.tasks.iter_mut().for_each(|task| task.io_start_ns = 400_000_000);
        record.series[0].bytes = 36_000_000;
    }
    let later = &study.beside()[1];
    assert!(is_near(later.rates.expect("rates").median, (36.0 + 480.0 + 40.0) * 1e6 / 9.1), "{later:?}");
}

#[test]
fn workloads_that_did_not_run_at_the_same_time_state_nothing() {
    let mut study = apart();
    let shift = |study: &mut Study, nanos: i64, passes: u32| {
        for record in study.records.iter_mut().filter(|one| &*one.phase.key.case == "both:restart") {
            if record.phase.key.repetition < passes {
                record.phase.started_unix_ns += nanos;
            }
        }
    };
    shift(&mut study, 7_500_000_000, 2);
    let all = study.all();
    assert_eq!(all.windows.map(|all| all.n), Some(3));
    assert_eq!(
        all.left_out,
        [1, 2].map(|pass| format!(
            "pass {pass}: both:checkpoint has fewer than 3 whole intervals while all ran"
        ))
    );
    let found = study.findings();
    assert_eq!(found.all_together[0].outcome, Outcome::Marked, "three of five are few");
    assert_eq!(found.beside_others[0].says().and_then(|one| one.rates).map(|all| all.n), Some(3));

    shift(&mut study, 2_000_000_000, 5);
    shift(&mut study, 7_500_000_000, 5);
    let found = study.findings();
    let why = |reason: &analysis::gate::Reason| (reason.because, reason.evidence.clone());
    assert_eq!(found.all_together[0].outcome, Outcome::Withheld);
    assert_eq!(
        found.all_together[0].reasons.iter().map(why).collect::<Vec<_>>(),
        [(Because::OtherConditions, "pass 1: they did not run at the same time; 4 more".to_owned())]
    );
    assert!(found.beside_others.iter().all(|one| one.outcome == Outcome::Withheld));
}

#[test]
fn a_window_below_a_second_has_no_figure() {
    let mut study = apart();
    for record in study.records.iter_mut().filter(|one| &*one.phase.key.case == "both:restart") {
        record.phase.started_unix_ns += 9_000_000_000;
    }
    let found = study.findings();
    assert_eq!(
        found.all_together[0].reasons[0].evidence,
        "pass 1: all ran for 500 ms, and 1 s are needed; 4 more"
    );
}

#[test]
fn a_workload_that_was_not_measured_leaves_nothing_to_state() {
    let mut study = Study::of_rates(&[400_000_000; 3], &[280_000_000; 3]);
    study.records.retain(|one| &*one.phase.key.case != "both:scan");
    let found = study.findings();
    assert_eq!(found.beside_others.len(), 2);
    assert!(found.beside_others.iter().all(|one| one.outcome == Outcome::Withheld));
    assert_eq!(found.all_together[0].reasons[0].evidence, "pass 1: 2 of 3 were measured; 4 more");

    let mut study = Study::of_rates(&[400_000_000; 2], &[280_000_000; 2]);
    study.records.retain(|one| &*one.phase.key.case != "restart");
    let told = study.beside();
    assert_eq!(told.iter().map(Beside::outcome).collect::<Vec<_>>(), ["less than alone", "not compared"]);
    assert!(told[1].rates.is_some() && told[1].alone.is_none());
}

#[test]
fn a_gap_is_told_from_whole_intervals_or_from_the_largest_latency() {
    let mut study = Study::of_rates(&[400_000_000; 2], &[280_000_000; 2]);
    for record in &mut study.records {
        let key = &record.phase.key;
        if &*key.case == "both:restart" && key.repetition == 3 {
            record.series.retain(|row| !(5..8).contains(&(row.start_ns / SECOND)));
        }
    }
    let gaps: Vec<_> = study.beside().iter().map(|one| one.gap).collect();
    assert_eq!(gaps, [Some(Gap::AtMost(0.007)), Some(Gap::AtLeast(3.0))]);
}

#[test]
fn a_gap_below_an_interval_is_at_most_two_intervals() {
    let five = |latency_max_ns| vec![Ran { latency_max_ns, ..ran(400_000_000, 20) }; 5];
    let study = Study::new(&[five(0), five(0)], &[five(5 * SECOND), five(0)]);
    assert!(study.beside().iter().all(|one| one.gap == Some(Gap::AtMost(2.0))));
}

#[test]
fn fairness_is_one_where_all_tasks_did_the_same_and_a_part_where_one_did_all() {
    let of = |tasks: &[u64]| vec![Ran { tasks: tasks.to_vec(), ..ran(400_000_000, 20) }; 5];
    let (equal, one) = (of(&[2_000_000_000; 4]), of(&[8_000_000_000, 0, 0, 0]));
    let study = Study::new(&[equal.clone(), equal.clone()], &[equal, one]);
    let told: Vec<_> = study.beside().iter().map(|one| one.fairness).collect();
    assert_eq!(told, [Some(1.0), Some(0.25)]);
}

#[test]
fn nothing_is_stated_of_imported_ones() {
    let study = Study::of_rates(&[400_000_000; 2], &[280_000_000; 2]);
    let mut run = rows::run(&study.plan, study.records.clone());
    run.manifest.provenance = Provenance::Imported;
    let found = findings(&run, &figures(&run, RateName::ByWall));
    assert!(found.beside_others.is_empty() && found.all_together.is_empty());
}

/// Two workloads at the same time, both on a device that read `share` of what they read together.
fn on_one_device(share: f64) -> Study {
    let mut study = Study::of_rates(&[400_000_000, 600_000_000], &[280_000_000, 540_000_000]);
    let concurrent = |record: &PhaseRecord| record.phase.key.case.starts_with("both:");
    let mut sums = [0; 5];
    for record in study.records.iter().filter(|record| concurrent(record)) {
        sums[record.phase.key.repetition as usize] += record.phase.read_bytes;
    }
    for record in study.records.iter_mut().filter(|record| concurrent(record)) {
        let sum = sums[record.phase.key.repetition as usize] as f64 * share;
        record.phase.device_read_bytes = Some(format!("{sum:.0}").parse().expect("bytes"));
    }
    study
}

/// The doubts about the figures of workloads that ran beside others: the figure, and the check.
fn doubts(study: &Study) -> Vec<(Option<usize>, Check)> {
    let audit = study.findings().audit;
    audit.iter().map(|one| (one.figure, one.check)).filter(|(figure, _)| *figure > Some(1)).collect()
}

#[test]
fn a_workload_is_not_accused_of_what_those_beside_it_read() {
    let study = on_one_device(1.0);
    assert_eq!(doubts(&study), []);
    let run = rows::run(&study.plan, study.records.clone());
    for figure in figures(&run, RateName::ByWall) {
        assert!((figure.moved_by_devices().expect("devices were observed") - 1.0).abs() < 1e-3);
    }
}

#[test]
fn other_users_of_the_device_are_seen_all_the_same() {
    assert_eq!(doubts(&on_one_device(1.2)), []);
    let both = [(Some(2), Check::NotQuiet), (Some(3), Check::NotQuiet)];
    assert_eq!(doubts(&on_one_device(1.3)), both);
    let study = on_one_device(1.3);
    let found = study.findings().audit.into_iter().find(|one| one.check == Check::NotQuiet);
    let evidence = found.expect("it is told").evidence;
    assert_eq!(evidence, "the devices read 1.30 times what all workloads at the time did");
}

#[test]
fn hits_are_those_of_a_workload_only_where_its_own_bytes_show_them() {
    // One of them was answered by memory, but not which one.
    let both = [(Some(2), Check::MemoryNotExcluded), (Some(3), Check::MemoryNotExcluded)];
    assert_eq!(doubts(&on_one_device(0.8)), both);
    // Less than the faster one read alone.
    let faster = [(Some(2), Check::MemoryNotExcluded), (Some(3), Check::Cached)];
    assert_eq!(doubts(&on_one_device(0.6)), faster);
}

#[test]
fn only_what_others_moved_meanwhile_and_on_the_same_devices_counts() {
    let mut study = apart();
    let moved = |study: &Study| -> Vec<u64> {
        let run = rows::run(&study.plan, study.records.clone());
        let all = figures(&run, RateName::ByWall);
        all.iter().map(|one| (one.repetitions[0].beside.read_bytes + 500_000) / 1_000_000).collect()
    };
    assert_eq!(moved(&study), [0, 0, 9 * 60 + 80, 35 + 9 * 40]);
    for record in &mut study.records {
        let device = if record.phase.key.case.ends_with("restart") { "sdb" } else { "sda" };
        record.devices.push(DeviceRow {
            key: record.phase.key.clone(),
            node: "n".into(),
            device: device.into(),
            start_ns: 0,
            length_ns: SECOND,
            reads: 1,
            read_bytes: 4096,
            read_time_ns: 1,
            writes: 0,
            write_bytes: 0,
            write_time_ns: 0,
            busy_ns: 1,
            queue_time_ns: 1,
        });
    }
    assert_eq!(moved(&study), [0; 4]);
}

#[test]
fn processor_time_of_all_is_not_told_as_that_of_one() {
    let mut study = on_one_device(1.0);
    study.records.iter_mut().for_each(|record| record.phase.user_cpu_ns = 19 * SECOND);
    let found = study.findings();
    let of: Vec<usize> = found.limits.iter().map(|one| one.inputs[0]).collect();
    assert_eq!(of, [0, 1], "what limited those that ran alone");
    let run = rows::run(&study.plan, study.records.clone());
    let all = figures(&run, RateName::ByWall);
    let told: Vec<bool> = all.iter().map(|one| one.cpu_ns_per_operation().is_some()).collect();
    assert_eq!(told, [true, true, false, false]);
}

#[test]
fn random_reads_alone_are_not_compared_with_sequential_ones_beside_others() {
    let mut study = on_one_device(1.0);
    for case in &mut study.plan.cases {
        let random = case.id.ends_with("checkpoint");
        case.workload = rows::workload(|spec| {
            (spec.tasks, spec.direct) = (TASKS, true);
            spec.order = if random { plan::Order::Random { seed: 1 } } else { plan::Order::Sequential };
        });
    }
    // Alone it reads more than the sequential reads beside others.
    let more = Study::of_rates(&[590_000_000, 600_000_000], &[280_000_000, 300_000_000]);
    for (record, other) in study.records.iter_mut().zip(more.records) {
        *record = other;
    }
    let found = study.findings().audit;
    assert!(found.iter().all(|one| one.check != Check::RandomAboveSequential), "{found:?}");
}

/// A cache takes the first 20 s; the second workload begins after 30 s, and does next to nothing.
#[test]
fn a_burst_at_the_start_alone_is_no_loss_to_what_begins_later() {
    let burst = |at: u64| {
        let mut ran = ran(500_000_000 + at * 500_000, 60);
        ran.seconds[..20].fill(3_000_000_000);
        ran
    };
    let five = |of: &dyn Fn(u64) -> Ran| (0..5).map(of).collect::<Vec<_>>();
    let idle = |starts_ns: u64| move |at: u64| Ran { starts_ns, ..ran(1_000_000 + at, 60) };
    let study =
        Study::new(&[five(&burst), five(&idle(0))], &[five(&|at| burst(4 - at)), five(&idle(30 * SECOND))]);
    let told = &study.beside()[0];
    assert_eq!(told.outcome(), "no difference shown", "{told:?}");
    assert!(is_near(told.alone.expect("alone"), 501_000_000.0), "{told:?}");
}

/// A fixed amount of which one task is late with a little: not beside the others, but alone.
#[test]
fn a_straggler_alone_does_not_hide_a_loss() {
    let straggles = |at: u64| {
        let mut ran = ran(1_000_000_000 + at * 1_000_000, 40);
        ran.seconds[10..].fill(1_000_000);
        ran
    };
    let five = |of: &dyn Fn(u64) -> Ran| (0..5).map(of).collect::<Vec<_>>();
    let plain = |rate: u64, seconds: usize| move |at: u64| ran(rate + at * rate / 1000, seconds);
    let study = Study::new(
        &[five(&straggles), five(&plain(400_000_000, 10))],
        &[five(&plain(900_000_000, 11)), five(&plain(360_000_000, 10))],
    );
    let told = &study.beside()[0];
    assert_eq!(told.outcome(), "less than alone", "{told:?}");
    assert!((told.loss().expect("a loss") - 0.1).abs() < 1e-3, "{told:?}");
}

#[test]
fn what_completed_nothing_is_told_as_that() {
    let mut study = Study::of_rates(&[400_000_000; 2], &[280_000_000; 2]);
    for record in study.records.iter_mut().filter(|one| &*one.phase.key.case == "both:restart") {
        match record.phase.key.repetition {
            // Nothing until all others have ended, and nothing at all.
            1 => record.series.retain(|row| row.start_ns / SECOND >= 20),
            3 => record.series.clear(),
            _ => {}
        }
    }
    let told = study.beside();
    assert_eq!([told[0].outcome(), told[1].outcome()], ["less than alone", "completed nothing"]);
    assert_eq!(told[1].starved().as_deref(), Some("completed nothing in 2 of 5 passes while all ran"));
    assert_eq!((told[1].loss(), told[1].gap), (None, Some(Gap::AtLeast(20.0))));
    assert_eq!(told[0].starved(), None);
}

impl Study {
    /// The verdict on a promise to `workload`, without doubts of the audit.
    fn verdict(&self, workload: &str, amount: Amount, change: impl FnOnce(&mut Commitment)) -> Verdict {
        let mut promise = rows::at_least(amount);
        promise.figures.workload = Some(workload.to_owned());
        change(&mut promise);
        let mut plan = self.plan.clone();
        plan.criteria.commitments.push(promise);
        let run = rows::run(&plan, self.records.clone());
        verdicts(&plan, &figures(&run, RateName::ByWall), &[]).remove(0)
    }
}

/// The first runs for 60 s, at 200 MB/s for the 5 s that the second takes, then at 1 GB/s.
fn mostly_alone() -> Study {
    let five = |ran: &Ran| vec![ran.clone(); 5];
    let mut first = ran(1_000_000_000, 60);
    first.seconds[..5].fill(200_000_000);
    let alone = ran(1_000_000_000, 60);
    Study::new(&[five(&alone), five(&ran(500_000_000, 5))], &[five(&first), five(&ran(400_000_000, 5))])
}

#[test]
fn no_promise_is_kept_by_what_ran_while_the_others_did_not() {
    let study = mostly_alone();
    for workload in ["both:checkpoint", "both"] {
        for statistic in [Statistic::Median, Statistic::Worst, Statistic::ConfidenceBound, Statistic::Best] {
            let verdict =
                study.verdict(workload, Amount::BytesPerSecond(0.9e9), |one| one.statistic = statistic);
            assert_eq!(verdict.judgement, Judgement::DoesNotHold, "{verdict:?}");
            assert!(is_near(verdict.measured.expect("a rate"), 200e6) || workload == "both", "{verdict:?}");
        }
    }
    let rate = Amount::OperationsPerSecond(0.9e9 / 4096.0);
    assert_eq!(study.verdict("both:checkpoint", rate, |_| ()).judgement, Judgement::DoesNotHold);
    let kept = study.verdict("both:checkpoint", Amount::BytesPerSecond(0.19e9), |_| ());
    assert_eq!(kept.judgement, Judgement::Holds, "beside the other it has that: {:?}", kept.because);
    assert_eq!(kept.judged_by, "median, by wall time or while all ran, whichever is less");
    let alone = study.verdict("checkpoint", Amount::BytesPerSecond(0.9e9), |_| ());
    assert_eq!((alone.judgement, alone.judged_by.as_str()), (Judgement::Holds, "median, by wall time"));
    let most = |amount: f64| {
        study.verdict("both:checkpoint", Amount::BytesPerSecond(amount), |one| one.bound = Bound::AtMost)
    };
    assert_eq!(most(0.95e9).judgement, Judgement::Holds);
    assert_eq!(most(0.9e9).judgement, Judgement::DoesNotHold);
}

#[test]
fn the_sustained_rate_beside_others_is_that_of_the_seconds_while_all_ran() {
    let mut study = mostly_alone();
    for record in study.records.iter_mut().filter(|one| &*one.phase.key.case == "both:checkpoint") {
        record.series.iter_mut().take(5).for_each(|row| row.bytes = 900_000_000);
        record.series[1].bytes = 100_000_000;
    }
    let sustained = |amount: f64| {
        study.verdict("both:checkpoint", Amount::BytesPerSecond(amount), |one| one.rate = RateName::Sustained)
    };
    let verdict = sustained(0.5e9);
    assert_eq!((verdict.judgement, verdict.measured), (Judgement::DoesNotHold, Some(100e6)), "{verdict:?}");
    assert_eq!(sustained(0.09e9).judgement, Judgement::Holds);
}

#[test]
fn a_promise_is_kept_where_all_ran_all_the_time() {
    let study = Study::of_rates(&[400_000_000, 600_000_000], &[280_000_000, 540_000_000]);
    for statistic in [Statistic::Median, Statistic::Worst, Statistic::ConfidenceBound] {
        // With half a second of open and close.
        let amount = Amount::BytesPerSecond(280e6 * 20.0 / 20.5);
        let verdict = study.verdict("both", amount, |one| one.statistic = statistic);
        assert_eq!(verdict.judgement, Judgement::Holds, "{:?}", verdict.because);
        let verdict = study.verdict("both", Amount::BytesPerSecond(281e6), |one| one.statistic = statistic);
        assert_eq!(verdict.judgement, Judgement::DoesNotHold, "{:?}", verdict.because);
    }
}

#[test]
fn what_did_not_run_beside_the_others_keeps_no_promise_and_may_break_one() {
    let mut study = apart();
    for record in study.records.iter_mut().filter(|one| &*one.phase.key.case == "both:restart") {
        if record.phase.key.repetition > 2 {
            record.phase.started_unix_ns += 30_000_000_000;
        }
    }
    let kept = study.verdict("both:checkpoint", Amount::BytesPerSecond(10e6), |_| ());
    assert_eq!(kept.judgement, Judgement::CannotTell);
    let why = "not shown beside the others: pass 4: they did not run at the same time; 1 more";
    assert_eq!(kept.because, [why]);
    let broken = study.verdict("both:checkpoint", Amount::BytesPerSecond(1e9), |_| ());
    assert_eq!(broken.judgement, Judgement::DoesNotHold, "{:?}", broken.because);
}

#[test]
fn latencies_of_whole_passes_keep_a_promise_only_where_nearly_all_operations_ran_beside_the_others() {
    let with_latencies = |mut study: Study| {
        for record in &mut study.records {
            let edges = (100_000, 100_500);
            record.latency =
                vec![rows::bucket(&record.phase.key, Operation::Read, edges, record.phase.reads)];
        }
        study
    };
    let at_most = |study: &Study, workload: &str, percent, nanos: f64| {
        study.verdict(workload, Amount::Latency { nanos, percent }, |one| one.bound = Bound::AtMost)
    };
    let (apart, all) =
        (with_latencies(apart()), with_latencies(Study::of_rates(&[400_000_000], &[280_000_000])));
    for percent in [None, Some(99.0)] {
        let doubtful = at_most(&apart, "both:checkpoint", percent, 1e6);
        assert_eq!(doubtful.judgement, Judgement::CannotTell);
        let why = &doubtful.because[0];
        // 395 MB of 1,430 MB.
        let told = "not shown beside the others: pass 1: 27.6 % of its operations completed while all ran, and 95 % are \
                    needed for a latency; 4 more";
        assert_eq!(why, told);
        let broken = at_most(&apart, "both:checkpoint", percent, 50_000.0);
        assert_eq!(broken.judgement, Judgement::DoesNotHold, "{:?}", broken.because);
        let alone = at_most(&apart, "checkpoint", percent, 1e6);
        assert!(alone.because.iter().all(|why| !why.contains("beside")), "{:?}", alone.because);
    }
    assert_eq!(at_most(&all, "both", None, 1e6).judgement, Judgement::Holds);
}

#[test]
fn phases_of_a_set_that_run_alone_are_not_tested() {
    let mut small = case("small", None, 5);
    small.phases = vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup];
    let together = Concurrent { name: "both".to_owned(), alone: "small".to_owned(), start: Nanos(0) };
    let beside = Case { concurrent: Some(together), id: "both:small".to_owned(), ..small.clone() };
    let study = Study { plan: rows::plan(vec![small, beside]), records: Vec::new() };
    let precreate = |one: &mut Commitment| one.figures.phase = Some(Phase::Precreate);
    let verdict = study.verdict("both", Amount::OperationsPerSecond(1.0), precreate);
    assert_eq!(verdict.judgement, Judgement::NotTested);
    assert_eq!(
        verdict.because,
        ["both:small precreate: runs alone, before or after what runs at the same time"]
    );
}

#[test]
fn a_promise_without_a_workload_is_about_those_that_run_alone() {
    let study = Study::of_rates(&[400_000_000; 2], &[100_000_000; 2]);
    let verdict = study.verdict("", Amount::BytesPerSecond(300e6), |one| one.figures = Selector::default());
    assert_eq!((verdict.judgement, verdict.about), (Judgement::Holds, vec![0, 1]));
}

#[test]
fn a_data_sheet_is_not_for_what_a_workload_gets_beside_others() {
    let mut study = Study::of_rates(&[400_000_000; 2], &[100_000_000; 2]);
    let sheet = |name: &str, ceiling| Expectation {
        ceiling,
        missed: "look for a different vendor".to_owned(),
        ..Expectation::new(name, Amount::BytesPerSecond(500e6))
    };
    study.plan.criteria.expectations = vec![sheet("drive", false), sheet("link", true)];
    let run = rows::run(&study.plan, study.records.clone());
    let found = expected(&study.plan, &figures(&run, RateName::ByWall));
    let of =
        |name: &str| found.iter().filter(|one| one.name == name).map(|one| one.figure).collect::<Vec<_>>();
    assert_eq!((of("drive"), of("link")), (vec![0, 1], vec![0, 1, 2, 3]));
}

/// What is told of the conditions of `both:checkpoint`, by comparing it with the same in another study.
fn told_beside(before: &Study, after: &Study) -> Vec<String> {
    let [one, other] = [before, after].map(|study| {
        let run = rows::run(&study.plan, study.records.clone());
        figures(&run, RateName::ByWall)
    });
    let [one, other] = [Gate::new(&before.plan, &one, &[]), Gate::new(&after.plan, &other, &[])];
    let found = paired(&[one], &[other]);
    let found = found.into_iter().find(|pair| pair.comparisons[0].case.contains("both:checkpoint"));
    found.expect("it is paired by its name").differs
}

#[test]
fn what_runs_at_the_same_time_is_a_condition() {
    let two = Study::of_rates(&[400_000_000; 3], &[280_000_000; 2]);
    let three = Study::of_rates(&[400_000_000; 3], &[280_000_000; 3]);
    assert_eq!(told_beside(&two, &two.clone()), [] as [&str; 0]);
    let more = "at the same time: restart, then restart and scan";
    assert_eq!(told_beside(&two, &three)[0], more);
    let start = |study: &mut Study, at: usize| {
        study.plan.cases[at].concurrent.as_mut().expect("one of several").start = Nanos::secs(5);
    };
    let mut later = two.clone();
    start(&mut later, 4);
    assert_eq!(told_beside(&two, &later), ["at the same time: restart, then restart from 5 s"]);
    let mut itself = two.clone();
    start(&mut itself, 3);
    assert_eq!(told_beside(&two, &itself), ["at the same time: restart, then restart; itself from 5 s"]);
    let mut wider = two.clone();
    wider.plan.cases[4].workload = rows::workload(|spec| (spec.tasks, spec.direct) = (2 * TASKS, true));
    assert_eq!(told_beside(&two, &wider), ["restart at the same time: tasks: 4, then 8"]);
}

#[test]
fn a_part_of_what_a_reference_run_reached_is_judged_only_beside_the_same() {
    let (own, three) = (on_one_device(1.0), Study::of_rates(&[400_000_000; 3], &[280_000_000; 3]));
    let verdict = |reference: &Study| {
        let mut plan = own.plan.clone();
        plan.criteria.commitments.push(Commitment {
            figures: Selector { workload: Some("both:checkpoint".to_owned()), ..Selector::default() },
            asked: Asked::OfReference { share: 0.8, of: FigureQuantity::Rate },
            ..rows::at_least(Amount::BytesPerSecond(1.0))
        });
        let mut run = rows::run(&plan, own.records.clone());
        let other = rows::run(&reference.plan, reference.records.clone());
        run.reference = Some(Box::new(Reference { run: other, sha256: "0".repeat(64) }));
        let found = findings(&run, &figures(&run, RateName::ByWall));
        found.verdicts[0].says().expect("it is stated").clone()
    };
    let same = verdict(&own);
    assert!(is_near(same.promised().expect("it is known"), 0.8 * 280.56e6 * 20.0 / 20.5), "{same:?}");
    let other = verdict(&three);
    assert_eq!(other.judgement, Judgement::NotTested);
    let why = "not measured as in the reference run r: at the same time: restart and scan, then restart";
    assert!(other.because[0].contains(why), "{:?}", other.because);
}

/// Of so many runs with 1 % noise and five repetitions, in each of which three workloads ran at the same time in so many
/// sets, how many state a loss of the second one of the first set, which has this tax, and how many state another.
fn simulated(runs: u32, sets: usize, tax: f64) -> (u32, u32) {
    let mut random = Random::seeded(47);
    let mut five = |rate: f64| -> Vec<Ran> {
        let mut noisy = || (rate * (1.0 + 0.01 * random.normal())).round();
        (0..5).map(|_| ran(format!("{:.0}", noisy()).parse().expect("a rate"), 5)).collect()
    };
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..runs {
        let alone = [(); 3].map(|()| five(400e6));
        let beside = [0.0, tax, 0.0].map(|tax| five(400e6 * (1.0 - tax)));
        let mut study = Study::new(&alone, &beside);
        for set in 1..sets {
            study.add_beside(&format!("set{set}"), &[(); 3].map(|()| five(400e6)));
        }
        let is_told = |one: &Beside| one.difference.is_some_and(|one| one.is_stated());
        let told: Vec<bool> = study.beside().iter().map(is_told).collect();
        right += u32::from(told[1]);
        wrong += u32::from(told.iter().enumerate().any(|(place, told)| place != 1 && *told));
    }
    (right, wrong)
}

#[test]
fn a_tax_of_five_percent_is_told_and_none_is_not() {
    let (right, wrong) = simulated(1000, 1, 0.05);
    let (false_one, false_others) = simulated(1000, 1, 0.0);
    assert!(right >= 950, "{right}");
    assert!(wrong <= 10 && false_one + false_others <= 10, "{wrong} {false_one} {false_others}");
}

#[test]
fn a_tax_is_told_among_many_sets() {
    let (right, wrong) = simulated(200, 14, 0.05);
    let (false_one, false_others) = simulated(200, 14, 0.0);
    assert!(right >= 190, "{right}");
    assert!(wrong <= 2 && false_one + false_others <= 2, "{wrong} {false_one} {false_others}");
}
