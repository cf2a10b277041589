//! Two tools, one point: figures with different names are matched by their conditions.

use analysis::{
    comparisons::{Paired, paired},
    figures::Figure,
    gate::Gate,
};
use plan::{Case, Condition, Phase, Plan, Sharing};

use crate::common::rows::{case, key, phase, plan, run_of, workload};

const SECOND: u64 = 1_000_000_000;

/// A run of one case that read `bytes` in 4 s of transfer time.
fn measured(id: &str, bytes: u64, change: impl FnOnce(&mut plan::WorkloadSpec)) -> (Plan, Vec<Figure>) {
    let one = Case { id: id.to_owned(), ..case(workload(change), vec![Phase::Read]) };
    let plan = plan(vec![one]);
    let mut key = key(0, Phase::Read);
    key.case = id.into();
    let run = run_of(&plan, &[phase(&key, bytes, 4 * SECOND)], &[], &[]);
    let figures = analysis::figures::figures(&run, analysis::RateName::ByWall);
    (plan, figures)
}

fn pairs(before: &(Plan, Vec<Figure>), after: &(Plan, Vec<Figure>)) -> Vec<Paired> {
    paired(&[Gate::new(&before.0, &before.1, &[])], &[Gate::new(&after.0, &after.1, &[])])
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
    assert!((rate.difference.change + 0.05).abs() < 1e-9, "{rate:?}");
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
fn a_name_pairs_what_is_of_other_conditions_and_tells_them() {
    let one = measured("c", 400 << 20, |_| {});
    let other = measured("c", 300 << 20, |spec| (spec.direct, spec.tasks) = (true, 2));
    let found = pairs(&one, &other);
    assert_eq!((found.len(), found[0].by_conditions), (1, false));
    assert_eq!(found[0].differs, ["tasks: 1, then 2", "cache: buffered, then direct"]);
}

/// mdtest, for example, uses one name for everything that it measures.
#[test]
fn a_point_pairs_before_a_name_does() {
    let cases = |names: [&str; 2]| {
        let tasks = [1, 2];
        let all: Vec<Case> = names
            .into_iter()
            .zip(tasks)
            .map(|(id, tasks)| Case {
                id: id.to_owned(),
                ..case(workload(|spec| spec.tasks = tasks), vec![Phase::Read])
            })
            .collect();
        let plan = plan(all);
        let rows: Vec<_> = names
            .into_iter()
            .map(|id| {
                let mut key = key(0, Phase::Read);
                key.case = id.into();
                phase(&key, 400 << 20, 4 * SECOND)
            })
            .collect();
        let run = run_of(&plan, &rows, &[], &[]);
        let figures = analysis::figures::figures(&run, analysis::RateName::ByWall);
        (plan, figures)
    };
    let found = pairs(&cases(["x", "y"]), &cases(["y", "x"]));
    let places: Vec<(usize, usize)> = found.iter().map(|pair| (pair.before, pair.after)).collect();
    assert_eq!(places, [(0, 0), (1, 1)]);
    assert!(found.iter().all(|pair| pair.by_conditions && pair.differs.is_empty()), "{found:?}");
}

/// A value that a text does not state is not a difference.
#[test]
fn an_imported_case_differs_in_what_its_text_says_alone() {
    let mut imported = measured("iozone", 400 << 20, |spec| spec.geometry.segments = 1);
    imported.0.cases[0].stated = Some("records of 1 MiB".to_owned());
    imported.0.cases[0].not_printed = Some([Condition::Engine, Condition::Volume].into_iter().collect());
    let own = measured("ior", 400 << 20, |spec| {
        spec.backend = plan::Backend::Uring { depth: 1, required: true };
        spec.geometry.segments = 7;
    });
    assert_eq!(pairs(&imported, &own)[0].differs, [""; 0]);
}

/// A text of fio has no number of nodes, so that 10 nodes of another tool are no change.
#[test]
fn a_condition_that_is_not_printed_is_missing_and_no_difference() {
    let mut imported = measured("fio", 400 << 20, |_| {});
    let case = &mut imported.0.cases[0];
    case.stated = Some("randread, 1 MiB".to_owned());
    case.not_printed = Some([Condition::Nodes, Condition::Depth, Condition::Order].into_iter().collect());
    let of_ten = measured("ior", 400 << 20, |spec| (spec.tasks, spec.nodes) = (10, 10));
    assert_eq!(pairs(&imported, &of_ten), [], "the numbers of tasks are known and differ");
    imported.0.cases[0].not_printed.get_or_insert_default().insert(Condition::Tasks);
    assert_eq!(pairs(&imported, &of_ten), [], "nothing but the size is known of both");
    // With the same name, they are compared, and what is missing is said.
    let named = measured("fio", 400 << 20, |spec| (spec.tasks, spec.nodes) = (10, 10));
    let found = pairs(&imported, &named);
    assert_eq!(found[0].differs, [""; 0]);
    assert_eq!(
        found[0].not_printed,
        ["order (after: sequential)", "tasks (after: 10)", "nodes (after: 10)", "depth (after: 1)"]
    );
}

#[test]
fn what_is_known_of_both_pairs_two_figures() {
    let mut imported = measured("fio", 400 << 20, |_| {});
    let case = &mut imported.0.cases[0];
    case.stated = Some("1 task".to_owned());
    case.not_printed = Some([Condition::Nodes].into_iter().collect());
    let own = measured("ior", 400 << 20, |_| {});
    let found = pairs(&imported, &own);
    assert_eq!((found.len(), found[0].by_conditions), (1, true));
    assert_eq!(
        (&found[0].differs[..], &*found[0].not_printed),
        (&[][..], &["nodes (after: 1)".to_owned()][..])
    );
}
