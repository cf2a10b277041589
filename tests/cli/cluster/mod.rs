//! Several processes, nodes and servers.

mod jobs;
mod launcher;
mod listens;
mod network_file_system;
mod node_local;
mod nodes;
mod nodes_compared;
mod rpc;
mod servers;
mod weak_scaling;
mod who_reads_what;
