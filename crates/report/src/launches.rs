//! Launches of jobs and their steps as comma-separated values: a row for each.

use crate::csv::line;
use crate::view::Report;
use crate::view::timeline::{LaunchTimer, StepTimer, Timeline, Timer};

/// The columns, in order; `docs/REPORT.md` describes them.
const COLUMNS: [&str; 34] = [
    "run_id",
    "number",
    "repetition",
    "counts",
    "launch",
    "test",
    "kind",
    "stream",
    "round",
    "step",
    "action",
    "threads",
    "outcome",
    "message",
    "start_cost_ns",
    "start_ns",
    "real_ns",
    "user_cpu_ns",
    "system_cpu_ns",
    "memory_bytes",
    "block_input_bytes",
    "block_output_bytes",
    "voluntary_switches",
    "involuntary_switches",
    "permanent_read_bytes",
    "permanent_write_bytes",
    "work_read_bytes",
    "work_write_bytes",
    "utility_read_bytes",
    "utility_write_bytes",
    "rows_in",
    "rows_out",
    "group_cpu_ns",
    "cpu_agrees",
];

/// A row for each launch, which has no step, and a row for each of its steps after it; none where the run had no
/// jobs.
pub(crate) fn csv(report: &Report) -> Option<String> {
    let all = &report.findings.timelines;
    if all.is_empty() {
        return None;
    }
    let mut out = line(COLUMNS.map(str::to_owned).to_vec());
    for one in all {
        for launch in &one.timers {
            out.push_str(&line(row(report, one, launch, None)));
            for step in &launch.steps {
                out.push_str(&line(row(report, one, launch, Some(step))));
            }
        }
    }
    Some(out)
}

fn row(report: &Report, one: &Timeline, launch: &LaunchTimer, step: Option<&StepTimer>) -> Vec<String> {
    // What only the launch as a whole has.
    let whole = |text: &dyn Fn() -> String| if step.is_none() { text() } else { String::new() };
    let of_step = |text: fn(&StepTimer) -> String| step.map(text).unwrap_or_default();
    let mut cells = vec![
        report.run.id.clone(),
        one.figure.to_string(),
        one.repetition.to_string(),
        one.counts.to_string(),
        launch.launch.to_string(),
        launch.test.clone(),
        launch.kind.clone(),
        launch.stream.to_string(),
        launch.round.to_string(),
        of_step(|step| step.step.to_string()),
        of_step(|step| step.action.clone()),
        of_step(|step| step.threads.to_string()),
        whole(&|| launch.outcome.clone()),
        whole(&|| launch.message.clone()),
        whole(&|| launch.start_cost_ns.to_string()),
    ];
    cells.extend(timer(step.map_or(&launch.timer, |step| &step.timer)).map(|number| number.to_string()));
    cells.extend([
        of_step(|step| step.rows_in.to_string()),
        of_step(|step| step.rows_out.to_string()),
        whole(&|| launch.group_cpu_ns.map(|nanos| nanos.to_string()).unwrap_or_default()),
        whole(&|| launch.cpu_agrees.map(|agrees| agrees.to_string()).unwrap_or_default()),
    ]);
    cells
}

const fn timer(one: &Timer) -> [u64; 15] {
    let (read, write) = (one.read_bytes.all(), one.write_bytes.all());
    [
        one.start_ns,
        one.real_ns,
        one.user_cpu_ns,
        one.system_cpu_ns,
        one.memory_bytes,
        one.block_input_bytes,
        one.block_output_bytes,
        one.voluntary_switches,
        one.involuntary_switches,
        read[0],
        write[0],
        read[1],
        write[1],
        read[2],
        write[2],
    ]
}
