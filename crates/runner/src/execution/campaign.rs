//! Cases on layouts: each layout is created, its cases run, and it is destroyed before the next one.
//!
//! ```text
//! validate_campaign  what can be known before anything is made: obstacles of every layout, the check of other cases
//! campaign           for the cases of each layout: create, verify, check, run, destroy; one record
//! ```
//!
//! If a layout cannot be created, its cases fail, and the next layout follows. The layout is destroyed even
//! if its cases fail. What a killed run leaves is recorded in the ledger of [`host::Layouts`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use comm::Comm;
use host::{CommandHash, Host, Layouts};
use plan::{Case, Layout, Plan, Recipe, WorkloadSpec, shell_word};
use record::{CommandRun, LayoutEvent, LayoutFinding, Warning, WarningRow};

use crate::check::{Checked, EarlierStart, check_again};
use crate::execution::ExecutionError;
use crate::files::file_sets;
use crate::{ErrorKind, Event, LayoutProgress, PlanExecution, RunSummary, RunnerError};

/// Creates and destroys layouts.
pub trait LayoutBuilder {
    /// An existing layout.
    type MadeLayout;

    /// Checks for obstacles to the creation of `layout`. Nothing is written.
    ///
    /// # Errors
    /// Returns all obstacles, with the next steps.
    fn look(&self, layout: &Layout) -> Result<(), RunnerError>;

    /// Creates `layout` for a run and reports each command to `tell`. A failed creation is undone.
    ///
    /// # Errors
    /// Errors if it could not be created.
    fn create(
        &self,
        layout: &Layout,
        run_id: &str,
        tell: &mut dyn FnMut(&CommandRun),
    ) -> Result<Self::MadeLayout, RunnerError>;

    /// The measured directories or devices, in the order of the members.
    fn places(&self, standing: &Self::MadeLayout) -> Vec<PathBuf>;

    /// Properties read back from the layout.
    fn verify(&self, standing: &Self::MadeLayout) -> Vec<LayoutFinding>;

    /// Destroys the layout.
    ///
    /// # Errors
    /// Returns the parts that could not be removed.
    fn destroy(
        &self,
        standing: Self::MadeLayout,
        tell: &mut dyn FnMut(&CommandRun),
    ) -> Result<(), RunnerError>;
}

/// Creates layouts from the devices of this host.
#[derive(Debug)]
pub struct HostLayoutBuilder {
    /// The layouts of this host.
    pub layouts: Layouts,
    /// The values of `--destroy-data-on`, in addition to the devices that layouts name.
    pub consents: Vec<String>,
    /// The commands that the user has approved, by layout name. No other layout is created.
    pub agreed: BTreeMap<String, CommandHash>,
}

impl LayoutBuilder for HostLayoutBuilder {
    type MadeLayout = host::MadeLayout;

    fn look(&self, layout: &Layout) -> Result<(), RunnerError> {
        let obstacles = self.layouts.survey(layout, &self.consents).obstacles;
        if obstacles.is_empty() {
            return Ok(());
        }
        Err(host::LayoutError::Obstacles { layout: layout.name.clone(), obstacles }.into())
    }

    fn create(
        &self,
        layout: &Layout,
        run_id: &str,
        tell: &mut dyn FnMut(&CommandRun),
    ) -> Result<Self::MadeLayout, RunnerError> {
        let Some(agreed) = self.agreed.get(&layout.name) else {
            return Err(host::LayoutError::CommandsChanged { layout: layout.name.clone() }.into());
        };
        Ok(self.layouts.create(layout, &self.consents, *agreed, run_id, tell)?)
    }

    fn places(&self, standing: &Self::MadeLayout) -> Vec<PathBuf> {
        standing.places()
    }

    fn verify(&self, standing: &Self::MadeLayout) -> Vec<LayoutFinding> {
        self.layouts.verify(standing)
    }

    fn destroy(
        &self,
        standing: Self::MadeLayout,
        tell: &mut dyn FnMut(&CommandRun),
    ) -> Result<(), RunnerError> {
        Ok(self.layouts.destroy(standing, tell)?)
    }
}

/// A plan with layouts, checked as far as possible before the layouts exist.
#[derive(Debug)]
pub struct ValidatedCampaign {
    /// The whole plan and the facts of the whole run. Its `finished` includes the cases on layouts.
    pub checked: Checked,
    /// Cases that are already in the record, so they are not run again.
    pub finished: BTreeSet<String>,
}

/// Checks `plan` as far as possible before its layouts exist: the obstacles to each layout, and everything
/// about cases without a layout. Nothing is created.
///
/// # Errors
/// Returns what the host lacks or rejects, with the next step; also errors if the run has several nodes.
pub fn validate_campaign(
    plan: Plan,
    host: &Host,
    comm: &dyn Comm,
    builder: &impl LayoutBuilder,
    run_id: String,
    started_unix_ns: i64,
    earlier: EarlierStart,
) -> Result<ValidatedCampaign, RunnerError> {
    let nodes = comm.topology().names().len();
    if nodes > 1 {
        let names: Vec<&str> = plan.layouts.iter().map(|layout| layout.name.as_str()).collect();
        return Err(RunnerError::Layout {
            kind: ErrorKind::Refused,
            message: format!(
                "layouts are created on one node, but this run has {nodes}: first create {} on each of them \
                 with `ioproof layout create`, and name the directories in the study (`directory` or \
                 `paths` instead of `layout`)",
                names.join(", ")
            ),
        });
    }
    let is_left = |case: &&Case| !earlier.finished.contains(&case.id);
    let mut obstacles = Vec::new();
    for layout in &plan.layouts {
        if plan.cases.iter().filter(is_left).any(|case| case.layout.as_ref() == Some(&layout.name)) {
            obstacles.extend(builder.look(layout).err().map(|error| (layout.name.as_str(), error)));
        }
    }
    if let Some((_, first)) = obstacles.first() {
        let refused = obstacles.iter().any(|(_, error)| error.kind() == ErrorKind::Refused);
        let kind = if refused { ErrorKind::Refused } else { first.kind() };
        let mut message: Vec<String> = obstacles.iter().map(|(_, error)| error.to_string()).collect();
        let missing: Vec<&str> = obstacles.iter().map(|(name, _)| *name).collect();
        message.extend(without(&plan, &missing));
        return Err(RunnerError::Layout { kind, message: message.join("\n") });
    }
    let finished = earlier.finished.clone();
    let on_layouts = plan.cases.iter().filter(|case| case.layout.is_some());
    let without = finished.iter().cloned().chain(on_layouts.map(|case| case.id.clone())).collect();
    let earlier = EarlierStart { finished: without, ..earlier };
    let mut checked = check_again(plan, host, comm, run_id, started_unix_ns, earlier)?;
    // The user is asked only once, including about existing layouts.
    checked.lost_files = checked.lost_now(&finished);
    Ok(ValidatedCampaign { checked, finished })
}

/// How to remove the `missing` layouts from `plan`, or `None` if a workload has no other target.
fn without(plan: &Plan, missing: &[&str]) -> Option<String> {
    let mut workloads: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let is_missing = |case: &Case| case.layout.as_deref().is_some_and(|name| missing.contains(&name));
    for concerned in plan.cases.iter().filter(|case| is_missing(case)) {
        workloads.entry(&concerned.group).or_default();
    }
    for case in plan.cases.iter().filter(|case| !is_missing(case)) {
        let left = workloads.get_mut(case.group.as_str());
        if let Some(left) = left.filter(|left| !left.contains(&case.target.as_str())) {
            left.push(&case.target);
        }
    }
    if workloads.values().any(|left| left.iter().all(|target| target.is_empty())) {
        return None;
    }
    let set = workloads.iter().map(|(name, left)| {
        let targets: Vec<String> = left.iter().map(|target| format!("\"{target}\"")).collect();
        shell_word(&format!("workload.{name}.target=[{}]", targets.join(", ")))
    });
    let options: Vec<String> = set.map(|set| format!("--set {set}")).collect();
    Some(format!("to omit {}: {}", missing.join(", "), options.join(" ")))
}

/// Executes a validated campaign, one layout after another. Whatever happens, files and layouts have been
/// removed and the record closed on return; [`RunSummary::left_behind`] names what could not be removed.
///
/// # Errors
/// Same as for [`PlanExecution::run`].
pub fn campaign(
    execution: PlanExecution<'_>,
    builder: &impl LayoutBuilder,
    validated: ValidatedCampaign,
) -> Result<RunSummary, RunnerError> {
    let ValidatedCampaign { checked, finished } = validated;
    let Checked { plan, run_id, started_unix_ns, permits, lost_files, .. } = checked;
    // Only files that the user was asked about may be lost, not others that are found on a layout.
    let execution = execution.with_agreed(lost_files);
    // The cases of each layout open their devices themselves.
    drop(permits);
    let mut campaign =
        Campaign { execution, builder, plan: &plan, run_id, started_unix_ns, finished, told: Vec::new() };
    let mut whole = RunSummary::default();
    let mut broken = None;
    for cases in plan.cases.chunk_by(|one, next| one.layout == next.layout) {
        if campaign.execution.controls.is_stopped() {
            break;
        }
        match campaign.run_cases(cases) {
            Ok(ended) => whole.add(ended),
            Err(error) => {
                broken = Some(error);
                break;
            }
        }
    }
    whole.interrupted = campaign.execution.controls.is_stopped();
    campaign.execution.close(broken.map_or(Ok(whole), Err))
}

/// A campaign in progress.
struct Campaign<'l, 'c, B: LayoutBuilder> {
    execution: PlanExecution<'l>,
    builder: &'c B,
    plan: &'c Plan,
    run_id: String,
    started_unix_ns: i64,
    finished: BTreeSet<String>,
    /// Warnings about the whole run that are already in the record.
    told: Vec<WarningRow>,
}

impl<B: LayoutBuilder> Campaign<'_, '_, B> {
    /// Runs the cases of one layout, or those without a layout.
    fn run_cases(&mut self, cases: &[Case]) -> Result<RunSummary, ExecutionError> {
        let name = cases.first().and_then(|case| case.layout.as_deref());
        let layout = name.and_then(|name| self.plan.layouts.iter().find(|layout| layout.name == name));
        if cases.iter().all(|case| self.finished.contains(&case.id)) {
            for (index, case) in cases.iter().enumerate() {
                self.execution.watch.event(&Event::CaseSkipped { index, case });
            }
            return Ok(RunSummary::default());
        }
        match layout {
            Some(layout) => self.on_layout(layout, cases),
            None => self.run_checked(cases.to_vec(), Vec::new()),
        }
    }

    fn on_layout(&mut self, layout: &Layout, cases: &[Case]) -> Result<RunSummary, ExecutionError> {
        self.execution.watch.event(&Event::Layout { layout, step: LayoutProgress::Creating });
        let mut commands = Vec::new();
        let execution = &mut self.execution;
        let created = self.builder.create(layout, &self.run_id, &mut |run| {
            execution.watch.event(&Event::Layout { layout, step: LayoutProgress::Ran(run) });
            commands.push(run.clone());
        });
        let error = created.as_ref().err().map(ToString::to_string);
        let noted = self.execution.recorder.layout(&layout.name, &LayoutEvent::Created { commands, error });
        let standing = match created {
            Ok(standing) => standing,
            Err(error) => {
                noted?;
                // Cases that have not been started yet are left to a resumed run.
                return if self.execution.controls.is_stopped() {
                    Ok(RunSummary::default())
                } else {
                    self.fail(cases, &error)
                };
            }
        };
        // From here on, the layout is destroyed on every path.
        let result = match noted {
            Ok(()) => self.measure(layout, &standing, cases),
            Err(error) => Err(error.into()),
        };
        let gone = self.dismantle(layout, standing);
        let mut ended = result?;
        if let Err(error) = gone? {
            ended.left_behind.get_or_insert(error);
        }
        Ok(ended)
    }

    /// Reads back the properties of the layout and runs the cases on it.
    fn measure(
        &mut self,
        layout: &Layout,
        standing: &B::MadeLayout,
        cases: &[Case],
    ) -> Result<RunSummary, ExecutionError> {
        let places = self.builder.places(standing);
        let cases = at_their_places(layout, &places, cases)?;
        let findings = self.builder.verify(standing);
        let own = Plan::new(String::new(), self.plan.source.clone(), self.plan.seed, cases.clone());
        let facts =
            self.execution.host.facts(&file_sets::targets(&own, &BTreeSet::new()), engine::clock_name());
        self.execution.recorder.add_facts(&facts);
        let found: Vec<String> =
            findings.iter().filter(|one| one.differs()).map(ToString::to_string).collect();
        self.execution.watch.event(&Event::Layout { layout, step: LayoutProgress::Stands(&findings) });
        let (file_systems, devices) = (facts.file_systems, facts.devices);
        self.execution
            .recorder
            .layout(&layout.name, &LayoutEvent::Verified { findings, file_systems, devices })?;
        if !found.is_empty() {
            self.execution.warn(Warning::LayoutDiffers { layout: layout.name.clone(), found })?;
        }
        let consents = if layout.recipe == Recipe::Raw { places } else { Vec::new() };
        self.run_checked(cases, consents)
    }

    /// Checks `cases` and runs them, with consent to write the devices `consents`.
    fn run_checked(
        &mut self,
        cases: Vec<Case>,
        consents: Vec<PathBuf>,
    ) -> Result<RunSummary, ExecutionError> {
        let names: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let finished = self.finished.iter().filter(|id| names.contains(id.as_str())).cloned().collect();
        let mut plan = Plan { cases: cases.clone(), layouts: Vec::new(), ..self.plan.clone() };
        plan.destroy_data_on.extend(consents.iter().map(|path| path.display().to_string()));
        let earlier = EarlierStart { finished, places: Vec::new() };
        let (host, comm) = (self.execution.host, self.execution.comm);
        let checked = check_again(plan, host, comm, self.run_id.clone(), self.started_unix_ns, earlier);
        let mut checked = match checked {
            Ok(checked) => checked,
            Err(error) if error.is_loss() => return Err(error.into()),
            Err(error) => return self.fail(&cases, &error),
        };
        checked.warnings.retain(|row| !self.told.contains(row));
        self.told.extend(checked.warnings.iter().cloned());
        self.execution.run_cases(&checked)
    }

    /// Destroys the layout, and records what is left of it if that fails.
    fn dismantle(
        &mut self,
        layout: &Layout,
        standing: B::MadeLayout,
    ) -> Result<Result<(), RunnerError>, ExecutionError> {
        self.execution.watch.event(&Event::Layout { layout, step: LayoutProgress::Destroying });
        let mut commands = Vec::new();
        let execution = &mut self.execution;
        let gone = self.builder.destroy(standing, &mut |run| {
            execution.watch.event(&Event::Layout { layout, step: LayoutProgress::Ran(run) });
            commands.push(run.clone());
        });
        let error = gone.as_ref().err().map(ToString::to_string);
        self.execution
            .recorder
            .layout(&layout.name, &LayoutEvent::Destroyed { commands, error: error.clone() })?;
        match error {
            None => self.execution.watch.event(&Event::Layout { layout, step: LayoutProgress::Gone }),
            Some(reason) => {
                self.execution.warn(Warning::LayoutStays { layout: layout.name.clone(), reason })?
            }
        }
        Ok(gone)
    }

    /// Marks all cases as failed for the same reason.
    fn fail(&mut self, cases: &[Case], error: &RunnerError) -> Result<RunSummary, ExecutionError> {
        let message = error.to_string();
        for (index, case) in cases.iter().enumerate() {
            if !self.finished.contains(&case.id) {
                self.execution.fail(index, case, &message)?;
            }
        }
        Ok(RunSummary { failed: Some((message, error.kind())), ..RunSummary::default() })
    }
}

/// Returns `cases` with the device paths of a raw layout, because a study may name devices by serial
/// number.
fn at_their_places(layout: &Layout, places: &[PathBuf], cases: &[Case]) -> Result<Vec<Case>, RunnerError> {
    if layout.recipe != Recipe::Raw {
        return Ok(cases.to_vec());
    }
    let place = |named: &PathBuf| {
        let member = layout.devices.iter().position(|device| Path::new(device) == named);
        member.and_then(|member| places.get(member)).unwrap_or(named).clone()
    };
    let moved = |case: &Case| {
        let mut spec = WorkloadSpec::from(case.workload.clone());
        spec.files.targets = spec.files.targets.iter().map(place).collect();
        Ok(Case { workload: spec.validate()?, ..case.clone() })
    };
    cases.iter().map(moved).collect()
}
