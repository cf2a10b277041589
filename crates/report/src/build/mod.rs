//! Fills a [`Report`] from a run: analysis computes, this file puts into words and in order.

pub(crate) mod findings;
mod layouts;
mod nodes;
mod printed;

use std::collections::{HashMap, HashSet};

use analysis::{CONFIDENCE, Check, RateName, RepetitionFigure, Stated, Summary};
use plan::shell_word;
use plan::{
    Bytes, Case, Client, Forecast, NodeTerms, Phase, Plan, Question, Role, Stopping, TargetTerms, Work,
};
use record::{HostFacts, Manifest, Operation, Provenance, Run, RunState};

use crate::format::{counted, grouped, shell_line};
use crate::inventory;
use crate::latencies::LatencyInfo;
use crate::view::{
    CaseInfo, Definition, DeviceInfo, Exchange, Figure, NamedRate, OperationRate, Repetition, Report,
    RunInfo, SCHEMA, Spread, Statements, StudyInfo, TargetInfo,
};
use crate::{notes, words};

/// The rate that summaries show: fsync and close are part of what a user waits for.
const RATE: RateName = RateName::ByWall;
/// What firmware and the kernel keep of a node's memory is less than this share.
const NODE_MEMORY_SLACK: f64 = 0.1;
/// Figures with too few repetitions that are named before the rest is counted.
const SHORT_NAMED: usize = 8;

/// The role of a recorded pass before the window in which a case became steady.
const UNSETTLED: &str = "before steady state";

/// The figures of `run`, by the rate that reports show.
pub(crate) fn sources(run: &Run) -> Vec<analysis::Figure> {
    analysis::figures(run, RATE)
}

/// The report of `run`, whose figures are `sources` and say `found` together.
pub(crate) fn report(run: &Run, sources: Vec<analysis::Figure>, found: analysis::Findings) -> Report {
    let plan = &run.manifest.plan;
    let cases: HashMap<&str, &Case> = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut doubts: HashMap<usize, Vec<Check>> = HashMap::new();
    for one in &found.audit {
        let of_figure = one.figure.map(|place| doubts.entry(place).or_default());
        if let Some(of_figure) = of_figure.filter(|known| !known.contains(&one.check)) {
            of_figure.push(one.check);
        }
    }
    let mut figures: Vec<Figure> = sources
        .iter()
        .enumerate()
        .map(|(index, source)| {
            let doubts = doubts.get(&index).map_or(&[][..], Vec::as_slice);
            figure(run, index + 1, source, cases.get(source.case.as_str()).copied(), doubts)
        })
        .collect();
    let notes = notes::notes(run, &mut figures);
    let keys = run.phases.iter().map(|row| &row.key).chain(run.interrupted.iter().map(|pass| &pass.key));
    let begun: HashSet<&str> = keys.map(|key| &*key.case).collect();
    let finished: HashSet<&str> = run.finished_cases.iter().map(String::as_str).collect();
    let rank_maps = nodes::rank_maps(run, &figures);
    let state = |case: &Case| case_state(run, case, &begun, &finished);
    let beside = found.published.iter().filter_map(Stated::says).map(|one| one.published.id.as_str());
    let machines = inventory::beside::machines(&plan.terms, beside);
    Report {
        schema: SCHEMA,
        run: run_info(run),
        missing: missing(run, &figures, &cases, &finished),
        statements: Statements {
            tables: found.tables(),
            conditions: figures.iter().map(|figure| figure.conditions.clone()).collect(),
        },
        findings: findings::findings(&found),
        figures,
        notes,
        study: study(plan, &run.manifest),
        definitions: definitions(),
        cases: plan.cases.iter().map(|case| case_info(case, state(case))).collect(),
        host: run.manifest.host.clone(),
        machines,
        cluster: nodes::cluster(run),
        rank_maps,
        layouts: layouts::layouts(run),
        printed: printed::printed(run),
        time: printed::run_time(run),
        sources,
        found,
    }
}

fn study(plan: &Plan, manifest: &Manifest) -> StudyInfo {
    let terms = &plan.terms;
    let clients: HashSet<Client> = plan.described_targets().map(|one| one.client).collect();
    let target = |one: &TargetTerms| TargetInfo {
        name: one.name.clone(),
        title: {
            let title = if one.title.is_empty() { &one.name } else { &one.title };
            match findings::client(one.client) {
                client if clients.len() > 1 && !client.is_empty() => format!("{title} ({client})"),
                _ => title.clone(),
            }
        },
        stands_for: one.stands_for.clone(),
        layer: findings::layer(one.layer),
        client: findings::client(one.client),
        devices: one.devices,
        rack_units: one.rack_units,
    };
    StudyInfo {
        release: terms.release.clone(),
        exclusive: terms.exclusive,
        node: terms.node.words(),
        node_differs: match manifest.provenance {
            Provenance::Measured => node_differs(&terms.node, &manifest.host),
            _ => Vec::new(),
        },
        targets: plan.described_targets().map(target).collect(),
    }
}

/// In what `host` is not what the study says of a node.
fn node_differs(said: &NodeTerms, host: &HostFacts) -> Vec<String> {
    let threads = said.threads.filter(|&threads| host.logical_cpus > 0 && threads != host.logical_cpus);
    let sizes = said.memory.map(|memory| memory.0 as f64 / host.memory_bytes as f64);
    let is_other = |ratio: &f64| ratio.is_finite() && (ratio - 1.0).abs() > NODE_MEMORY_SLACK;
    let memory = sizes.filter(is_other).map(|_| format!("{} of memory", Bytes(host.memory_bytes)));
    threads.map(|_| counted(u64::from(host.logical_cpus), "thread")).into_iter().chain(memory).collect()
}

fn run_info(run: &Run) -> RunInfo {
    let manifest = &run.manifest;
    let (asked, options) = match &manifest.plan.question {
        Question::Quick { directory } => {
            (format!("ioproof run --quick {}", shell_word(&directory.to_string_lossy())), Vec::new())
        }
        Question::Study { path, .. } => {
            (format!("ioproof run {}", shell_word(&path.to_string_lossy())), Vec::new())
        }
        Question::Dialect { arguments, notes, .. } => (shell_line(arguments), notes.clone()),
        Question::Import { command_lines, .. } => (command_lines.join("; "), Vec::new()),
    };
    RunInfo {
        id: manifest.run_id.clone(),
        title: manifest.plan.title.clone(),
        directory: run.directory.display().to_string(),
        state: state(&run.state),
        provenance: provenance(manifest.provenance),
        program_version: manifest.program_version.clone(),
        command_line: shell_line(&manifest.command_line),
        tool: tool(run),
        asked,
        options,
        seed: manifest.plan.seed,
        started_unix_ns: manifest.started_unix_ns,
        finished_unix_ns: manifest.finished_unix_ns,
        resumed: run.pauses.len(),
        killed: run.pauses.iter().filter(|pause| pause.killed).count(),
        paused_ns: analysis::paused_ns(run),
        undated: matches!(manifest.plan.question, Question::Import { undated: true, .. }),
    }
}

/// The tool whose words were used, or those whose texts were imported; empty where there is none.
pub(crate) fn tool(run: &Run) -> String {
    match &run.manifest.plan.question {
        Question::Dialect { tool, .. } => tool.clone(),
        Question::Import { tools, .. } => tools.join(", "),
        Question::Quick { .. } | Question::Study { .. } => String::new(),
    }
}

const fn state(state: &RunState) -> &'static str {
    match state {
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed { .. } => "failed",
        RunState::Killed => "killed",
        RunState::Running => "still running",
    }
}

/// The word for where figures come from.
pub(crate) const fn provenance(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Measured => "measured",
        Provenance::Imported => "imported",
        Provenance::Published => "published",
        Provenance::Simulated => "simulated",
    }
}

fn figure(
    run: &Run,
    number: usize,
    source: &analysis::Figure,
    case: Option<&Case>,
    doubts: &[Check],
) -> Figure {
    let is_cached = |check: &Check| matches!(check, Check::Cached | Check::CachedFileData);
    let is_buffered = case.is_some_and(|case| !case.workload.direct);
    let name = source.phase.name();
    let targets = &run.manifest.plan.terms.targets;
    let target = case.and_then(|case| targets.iter().find(|target| target.name == case.target));
    Figure {
        number,
        case: source.case.clone(),
        title: source.title.clone(),
        group: case.map(|case| case.group.clone()).unwrap_or_default(),
        target: case.map(|case| case.target.clone()).unwrap_or_default(),
        client: target.map(|target| findings::client(target.client)).unwrap_or_default(),
        settings: case.map(|case| case.settings.iter().map(findings::setting).collect()).unwrap_or_default(),
        phase: name,
        what: case.map_or_else(|| name.to_owned(), |case| words::what_of(case, source.phase)),
        path: case.map(words::path_of).unwrap_or_default(),
        tasks: case.map_or(0, |case| case.workload.tasks),
        transfer_bytes: case.map_or(0, |case| {
            let of_operation = case.workload.work.operation_bytes(source.phase);
            of_operation.unwrap_or(case.workload.geometry.transfer).0
        }),
        conditions: conditions(source, run.manifest.plan.terms.exclusive),
        provenance: provenance(source.provenance),
        page_cache: is_buffered && doubts.iter().any(is_cached),
        statistic: statistic(source),
        rate: source.rate.name(),
        bytes_per_second: spread(&source.bytes_per_second),
        transfers_per_second: spread(&source.transfers_per_second),
        unit: words::unit(source.phase),
        nodes: source.node_count,
        operations: operation_rates(source),
        cpu_ns_per_operation: source.cpu_ns_per_operation(),
        bytes_per_operation: case
            .and_then(|case| case.workload.work.operation_bytes(source.phase))
            .map(|bytes| bytes.0),
        allocated_bytes_per_file: source.allocated_bytes_per_file(),
        surprises: source.counted().map(|pass| pass.phase.surprises).sum(),
        exchange: case.and_then(|case| exchange(case, source)),
        latency: source.latency.iter().map(|one| LatencyInfo::of(one, case)).collect(),
        device_share: source.moved_by_devices(),
        repetitions: source.repetitions.iter().map(repetition).collect(),
        devices: devices(source),
        notes: Vec::new(),
        doubts: doubts.iter().map(|check| check.name()).collect(),
    }
}

/// What a figure holds under, and whether it had the storage for itself where the study says so.
fn conditions(source: &analysis::Figure, exclusive: Option<bool>) -> String {
    match exclusive {
        Some(exclusive) => format!("{}, {}", source.conditions, words::exclusive(exclusive)),
        None => source.conditions.clone(),
    }
}

fn statistic(source: &analysis::Figure) -> String {
    match source.headline().n {
        1 => format!("one repetition, {}", source.rate.name()),
        n => format!("median of {n} repetitions, {}", source.rate.name()),
    }
}

fn spread(summary: &Summary) -> Spread {
    let interval = summary.median_interval;
    Spread {
        median: summary.median,
        mean: summary.mean,
        deviation: (summary.n > 1).then_some(summary.deviation_sample),
        minimum: summary.min,
        maximum: summary.max,
        interval_low: interval.map(|interval| interval.low),
        interval_high: interval.map(|interval| interval.high),
        confidence: interval.map(|interval| interval.confidence),
    }
}

fn repetition(one: &RepetitionFigure) -> Repetition {
    let phase = &one.phase;
    let role = one.role;
    let rates = RateName::ALL.iter().filter_map(|&name| {
        let rate = one.rates.get(name)?;
        let (bytes_per_second, transfers_per_second) = (rate.bytes_per_second, rate.transfers_per_second);
        Some(NamedRate { name: name.name(), bytes_per_second, transfers_per_second })
    });
    Repetition {
        repetition: one.repetition,
        role: match role {
            Role::Recorded if !one.counts => UNSETTLED,
            role => role.name(),
        },
        drift: one.drift,
        started_unix_ns: phase.started_unix_ns,
        bytes: phase.bytes(),
        transfers: phase.transfers(),
        wall_ns: phase.wall_ns,
        open_ns: phase.open_ns,
        io_ns: phase.io_ns,
        close_ns: phase.close_ns,
        user_cpu_ns: phase.user_cpu_ns,
        system_cpu_ns: phase.system_cpu_ns,
        device_share: one.moved_by_devices(),
        rates: rates.collect(),
        bytes_per_second: one.rates.get(RATE).map_or(0.0, |rate| rate.bytes_per_second),
        transfers_per_second: one.rates.get(RATE).map_or(0.0, |rate| rate.transfers_per_second),
    }
}

fn devices(source: &analysis::Figure) -> Vec<DeviceInfo> {
    let info = |(device, mean): &(String, analysis::DeviceMean)| DeviceInfo {
        device: device.clone(),
        read_bytes_per_second: mean.read_bytes_per_second,
        write_bytes_per_second: mean.write_bytes_per_second,
        busy_share: mean.busy_share,
        queue_requests: mean.queue_requests,
        wait_ns: mean.wait_ns,
    };
    source.devices.iter().map(info).collect()
}

/// The rate of each operation of a phase that did several.
fn operation_rates(source: &analysis::Figure) -> Vec<OperationRate> {
    let of = |operation: Operation| {
        let rates: Vec<analysis::Rate> = source
            .counted()
            .filter_map(|pass| pass.rates.operations.iter().find(|one| one.operation == operation))
            .map(|one| one.by_wall)
            .collect();
        let median = |value: fn(&analysis::Rate) -> f64| {
            Summary::of(&rates.iter().map(value).collect::<Vec<_>>()).map(|all| all.median)
        };
        Some(OperationRate {
            operation: operation.name(),
            per_second: median(|rate| rate.transfers_per_second)?,
            bytes_per_second: median(|rate| rate.bytes_per_second)?,
        })
    };
    Operation::ALL.into_iter().filter_map(of).collect()
}

fn exchange(case: &Case, source: &analysis::Figure) -> Option<Exchange> {
    let Work::Rpc(rpc) = &case.workload.work else { return None };
    let rate = source.transfers_per_second.median;
    Some(Exchange {
        pattern: rpc.pattern.name(),
        request_bytes: rpc.request_bytes.0,
        response_bytes: rpc.response_bytes.0,
        ends: rpc.ends,
        connections: rpc.connections,
        depth: case.workload.backend.depth(),
        threads: rpc.threads,
        interface: rpc.interface.clone().unwrap_or_default(),
        clients_on: rpc.client_binding.to_string(),
        servers_on: rpc.server_binding.to_string(),
        transport: plan::Rpc::TRANSPORT,
        requests_bytes_per_second: rate * rpc.request_bytes.0 as f64,
        responses_bytes_per_second: rate * rpc.response_bytes.0 as f64,
    })
}

fn case_state(run: &Run, case: &Case, begun: &HashSet<&str>, finished: &HashSet<&str>) -> String {
    match run.failed_cases.iter().find(|failed| failed.case == case.id) {
        Some(failed) => format!("failed: {}", failed.message),
        None if finished.contains(case.id.as_str()) => "finished".to_owned(),
        None if begun.contains(case.id.as_str()) => "not finished".to_owned(),
        None => "not started".to_owned(),
    }
}

fn case_info(case: &Case, state: String) -> CaseInfo {
    let (workload, forecast) = (&case.workload, Forecast::of(case));
    let results: Vec<Phase> = case.phases.iter().copied().filter(|phase| phase.is_result()).collect();
    CaseInfo {
        id: case.id.clone(),
        title: case.title.clone(),
        conditions: results.iter().map(|&phase| case.conditions(phase)).collect(),
        phases: case.phases.iter().map(|phase| phase.name()).collect(),
        tasks: workload.tasks,
        transfer_bytes: workload.geometry.transfer.0,
        block_bytes: workload.geometry.block.0,
        segments: workload.geometry.segments,
        pass_bytes: forecast.phase_bytes.0,
        files: forecast.files,
        targets: workload.files.targets.iter().map(|target| target.display().to_string()).collect(),
        repetitions: case.repetitions,
        state,
    }
}

/// What is not in the report and why, one sentence each.
fn missing(
    run: &Run,
    figures: &[Figure],
    cases: &HashMap<&str, &Case>,
    finished: &HashSet<&str>,
) -> Vec<String> {
    let planned = &run.manifest.plan.cases;
    let whole = planned.iter().filter(|case| finished.contains(case.id.as_str())).count();
    let came =
        format!("{whole} of {} finished; what is whole is shown here", counted(planned.len() as u64, "case"));
    let mut lines = Vec::new();
    match &run.state {
        RunState::Complete => {}
        RunState::Interrupted => lines.push(format!("The run was interrupted: {came}.")),
        RunState::Failed { message } => lines.push(format!("The run failed: {message}. {came}.")),
        RunState::Killed => lines.push(format!("The run was killed, or its host went down: {came}.")),
        RunState::Running => lines.push(format!("The run is still going on: {came}.")),
    }
    let ended: usize = run.interrupted.iter().map(|pass| pass.launches.len()).sum();
    if ended > 0 && run.state != RunState::Complete {
        lines.push(format!(
            "Launches of jobs that had ended in passes that do not count: {}. They are kept, and no figure is made of \
             them.",
            grouped(ended as u64)
        ));
    }
    lines.extend(
        run.failed_cases.iter().map(|failed| format!("Case {} failed: {}.", failed.case, failed.message)),
    );
    let mut short = figures.iter().filter_map(|figure| {
        let case = cases.get(figure.case.as_str())?;
        // A case that may end early is whole as soon as it is finished.
        let by_count = case.protocol.stopping == Stopping::Count;
        let done = !by_count && finished.contains(figure.case.as_str());
        let (has, planned) = (figure.repetitions.len(), case.passes_max() as usize);
        // Of an imported run nothing else was printed.
        let imported = figure.provenance == "imported";
        (!done && !imported && has < planned)
            .then(|| format!("Figure {} has {has} of {planned} repetitions.", figure.number))
    });
    lines.extend(short.by_ref().take(SHORT_NAMED));
    let more = short.count();
    if more > 0 {
        lines.push(format!("Nor do {} have all of theirs.", counted(more as u64, "more figure")));
    }
    let late = run.late_damage();
    lines.extend(run.damage.iter().chain(&late).map(|damage| format!("Not readable: {damage}.")));
    lines
}

/// What the words of a report mean.
fn definitions() -> Vec<Definition> {
    let words = [
        ("task", "one logical worker with offsets of its own; not a thread, not a process"),
        ("transfer", "one I/O call"),
        ("repetition", "one execution of all phases of a case; every one is kept in the record"),
        ("median", "the middle one of all repetitions; the mean of the two in the middle for an even number"),
        ("MB/s, MiB/s", "10⁶ and 2²⁰ bytes per second"),
        (
            "IOPS",
            "completed transfers per second; it says nothing without the size and the conditions beside it",
        ),
        (
            "latency",
            "time of one transfer, from a histogram of all of them with an error below 1 %; in an open loop it \
             counts from the moment when the transfer should have started",
        ),
        ("p99", "99 of 100 transfers took at most so long"),
        (
            "device ÷ tasks",
            "bytes that the block devices under the target moved, by the kernel's counters, for each byte that the \
             tasks moved; 1.0 says that no cache took part",
        ),
        ("page cache", "memory of this host took part: the figure is not one of the device"),
    ];
    let interval = Definition {
        name: "interval".to_owned(),
        meaning: format!(
            "holds the median of many more repetitions with the confidence that stands beside it; it is made of \
             ranks, so nothing is assumed of the distribution, and reaches {:.0} % from six repetitions on",
            CONFIDENCE * 100.0
        ),
    };
    let rate =
        |name: &RateName| Definition { name: name.name().to_owned(), meaning: name.definition().to_owned() };
    let word = |(name, meaning): &(&str, &str)| Definition {
        name: (*name).to_owned(),
        meaning: (*meaning).to_owned(),
    };
    RateName::ALL.iter().map(rate).chain(words.iter().map(word)).chain([interval]).collect()
}
