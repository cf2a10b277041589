//! Which nodes a study covered, when, and how often.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use record::{HostFacts, Part, Run};

use crate::figures::{Figure, NodeFigure, by_name, named};
use crate::gate::{
    Kind, Of, Statement,
    table::{Column, count, detail, moment, names, spread, text, word},
};
use crate::nodes::all_nodes;

/// A job or run that is part of a study.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct CoverageJob {
    pub run_id: String,
    /// The batch job, as in `slurm 4711`. `None` if the run was started by hand.
    pub batch_job: Option<String>,
    /// Its first node and all nodes that had tasks in its counted passes, in the order of names.
    pub nodes: Vec<String>,
    pub(crate) cases: usize,
    pub started_unix_ns: i64,
    pub(crate) finished_unix_ns: Option<i64>,
    /// Whether the storage was exclusively available to the job, if the user stated that.
    pub exclusive: Option<bool>,
}

impl Statement for CoverageJob {
    const KIND: Kind = Kind::CoveredJob;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "Jobs, and the nodes that each had";
    const COLUMNS: &'static [Column<Self>] = &[
        moment("started", "started", "Its start.", |one| Some(one.started_unix_ns)),
        text("job", "job", "The batch job, or the run.", |one| {
            one.batch_job.as_ref().unwrap_or(&one.run_id).clone()
        }),
        names("nodes", "nodes", "Nodes on which passes that count started while it ran.", |one| {
            one.nodes.clone()
        }),
        count("cases", "cases", "Cases that it has rows for.", |one| Some(one.cases as u64)),
        text(
            "storage",
            "",
            "`storage not exclusive` where others could use it during the run, as the study says.",
            |one| {
                if one.exclusive == Some(false) { "storage not exclusive".to_owned() } else { String::new() }
            },
        ),
        detail(word("run", "run", "The run.", |one| &one.run_id)),
        detail(moment("finished", "finished", "Its end, where it is known.", |one| one.finished_unix_ns)),
    ];

    fn notes(all: &[&Self]) -> Vec<String> {
        let nodes: BTreeSet<&String> = all.iter().flat_map(|one| &one.nodes).collect();
        let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let exclusive = match all[0].exclusive {
            Some(true) => "The study says that nobody else could use the storage.",
            Some(false) => "Storage not exclusive: others could use it during the runs, as the study says.",
            None => "The study does not say whether others could use the storage.",
        };
        vec![format!("{} in {}. {exclusive}", count(nodes.len(), "node"), count(all.len(), "job"))]
    }
}

/// The coverage of a node over all jobs.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct NodeCoverage {
    pub node: String,
    pub cases: usize,
    pub passes: usize,
    /// Start times of the first and the last of them, in nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: Option<(i64, i64)>,
    /// The hours of the day, in ascending order.
    pub hours_utc: Vec<u8>,
}

impl Statement for NodeCoverage {
    const KIND: Kind = Kind::CoveredNode;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "Runs of each node, and the hours of the day (UTC) in which they started";
    const COLUMNS: &'static [Column<Self>] = &[
        word("node", "node", "Its name.", |one| &one.node),
        spread(count(
            "passes",
            "runs",
            "Passes that count, of all phases that are results; 0 where nothing was measured.",
            |one| Some(one.passes as u64),
        )),
        count("cases", "cases", "Cases that were measured on it.", |one| Some(one.cases as u64)),
        moment("first", "first", "When the first of them started.", |one| Some(one.started_unix_ns?.0)),
        moment("last", "last", "When the last of them started.", |one| Some(one.started_unix_ns?.1)),
        text("hours_utc", "hours", "Hours of the day (UTC) in which they started, as `02, 14–16`.", |one| {
            hours(&one.hours_utc)
        }),
    ];

    fn stands_out(&self) -> bool {
        self.passes == 0
    }

    fn notes(all: &[&Self]) -> Vec<String> {
        let of_day: BTreeSet<u8> = all.iter().flat_map(|one| one.hours_utc.iter().copied()).collect();
        let of_day: Vec<u8> = of_day.into_iter().collect();
        let missing = all.iter().filter(|one| one.passes == 0).count();
        let mut notes = vec![format!("Measured in these hours of the day (UTC): {}.", hours(&of_day))];
        notes.extend(
            (missing > 0).then(|| format!("Nothing was measured on {missing} of {} nodes.", all.len())),
        );
        notes
    }
}

/// Formats hours as ranges, as in `02, 14–16`.
fn hours(all: &[u8]) -> String {
    let runs = all.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first:02}–{last:02}"),
        one => format!("{:02}", one[0]),
    });
    runs.collect::<Vec<_>>().join(", ")
}

const HOUR_NS: i64 = 3_600_000_000_000;

/// The hour of the day in UTC for a wall-clock time.
#[must_use]
pub fn hour_utc(unix_ns: i64) -> u8 {
    u8::try_from(unix_ns.div_euclid(HOUR_NS).rem_euclid(24)).unwrap_or(0)
}

/// The names of all nodes of `run`: those of its cluster and of the runs that were merged into it.
#[must_use]
pub fn known_nodes(run: &Run) -> Vec<String> {
    named(hosts(run).map(|host| host.node.as_str()))
}

/// The recorded facts of each of these nodes.
pub(crate) fn hosts(run: &Run) -> impl Iterator<Item = &HostFacts> {
    let clusters = run.parts.iter().map(|part| &part.cluster).chain([&run.manifest.cluster]).flatten();
    let cluster = clusters.flat_map(|cluster| &cluster.nodes).map(|node| &node.host);
    cluster.chain(run.parts.iter().map(|part| &part.host))
}

/// The jobs and nodes of `figures`, which are those of `run`. Both are empty if one job measured all of its nodes.
#[must_use]
pub fn coverage(run: &Run, figures: &[Figure]) -> (Vec<CoverageJob>, Vec<NodeCoverage>) {
    let mut nodes: BTreeMap<String, Covered<'_>> =
        all_nodes(figures, &known_nodes(run)).into_iter().map(|node| (node, Covered::default())).collect();
    for figure in figures {
        for node in &figure.nodes {
            let starts = node.passes.iter().map(|pass| pass.started_unix_ns);
            nodes.entry(node.node.clone()).or_default().add(figure, starts);
        }
        for node in &figure.answering {
            let starts = figure.counted().map(|pass| pass.phase.started_unix_ns);
            nodes.entry(node.clone()).or_default().add(figure, starts);
        }
    }
    let coverage = |(node, Covered { cases, starts }): (String, Covered<'_>)| NodeCoverage {
        node,
        cases: cases.len(),
        passes: starts.len(),
        started_unix_ns: starts.iter().min().copied().zip(starts.iter().max().copied()),
        hours_utc: starts.iter().map(|&start| hour_utc(start)).collect::<BTreeSet<_>>().into_iter().collect(),
    };
    let mut nodes: Vec<NodeCoverage> = nodes.into_iter().map(coverage).collect();
    if run.parts.len() < 2 && nodes.iter().all(|node| node.passes > 0) {
        return (Vec::new(), Vec::new());
    }
    nodes.sort_by(|a, b| (a.passes == 0).cmp(&(b.passes == 0)).then_with(|| by_name(&a.node, &b.node)));
    (jobs(run, figures), nodes)
}

/// What is known about a node so far.
#[derive(Default)]
struct Covered<'a> {
    cases: BTreeSet<&'a str>,
    starts: Vec<i64>,
}

impl<'a> Covered<'a> {
    fn add(&mut self, figure: &'a Figure, starts: impl Iterator<Item = i64>) {
        self.cases.insert(&figure.case);
        self.starts.extend(starts);
    }
}

/// The parts of a merged run, or the run itself.
fn jobs(run: &Run, figures: &[Figure]) -> Vec<CoverageJob> {
    let mut of_case: HashMap<&str, Vec<&Figure>> = HashMap::new();
    for figure in figures {
        of_case.entry(&figure.case).or_default().push(figure);
    }
    let job = |run_id: &str, host: &HostFacts, (started, finished), nodes, cases| CoverageJob {
        run_id: run_id.to_owned(),
        batch_job: host.batch_job.clone(),
        nodes,
        cases,
        started_unix_ns: started,
        finished_unix_ns: finished,
        exclusive: run.manifest.plan.criteria.exclusive,
    };
    let of_part = |part: &Part| {
        let times = (part.started_unix_ns, part.finished_unix_ns);
        job(&part.run_id, &part.host, times, nodes_of(part, &of_case), part.cases.len())
    };
    let mut jobs: Vec<CoverageJob> = run.parts.iter().map(of_part).collect();
    if jobs.is_empty() {
        let manifest = &run.manifest;
        let all =
            figures.iter().flat_map(|one| one.nodes.iter().map(|node| &node.node).chain(&one.answering));
        let times = (manifest.started_unix_ns, manifest.finished_unix_ns);
        let nodes = named(all.map(String::as_str));
        jobs.push(job(&manifest.run_id, &manifest.host, times, nodes, run.cases().len()));
    }
    jobs.sort_by_key(|job| job.started_unix_ns);
    jobs
}

/// The nodes of a part. A record of version 2 or earlier does not say which pass belongs to which part; its parts had
/// one node each.
fn nodes_of(part: &Part, figures: &HashMap<&str, Vec<&Figure>>) -> Vec<String> {
    let mut names: BTreeSet<&str> = BTreeSet::from([part.host.node.as_str()]);
    for (case, passes) in &part.passes {
        for figure in figures.get(&**case).into_iter().flatten() {
            let here = |node: &&NodeFigure| node.passes.iter().any(|pass| passes.holds(pass.repetition));
            names.extend(figure.nodes.iter().filter(here).map(|node| node.node.as_str()));
            if figure.counted().any(|pass| passes.holds(pass.repetition)) {
                names.extend(figure.answering.iter().map(String::as_str));
            }
        }
    }
    named(names.into_iter())
}
