//! Requests and responses between nodes, against what adapters, links and processors give.

use plan::{Backend, Bytes, Geometry, Nanos, Pattern, Phase, Rpc, Work, WorkloadSpec};

use crate::bench::{Simulated, is_close, machine_beside, machine_for, phase};

/// Adapters of 1 GB/s, 20 µs from node to node, 3 µs of a processor for each message.
pub(crate) const MODEL: &str = r#"
    [node]
    count = 8
    processors = 4
    request_time = "3us"
    bandwidth = "1GB/s"
    through = ["fabric"]

    [[link]]
    name = "fabric"
    latency = "20us"

    [[device]]
    name = "disk"
    read = { time = "1ms" }
    write = { time = "1ms" }

    [[layout]]
    name = "one"
    devices = "disk"
"#;

/// Exchanges between processes on `nodes` nodes for a second.
pub(crate) fn spec(rpc: Rpc, nodes: u32, depth: u32) -> WorkloadSpec {
    let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
    let mut spec = WorkloadSpec::new("w", "unused", geometry);
    spec.files.targets.clear();
    (spec.tasks, spec.nodes, spec.duration) = (rpc.tasks(), nodes, Some(Nanos::secs(1)));
    (spec.backend, spec.work) = (Backend::Uring { depth, required: true }, Work::Rpc(rpc));
    spec
}

fn exchanged(model: &str, spec: WorkloadSpec) -> Simulated {
    phase(&mut machine_for(model, &spec), spec, Phase::Exchange, 0)
}

pub(crate) fn rpc(request: u64, response: u64, pattern: Pattern, ends: u32) -> Rpc {
    Rpc { pattern, ends, ..Rpc::new(Bytes(request), Bytes(response)) }
}

#[test]
fn one_request_takes_the_way_there_and_back_and_its_bytes_once_each_way() {
    for (request, response) in [(1, 1), (1 << 20, 1), (1, 1 << 20), (65_536, 65_536)] {
        let simulated = exchanged(MODEL, spec(rpc(request, response, Pattern::OneToOne, 2), 2, 1));
        let expected = 2.0 * 20e-6 + 2.0 * 3e-6 + (request + response) as f64 / 1e9;
        is_close("latency", simulated.latency(), expected);
        is_close("rate", simulated.transfers_per_second(), 1.0 / expected);
        let (read, written) = (simulated.outcome.read_bytes as f64, simulated.outcome.write_bytes as f64);
        is_close("bytes read", read, simulated.transfers() * response as f64);
        is_close("bytes written", written, simulated.transfers() * request as f64);
    }
}

#[test]
fn many_clients_share_the_adapter_of_their_server_and_one_to_one_does_not() {
    // 64 KiB to the server take 65.536 µs of its adapter.
    let each = 65_536.0 / 1e9;
    for (pattern, ends, servers) in [(Pattern::ManyToOne, 8, 1.0), (Pattern::OneToOne, 8, 4.0)] {
        let spec = spec(rpc(65_536, 1, pattern, ends), ends, 8);
        let connections = f64::from(spec.tasks) * 8.0;
        let simulated = exchanged(MODEL, spec);
        is_close("rate", simulated.transfers_per_second(), servers / each);
        simulated.holds_little(connections);
    }
}

#[test]
fn all_to_all_fills_all_adapters_both_ways() {
    let simulated = exchanged(MODEL, spec(rpc(32_768, 32_768, Pattern::AllToAll, 8), 8, 16));
    // Each exchange leaves one adapter and enters another in both directions.
    is_close("rate", simulated.transfers_per_second(), 8.0 * 1e9 / 65_536.0);
    simulated.holds_little(8.0 * 7.0 * 16.0);
}

#[test]
fn threads_and_processors_limit_small_messages() {
    // A server thread spends 3 µs on each response, and four processors serve four threads at most.
    for (threads, processors) in [(1, 1.0), (3, 3.0), (16, 4.0)] {
        let many = Rpc { threads, connections: 8, ..rpc(1, 1, Pattern::ManyToOne, 8) };
        let simulated = exchanged(MODEL, spec(many, 8, 4));
        is_close("rate", simulated.transfers_per_second(), processors / 3e-6);
        let ends = &simulated.ends;
        assert_eq!((ends.len(), ends[0].1.client_threads, ends[0].1.server_threads), (8, 0, threads));
        is_close("server's time", ends[0].1.server_cpu_ns as f64 / 1e9 / simulated.seconds(), processors);
        let clients: u64 = ends.iter().map(|(_, end)| end.client_cpu_ns).sum();
        is_close("clients' time", clients as f64 / 1e9, simulated.transfers() * 3e-6);
    }
}

#[test]
fn a_shared_link_limits_all_messages_together() {
    let narrow = MODEL.replace("latency = \"20us\"", "latency = \"20us\"\nbandwidth = \"500MB/s\"");
    let alone = exchanged(&narrow, spec(rpc(1 << 20, 1, Pattern::OneToOne, 2), 2, 1));
    // The narrowest part of the way counts, not the sum of all.
    is_close("latency", alone.latency(), 40e-6 + 6e-6 + (1 << 20) as f64 / 5e8);
    let four = exchanged(&narrow, spec(rpc(1 << 20, 1, Pattern::OneToOne, 8), 8, 4));
    is_close("rate", four.transfers_per_second(), 5e8 / f64::from(1 << 20));
}

#[test]
fn a_process_with_itself_uses_no_network_and_a_warm_up_is_not_counted() {
    let warm = Rpc { warm_up: Nanos::millis(300), ..rpc(1 << 20, 1 << 20, Pattern::OneToOne, 1) };
    let simulated = exchanged(MODEL, spec(warm.clone(), 1, 1));
    is_close("latency", simulated.latency(), 6e-6);
    is_close("rate", simulated.transfers_per_second(), 1.0 / 6e-6);
    is_close("time", simulated.outcome.io_ns as f64, 1e9);
    let task = &simulated.outcome.tasks[0];
    assert!(task.io_start_ns >= 300_000_000 && task.open_end_ns == task.io_start_ns, "{task:?}");
    // A number of them: as many, whatever the warm-up did.
    let mut counted = spec(warm, 1, 4);
    (counted.duration, counted.operations) = (None, Some(1000));
    assert_eq!(exchanged(MODEL, counted).outcome.items, 1000);
}

#[test]
fn a_case_has_the_same_figures_beside_one_on_more_nodes() {
    let racks = "[[link]]\n    name = \"rack\"\n    count = 8\n    bandwidth = \"1GB/s\"\n    latency";
    let model = MODEL
        .replace("count = 8", "count = 64")
        .replace("bandwidth = \"1GB/s\"\n", "")
        .replace("fabric", "rack")
        .replace("[[link]]\n    name = \"rack\"\n    latency", racks);
    let small = spec(rpc(65_536, 1, Pattern::OneToOne, 8), 8, 64);
    let large = spec(rpc(65_536, 1, Pattern::OneToOne, 64), 64, 64);
    // All eight nodes are behind the first of eight links.
    for mut machine in [machine_for(&model, &small), machine_beside(&model, &small, &large)] {
        let simulated = phase(&mut machine, small.clone(), Phase::Exchange, 0);
        is_close("rate", simulated.transfers_per_second(), 1e9 / 65_536.0);
    }
    // The clients are behind four of them, their servers behind the others.
    let all = phase(&mut machine_for(&model, &large), large, Phase::Exchange, 0);
    is_close("rate of all nodes", all.transfers_per_second(), 4.0 * 1e9 / 65_536.0);
}
