//! The settings of a command line of md-workbench, and the cases of its plan.

use std::path::{Path, PathBuf};

use plan::{
    Backend, Bytes, Case, Existing, FileSet, Geometry, HISTORY_MAX, Keep, Nanos, Objects, PPM_OF_PERCENT,
    Phase, Sharing, Spread, Stonewall, WorkloadSpec,
};
use serde::{Deserialize, Serialize};

use super::options::{Key, OPTIONS};
use crate::ToolError;
use crate::options::Given;

/// A larger number of rounds is taken for a typing error.
const ROUNDS_MAX: u32 = 100_000;
/// A longer deadline in seconds (three years) is taken for a typing error.
const SECONDS_MAX: u64 = 100_000_000;
/// A rest of more than a thousand times the duration of a step is taken for a typing error.
const WAITING_MAX: f64 = 1000.0;
/// The waiting factors of `-T`, in percent of the duration of a step. Source: the factors printed by
/// md-workbench 4.1.
const ADAPTIVE: [u32; 8] = [0, 6, 12, 25, 50, 100, 200, 400];

/// The settings of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub api: String,
    pub offset: u32,
    pub steps: u64,
    pub precreated: u64,
    pub sets: u32,
    pub signature: i64,
    pub directories: Vec<PathBuf>,
    pub object_bytes: u64,
    pub rounds: u32,
    /// In millionths of the duration of a step.
    #[serde(default)]
    pub waiting_ppm: u32,
    pub adaptive: bool,
    pub deadline: u64,
    pub wear_out: bool,
    pub precreate: bool,
    pub benchmark: bool,
    pub cleanup: bool,
    pub verify: bool,
    pub read_only: bool,
    pub quiet: bool,
    pub detailed: bool,
    /// Number of steps that earlier runs have done in each set.
    pub first: u64,
    /// The file that stores the number of steps done so far between runs.
    pub status_file: PathBuf,
    /// Prefix of the files of latencies.
    pub latencies: Option<String>,
    /// Whether the files of latencies contain those of all tasks.
    pub latencies_of_all: bool,
    pub ignore_present: bool,
    /// `--posix.odirect`: open objects with `O_DIRECT`.
    #[serde(default)]
    pub direct: bool,
}

/// Stored with a plan so that its output can be printed from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Memo {
    pub settings: Settings,
    pub tasks: u32,
    /// Which tasks are on the first node.
    pub map: String,
}

impl Default for Settings {
    /// md-workbench's defaults, as its help prints them.
    fn default() -> Self {
        Self {
            api: "POSIX".to_owned(),
            offset: 1,
            steps: 1000,
            precreated: 3000,
            sets: 10,
            signature: -1,
            directories: vec![PathBuf::from("./out")],
            object_bytes: 3901,
            rounds: 3,
            waiting_ppm: 0,
            adaptive: false,
            deadline: 0,
            wear_out: false,
            precreate: false,
            benchmark: false,
            cleanup: false,
            verify: false,
            read_only: false,
            quiet: false,
            detailed: false,
            first: 0,
            status_file: PathBuf::from("md-workbench.status"),
            latencies: None,
            latencies_of_all: false,
            ignore_present: false,
            direct: false,
        }
    }
}

impl Settings {
    /// Determines the settings from all options of a command line.
    ///
    /// # Errors
    /// Errors if a value cannot be parsed, or if options exclude each other.
    pub(super) fn of(given: &[Given<Key>]) -> Result<Self, ToolError> {
        let mut settings = Self::default();
        let mut start_item = None;
        for option in given {
            match option.key {
                Key::StartItem => start_item = Some(option.count(u64::MAX)?),
                _ => settings.set(option)?,
            }
        }
        if !(settings.precreate || settings.benchmark || settings.cleanup) {
            (settings.precreate, settings.benchmark, settings.cleanup) = (true, true, true);
        }
        settings.check()?;
        match start_item {
            Some(item) if item > 0 && settings.precreate => {
                let reason = "the objects before this one would not be created: use it in a later command line with \
                     -2 or -3";
                return Err(OPTIONS.error(&format!("--start-item={item}"), reason));
            }
            Some(item) => settings.first = item,
            None if settings.precreate => {}
            None => settings.first = position(&settings.status_file)?,
        }
        Ok(settings)
    }

    fn set(&mut self, given: &Given<Key>) -> Result<(), ToolError> {
        match given.key {
            Key::Adaptive => self.adaptive = true,
            Key::WearOut => self.wear_out = true,
            Key::Precreate => self.precreate = true,
            Key::Benchmark => self.benchmark = true,
            Key::Cleanup => self.cleanup = true,
            Key::Verify => self.verify = true,
            Key::Direct => self.direct = true,
            Key::ReadOnly => self.read_only = true,
            Key::Quiet => self.quiet = true,
            Key::Detailed => self.detailed = true,
            Key::Api => self.api = api(given)?,
            Key::Offset => self.offset = given.count32(u32::MAX)?,
            Key::Steps => self.steps = given.count(u64::MAX)?,
            Key::Precreated => self.precreated = given.count(u64::MAX)?,
            Key::Sets => self.sets = given.count32(u32::MAX)?,
            Key::Signature => self.signature = given.whole()?,
            Key::Directory => self.directories = vec![given.path()?],
            Key::ObjectBytes => self.object_bytes = given.size()?,
            Key::Rounds => self.rounds = given.count32(ROUNDS_MAX)?,
            Key::Deadline => self.deadline = given.count(SECONDS_MAX)?,
            Key::Waiting => self.waiting_ppm = waiting(given)?,
            Key::StatusFile => self.status_file = given.path()?,
            Key::Latencies => self.latencies = Some(given.text().to_owned()),
            Key::LatenciesOfAll => self.latencies_of_all = true,
            Key::IgnorePresent => self.ignore_present = true,
            Key::StartItem | Key::Packet | Key::Help | Key::Other => {}
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ToolError> {
        let error = |written: &str, reason: &str| Err(OPTIONS.error(written, reason));
        if self.rounds == 0 {
            return error("-R 0", "no round would run: give a number of at least 1, or -1 -3 without -2");
        }
        if self.benchmark && self.steps == 0 {
            return error("-I 0", "no step would be done: give a number of at least 1");
        }
        if self.wear_out && self.deadline == 0 {
            return error("-W", "there is no deadline after which tasks continue; give one, as in -w 30");
        }
        if self.latencies_of_all && self.latencies.is_none() {
            return error("--latency-all", "there are no latency files; name them, as in -L lat");
        }
        Ok(())
    }

    /// Whether the history of a process may be too short for the latencies of all its operations.
    pub(super) fn history_is_short(&self) -> bool {
        let each = 4 * self.steps.max(self.precreated / 4);
        each.saturating_mul(self.sets.into()) > HISTORY_MAX
    }

    /// The rests of the rounds, in millionths of the duration of a step: one for each case.
    pub(super) fn rests(&self) -> Vec<u32> {
        if self.adaptive {
            return ADAPTIVE.iter().map(|percent| percent * PPM_OF_PERCENT).collect();
        }
        vec![self.waiting_ppm]
    }

    /// The cases, in order: sets are created once, used in every round, and removed once.
    ///
    /// # Errors
    /// Errors if a workload cannot be measured.
    pub(super) fn cases(&self, tasks: u32, nodes: u32, per_rank: u32) -> Result<Vec<Case>, ToolError> {
        let rests = self.rests();
        let case = |id: String, phase: Phase, rest: u32| {
            let spec = self.spec(&id, phase, rest, (tasks, nodes, per_rank));
            let workload = spec
                .validate()
                .map_err(|error| OPTIONS.error(written(error.field), &format!("{error}; {}", error.help)))?;
            let each = if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
            Ok(Case {
                title: format!(
                    "{each}, {} sets of {} objects each, {} steps in each",
                    self.sets, self.precreated, self.steps
                ),
                repetitions: if phase == Phase::Benchmark { self.rounds } else { 1 },
                ..Case::new(id, workload, vec![phase])
            })
        };
        let mut cases = Vec::new();
        if self.precreate {
            cases.push(case("precreate".to_owned(), Phase::Precreate, 0)?);
        }
        for &rest in rests.iter().filter(|_| self.benchmark) {
            let id = if rests.len() == 1 {
                "md-workbench".to_owned()
            } else {
                format!("waiting-{}", rest / PPM_OF_PERCENT)
            };
            cases.push(case(id, Phase::Benchmark, rest)?);
        }
        if self.cleanup {
            cases.push(case("cleanup".to_owned(), Phase::Cleanup, 0)?);
        }
        Ok(cases)
    }

    /// The workload of the case `id`, whose steps rest for `rest` millionths of their duration.
    fn spec(
        &self,
        id: &str,
        phase: Phase,
        rest: u32,
        (tasks, nodes, per_rank): (u32, u32, u32),
    ) -> WorkloadSpec {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new(id, "", geometry);
        let objects = Objects {
            sets: self.sets,
            precreated: self.precreated,
            steps: self.steps.max(1),
            object_bytes: Bytes(self.object_bytes),
            offset: self.offset,
            waiting_ppm: rest,
            read_only: self.read_only,
            no_stat: false,
            in_target: true,
            first: self.first,
        };
        spec.history = self.latencies.is_some().then(|| {
            let operations = objects.operations(phase, tasks);
            // A process keeps the operations of all its tasks.
            operations.clamp(1, HISTORY_MAX)
        });
        spec.work = objects.into();
        spec.files = FileSet {
            targets: self.directories.clone(),
            sharing: Sharing::Shared,
            exact_names: false,
            unique_dir: false,
            file_per_repetition: false,
            existing: if self.ignore_present { Existing::Reuse } else { Existing::Replace },
            keep: if self.cleanup { Keep::Never } else { Keep::Always },
            preallocate: false,
            fill: false,
        };
        (spec.tasks, spec.nodes) = (tasks, nodes);
        if per_rank > 0 {
            spec.spread = Spread::Ranks { tasks_per_rank: per_rank };
        }
        spec.backend = if self.api == "DUMMY" { Backend::Null } else { Backend::Psync };
        spec.stonewall = (self.deadline > 0 && phase == Phase::Benchmark)
            .then(|| Stonewall { deadline: Nanos::secs(self.deadline), wear_out: self.wear_out });
        (spec.verify, spec.direct) = (self.verify, self.direct);
        spec.signature = self.signature.max(0).cast_unsigned();
        spec
    }
}

/// Number of steps that earlier runs have done in each set, according to the status file at `path`: `pos:
/// 9`.
fn position(path: &Path) -> Result<u64, ToolError> {
    let written = || format!("--run-info-file={}", path.display());
    let text = record::read_text(path).map_err(|error| {
        let help = "run a command line with -1 first, or set the first step with --start-item";
        OPTIONS.error(
            &written(),
            &format!("the step at which the last run ended cannot be read: {error}; {help}"),
        )
    })?;
    let number = text.trim().strip_prefix("pos:").and_then(|rest| rest.trim().parse().ok());
    number.ok_or_else(|| {
        let reason = "has no line such as `pos: 9`; name the file that a command line with -1 has written, \
                      or set the first step with --start-item";
        OPTIONS.error(&written(), reason)
    })
}

/// The option that sets a field of the plan.
const fn written(field: &'static str) -> &'static str {
    match field.as_bytes() {
        b"sets" => "-D",
        b"precreated" => "-P",
        b"steps" => "-I",
        b"object_bytes" => "-S",
        b"tasks" | b"nodes" => "--tasks-per-rank",
        _ => field,
    }
}

fn waiting(given: &Given<Key>) -> Result<u32, ToolError> {
    match given.text().parse::<f64>() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked before"
        )]
        Ok(factor) if (0.0..=WAITING_MAX).contains(&factor) => {
            // The least rest that can be stored is still a rest.
            let least = if factor > 0.0 { 1.0 } else { 0.0 };
            Ok((factor * 1e6).round().max(least) as u32)
        }
        _ => Err(given.wrong("is not a multiple of the duration of a step; give 0 to 1000, as in 0.5")),
    }
}

fn api(given: &Given<Key>) -> Result<String, ToolError> {
    let name = given.text().to_ascii_uppercase();
    match name.as_str() {
        "POSIX" | "DUMMY" => Ok(name),
        _ => Err(given.wrong("needs its own library; ioproof supports POSIX and DUMMY; use -a POSIX")),
    }
}
