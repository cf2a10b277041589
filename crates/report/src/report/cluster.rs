//! The nodes of a run: processes, clocks, differences, and the map of readers to writers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use plan::{Case, Phase, Placement, Sharing};
use record::{BlockDeviceFacts, Fact, HostFacts, Part, Run, TaskRow};
use schemars::JsonSchema;
use serde::Serialize;

use crate::format::node_names;
use crate::format::{counted, decimal_bytes, grouped};
use crate::report::figure::Figure;

/// Rows of one rank map; the table `tasks` of the record has all.
const ROWS_MAX: usize = 64;

/// The nodes of a run of several processes, or of several runs that were merged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ClusterInfo {
    /// What the MPI library says of itself; absent where no launcher started the run.
    pub(crate) library: Option<String>,
    /// Processes; absent likewise.
    pub(crate) ranks: Option<usize>,
    /// All names in short, as in `n[01-16]`.
    pub(crate) names: String,
    /// In the order of their first ranks.
    pub(crate) nodes: Vec<NodeInfo>,
    /// Facts that are not the same on all nodes.
    pub(crate) differences: Vec<Difference>,
}

impl ClusterInfo {
    /// `16 nodes: n[01-16] · 32 processes · Open MPI v4.1.4`.
    pub(crate) fn line(&self) -> String {
        let names: Vec<&str> = self.nodes.iter().map(|one| one.node.as_str()).collect();
        let mut text =
            format!("{}: {}", counted(self.nodes.len() as u64, "node"), node_names::shortened(&names));
        if let Some(ranks) = self.ranks {
            text.push_str(&format!(
                " · {} {}",
                grouped(ranks as u64),
                if ranks == 1 { "process" } else { "processes" }
            ));
        }
        if let Some(library) = self.library.as_ref().and_then(|text| text.lines().next()) {
            // The text after the comma describes how the library was built.
            text.push_str(&format!(" · {}", library.split(',').next().unwrap_or_default().trim()));
        }
        text
    }
}

/// One node.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeInfo {
    pub(crate) node: String,
    /// Its processes.
    pub(crate) ranks: Vec<u32>,
    /// The monotonic clock of the first node less that of this one at the start; absent where no
    /// launcher started the run.
    pub(crate) clock_offset_ns: Option<i64>,
    /// The offset may be off by so much.
    pub(crate) clock_error_ns: Option<u64>,
    /// By how much the offset had changed at the end.
    pub(crate) clock_drift_ns: Option<i64>,
}

/// A fact that is not the same on all nodes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Difference {
    /// As in `kernel`.
    pub(crate) fact: String,
    /// Each value with its nodes, that of the most nodes last.
    pub(crate) values: Vec<FactValue>,
}

/// A value of a fact, and where it holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct FactValue {
    pub(crate) value: String,
    /// In the order of the run.
    pub(crate) nodes: Vec<String>,
}

/// Which nodes read what which nodes had written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RankMap {
    pub(crate) figure: usize,
    /// The number of the pass that is shown, from 0; the others are alike or drawn in the same way.
    pub(crate) repetition: u32,
    /// Tasks that read.
    pub(crate) tasks: usize,
    /// Of these, tasks that read what a task of their own node had written.
    pub(crate) own_node: usize,
    /// Of these, tasks that read what they had written themselves.
    pub(crate) own_data: usize,
    /// In the order of tasks.
    pub(crate) rows: Vec<RankMapRow>,
}

/// Whose data a task read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RankMapRow {
    /// The task that read.
    pub(crate) task: u32,
    /// Where it ran.
    pub(crate) node: String,
    /// The number of the file.
    pub(crate) file: u32,
    /// The task that wrote it.
    pub(crate) written_by: u32,
    /// The node on which that task ran.
    pub(crate) written_on: String,
}

/// The nodes of `run`. Returns `None` for a single process on one node. The nodes of merged runs have no common
/// clock.
pub(crate) fn cluster(run: &Run) -> Option<ClusterInfo> {
    if run.parts.len() > 1 {
        return of_parts(&run.parts);
    }
    let cluster = run.manifest.cluster.as_ref()?;
    let nodes = cluster.nodes.iter().map(|one| NodeInfo {
        node: one.host.node.clone(),
        ranks: one.ranks.clone(),
        clock_offset_ns: Some(one.clock_offset_ns),
        clock_error_ns: Some(one.clock_error_ns),
        clock_drift_ns: one.clock_drift_ns,
    });
    let hosts: Vec<&HostFacts> = cluster.nodes.iter().map(|one| &one.host).collect();
    let ranks = cluster.nodes.iter().map(|one| one.ranks.len()).sum();
    Some(info(Some(cluster.library.clone()), Some(ranks), nodes.collect(), &hosts))
}

fn of_parts(parts: &[Part]) -> Option<ClusterInfo> {
    let mut hosts: Vec<&HostFacts> = Vec::new();
    for part in parts {
        let of_cluster = part.cluster.iter().flat_map(|cluster| cluster.nodes.iter().map(|one| &one.host));
        for host in of_cluster.chain([&part.host]) {
            if !hosts.iter().any(|known| known.node == host.node) {
                hosts.push(host);
            }
        }
    }
    let library = |part: &Part| part.cluster.as_ref().map(|cluster| cluster.library.clone());
    let first = parts.first().and_then(library);
    let same = first.filter(|one| parts.iter().all(|part| library(part).as_ref() == Some(one)));
    let node = |host: &&HostFacts| NodeInfo {
        node: host.node.clone(),
        ranks: Vec::new(),
        clock_offset_ns: None,
        clock_error_ns: None,
        clock_drift_ns: None,
    };
    (hosts.len() > 1).then(|| info(same, None, hosts.iter().map(node).collect(), &hosts))
}

fn info(
    library: Option<String>,
    ranks: Option<usize>,
    nodes: Vec<NodeInfo>,
    hosts: &[&HostFacts],
) -> ClusterInfo {
    let names: Vec<&str> = nodes.iter().map(|one| one.node.as_str()).collect();
    let names = node_names::folded(&names);
    ClusterInfo { library, ranks, names, nodes, differences: differences(hosts) }
}

/// A fact of a host in readable form.
type Shown = fn(&HostFacts) -> String;

/// Facts that are not the same on all of `hosts`.
fn differences(hosts: &[&HostFacts]) -> Vec<Difference> {
    let facts: [(&str, Shown); 16] = [
        ("operating system", |host| known(&host.operating_system)),
        ("kernel", |host| known(&host.kernel)),
        ("processors", |host| known(&host.cpu_model)),
        ("logical processors", |host| host.logical_cpus.to_string()),
        ("usable processors", |host| host.usable_cpus.to_string()),
        ("sockets", |host| known(&host.sockets)),
        ("NUMA nodes", |host| known(&host.numa_nodes)),
        ("frequency governor", |host| known(&host.governor)),
        ("memory", |host| decimal_bytes(host.memory_bytes)),
        ("memory limit", |host| host.memory_limit_bytes.map_or_else(|| "none".to_owned(), decimal_bytes)),
        ("transparent huge pages", |host| known(&host.transparent_hugepages)),
        ("container", |host| host.machine.container.clone().unwrap_or_else(|| "none".to_owned())),
        ("clock", |host| host.clock.clone()),
        ("file systems of the targets", file_systems),
        ("devices under the targets", |host| {
            device_counts(&host.devices, |one| {
                format!("{} ({})", known(&one.model), decimal_bytes(one.size_bytes))
            })
        }),
        ("firmware and scheduler of the devices", |host| {
            device_counts(&host.devices, |one| {
                format!("firmware {}, scheduler {}", known(&one.firmware), known(&one.scheduler))
            })
        }),
    ];
    facts.iter().filter_map(|(fact, value)| difference(fact, hosts, *value)).collect()
}

fn known<T: ToString>(fact: &Fact<T>) -> String {
    match fact {
        Fact::Known(value) => value.to_string(),
        Fact::Unknown(_) => "unknown".to_owned(),
    }
}

fn file_systems(host: &HostFacts) -> String {
    let all = host.file_systems.iter();
    let each: Vec<String> =
        all.map(|one| format!("{} at {} ({})", one.kind, one.mount_point, one.options)).collect();
    if each.is_empty() { "none".to_owned() } else { each.join("; ") }
}

/// `12 × MODEL A, 1 × MODEL B`. Device names are left out, since they may change at each boot.
fn device_counts(devices: &[BlockDeviceFacts], what: impl Fn(&BlockDeviceFacts) -> String) -> String {
    let mut kinds = analysis::figures::grouped(devices.iter().map(what), String::clone);
    kinds.sort();
    let each: Vec<String> = kinds.iter().map(|same| format!("{} × {}", same.len(), same[0])).collect();
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}

fn difference(fact: &str, hosts: &[&HostFacts], value: Shown) -> Option<Difference> {
    let of = |same: &Vec<&&HostFacts>| FactValue {
        value: value(same[0]),
        nodes: same.iter().map(|host| host.node.clone()).collect(),
    };
    let mut values: Vec<FactValue> =
        analysis::figures::grouped(hosts, |host| value(host)).iter().map(of).collect();
    // The most frequent value is last; of equally frequent ones the first.
    values.reverse();
    values.sort_by_key(|one| one.nodes.len());
    (values.len() > 1).then(|| Difference { fact: fact.to_owned(), values })
}

/// The map of readers to writers for the read figures of a run on several nodes.
pub(crate) fn rank_maps(run: &Run, figures: &[Figure]) -> Vec<RankMap> {
    if cluster(run).is_none_or(|cluster| cluster.nodes.len() < 2) {
        return Vec::new();
    }
    let reads = figures.iter().filter(|figure| figure.phase == Phase::Read);
    let map = |figure: &Figure| {
        let case = run.manifest.plan.cases.iter().find(|case| case.id == figure.case)?;
        let mut map = rank_map(case, &run.tasks(&case.id), figure.number)?;
        // On a single node, no task can read the data of another node.
        map.rows.iter().find(|row| row.node != map.rows[0].node)?;
        map.rows.truncate(ROWS_MAX);
        Some(map)
    };
    reads.filter_map(map).collect()
}

/// The map of the reads of `case`, from the first of the passes with the most reads of own node's data. The record has
/// the file of each read; for a shared file the plan has the owner of each part. None if no row says who wrote.
fn rank_map(case: &Case, rows: &[TaskRow], figure: usize) -> Option<RankMap> {
    let placement = Placement::new(&case.workload);
    let of_case = || rows.iter().filter(|row| row.key.case == *case.id);
    let mut writers: BTreeMap<(u32, u32), &TaskRow> = BTreeMap::new();
    for row in of_case().filter(|row| row.key.phase.only_writes()) {
        writers.insert((row.task, row.key.repetition), row);
    }
    // Data written in an earlier pass may be read again.
    let writer = |task: u32, repetition: u32| {
        writers.range((task, 0)..=(task, repetition)).next_back().map(|(_, row)| *row)
    };
    let mut passes: HashMap<u32, Vec<RankMapRow>> = HashMap::new();
    for row in of_case().filter(|row| row.key.phase == Phase::Read) {
        let repetition = row.key.repetition;
        let written_by = match case.workload.files.sharing {
            Sharing::PerTask => row.file,
            Sharing::Shared => placement.owner(row.task, Phase::Read, repetition),
        };
        if let Some(writer) = writer(written_by, repetition) {
            passes.entry(repetition).or_default().push(RankMapRow {
                task: row.task,
                node: row.node.to_string(),
                file: row.file,
                written_by,
                written_on: writer.node.to_string(),
            });
        }
    }
    let maps = passes.into_iter().map(|(repetition, mut rows)| {
        rows.sort_by_key(|row| row.task);
        let count = |own: fn(&RankMapRow) -> bool| rows.iter().filter(|row| own(row)).count();
        let (own_node, own_data) =
            (count(|row| row.node == row.written_on), count(|row| row.task == row.written_by));
        RankMap { figure, repetition, tasks: rows.len(), own_node, own_data, rows }
    });
    maps.max_by_key(|map| (map.own_node, Reverse(map.repetition)))
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Case, Geometry, Phase, ReadFrom, Sharing, WorkloadSpec};
    use record::{PhaseKey, TaskRow};

    use super::{RankMap, rank_map};

    /// Eight tasks, two on each of four nodes, that read what the task `shift` places on wrote.
    fn of(shift: u32, sharing: Sharing) -> RankMap {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "f", geometry);
        spec.tasks = 8;
        spec.files.sharing = sharing;
        spec.read_from = ReadFrom::Shift { tasks: shift };
        let case = Case::new("c", spec.validate().expect("valid"), vec![Phase::Write, Phase::Read]);
        let row = |phase: Phase, task: u32| TaskRow {
            node: format!("n{}", task / 2).into(),
            file: match (sharing, phase) {
                (Sharing::Shared, _) => 0,
                (_, Phase::Read) => (task + shift) % 8,
                _ => task,
            },
            ..TaskRow::new(PhaseKey { case: "c".into(), repetition: 0, phase }, task)
        };
        let rows: Vec<TaskRow> = [Phase::Write, Phase::Read]
            .iter()
            .flat_map(|&phase| (0..8).map(move |task| row(phase, task)))
            .collect();
        rank_map(&case, &rows, 0).expect("a map")
    }

    #[test]
    fn a_shift_by_a_node_leaves_nobody_on_his_own_and_a_shift_by_a_task_every_second() {
        for sharing in [Sharing::PerTask, Sharing::Shared] {
            assert_eq!((of(2, sharing).own_node, of(2, sharing).own_data), (0, 0), "{sharing:?}");
            assert_eq!(of(1, sharing).own_node, 4, "{sharing:?}");
            assert_eq!(of(0, sharing).own_data, 8, "{sharing:?}");
        }
        let map = of(2, Sharing::PerTask);
        assert_eq!((map.rows[7].written_by, map.rows[7].written_on.as_str(), map.rows[7].file), (1, "n0", 1));
    }
}
