//! Launches of jobs and their steps as comma-separated values: a row for each.

use crate::csv::line;
use crate::view::Report;
use crate::view::timeline::{InterruptedPass, LaunchTimer, StepTimer, Timeline, Timer};

/// The columns, in order; `docs/REPORT.md` describes them.
const COLUMNS: [&str; 37] = [
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
    "case",
    "phase",
    "attempt",
];

/// The pass of a launch: the number of its figure, its repetition, whether it counts, its case and phase, and of an
/// interrupted one the attempt.
struct Pass<'a> {
    figure: Option<usize>,
    repetition: u32,
    counts: bool,
    case: &'a str,
    phase: &'a str,
    attempt: Option<u32>,
}

/// A row for each launch, which has no step, and a row for each of its steps after it; those of interrupted passes
/// last. None where the run had no jobs.
pub(crate) fn csv(report: &Report) -> Option<String> {
    let counted = report.findings.timelines.iter().map(|one| (pass(report, one), &one.timers));
    let interrupted = report.interrupted.iter().map(|one| {
        let (figure, counts, attempt) = (None, false, Some(one.attempt));
        let InterruptedPass { case, phase, repetition, .. } = one;
        (Pass { figure, repetition: *repetition, counts, case, phase, attempt }, &one.launches)
    });
    let mut out = line(&COLUMNS.map(str::to_owned));
    let head = out.len();
    for (pass, launches) in counted.chain(interrupted) {
        for launch in launches {
            out.push_str(&line(&row(report, &pass, launch, None)));
            for step in &launch.steps {
                out.push_str(&line(&row(report, &pass, launch, Some(step))));
            }
        }
    }
    (out.len() > head).then_some(out)
}

fn pass<'a>(report: &'a Report, one: &Timeline) -> Pass<'a> {
    let figure = one.figure.checked_sub(1).and_then(|place| report.figures.get(place));
    Pass {
        figure: Some(one.figure),
        repetition: one.repetition,
        counts: one.counts,
        case: figure.map_or("", |figure| &figure.case),
        phase: figure.map_or("", |figure| figure.phase),
        attempt: None,
    }
}

fn row(report: &Report, one: &Pass<'_>, launch: &LaunchTimer, step: Option<&StepTimer>) -> Vec<String> {
    // What only the launch as a whole has.
    let whole = |text: &dyn Fn() -> String| if step.is_none() { text() } else { String::new() };
    let of_step = |text: fn(&StepTimer) -> String| step.map(text).unwrap_or_default();
    let mut cells = vec![
        report.run.id.clone(),
        one.figure.map(|number| number.to_string()).unwrap_or_default(),
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
        one.case.to_owned(),
        one.phase.to_owned(),
        one.attempt.map(|number| number.to_string()).unwrap_or_default(),
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
