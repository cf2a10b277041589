//! Published figures are shown next to own figures with the same command line, and next to no others.

use analysis::comparisons::{published_beside, published_near};
use plan::{Bytes, Case, Geometry, Phase, ReadFrom, Sharing, WorkloadSpec};
use record::Published;

use crate::common::rows::{case, workload};

/// `-a POSIX -B -e -t T -b T -s S -N tasks -C -F -o` with this many targets.
fn command_line(
    transfer: Bytes,
    segments: u64,
    tasks: u32,
    targets: u32,
    change: fn(&mut WorkloadSpec),
) -> Case {
    let workload = workload(|spec| {
        spec.direct = true;
        spec.sync.at_close = true;
        spec.geometry = Geometry { transfer, block: transfer, segments };
        spec.tasks = tasks;
        spec.read_from = ReadFrom::Shift { tasks: 1 };
        spec.files.sharing = Sharing::PerTask;
        spec.files.targets = (0..targets).map(|target| format!("{target}/{target}").into()).collect();
        change(spec);
    });
    case(workload, vec![Phase::Write, Phase::Read])
}

fn ids(figures: &[&Published]) -> Vec<String> {
    figures.iter().map(|figure| figure.id.clone()).collect()
}

#[test]
fn test_1_of_study_a_has_both_published_rates_beside_it() {
    let test_1 = command_line(Bytes::mib(1), 10_000, 6, 1, |_| {});
    let beside = published_beside(&test_1);
    assert_eq!(ids(&beside), ["a-t1-write-best", "a-t1-read-best"]);
    let values: Vec<_> = beside.iter().map(|figure| (figure.value, figure.printed.as_str())).collect();
    assert_eq!(values, [(2.05e9, "2.05 GB/s"), (2.78e9, "2.78GB/s")]);
}

/// The printed command line has 1 MB transfers, for which the study prints the scalability. Its best rates were
/// measured with 16 MB.
#[test]
fn test_2_of_study_a_matches_with_132_tasks_over_12_targets() {
    let printed = command_line(Bytes::mib(1), 10_000, 132, 12, |_| {});
    assert_eq!(ids(&published_beside(&printed)), ["a-t2-scal-read-132", "a-t2-scal-write-132"]);
    assert_eq!(ids(&published_near(&printed)), ["a-t2-write-best", "a-t2-read-best"]);
    let best = command_line(Bytes::mib(16), 625, 132, 12, |_| {});
    assert_eq!(ids(&published_beside(&best)), ["a-t2-write-best", "a-t2-read-best"]);
}

/// Moving 62.9 GB is not practical on a small disk, so fewer segments of the same transfers are compared as well.
#[test]
fn a_miniature_of_test_1_has_the_published_rates_near_it() {
    let miniature = command_line(Bytes::mib(1), 24, 6, 1, |_| {});
    assert_eq!(ids(&published_beside(&miniature)), [""; 0]);
    assert_eq!(ids(&published_near(&miniature)), ["a-t1-write-best", "a-t1-read-best"]);
    let other_transfer = command_line(Bytes::mib(2), 24, 6, 1, |_| {});
    assert_eq!(ids(&published_near(&other_transfer)), [""; 0], "both differ");
}

#[test]
fn another_command_line_has_nothing_beside_it() {
    let changes: [fn(&mut WorkloadSpec); 8] = [
        |spec| spec.direct = false,
        |spec| spec.sync.at_close = false,
        |spec| spec.files.sharing = Sharing::Shared,
        |spec| spec.read_from = ReadFrom::Same,
        |spec| spec.order = plan::Order::Random { seed: 1 },
        |spec| spec.tasks = 7,
        |spec| spec.geometry.segments = 100,
        |spec| spec.files.targets.push("second".into()),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let other = command_line(Bytes::mib(1), 10_000, 6, 1, change);
        assert_eq!(ids(&published_beside(&other)), [""; 0], "change {index}");
    }
}

#[test]
fn a_direction_that_does_not_run_has_nothing_beside_it() {
    let mut read_only = command_line(Bytes::mib(1), 10_000, 6, 1, |_| {});
    read_only.phases = vec![Phase::Read];
    assert_eq!(ids(&published_beside(&read_only)), ["a-t1-read-best"]);
}
