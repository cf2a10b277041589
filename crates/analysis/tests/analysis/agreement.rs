//! Two tools, one point: figures are paired by their conditions where their names differ.

use analysis::{Figure, Paired, RunFigures, paired};
use plan::{Case, Phase, Plan, Sharing};

use crate::rows::{case, key, phase, plan, run_of, workload};

const SECOND: u64 = 1_000_000_000;

/// A run of one case that read `bytes` in 4 s of transfers.
fn measured(id: &str, bytes: u64, change: impl FnOnce(&mut plan::WorkloadSpec)) -> (Plan, Vec<Figure>) {
    let one = Case { id: id.to_owned(), ..case(workload(change), vec![Phase::Read]) };
    let plan = plan(vec![one]);
    let mut key = key(0, Phase::Read);
    key.case = id.into();
    let run = run_of(&plan, &[phase(&key, bytes, 4 * SECOND)], &[], &[]);
    let figures = analysis::figures(&run, analysis::RateName::ByWall);
    (plan, figures)
}

fn pairs(before: &(Plan, Vec<Figure>), after: &(Plan, Vec<Figure>)) -> Vec<Paired> {
    paired(
        RunFigures { plan: &before.0, figures: &before.1 },
        RunFigures { plan: &after.0, figures: &after.1 },
    )
}

#[test]
fn two_tools_that_measured_one_point_are_compared_in_percent() {
    let iozone = measured("iozone", 400 << 20, |spec| spec.files.sharing = Sharing::PerTask);
    let ior = measured("ior", 380 << 20, |_| {});
    let found = pairs(&iozone, &ior);
    let [pair] = &found[..] else { panic!("one pair, not {}", found.len()) };
    assert!(pair.by_conditions);
    assert_eq!(pair.differs, ["files: one for each task, then shared"]);
    let rate = &pair.comparisons[0];
    assert_eq!(rate.case, "iozone → ior");
    assert!((rate.change + 0.05).abs() < 1e-9, "{}", rate.change);
}

#[test]
fn other_points_are_not_compared() {
    let iozone = measured("iozone", 400 << 20, |_| {});
    let more = measured("ior", 400 << 20, |spec| spec.tasks = 2);
    assert_eq!(pairs(&iozone, &more), []);
    let random = measured("ior", 400 << 20, |spec| spec.order = plan::Order::Random { seed: 1 });
    assert_eq!(pairs(&iozone, &random), []);
}

#[test]
fn a_name_pairs_before_conditions_do() {
    let one = measured("c", 400 << 20, |_| {});
    let other = measured("c", 300 << 20, |spec| spec.direct = true);
    let found = pairs(&one, &other);
    assert_eq!((found.len(), found[0].by_conditions, found[0].differs.len()), (1, false, 0));
}
