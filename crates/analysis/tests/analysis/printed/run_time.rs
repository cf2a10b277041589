//! How the time of a run was spent, and contradictions between printed values.

use analysis::{audit::Check, findings::findings, printed::run_time};
use plan::{Nanos, Phase, PrintedBy, Tree, Work};
use record::{PhaseRow, PrintedRow, Provenance, Run};

use crate::common::rows::{SECOND, case, key, phase, plan, run_of, workload};

/// Two passes over a tree, with 4 s of rest before each, in a run that took 30 s.
fn tree() -> Run {
    let mut one = case(
        workload(|spec| spec.work = Work::Tree(Tree::flat(10))),
        vec![Phase::FileCreate, Phase::FileRemove],
    );
    one.delay = Nanos::secs(4);
    let plan = plan(vec![one]);
    let rows: Vec<PhaseRow> = (0..2)
        .flat_map(|pass| {
            [(Phase::FileCreate, 5), (Phase::FileRemove, 2)].map(|(what, seconds)| (pass, what, seconds))
        })
        .map(|(pass, what, seconds)| PhaseRow {
            items: 10,
            ..phase(&key(pass, what), 0, (seconds - 1) * SECOND)
        })
        .collect();
    let mut run = run_of(&plan, &rows, &[], &[]);
    run.manifest.finished_unix_ns = Some(30_000_000_000);
    run
}

#[test]
fn phases_and_rests_are_set_against_the_wall_time() {
    let time = run_time(&tree()).expect("a run that ended");
    assert_eq!(time.to_string(), "10 + 4 + 8 = 22 s of 30 s");
    let names: Vec<&str> = time.parts.iter().map(|part| part.0).collect();
    assert_eq!(names, ["file-create", "file-remove", "delay"]);
    assert!((time.unexplained_seconds() - 8.0).abs() < 1e-9);
}

#[test]
fn a_run_that_goes_on_or_is_imported_has_no_such_sum() {
    let mut run = tree();
    run.manifest.finished_unix_ns = None;
    assert_eq!(run_time(&run), None);
    let mut imported = tree();
    imported.manifest.provenance = Provenance::Imported;
    assert_eq!(run_time(&imported), None);
}

/// A total that differs from the average over tasks times their number.
#[test]
fn printed_values_that_contradict_each_other_are_doubted() {
    let with = |average: &str| {
        let mut one = case(workload(|spec| spec.tasks = 76), vec![Phase::Read]);
        one.printed_by = Some(PrintedBy { tool: "iozone".to_owned(), release: None });
        let plan = plan(vec![one]);
        let key = key(0, Phase::Read);
        let row = |label: &str, value: &str, statistic: &str| PrintedRow {
            key: key.clone(),
            label: label.into(),
            value: value.into(),
            number: value.parse().ok(),
            unit: "ops/s".into(),
            statistic: statistic.into(),
            source: "iozone.txt".into(),
            line: 7,
        };
        let record = record::PhaseRecord {
            printed: vec![
                row("Children see throughput", "7193675.62", "sum"),
                row("throughput per process", "79806.80", "min"),
                row("throughput per process", "112921.42", "max"),
                row("throughput per process", average, "mean"),
            ],
            ..record::PhaseRecord::new(phase(&key, 40960, 4 * SECOND))
        };
        let mut run = crate::common::rows::run(&plan, vec![record]);
        run.manifest.provenance = Provenance::Imported;
        let figures = analysis::figures::figures(&run, analysis::RateName::ByWall);
        let doubts = findings(&run, &figures).audit;
        doubts.into_iter().filter(|doubt| doubt.check == Check::Contradiction).collect::<Vec<_>>()
    };
    assert_eq!(with("94653.63"), []);
    let doubts = with("94635.63");
    assert_eq!((doubts.len(), doubts[0].figure, doubts[0].disqualifies()), (1, Some(0), true));
    assert!(doubts[0].evidence.contains("76 × 94635.63"), "{}", doubts[0].evidence);
}
