//! Which nodes were measured when, and how often.

use analysis::{
    RateName,
    figures::{figures, uncertain_clocks},
    findings::usable_cpus,
    nodes::{CoverageJob, NodeCoverage, coverage, hour_utc, known_nodes},
};
use plan::{Phase, Plan};
use record::{Cluster, EndRow, NodeClock, NodeFacts, PhaseKey, PhaseRecord, Run, Warning};

use crate::common::rows;
use crate::common::studies::said;
use crate::nodes::comparison::{at, case, pass};

const HOUR: i64 = 3_600_000_000_000;

/// A job on one node that started in this hour.
fn job(plan: &Plan, id: &str, node: &str, hour: i64) -> Run {
    let mut record = pass("c", 0, Phase::Read, &[at(node, 100)]);
    record.phase.started_unix_ns = hour * HOUR + 60_000_000_000;
    let mut run = rows::run(plan, vec![record]);
    run.manifest.run_id = id.to_owned();
    run.manifest.host.node = node.to_owned();
    run.manifest.host.batch_job = Some(format!("slurm {id}"));
    (run.manifest.started_unix_ns, run.manifest.finished_unix_ns) = (hour * HOUR, Some((hour + 1) * HOUR));
    run
}

fn covered(run: &Run) -> (Vec<CoverageJob>, Vec<NodeCoverage>) {
    coverage(run, &figures(run, RateName::ByWall))
}

#[test]
fn merged_jobs_say_which_nodes_they_covered_and_when() {
    let mut plan = rows::plan(vec![case("c", "t", 1, 1)]);
    plan.criteria.exclusive = Some(false);
    let jobs = [("3", "n10", 30), ("1", "n2", 1), ("2", "n2", 23)];
    let runs = jobs.map(|(id, node, hour)| job(&plan, id, node, hour));
    let run = record::merge(runs.to_vec()).expect("three jobs");
    let (jobs, covered) = covered(&run);
    assert!(jobs.iter().all(|job| job.exclusive == Some(false)));
    let jobs: Vec<_> = jobs
        .iter()
        .map(|job| {
            (
                job.run_id.as_str(),
                job.batch_job.as_deref(),
                job.nodes.join(" "),
                hour_utc(job.started_unix_ns),
            )
        })
        .collect();
    let expected = [
        ("1", Some("slurm 1"), "n2".to_owned(), 1),
        ("2", Some("slurm 2"), "n2".to_owned(), 23),
        ("3", Some("slurm 3"), "n10".to_owned(), 6),
    ];
    assert_eq!(jobs, expected);
    let nodes: Vec<_> = covered.iter().map(|node| (node.node.as_str(), node.cases, node.passes)).collect();
    assert_eq!(nodes, [("n2", 1, 2), ("n10", 1, 1)]);
    let started = covered[0].started_unix_ns.map(|(first, last)| (first / HOUR, last / HOUR));
    assert_eq!((started, &covered[0].hours_utc), (Some((1, 23)), &vec![1, 23]));
}

/// Two simultaneous jobs on two nodes each.
#[test]
fn a_job_on_several_nodes_has_those_of_its_passes() {
    let plan = rows::plan(vec![case("c", "t", 2, 1)]);
    let job = |id: &str, nodes: [&str; 2]| {
        let mut run = job(&plan, id, nodes[0], 5);
        let record = pass("c", 0, Phase::Read, &nodes.map(|node| at(node, 100)));
        let manifest = run.manifest.clone();
        run = Run::in_memory(manifest, vec![record]);
        run
    };
    let run = record::merge(vec![job("1", ["a", "b"]), job("2", ["c", "a"])]).expect("two jobs");
    let (jobs, nodes) = covered(&run);
    let jobs: Vec<_> = jobs.iter().map(|job| job.nodes.join(" ")).collect();
    assert_eq!(jobs, ["a b", "a c"]);
    let passes: Vec<_> = nodes.iter().map(|node| (node.node.as_str(), node.passes)).collect();
    assert_eq!(passes, [("a", 2), ("b", 1), ("c", 1)]);
}

#[test]
fn one_job_on_all_of_its_nodes_needs_no_coverage() {
    let plan = rows::plan(vec![case("c", "t", 1, 1)]);
    assert_eq!(covered(&job(&plan, "1", "n1", 0)), (Vec::new(), Vec::new()));
}

fn cluster(nodes: &[(&str, u64, Option<i64>)]) -> Cluster {
    let run = rows::run(&rows::plan(Vec::new()), Vec::<PhaseRecord>::new());
    let facts = |&(node, clock_error_ns, clock_drift_ns): &(&str, u64, Option<i64>)| NodeFacts {
        host: record::HostFacts { node: node.to_owned(), ..run.manifest.host.clone() },
        ranks: vec![0],
        clock_offset_ns: 5,
        clock_error_ns,
        clock_drift_ns,
        boot_id: None,
    };
    Cluster { library: "made up".to_owned(), nodes: nodes.iter().map(facts).collect() }
}

#[test]
fn a_node_of_the_cluster_without_a_measurement_is_missing() {
    let plan = rows::plan(vec![case("c", "t", 3, 1)]);
    let mut run = rows::run(&plan, vec![pass("c", 0, Phase::Read, &[at("a", 1), at("b", 1)])]);
    run.manifest.cluster = Some(cluster(&[("b", 0, None), ("a", 0, None), ("lost", 0, None)]));
    assert_eq!(known_nodes(&run), ["a", "b", "lost"]);
    let (jobs, nodes) = covered(&run);
    let passes: Vec<_> = nodes.iter().map(|node| (node.node.as_str(), node.passes)).collect();
    assert_eq!((passes, jobs[0].nodes.join(" ")), (vec![("a", 1), ("b", 1), ("lost", 0)], "a b".to_owned()));
    let figures = figures(&run, RateName::ByWall);
    assert_eq!(said(&analysis::findings::findings(&run, &figures).nodes)[0].1.missing, ["lost"]);
}

/// A node whose process only answered requests.
fn answering(key: &PhaseKey, node: &str) -> EndRow {
    EndRow {
        key: key.clone(),
        node: node.into(),
        end: 1,
        interface: record::SharedText::EMPTY,
        address: record::SharedText::EMPTY,
        adapter_node: None,
        client_threads: 0,
        server_threads: 1,
        client_cpu_ns: 0,
        server_cpu_ns: 1,
        client_processors: record::SharedText::EMPTY,
        server_processors: record::SharedText::EMPTY,
        transport: "TCP".into(),
        rdma: record::SharedText::EMPTY,
        shut_out: 0,
    }
}

#[test]
fn a_node_that_only_answered_has_taken_part() {
    let plan = rows::plan(vec![case("c", "t", 3, 1)]);
    let mut record = pass("c", 0, Phase::Read, &[at("a", 1), at("b", 1)]);
    record.ends = vec![answering(&record.phase.key, "serves"), answering(&record.phase.key, "a")];
    let mut run = rows::run(&plan, vec![record]);
    run.manifest.cluster = Some(cluster(&["a", "b", "serves", "lost"].map(|node| (node, 0, None))));
    let (jobs, nodes) = covered(&run);
    assert_eq!(jobs[0].nodes.join(" "), "a b serves");
    assert_eq!((nodes[2].node.as_str(), nodes[2].cases, nodes[2].passes), ("serves", 1, 1));
    let figures = figures(&run, RateName::ByWall);
    assert_eq!(figures[0].answering, ["serves"]);
    assert_eq!(said(&analysis::findings::findings(&run, &figures).nodes)[0].1.missing, ["lost"]);
}

#[test]
fn clocks_that_are_not_known_to_a_millisecond_are_told() {
    let clock = |node: &str, offset_ns, error_ns| NodeClock { node: node.to_owned(), offset_ns, error_ns };
    let uncertain = |node: &str, error_ns| Warning::ClockUncertain { node: node.to_owned(), error_ns };
    let start = vec![clock("good", 0, 1_000_000), clock("far", 0, 1_000_001), clock("drifts", 0, 10)];
    assert_eq!(uncertain_clocks(&[]), []);
    assert_eq!(uncertain_clocks(std::slice::from_ref(&start)), [uncertain("far", 1_000_001)]);
    let end = vec![clock("good", -1_000_000, 0), clock("far", 0, 0), clock("drifts", -2_000_000, 10)];
    let found = uncertain_clocks(&[start, end]);
    assert_eq!(found, [uncertain("far", 1_000_001), uncertain("drifts", 2_000_000)]);
    // With enough comparisons, the drift is known.
    let at = |offset_ns, error_ns| vec![clock("drifts", offset_ns, error_ns)];
    assert_eq!(uncertain_clocks(&[at(0, 10), at(700_000, 10), at(1_400_000, 10), at(2_000_000, 10)]), []);
    assert_eq!(uncertain_clocks(&[at(0, 10), at(0, 3_000_000)]), [uncertain("drifts", 3_000_000)]);
}

#[test]
fn the_processors_of_a_node_are_those_of_the_node_that_has_fewest() {
    let mut run = rows::run(&rows::plan(Vec::new()), Vec::<PhaseRecord>::new());
    assert_eq!(usable_cpus(&run.manifest), 1);
    let mut cluster = cluster(&[("a", 0, None), ("b", 0, None)]);
    (cluster.nodes[0].host.usable_cpus, cluster.nodes[1].host.usable_cpus) = (8, 4);
    run.manifest.cluster = Some(cluster);
    assert_eq!(usable_cpus(&run.manifest), 4);
}

#[test]
fn hours_are_those_of_the_day() {
    assert_eq!((hour_utc(0), hour_utc(25 * HOUR), hour_utc(-1)), (0, 1, 23));
}
