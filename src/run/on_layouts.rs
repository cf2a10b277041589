//! Runs on layouts. Their commands, and the devices that will be overwritten, are shown and confirmed
//! before anything is created.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::CommandHash;
use plan::{Bytes, FileSystemSpace, Layout, Plan, Recipe, RunEnvironment, estimates};
use record::{BlockDeviceFacts, HostFacts, LayoutEvent, Recorder, Resumed};
use report::{Commands, LayoutOutlook, Shown};
use runner::{EarlierStart, HostLayoutBuilder, PlanExecution, RunSummary, Servers, ValidatedCampaign};

use crate::console::exit::{Exit, Failure};
use crate::console::progress::LiveLine;
use crate::console::watch::TerminalWatch;
use crate::console::{print, print_line, screen};
use crate::layout;
use crate::run::arguments::RunArguments;
use crate::run::commands::{self, ServerCommands};
use crate::run::session::{self, Session};

/// A run whose cases need layouts.
pub(crate) struct Campaign<'s, 'w> {
    session: &'s Session<'w>,
    builder: HostLayoutBuilder,
    /// The survey of each layout of the plan.
    seen: Vec<LayoutOutlook>,
    /// The devices of all layouts.
    devices: Vec<BlockDeviceFacts>,
    /// The hash of each layout's commands.
    commands: BTreeMap<String, CommandHash>,
    /// Commands that query servers before and after phases.
    servers: ServerCommands,
    /// The same commands, once the user has agreed to them.
    agreed: Servers,
    shown: Shown,
}

impl<'s, 'w> Campaign<'s, 'w> {
    /// Surveys the layouts of `plan`. Nothing is written.
    pub(crate) fn new(session: &'s Session<'w>, plan: &Plan, arguments: &RunArguments) -> Self {
        let stop = Arc::clone(&session.controls);
        let layouts = layout::layouts_in(arguments.state.as_deref())
            .with_stop(move || stop.is_stopped())
            .with_study(arguments.study.as_deref().and_then(layout::directory_of));
        let builder =
            HostLayoutBuilder { layouts, consents: plan.destroy_data_on.clone(), agreed: BTreeMap::new() };
        let mut commands = BTreeMap::new();
        let mut devices: Vec<BlockDeviceFacts> = Vec::new();
        let mut seen = Vec::new();
        for layout in &plan.layouts {
            let survey = builder.layouts.survey(layout, &builder.consents);
            commands.insert(layout.name.clone(), survey.commands);
            let there: Vec<PathBuf> = survey.devices.iter().filter(|path| path.exists()).cloned().collect();
            for device in session.host.facts(&there, engine::clock_name()).devices {
                if !devices.iter().any(|known| known.name == device.name) {
                    devices.push(device);
                }
            }
            let sized = survey.devices.iter().map(|path| (path.clone(), size_of(path, &devices)));
            seen.push(LayoutOutlook {
                layout: layout.clone(),
                devices: sized.collect(),
                steps: survey.steps,
                checks: survey.checks,
                obstacles: survey.obstacles.iter().map(ToString::to_string).collect(),
            });
        }
        let (servers, agreed) = (ServerCommands::of(plan), Servers::default());
        let shown = arguments.how.shown();
        Self { session, builder, seen, devices, commands, servers, agreed, shown }
    }

    /// Formats the layouts with the given part of their `commands`.
    pub(crate) fn shown(&self, commands: Commands) -> String {
        let servers = if commands == Commands::Agreed { String::new() } else { self.servers.shown() };
        report::layouts(&self.seen, commands, screen()) + &servers
    }

    /// The number of commands of all layouts and server queries, and the hash with which a user agrees to
    /// exactly these.
    fn commands(&self) -> (usize, CommandHash) {
        let hashes: Vec<CommandHash> = self.commands.values().copied().chain(self.servers.hashes()).collect();
        let made: usize = self.seen.iter().map(LayoutOutlook::commands).sum();
        (made + self.servers.count(), CommandHash::of_all(&hashes))
    }

    /// The environment of the plan, with `facts` about what exists. The capacity of a layout that has not
    /// been created yet is that of its devices.
    pub(crate) fn environment(&self, plan: &Plan, facts: &HostFacts) -> RunEnvironment {
        let mut facts = facts.clone();
        facts.devices.extend(self.devices.iter().cloned());
        let mut there = plan.clone();
        there.cases.retain(|case| case.layout.is_none() || !self.is_made(case.layout.as_deref()));
        let mut around = self.session.environment(&there, &facts);
        for (outlook, made) in self.seen.iter().zip(self.seen.iter().map(|one| is_made(&one.layout))) {
            if made {
                around.spaces.extend(spaces(outlook, plan));
            }
        }
        around
    }

    fn is_made(&self, name: Option<&str>) -> bool {
        self.seen.iter().any(|one| Some(one.layout.name.as_str()) == name && is_made(&one.layout))
    }

    /// Checks the plan as far as possible before layouts exist. If this fails, the plan of the layouts is
    /// shown first.
    pub(crate) fn validate_campaign(&self, plan: Plan) -> Result<ValidatedCampaign, Failure> {
        let validated = self.session.validate_campaign(plan, &self.builder, EarlierStart::default());
        if validated.is_err() {
            print(&self.shown(Commands::Counted))?;
        }
        validated
    }

    /// Like [`Campaign::validate_campaign`], for the rest of an interrupted run.
    pub(crate) fn validate_again(&self, resumed: &Resumed) -> Result<ValidatedCampaign, Failure> {
        self.session.validate_again(resumed, &self.builder)
    }

    /// Asks the user to agree to all commands of the layouts, and to the loss of the data on the devices
    /// of layouts with remaining cases. The user agrees either by giving the hash of the commands, or by
    /// an answer at the terminal after they were shown, and in no other way.
    ///
    /// # Errors
    /// Errors if the user declined, or if there is no terminal on which to ask.
    pub(crate) fn agree(
        &mut self,
        validated: &ValidatedCampaign,
        allowed: Option<&str>,
    ) -> Result<(), Failure> {
        let (commands, hash) = self.commands();
        let is_allowed = commands == 0 || commands::is_allowed(allowed, hash);
        let shown = if is_allowed { Commands::Agreed } else { Commands::All };
        print(&format!("\n{}", self.shown(shown)))?;
        let lost = self.lost(validated);
        if !lost.is_empty() {
            print(&format!("! all data on {} will be lost:\n", devices(lost.len())))?;
        }
        for (path, size) in &lost {
            print_line(&format!("    {}", self.described(path, *size)))?;
        }
        let lost = match lost.len() {
            0 => String::new(),
            count => format!(" and lose all data on {}", devices(count)),
        };
        if !is_allowed {
            commands::agree(commands, hash, allowed, &lost)?;
        }
        self.agreed = Servers::of(&validated.checked.plan);
        self.builder.agreed = self.commands.clone();
        Ok(())
    }

    /// The devices that are overwritten for the remaining cases.
    fn lost(&self, validated: &ValidatedCampaign) -> Vec<(PathBuf, Option<u64>)> {
        let left: BTreeSet<&str> = (validated.checked.plan.cases.iter())
            .filter(|case| !validated.finished.contains(&case.id))
            .filter_map(|case| case.layout.as_deref())
            .collect();
        let mut lost: Vec<(PathBuf, Option<u64>)> = Vec::new();
        for one in self.seen.iter().filter(|one| left.contains(one.layout.name.as_str())) {
            for (path, size) in one.devices.iter().filter(|_| is_made(&one.layout)) {
                if !lost.iter().any(|(known, _)| known == path) {
                    lost.push((path.clone(), *size));
                }
            }
        }
        lost
    }

    /// Describes a device: `/dev/nvme0n1  2.0 TB  INTEL SSDPEDMD020T4, serial CVFT…`.
    fn described(&self, path: &Path, size: Option<u64>) -> String {
        let mut text = path.display().to_string();
        text.extend(size.map(|size| format!("  {}", Bytes(size).both_units())));
        if let Some(device) = device_at(path, &self.devices) {
            let model = device.model.known().map(|model| model.trim().to_owned());
            let serial = device.serial.known().map(|serial| format!("serial {}", serial.trim()));
            let words: Vec<String> = model.into_iter().chain(serial).collect();
            if !words.is_empty() {
                text.push_str(&format!("  {}", words.join(", ")));
            }
        }
        text
    }

    /// Destroys layouts left by an earlier start of the run, if the user agrees. The user is asked because
    /// a record may claim any run name.
    pub(crate) fn clear(&self, run_id: &str, recorder: &mut Recorder, yes: bool) -> Result<(), Failure> {
        for standing in self.builder.layouts.standing().map_err(refused)? {
            // A layout that was kept deliberately does not belong to the run, even if a record claims its
            // name.
            if standing.run_id() != run_id || !standing.is_leftover() {
                continue;
            }
            let name = standing.name().to_owned();
            print_line(&format!("layout {name} was left by an earlier start of this run"))?;
            if !layout::take_down(&standing, yes)? {
                return Err(Failure::new(
                    Exit::Refused,
                    anyhow::anyhow!("layout {name} is in the way of the run"),
                ));
            }
            let mut commands = Vec::new();
            let gone = self.builder.layouts.destroy(standing, &mut |run| commands.push(run.clone()));
            let error = gone.as_ref().err().map(ToString::to_string);
            recorder.layout(&name, &LayoutEvent::Destroyed { commands, error })?;
            gone.map_err(refused)?;
        }
        Ok(())
    }

    /// Reports leftovers of other runs, which may conflict with this one.
    pub(crate) fn others(&self) -> Result<(), Failure> {
        for standing in self.builder.layouts.standing().map_err(refused)? {
            if standing.is_leftover() {
                let (name, run) = (standing.name(), standing.run_id());
                print_line(&format!(
                    "! run {run} was killed and left layout {name}; `ioproof layout clean` dismantles it"
                ))?;
            }
        }
        Ok(())
    }

    /// Executes a validated campaign, into `recorder`.
    pub(crate) fn run(
        &self,
        validated: ValidatedCampaign,
        around: &RunEnvironment,
        recorder: Recorder,
    ) -> Result<RunSummary, Failure> {
        let plan = &validated.checked.plan;
        let (all, _) = estimates(plan, around);
        let mut watch =
            TerminalWatch { line: LiveLine::start(recorder.directory(), plan, &all, None, self.shown) };
        let (host, comm) = (&self.session.host, self.session.world.comm());
        let life = PlanExecution::new(host, comm, recorder, &mut watch, Arc::clone(&self.session.controls));
        let life = life.with_servers(self.agreed.clone());
        Ok(runner::campaign(life, &self.builder, validated)?)
    }
}

fn refused(error: host::LayoutError) -> Failure {
    Failure::from(runner::RunnerError::from(error))
}

/// Whether the layout is created, so that its devices are written. Existing layouts are not.
fn is_made(layout: &Layout) -> bool {
    layout.recipe.overwrites_devices()
}

/// The facts of the device at `path`.
fn device_at<'a>(path: &Path, devices: &'a [BlockDeviceFacts]) -> Option<&'a BlockDeviceFacts> {
    let real = std::fs::canonicalize(path).ok()?;
    let name = real.file_name()?.to_str()?;
    devices.iter().find(|device| device.name == name)
}

fn size_of(path: &Path, devices: &[BlockDeviceFacts]) -> Option<u64> {
    device_at(path, devices).map(|device| device.size_bytes)
}

/// Free space at each place of a layout that has not been created yet: at most the capacity of its
/// devices.
fn spaces(outlook: &LayoutOutlook, plan: &Plan) -> Vec<FileSystemSpace> {
    let LayoutOutlook { layout, devices, .. } = outlook;
    let sizes: Vec<u64> = devices.iter().filter_map(|(_, size)| *size).collect();
    let on_it: Vec<PathBuf> = {
        let own = plan.cases.iter().filter(|case| case.layout.as_ref() == Some(&layout.name));
        let all: BTreeSet<PathBuf> = own.flat_map(|case| case.workload.files.targets.clone()).collect();
        all.into_iter().collect()
    };
    if sizes.is_empty() || sizes.len() < devices.len() || layout.recipe == Recipe::Raw {
        return Vec::new();
    }
    let total: u64 = sizes.iter().sum();
    let share = |member: usize| match &layout.recipe {
        Recipe::PerDevice { .. } => sizes.get(member).copied().unwrap_or(0),
        Recipe::Lvm { volumes, .. } => {
            let sized: Vec<u64> = volumes.iter().filter_map(|volume| Some(volume.size?.0)).collect();
            let rest = total.saturating_sub(sized.iter().copied().fold(0, u64::saturating_add));
            let unsized_count = volumes.len().saturating_sub(sized.len()).max(1) as u64;
            let said = volumes.get(member).and_then(|volume| volume.size);
            said.map_or(rest / unsized_count, |size| size.0.min(total))
        }
        _ => total,
    };
    let places = layout.directories();
    let space = |(member, place): (usize, &PathBuf)| FileSystemSpace {
        name: format!("{} (layout {}, not created yet)", place.display(), layout.name),
        free: Bytes(share(member)),
        targets: on_it.iter().filter(|target| target.starts_with(place)).cloned().collect(),
    };
    places.iter().enumerate().map(space).filter(|space| !space.targets.is_empty()).collect()
}

fn devices(count: usize) -> String {
    report::counted(count as u64, "device")
}

/// Shows a plan with layouts, without creating anything.
pub(crate) fn explain(session: &Session<'_>, plan: &Plan, arguments: &RunArguments) -> Result<(), Failure> {
    let campaign = Campaign::new(session, plan, arguments);
    let without: Vec<PathBuf> = session::targets_without_layout(plan);
    let facts = session.host.facts(&without, engine::clock_name());
    let around = campaign.environment(plan, &facts);
    let commands = if arguments.how.full { Commands::All } else { Commands::Counted };
    print(&if arguments.how.full {
        report::explain(plan, &around, screen())
    } else {
        report::outline(plan, &around, screen())
    })?;
    print(&format!("\n{}", campaign.shown(commands)))?;
    match campaign.commands() {
        (0, _) => Ok(()),
        (_, hash) if arguments.how.full => print(&layout::how_to_agree(hash)),
        (_, hash) => print(&format!("to see each command: --explain --full; {}", layout::how_to_agree(hash))),
    }
}
