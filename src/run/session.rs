//! The steps that `run` and all dialects have in common: check a plan, run it, keep the record.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use engine::Controls;
use host::{Host, Root};
use plan::{
    AssumedDevice, Bytes, FileSystemSpace, Nanos, Plan, Prediction, Predictions, RunEnvironment, estimates,
    shell_word, visible,
};
use record::{
    FORMAT_VERSION, HostFacts, Leftover, Manifest, Provenance, Recorder, Resumed, Run, RunDirectory,
};
use report::Shown;
use runner::{
    Checked, EarlierStart, ErrorKind, HostLayoutBuilder, Machine, PlanExecution, Replaced, RunSummary,
    Servers, ValidatedCampaign, Watch,
};

use crate::console::exit::{Exit, Failure};
use crate::console::progress::LiveLine;
use crate::console::signals::{self, Listening};
use crate::console::{can_ask, confirm, screen};
use crate::defaults::Defaults;
use crate::run::cluster::World;

/// A run, from the first check of the host to the closed record.
pub(crate) struct Session<'w> {
    pub(crate) host: Host,
    pub(crate) world: &'w World,
    /// Permitted commands that query servers before and after phases.
    pub(crate) servers: Servers,
    /// Rates on which its predictions are based, which take precedence over those of the study.
    pub(crate) predicted: Predictions,
    /// Used to end the run early.
    pub(crate) controls: Arc<Controls>,
    run_id: String,
    started: jiff::Timestamp,
    listening: OnceLock<Listening>,
}

impl<'w> Session<'w> {
    /// Creates a session on this host and the others of `world`. Its run is named after `what`, for
    /// example `quick`.
    pub(crate) fn new(world: &'w World, what: &str) -> Self {
        let started = jiff::Timestamp::now();
        let run_id = run_id(started, what);
        let controls = Arc::new(Controls::new());
        Self {
            host: Host::new(Root::default()),
            world,
            servers: Servers::default(),
            predicted: Predictions::default(),
            controls,
            run_id,
            started,
            listening: OnceLock::new(),
        }
    }

    /// The same for the part `what` of the run with this id.
    pub(crate) fn of_part(world: &'w World, run_id: &str, what: &str) -> Self {
        Self { run_id: format!("{run_id}.{what}"), ..Self::new(world, what) }
    }

    /// Checks `plan` against the host. Nothing is written.
    pub(crate) fn check(&self, plan: Plan) -> Result<Checked, Failure> {
        let started = i64::try_from(self.started.as_nanosecond()).unwrap_or(i64::MAX);
        let checked = runner::check(plan, &self.host, self.world.comm(), self.run_id.clone(), started)?;
        self.consents_are_used(&checked.plan).map(|()| checked)
    }

    /// Checks `plan` against a model. Nothing on this host is examined.
    pub(crate) fn check_on(
        &self,
        machine: &dyn Machine,
        plan: Plan,
        finished: BTreeSet<String>,
    ) -> Result<Checked, Failure> {
        let started = i64::try_from(self.started.as_nanosecond()).unwrap_or(i64::MAX);
        self.check_again_on(machine, plan, (self.run_id.clone(), started), finished)
    }

    /// Like [`Session::check_on`], for the run with this name and start time.
    pub(crate) fn check_again_on(
        &self,
        machine: &dyn Machine,
        plan: Plan,
        (run_id, started): (String, i64),
        finished: BTreeSet<String>,
    ) -> Result<Checked, Failure> {
        Ok(runner::check_on(machine, plan, self.world.comm(), run_id, started, finished)?)
    }

    /// Rejects consent to overwrite a device that the plan does not write, because it was meant for another
    /// plan or device.
    fn consents_are_used(&self, plan: &Plan) -> Result<(), Failure> {
        // The devices of other nodes are unknown here.
        if self.world.launched {
            return Ok(());
        }
        let targets = plan.cases.iter().flat_map(|case| &case.workload.files.targets);
        // With a slash, because a word without a slash would be taken for a serial number.
        let targets = targets.map(|path| Path::new(".").join(path).display().to_string());
        let devices: BTreeSet<String> =
            plan.layouts.iter().flat_map(|layout| layout.devices.clone()).chain(targets).collect();
        let devices: Vec<String> = devices.into_iter().collect();
        let guard = self.host.guard();
        let named =
            |consent: &String| consent == host::UNKNOWN_DATA_WORD || guard.names_one_of(consent, &devices);
        let Some(unused) = plan.destroy_data_on.iter().find(|consent| !named(consent)) else { return Ok(()) };
        let why = format!(
            "--destroy-data-on {unused}: this run uses no such device; omit the option, or place a target there"
        );
        Err(Failure::new(Exit::Refused, anyhow::anyhow!(why)))
    }

    /// Checks a plan with layouts as far as possible before they exist. Nothing is created.
    pub(crate) fn validate_campaign(
        &self,
        plan: Plan,
        builder: &HostLayoutBuilder,
        earlier: EarlierStart,
    ) -> Result<ValidatedCampaign, Failure> {
        let started = i64::try_from(self.started.as_nanosecond()).unwrap_or(i64::MAX);
        let (id, comm) = (self.run_id.clone(), self.world.comm());
        let validated = runner::validate_campaign(plan, &self.host, comm, builder, id, started, earlier)?;
        self.consents_are_used(&validated.checked.plan).map(|()| validated)
    }

    /// Like [`Session::validate_campaign`], for the rest of an interrupted run.
    pub(crate) fn validate_again(
        &self,
        resumed: &Resumed,
        builder: &HostLayoutBuilder,
    ) -> Result<ValidatedCampaign, Failure> {
        let manifest = &resumed.manifest;
        let earlier =
            EarlierStart { finished: resumed.finished.iter().cloned().collect(), places: places(manifest) };
        let (plan, id) = (manifest.plan.clone(), manifest.run_id.clone());
        let (comm, started) = (self.world.comm(), manifest.started_unix_ns);
        Ok(runner::validate_campaign(plan, &self.host, comm, builder, id, started, earlier)?)
    }

    /// The directory of the record: that of `--out`, or a new one below that of the defaults.
    ///
    /// # Errors
    /// Errors if it is not empty, or cannot be created.
    pub(crate) fn directory(&self, out: Option<&Path>) -> Result<PathBuf, Failure> {
        let directory = directory(&self.run_id, out, &self.world.defaults);
        Recorder::check_new(&directory)?;
        host::files::check_makeable(&directory).map_err(|error| {
            let context = format!("cannot create a record in {}", directory.display());
            Failure::new(Exit::Record, anyhow::Error::from(error).context(context))
        })?;
        Ok(directory)
    }

    /// The line of the preflight that says that the record is on the storage that is measured.
    pub(crate) fn beside_record(&self, plan: &Plan, out: Option<&Path>) -> String {
        let directory = directory(&self.run_id, out, &self.world.defaults);
        let warning = runner::record_on_target(&self.host, &directory, plan);
        warning.map_or_else(String::new, |warning| {
            screen().folded(&format!("! {}; {}\n", visible(&warning.to_string()), warning.advice()))
        })
    }

    /// Checks the options of a plan that is only shown, in the same way as the run would.
    pub(crate) fn check_options(&self, plan: &Plan, out: Option<&Path>) -> Result<(), Failure> {
        if out.is_some() {
            self.directory(out)?;
        }
        self.consents_are_used(plan)
    }

    /// Runs `checked` and closes the record in `directory`, which is returned as it was opened.
    pub(crate) fn run(
        &self,
        checked: &Checked,
        directory: &Path,
        watch: &mut dyn Watch,
    ) -> Result<(RunSummary, RunDirectory), Failure> {
        let around = self.environment(&checked.plan, &checked.facts);
        let recorder = self.record(checked, directory, &around)?;
        self.live(checked, recorder, watch)
    }

    /// Starts the record of `checked` in `directory`. From here on a signal ends the run in an orderly way:
    /// whatever was begun there is completed or removed.
    pub(crate) fn record(
        &self,
        checked: &Checked,
        directory: &Path,
        around: &RunEnvironment,
    ) -> Result<Recorder, Failure> {
        self.listen()?;
        let (estimates, _) = estimates(&checked.plan, around);
        let predicted = Some(Prediction::of(&checked.plan.cases, &estimates, around));
        Ok(Recorder::create(directory, &Manifest { predicted, ..self.manifest(checked) })?)
    }

    /// Makes signals end the run in an orderly way, as long as this session exists.
    pub(crate) fn listen(&self) -> Result<(), Failure> {
        let listening = signals::stop_on_signal(&self.controls.stop_flags())
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        self.listening
            .set(listening)
            .map_err(|_| Failure::new(Exit::Internal, anyhow::anyhow!("a session listens to signals twice")))
    }

    /// Runs the remaining cases of `checked`, and adds them to an existing record.
    pub(crate) fn live(
        &self,
        checked: &Checked,
        recorder: Recorder,
        watch: &mut dyn Watch,
    ) -> Result<(RunSummary, RunDirectory), Failure> {
        let place = recorder.place();
        let ended = self.life(recorder, watch).run(checked).map_err(Failure::from);
        let ended = ended.map_err(|failure| match failure.exit {
            Exit::Record => failure.followed_by(&kept_in(place.path())),
            _ => failure,
        })?;
        Ok((ended, place))
    }

    /// The progress display of the run recorded in `directory`.
    pub(crate) fn line(&self, checked: &Checked, directory: &Path, shown: Shown) -> LiveLine {
        let around = self.environment(&checked.plan, &checked.facts);
        let (estimates, _) = estimates(&checked.plan, &around);
        LiveLine::start(directory, &checked.plan, &estimates, None, shown)
    }

    /// A plan execution of this session.
    pub(crate) fn life<'a>(&'a self, recorder: Recorder, watch: &'a mut dyn Watch) -> PlanExecution<'a> {
        let controls = Arc::clone(&self.controls);
        let life = PlanExecution::new(&self.host, self.world.comm(), recorder, watch, controls);
        life.with_servers(self.servers.clone())
    }

    /// Checks the remaining cases of an interrupted run.
    pub(crate) fn check_again(&self, resumed: &Resumed) -> Result<Checked, Failure> {
        let manifest = &resumed.manifest;
        let earlier =
            EarlierStart { finished: resumed.finished.iter().cloned().collect(), places: places(manifest) };
        let (plan, id) = (manifest.plan.clone(), manifest.run_id.clone());
        Ok(runner::check_again(plan, &self.host, self.world.comm(), id, manifest.started_unix_ns, earlier)?)
    }

    /// The environment of a plan on this host. If nothing else is known, the slowest class of the devices
    /// under the targets is assumed.
    pub(crate) fn environment(&self, plan: &Plan, facts: &HostFacts) -> RunEnvironment {
        let mut spaces: Vec<FileSystemSpace> = Vec::new();
        for target in &targets(plan) {
            // A file system without a size, for example ramfs, does not report its free space either.
            let Some(place) = self.host.file_system_of(target).ok().filter(|place| place.size_bytes > 0)
            else {
                continue;
            };
            let found = spaces.iter_mut().find(|space| space.name == place.mount_point);
            match found {
                Some(space) if space.targets.contains(target) => {}
                Some(space) => space.targets.push(target.clone()),
                None => spaces.push(FileSystemSpace {
                    name: place.mount_point,
                    free: Bytes(place.free_bytes),
                    targets: vec![target.clone()],
                }),
            }
        }
        RunEnvironment {
            spaces,
            memory: self.host.memory_available().ok().map(Bytes),
            processors: Some(facts.usable_cpus).filter(|processors| *processors > 0),
            node_of: self.node_of(),
            predicted: self.predicted.clone(),
            assumed: assumed_device(facts),
            model: None,
        }
    }

    /// The node of each rank; empty if there is only one node.
    fn node_of(&self) -> Vec<u32> {
        match self.world.comm().topology().node_of() {
            [_] => Vec::new(),
            ranks => ranks.to_vec(),
        }
    }

    /// The manifest that is written to the run directory at the start.
    pub(crate) fn manifest(&self, checked: &Checked) -> Manifest {
        Manifest {
            format_version: FORMAT_VERSION,
            run_id: self.run_id.clone(),
            provenance: Provenance::Measured,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            started_unix_ns: checked.started_unix_ns,
            finished_unix_ns: None,
            predicted: None,
            plan: checked.plan.clone(),
            host: checked.facts.clone(),
            cluster: self.world.library().and_then(|library| checked.cluster(library)),
            model: None,
            defaults: self.world.defaults.of_run(&checked.plan, self.world.launched),
        }
    }
}

/// A unique name for a run of `what` that starts at `started`.
pub(crate) fn run_id(started: jiff::Timestamp, what: &str) -> String {
    let time = started.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y%m%d-%H%M%S");
    format!("{time}-{what}-{:06x}", random_seed() & 0xff_ffff)
}

/// The directory for the record of a run: that of `--out`, or a new one below that of the defaults.
pub(crate) fn directory(run_id: &str, out: Option<&Path>, defaults: &Defaults) -> PathBuf {
    out.map_or_else(|| defaults.records().join(run_id), Path::to_owned)
}

/// The nodes of a run with their numbers of processes.
fn places(manifest: &Manifest) -> Vec<(String, usize)> {
    match &manifest.cluster {
        Some(cluster) => {
            cluster.nodes.iter().map(|node| (node.host.node.clone(), node.ranks.len())).collect()
        }
        None => vec![(manifest.host.node.clone(), 1)],
    }
}

/// All targets of `plan`, without duplicates.
pub(crate) fn targets(plan: &Plan) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let all = plan.cases.iter().flat_map(|case| &case.workload.files.targets);
    all.filter(|target| seen.insert(*target)).cloned().collect()
}

/// All targets of `plan` without a layout, without duplicates.
pub(crate) fn targets_without_layout(plan: &Plan) -> Vec<PathBuf> {
    let mut there = plan.clone();
    there.cases.retain(|case| case.layout.is_none());
    targets(&there)
}

/// A random seed, different for each start.
pub(crate) fn random_seed() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

fn assumed_device(facts: &HostFacts) -> AssumedDevice {
    // Virtual disks report themselves as rotational, whatever the real device is. Devices behind a network are not seen.
    let is_virtual = |name: &str| name.starts_with("vd") || name.starts_with("xvd");
    let turning = facts
        .devices
        .iter()
        .any(|device| device.rotational.known() == Some(&true) && !is_virtual(&device.name));
    let flash =
        !facts.devices.is_empty() && facts.devices.iter().all(|device| device.name.starts_with("nvme"));
    let solid = !facts.devices.is_empty()
        && facts.devices.iter().all(|device| device.rotational.known() == Some(&false));
    let (bytes_per_second, transfer_time, class) = match (turning, flash) {
        (true, _) => (150e6, Nanos::millis(8), "rotating disk"),
        (false, true) => (2e9, Nanos(80_000), "NVMe device"),
        (false, false) if solid => (500e6, Nanos(100_000), "solid-state disk"),
        (false, false) => return AssumedDevice::default(),
    };
    AssumedDevice { bytes_per_second, transfer_time, class: class.to_owned() }
}

/// Describes leftovers of killed runs, one per line.
pub(crate) fn leftover_lines(leftovers: &[Leftover]) -> Vec<String> {
    leftovers.iter().map(crate::records::clean::line).collect()
}

/// Describes the user's files that a run will lose, in one line.
pub(crate) fn replaced_line(replaced: &Replaced) -> String {
    let Replaced { files, bytes, first } = replaced;
    let (first, bytes) = (first.display(), bytes.both_units());
    match files {
        1 => format!("{first} exists ({bytes}): its data will be lost"),
        _ => format!("{first} and {} more exist ({bytes}): their data will be lost", files - 1),
    }
}

/// Lists the user's files that `checked` will lose and asks for consent. `yes` means consent.
///
/// # Errors
/// Errors if the user declined, or if there is no terminal on which to ask.
pub(crate) fn agree_to_losses(checked: &Checked, yes: bool, question: &str) -> Result<(), Failure> {
    let Some(replaced) = checked.replaced() else { return Ok(()) };
    if yes || confirm(question, false)? {
        return Ok(());
    }
    let refused = match can_ask() {
        true => "nothing was written".to_owned(),
        false => format!(
            "{}, and there is no terminal to ask on: add --yes to agree, or name another path",
            replaced_line(&replaced)
        ),
    };
    Err(Failure::new(Exit::Refused, anyhow::anyhow!(refused)))
}

/// Like [`replaced_line`], for a plan that is only shown. Also names the consent that a run will need, a file that is
/// to be read and missing, and rights that this user lacks.
pub(crate) fn explained_consent(plan: &Plan) -> String {
    let loss =
        |replaced| format!("! {}; the run asks first, unless --yes is given", replaced_line(&replaced));
    let missing = runner::check_files_to_read(plan).err().map(|error| format!("! {error}"));
    let lines = runner::replaced(plan, &[]).map(loss).into_iter().chain(missing);
    let lines = lines.chain(lacking_right(plan).map(|line| format!("! {line}")));
    lines.map(|line| format!("{}\n", visible(&line))).collect()
}

/// Describes in one line what `plan` wants although this user lacks the rights. The run continues without
/// it.
pub(crate) fn lacking_right(plan: &Plan) -> Option<String> {
    let drops = plan.cases.iter().any(|case| case.protocol.drop_caches);
    let refused = drops.then(|| host::cache::may_drop(&Root::default())).and_then(Result::err);
    refused.map(|error| format!("{error}; as this user, phases start with whatever is in the cache"))
}

/// What the record in `directory` has of a run that could not be recorded to its end.
fn kept_in(directory: &Path) -> String {
    match Run::open(directory).map(|run| run.all_phases().count()) {
        Ok(0) | Err(_) => "nothing was recorded".to_owned(),
        Ok(1) => format!("the phase that was recorded before is in {}", directory.display()),
        Ok(phases) => format!("the {phases} phases that were recorded before are in {}", directory.display()),
    }
}

/// The exit code and the message for a finished run, whose record is in `directory`.
pub(crate) fn verdict(ended: &RunSummary, directory: &Path) -> (Exit, Option<String>) {
    if ended.interrupted {
        let directory = shell_word(&directory.to_string_lossy());
        let message = format!("interrupted: the finished phases are in the record {directory}");
        return (Exit::Interrupted, Some(message));
    }
    if let Some((message, kind)) = &ended.failed {
        let left = ended.left_behind.as_ref().map_or(String::new(), |error| format!("; also, {error}"));
        let kept = match kind {
            ErrorKind::Record => format!("; {}", kept_in(directory)),
            _ => String::new(),
        };
        return (Exit::from(*kind), Some(format!("{message}{kept}{left}")));
    }
    if ended.wrong_cells > 0 {
        let message =
            format!("{} cells of 512 bytes hold data that was not written there", ended.wrong_cells);
        return (Exit::WrongData, Some(message));
    }
    if ended.surprises > 0 {
        let message = format!(
            "{} files or directories were not as this run had left them: see the warnings, and check who else works \
             there",
            ended.surprises
        );
        return (Exit::WrongData, Some(message));
    }
    if ended.failed_launches > 0 {
        let message = format!(
            "{} launches of jobs are not complete, the others are: see the warnings and the section on launches",
            ended.failed_launches
        );
        return (Exit::TransferFailed, Some(message));
    }
    match &ended.left_behind {
        Some(error) => (Exit::from(error.kind()), Some(error.to_string())),
        None => (Exit::Success, None),
    }
}
