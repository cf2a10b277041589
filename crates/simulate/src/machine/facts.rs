//! The facts about a model's nodes. They only come from the model, not from this host.

use record::{Fact, HostFacts};

use crate::model::Model;
use crate::simulation::system::node_name;

/// The name of the clock of simulated runs.
const CLOCK: &str = "virtual";

/// The facts of node number `node`.
pub(super) fn of_node(model: &Model, node: u32) -> HostFacts {
    let none = || format!("a node of the model {}", model.model.name);
    HostFacts {
        node: node_name(model, node),
        operating_system: Fact::Unknown(none()),
        kernel: Fact::Unknown(none()),
        cpu_model: Fact::Unknown(none()),
        sockets: Fact::Unknown(none()),
        logical_cpus: model.node.processors,
        usable_cpus: model.node.processors,
        numa_nodes: Fact::Unknown(none()),
        governor: Fact::Unknown(none()),
        memory_bytes: model.node.memory.map_or(0, |memory| memory.0),
        transparent_hugepages: Fact::Unknown(none()),
        clock: CLOCK.to_owned(),
        ..HostFacts::default()
    }
}
