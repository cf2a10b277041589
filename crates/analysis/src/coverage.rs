//! Which nodes a study covered, when, and how often.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use record::{Part, Run};

use crate::node_comparison::all_nodes;
use crate::{Figure, by_name};

/// What the figures of a study say of its nodes and of the time at which they were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// Whether nobody else could use the storage meanwhile, as far as the user says.
    pub exclusive: Option<bool>,
    /// Every job or run of which the study was put together, in the order of their starts.
    pub jobs: Vec<CoverageJob>,
    /// Every node that was measured, in the order of names.
    pub nodes: Vec<NodeCoverage>,
    /// Nodes of the study of which nothing was measured.
    pub missing: Vec<String>,
    /// The hours of the day (UTC) in which a pass that counts started, rising.
    pub hours_utc: Vec<u8>,
}

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageJob {
    /// [`record::Manifest::run_id`].
    pub run_id: String,
    /// The batch job, as in `slurm 4711`; none where it was started by hand.
    pub batch_job: Option<String>,
    /// Its first node.
    pub node: String,
    /// Its first node and all that had tasks in its passes that count, in the order of names.
    pub nodes: Vec<String>,
    /// Cases that it has rows of.
    pub cases: usize,
    /// Wall clock at its start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// At its end, where it is known.
    pub finished_unix_ns: Option<i64>,
    /// The hour of the day (UTC) at its start.
    pub hour_utc: u8,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeCoverage {
    /// Its name.
    pub node: String,
    /// Cases that were measured on it.
    pub cases: usize,
    /// Passes that count, of all phases that are results.
    pub passes: usize,
    /// When the first of them started, nanoseconds since 1970-01-01 UTC.
    pub first_unix_ns: i64,
    /// When the last of them started.
    pub last_unix_ns: i64,
    /// The hours of the day (UTC) in which they started, rising.
    pub hours_utc: Vec<u8>,
}

const HOUR_NS: i64 = 3_600_000_000_000;

/// The hour of the day, in UTC, at a wall-clock time.
#[must_use]
pub fn hour_utc(unix_ns: i64) -> u8 {
    u8::try_from(unix_ns.div_euclid(HOUR_NS).rem_euclid(24)).unwrap_or(0)
}

/// The names of all nodes that `run` had: of its cluster and of the runs that were merged into it.
#[must_use]
pub fn known_nodes(run: &Run) -> Vec<String> {
    let cluster = run.manifest.cluster.iter().flat_map(|cluster| &cluster.nodes);
    let of_parts = run.parts.iter().flat_map(|part| &part.cluster).flat_map(|cluster| &cluster.nodes);
    let cluster = cluster.chain(of_parts);
    let parts = run.parts.iter().map(|part| &part.host.node);
    named(cluster.map(|node| &node.host.node).chain(parts).map(String::as_str))
}

/// The coverage of `figures`, which are those of `run`; none where there is one node and one job.
#[must_use]
pub fn coverage(run: &Run, figures: &[Figure]) -> Option<Coverage> {
    let known = all_nodes(figures, &known_nodes(run));
    if known.len() < 2 && run.parts.len() < 2 {
        return None;
    }
    let nodes = covered(figures);
    let measured: BTreeSet<&str> = nodes.iter().map(|node| node.node.as_str()).collect();
    let hours: BTreeSet<u8> = nodes.iter().flat_map(|node| node.hours_utc.iter().copied()).collect();
    Some(Coverage {
        exclusive: run.manifest.plan.terms.exclusive,
        jobs: jobs(run, figures),
        missing: known.into_iter().filter(|name| !measured.contains(name.as_str())).collect(),
        hours_utc: hours.into_iter().collect(),
        nodes,
    })
}

/// What is known of a node so far.
#[derive(Default)]
struct Covered<'a> {
    cases: BTreeSet<&'a str>,
    starts: Vec<i64>,
}

fn covered(figures: &[Figure]) -> Vec<NodeCoverage> {
    let mut nodes: BTreeMap<&str, Covered<'_>> = BTreeMap::new();
    for figure in figures {
        for node in &figure.nodes {
            let covered = nodes.entry(&node.node).or_default();
            covered.cases.insert(&figure.case);
            covered.starts.extend(&node.started_unix_ns);
        }
        for node in &figure.answering {
            let covered = nodes.entry(node).or_default();
            covered.cases.insert(&figure.case);
            covered.starts.extend(figure.counted().map(|pass| pass.phase.started_unix_ns));
        }
    }
    let coverage = |(node, covered): (&str, Covered<'_>)| {
        let hours: BTreeSet<u8> = covered.starts.iter().map(|&start| hour_utc(start)).collect();
        Some(NodeCoverage {
            node: node.to_owned(),
            cases: covered.cases.len(),
            passes: covered.starts.len(),
            first_unix_ns: covered.starts.iter().copied().min()?,
            last_unix_ns: covered.starts.iter().copied().max()?,
            hours_utc: hours.into_iter().collect(),
        })
    };
    let mut nodes: Vec<NodeCoverage> = nodes.into_iter().filter_map(coverage).collect();
    nodes.sort_by(|a, b| by_name(&a.node, &b.node));
    nodes
}

/// All nodes that took part in a figure.
fn nodes_at_work(figure: &Figure) -> impl Iterator<Item = &str> {
    figure.nodes.iter().map(|node| node.node.as_str()).chain(figure.answering.iter().map(String::as_str))
}

/// The parts of a merged run, or the run itself.
fn jobs(run: &Run, figures: &[Figure]) -> Vec<CoverageJob> {
    let mut of_case: HashMap<&str, Vec<&Figure>> = HashMap::new();
    for figure in figures {
        of_case.entry(&figure.case).or_default().push(figure);
    }
    let mut jobs: Vec<CoverageJob> = run.parts.iter().map(|part| job_of(part, &of_case)).collect();
    if jobs.is_empty() {
        let manifest = &run.manifest;
        let all = figures.iter().flat_map(nodes_at_work);
        jobs.push(CoverageJob {
            run_id: manifest.run_id.clone(),
            batch_job: manifest.host.batch_job.clone(),
            node: manifest.host.node.clone(),
            nodes: named(all),
            cases: run.cases().len(),
            started_unix_ns: manifest.started_unix_ns,
            finished_unix_ns: manifest.finished_unix_ns,
            hour_utc: hour_utc(manifest.started_unix_ns),
        });
    }
    jobs.sort_by_key(|job| job.started_unix_ns);
    jobs
}

/// A record of version 2 and earlier does not say which pass is of which part; its parts had one node.
fn job_of(part: &Part, figures: &HashMap<&str, Vec<&Figure>>) -> CoverageJob {
    let mut names: BTreeSet<&str> = BTreeSet::from([part.host.node.as_str()]);
    for (case, passes) in &part.passes {
        for figure in figures.get(&**case).into_iter().flatten() {
            let here = |passed: &[u32]| passed.iter().any(|&pass| passes.holds(pass));
            let asked = figure.nodes.iter().filter(|node| here(&node.repetitions));
            names.extend(asked.map(|node| node.node.as_str()));
            if figure.counted().any(|pass| passes.holds(pass.repetition)) {
                names.extend(figure.answering.iter().map(String::as_str));
            }
        }
    }
    let nodes = named(names.into_iter());
    CoverageJob {
        run_id: part.run_id.clone(),
        batch_job: part.host.batch_job.clone(),
        node: part.host.node.clone(),
        nodes,
        cases: part.cases.len(),
        started_unix_ns: part.started_unix_ns,
        finished_unix_ns: part.finished_unix_ns,
        hour_utc: hour_utc(part.started_unix_ns),
    }
}

/// Each name once, in the order of names.
pub(crate) fn named<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: BTreeSet<&str> = names.collect();
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    names.sort_by(|a, b| by_name(a, b));
    names
}
