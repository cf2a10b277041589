//! The run as a whole, and its plan.

use std::collections::{BTreeMap, HashSet};

use plan::{Case, Forecast, Interval, OptionNote, Phase, PlanSource, Prediction, Scaling, shell_word};
use record::{Part, PhaseRow, Run, RunState, TakenDefault, Warning, WarningRow};
use schemars::JsonSchema;
use serde::Serialize;

use crate::format::names::{heading, mark, provenance};
use crate::format::shell_line;

/// Maximum number of seeds of merged runs that are named.
const SEEDS_NAMED: usize = 8;

/// The run as a whole.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RunInfo {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) directory: String,
    #[schemars(extend("enum" = ["complete", "interrupted", "failed", "killed", "still running"]))]
    pub(crate) state: &'static str,
    #[schemars(extend("enum" = ["measured", "imported", "published", "simulated"]))]
    pub(crate) provenance: &'static str,
    /// The model of a simulated run; null of any other.
    pub(crate) model: Option<ModelInfo>,
    /// The mark of a simulated run.
    #[serde(skip)]
    pub(crate) mark: Option<String>,
    /// The title, behind that mark.
    #[serde(skip)]
    pub(crate) heading: String,
    pub(crate) program_version: String,
    pub(crate) command_line: String,
    /// The tool whose words were used, as in `ior`; empty where it was none.
    pub(crate) tool: String,
    pub(crate) asked: String,
    #[schemars(with = "Vec<OptionShape>")]
    pub(crate) options: Vec<OptionNote>,
    pub(crate) seed: u64,
    pub(crate) started_unix_ns: i64,
    pub(crate) finished_unix_ns: Option<i64>,
    /// Of a simulated run: nanoseconds from its start to the end of its last phase, on its virtual clock; of merged
    /// runs those of all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) virtual_ns: Option<u64>,
    /// The part of that time that was not simulated, because the state was steady.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) computed: Option<ComputedTime>,
    /// The time that was predicted for it before it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) predicted: Option<PredictedTime>,
    /// What was given up so that the study fits a budget of time and space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scaled: Option<ScaledInfo>,
    /// The number of merged runs; 1 for a single run.
    #[serde(skip)]
    pub(crate) runs: usize,
    /// How often it was resumed after it had ended early.
    pub(crate) resumed: usize,
    /// How often it had been killed before.
    pub(crate) killed: usize,
    /// Nanoseconds in which it did not run.
    pub(crate) paused_ns: u64,
    /// The defaults from files and the environment that had an effect on it.
    pub(crate) defaults: Vec<DefaultInfo>,
    /// Of an imported run: no text says when it was printed, and both times are those of the import.
    pub(crate) undated: bool,
    /// Of an imported run: the texts print no time zone. Both times are those printed, taken for UTC.
    pub(crate) zoneless: bool,
}

/// A default of an option that did not come from the program.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DefaultInfo {
    pub(crate) key: String,
    pub(crate) value: String,
    /// A file with a line, or a variable of the environment.
    pub(crate) from: String,
}

impl DefaultInfo {
    fn of(taken: &TakenDefault) -> Self {
        let TakenDefault { key, value, from } = taken.clone();
        Self { key, value, from }
    }
}

/// What a study that was scaled to a budget gave up.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ScaledInfo {
    /// The budget and what was given up, in one line.
    pub(crate) line: String,
    /// What can no longer be told, and what became of caches.
    pub(crate) details: Vec<String>,
    /// The values that were changed, as `--set` takes them.
    pub(crate) settings: Vec<String>,
}

impl ScaledInfo {
    fn of(scaling: &Scaling) -> Self {
        let caps = Some(scaling.caps()).filter(|caps| !caps.is_empty());
        let caps = caps.map(|caps| format!("the points beyond {caps} are left out"));
        let details = scaling.details().into_iter().chain(caps).collect();
        Self { line: scaling.to_string(), details, settings: scaling.settings.clone() }
    }
}

/// The model that gave the figures of a simulated run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ModelInfo {
    pub(crate) name: String,
    /// The path of its file as given.
    pub(crate) path: String,
    /// SHA-256 of the model's file.
    pub(crate) sha256: String,
    /// Seed of the random numbers; of merged runs that of the first.
    pub(crate) seed: u64,
    /// The seeds of all merged runs, in their order; of one run that one.
    pub(crate) seeds: Vec<u64>,
}

impl ModelInfo {
    fn of(run: &Run) -> Option<Self> {
        let model = run.manifest.model.as_ref()?;
        let parts = run.parts.iter().filter_map(|part| part.model.as_ref());
        let mut seeds: Vec<u64> = parts.map(|part| part.seed).collect();
        if seeds.is_empty() {
            seeds.push(model.seed);
        }
        Some(Self {
            name: model.name.clone(),
            path: model.path.display().to_string(),
            sha256: model.sha256.clone(),
            seed: model.seed,
            seeds,
        })
    }

    /// `seed 3`, `seeds 3, 4`, or their number and range if there are many.
    pub(crate) fn seed_words(&self) -> String {
        match self.seeds.as_slice() {
            [first, .., last] if self.seeds.len() > SEEDS_NAMED => {
                let least = self.seeds.iter().min().unwrap_or(first);
                let most = self.seeds.iter().max().unwrap_or(last);
                format!("{} seeds from {least} to {most}", self.seeds.len())
            }
            [_, _, ..] => {
                let all: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
                format!("seeds {}", all.join(", "))
            }
            _ => format!("seed {}", self.seed),
        }
    }
}

/// The time that was predicted for a run, in seconds, and its source.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PredictedTime {
    /// The least that was expected.
    pub(crate) low_seconds: f64,
    /// The single value that was expected.
    pub(crate) seconds: f64,
    /// The most that was expected.
    pub(crate) high_seconds: f64,
    pub(crate) source: String,
}

impl PredictedTime {
    fn of(prediction: &Prediction) -> Self {
        let Interval { low, middle, high } = prediction.seconds;
        let source = prediction.source.clone();
        Self { low_seconds: low, seconds: middle, high_seconds: high, source }
    }
}

/// What [`OptionNote`] looks like as JSON.
#[derive(JsonSchema)]
#[schemars(rename = "OptionNote")]
#[expect(dead_code, reason = "only its fields' names and types are looked at")]
struct OptionShape {
    /// As the user wrote it, as in `-b1m`.
    written: String,
    /// The long name in the tool's own words.
    name: String,
    /// What it does, with resolved values.
    meaning: String,
}

/// One case of the plan.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CaseInfo {
    pub(crate) id: String,
    pub(crate) title: String,
    /// One line for each result phase.
    pub(crate) conditions: Vec<String>,
    pub(crate) phases: Vec<&'static str>,
    /// These numbers are null and the targets empty where an imported text does not print them.
    pub(crate) tasks: Option<u32>,
    pub(crate) transfer_bytes: Option<u64>,
    pub(crate) block_bytes: Option<u64>,
    pub(crate) segments: Option<u64>,
    pub(crate) pass_bytes: Option<u64>,
    pub(crate) files: Option<u64>,
    pub(crate) targets: Vec<String>,
    pub(crate) repetitions: u32,
    /// `finished`, `failed: …`, `not finished` or `not started`.
    pub(crate) state: String,
}

pub(crate) fn run_info(run: &Run) -> RunInfo {
    let manifest = &run.manifest;
    let (asked, options) = match &manifest.plan.source {
        PlanSource::Quick { .. } => {
            let directories = manifest.plan.source.quick_directories().into_iter();
            let words: Vec<String> = ["ioproof", "run", "--quick"]
                .into_iter()
                .map(str::to_owned)
                .chain(directories.map(|one| one.to_string_lossy().into_owned()))
                .collect();
            (shell_line(&words), Vec::new())
        }
        PlanSource::CrossCheck { directory, .. } => {
            (format!("ioproof cross-check {}", shell_word(&directory.to_string_lossy())), Vec::new())
        }
        PlanSource::Study { path, .. } => {
            (format!("ioproof run {}", shell_word(&path.to_string_lossy())), Vec::new())
        }
        PlanSource::Dialect { arguments, notes, .. } => (shell_line(arguments), notes.clone()),
        PlanSource::Import { command_lines, .. } => (command_lines.join("; "), Vec::new()),
    };
    RunInfo {
        id: manifest.run_id.clone(),
        title: manifest.plan.title.clone(),
        directory: run.directory.display().to_string(),
        state: state(&run.state),
        provenance: provenance(manifest.provenance),
        model: ModelInfo::of(run),
        mark: mark(manifest),
        heading: heading(manifest),
        program_version: manifest.program_version.clone(),
        command_line: shell_line(&manifest.command_line),
        tool: tool(run),
        asked,
        options,
        seed: manifest.plan.seed,
        started_unix_ns: manifest.started_unix_ns,
        finished_unix_ns: manifest.finished_unix_ns,
        virtual_ns: manifest.model.as_ref().and_then(|_| virtual_ns(run)),
        computed: ComputedTime::of(run),
        predicted: manifest.predicted.as_ref().map(PredictedTime::of),
        scaled: manifest.plan.scaling.as_ref().map(ScaledInfo::of),
        runs: run.parts.len().max(1),
        resumed: run.pauses.len(),
        killed: run.pauses.iter().filter(|pause| pause.killed).count(),
        paused_ns: analysis::printed::paused_ns(run),
        zoneless: matches!(manifest.plan.source, PlanSource::Import { zoneless: true, .. }),
        defaults: manifest.defaults.iter().map(DefaultInfo::of).collect(),
        undated: matches!(manifest.plan.source, PlanSource::Import { undated: true, .. }),
    }
}

/// Time on the clock of a model that was computed from the time before it, in which the state was steady.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct ComputedTime {
    /// Seconds of all phases together.
    pub(crate) seconds: f64,
    /// The stated error of the rate as a share of it, in the phase where it is largest.
    pub(crate) rate_error: f64,
}

impl ComputedTime {
    fn of(run: &Run) -> Option<Self> {
        let of_phase = |row: &WarningRow| match row.warning {
            Warning::Extrapolated { computed_seconds, rate_error, .. } => {
                Some(Self { seconds: computed_seconds, rate_error })
            }
            _ => None,
        };
        run.warnings.iter().filter_map(of_phase).reduce(|all, one| Self {
            seconds: all.seconds + one.seconds,
            rate_error: all.rate_error.max(one.rate_error),
        })
    }
}

/// The end of the last phase; of merged runs the sum of all. A virtual clock is at 0 when a run starts.
fn virtual_ns(run: &Run) -> Option<u64> {
    let end = |row: &PhaseRow| u64::try_from(row.started_unix_ns).ok()?.checked_add(row.wall_ns);
    let mut ends: BTreeMap<usize, u64> = BTreeMap::new();
    for row in run.all_phases() {
        let holds = |part: &Part| {
            part.passes.get(&*row.key.case).is_some_and(|passes| passes.holds(row.key.repetition))
        };
        let part = run.parts.iter().position(holds).unwrap_or(0);
        let last = ends.entry(part).or_insert(0);
        *last = (*last).max(end(&row).unwrap_or(0));
    }
    ends.into_values().reduce(u64::saturating_add)
}

/// The tool whose command line was used, or the tools whose output was imported; empty if none.
pub(crate) fn tool(run: &Run) -> String {
    match &run.manifest.plan.source {
        PlanSource::Dialect { tool, .. } => tool.clone(),
        PlanSource::Import { tools, .. } => tools.join(", "),
        PlanSource::Quick { .. } | PlanSource::Study { .. } | PlanSource::CrossCheck { .. } => String::new(),
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

/// State of a case.
pub(crate) fn case_state(run: &Run, case: &Case, begun: &HashSet<&str>, finished: &HashSet<&str>) -> String {
    match run.failed_cases.iter().find(|failed| failed.case == case.id) {
        Some(failed) => format!("failed: {}", failed.message),
        None if finished.contains(case.id.as_str()) => "finished".to_owned(),
        None if begun.contains(case.id.as_str()) => "not finished".to_owned(),
        None => "not started".to_owned(),
    }
}

pub(crate) fn case_info(case: &Case, state: String) -> CaseInfo {
    let forecast = Forecast::of(case);
    let results: Vec<Phase> = case.phases.iter().copied().filter(|phase| phase.is_result()).collect();
    CaseInfo {
        id: case.id.clone(),
        title: case.title.clone(),
        conditions: results.iter().map(|&phase| case.conditions(phase)).collect(),
        phases: case.phases.iter().map(|phase| phase.name()).collect(),
        tasks: case.tasks(),
        transfer_bytes: case.transfer().map(|bytes| bytes.0),
        block_bytes: case.block().map(|bytes| bytes.0),
        segments: case.segments(),
        pass_bytes: case.volume().map(|_| forecast.phase_bytes.0),
        files: case.tasks().and(case.sharing()).map(|_| forecast.files),
        targets: case.paths().unwrap_or_default().iter().map(|path| path.display().to_string()).collect(),
        repetitions: case.repetitions,
        state,
    }
}
