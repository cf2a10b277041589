//! What a study states about its nodes and targets, and whether others used them.

use std::collections::HashSet;

use plan::{Bytes, Client, NodeDescription, Plan, TargetDescription};
use record::{HostFacts, Manifest, Provenance};
use schemars::JsonSchema;
use serde::Serialize;

use crate::format::counted;
use crate::format::names;

/// Firmware and the kernel reserve less than this share of a node's memory.
const NODE_MEMORY_SLACK: f64 = 0.1;

/// What a study says beside its cases.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct StudyInfo {
    /// The software release, in the user's words.
    pub(crate) release: Option<String>,
    /// Whether nobody else could use the storage, as far as the user says.
    pub(crate) exclusive: Option<bool>,
    /// What each node is, as in `40 cores, 160 threads, 512 GiB of memory`; empty where the study does not say.
    pub(crate) node: String,
    /// In what the measuring node is another one; empty where it is in nothing.
    pub(crate) node_differs: Vec<String>,
    pub(crate) targets: Vec<TargetInfo>,
}

/// What a target is, as the study says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TargetInfo {
    pub(crate) name: String,
    /// What people call it, the name where the study has no other; and where it is measured from, if targets differ in
    /// that.
    pub(crate) title: String,
    /// The published layout that it stands for; may be empty.
    pub(crate) stands_for: String,
    /// `node-local` or `shared`; empty where not said.
    pub(crate) layer: &'static str,
    /// `local to server` or `remote`; empty where not said.
    pub(crate) client: &'static str,
    /// 0 where not said.
    pub(crate) devices: u32,
    /// 0 where not said.
    pub(crate) rack_units: f64,
    /// The target that it is a layer above, or that its losses are counted from.
    pub(crate) above: Option<String>,
}

impl StudyInfo {
    /// The statements of `plan`, compared with the host in `manifest`.
    pub(crate) fn of(plan: &Plan, manifest: &Manifest) -> Self {
        let criteria = &plan.criteria;
        let clients: HashSet<Client> = plan.described_targets().map(|one| one.client).collect();
        let target = |one: &TargetDescription| TargetInfo {
            name: one.name.clone(),
            title: {
                let title = if one.title.is_empty() { &one.name } else { &one.title };
                match names::client(one.client) {
                    client if clients.len() > 1 && !client.is_empty() => format!("{title} ({client})"),
                    _ => title.clone(),
                }
            },
            stands_for: one.stands_for.clone(),
            layer: names::layer(one.layer),
            client: names::client(one.client),
            devices: one.devices,
            rack_units: one.rack_units,
            above: one.above.clone(),
        };
        Self {
            release: criteria.release.clone(),
            exclusive: criteria.exclusive,
            node: criteria.node.words(),
            node_differs: match manifest.provenance {
                Provenance::Measured => node_differs(&criteria.node, &manifest.host),
                _ => Vec::new(),
            },
            targets: plan.described_targets().map(target).collect(),
        }
    }
}

/// Differences between `host` and the study's description of a node.
fn node_differs(said: &NodeDescription, host: &HostFacts) -> Vec<String> {
    let threads = said.threads.filter(|&threads| host.logical_cpus > 0 && threads != host.logical_cpus);
    let sizes = said.memory.map(|memory| memory.0 as f64 / host.memory_bytes as f64);
    let is_other = |ratio: &f64| ratio.is_finite() && (ratio - 1.0).abs() > NODE_MEMORY_SLACK;
    let memory = sizes.filter(is_other).map(|_| format!("{} of memory", Bytes(host.memory_bytes)));
    threads.map(|_| counted(u64::from(host.logical_cpus), "thread")).into_iter().chain(memory).collect()
}
