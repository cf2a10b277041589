//! Converts the result of a simulated phase to the engine's form of an outcome.

use engine::{Mismatches, PhaseOutcome, SeriesInterval, Surprises};
use host::{DeviceCounters, DeviceSample};
use plan::{Operation, Workload};
use record::Warning;
use runner::MachinePhase;

use crate::simulation::parts::drive::Counters;
use crate::simulation::parts::station::{READ, WRITE};
use crate::simulation::phase::{PhaseOutput, Sample};
use crate::simulation::steady::Extrapolated;
use crate::simulation::task::{ITEMS, READS, WRITES};
use crate::simulation::time::{Ticks, ns, ticks};

/// Creates the outcome of a phase that `started` at this time on the clock of the run. `drives` contains the location and
/// the name of each device.
pub(super) fn machine_phase(
    mut output: PhaseOutput,
    workload: &Workload,
    started: i64,
    drives: &[(String, String)],
) -> MachinePhase {
    let start = output.start;
    let length = output.end - start;
    let mut nodes: Vec<u32> = output.tasks.iter().map(|task| task.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let recording = &output.recording;
    let of_node = |node: &u32| (*node, recording.series(*node as usize, length));
    let series: Vec<(u32, Vec<SeriesInterval>)> = nodes.iter().map(of_node).collect();
    let mut whole: Vec<SeriesInterval> = Vec::new();
    for interval in series.iter().flat_map(|(_, series)| series) {
        match whole.binary_search_by_key(&interval.place(), SeriesInterval::place) {
            Ok(at) => whole[at].add(interval),
            Err(at) => whole.insert(at, *interval),
        }
    }
    let tasks = &output.tasks;
    let done = |kind: usize| tasks.iter().map(|task| task.done[kind]).sum::<u64>();
    let bytes = |operation: Operation| {
        whole.iter().filter(|one| one.operation == operation).map(|one| one.bytes).sum::<u64>()
    };
    // Responses count as reads, and requests as writes.
    let responses = workload.work.rpc().map_or(0, |rpc| done(ITEMS).saturating_mul(rpc.response_bytes.0));
    let read = bytes(Operation::Read) + responses;
    let written = whole.iter().map(|one| one.bytes).sum::<u64>() - read;
    let span = |from: fn(&engine::TaskOutcome) -> u64,
                to: fn(&engine::TaskOutcome) -> u64,
                all: &[engine::TaskOutcome]| {
        let first = all.iter().map(from).min().unwrap_or(0);
        all.iter().map(to).max().unwrap_or(0).saturating_sub(first)
    };
    let outcomes: Vec<engine::TaskOutcome> = tasks.iter().map(|task| task.outcome(start)).collect();
    let outcome = PhaseOutcome {
        started_unix_ns: started,
        started_raw_ns: 0,
        wall_ns: span(|task| task.open_start_ns, |task| task.close_end_ns, &outcomes),
        open_ns: span(|task| task.open_start_ns, |task| task.open_end_ns, &outcomes),
        io_ns: span(|task| task.io_start_ns, |task| task.io_end_ns, &outcomes),
        close_ns: span(|task| task.close_start_ns, |task| task.close_end_ns, &outcomes),
        tasks: outcomes,
        read_bytes: read,
        write_bytes: written,
        reads: done(READS),
        writes: done(WRITES),
        items: done(ITEMS),
        allocated_bytes: None,
        found: None,
        surprises: Surprises::default(),
        first_done_ns: ns(output.first_done.0),
        first_done_bytes: output.first_done.1,
        stonewall: output.stonewall,
        latency: output.recording.latencies(),
        series: whole,
        history: Vec::new(),
        user_cpu_ns: ns(output.processor_time),
        system_cpu_ns: 0,
        mismatches: Mismatches::default(),
        stopped: output.stopped,
        unstarted: output.unstarted,
        continued: 0,
        notes: Vec::new(),
        end: None,
    };
    let devices = devices(&output, drives);
    let series = if nodes.len() > 1 { series } else { Vec::new() };
    let simulated = |all: Extrapolated| (length - all.time) as f64;
    let warnings = output.extrapolated.map(|all| Warning::Extrapolated {
        simulated_seconds: simulated(all) / ticks(1e9),
        computed_seconds: all.time as f64 / ticks(1e9),
        rate_error: all.rate_error,
    });
    let warnings = warnings.into_iter().collect();
    MachinePhase { outcome, series, devices, ends: output.ends, launched: None, warnings }
}

/// The activity of the devices in each interval. `drives` contains the location and the name of each
/// device.
pub(super) fn devices(output: &PhaseOutput, drives: &[(String, String)]) -> Vec<(String, DeviceSample)> {
    let of_interval = |sample: &Sample| {
        let (start, length) = (sample.start - output.start, sample.length);
        let of_drive = |(drive, counters): &(usize, Counters)| {
            let (place, name) = &drives[*drive];
            (place.clone(), device(name, start, length, counters))
        };
        sample.drives.iter().map(of_drive).collect::<Vec<_>>()
    };
    output.samples.iter().flat_map(of_interval).collect()
}

fn device(name: &str, start: Ticks, length: Ticks, counters: &Counters) -> DeviceSample {
    let length_ns = ns(length).max(1);
    let counters = DeviceCounters {
        device: name.to_owned(),
        reads: counters.requests[READ],
        read_bytes: counters.bytes[READ],
        read_time_ns: ns(counters.time[READ]),
        writes: counters.requests[WRITE],
        write_bytes: counters.bytes[WRITE],
        write_time_ns: ns(counters.time[WRITE]),
        under_way: 0,
        busy_ns: ns(counters.busy).min(length_ns),
        queue_time_ns: ns(counters.time[READ] + counters.time[WRITE]),
    };
    DeviceSample { start_ns: ns(start), length_ns, counters }
}
