//! One rank's part of a plan: its tasks and their files and, on the first rank of a node, the per-node work.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use comm::Comm;
use engine::{Controls, MadeFiles, MemoryHog, ProcessNeeds};
use host::files::require_data;
use host::{Host, PermittedDevice, QuietWatch, RunGroups};
use plan::{Bytes, Case, Existing, FileSet, Keep, Nanos, ObjectsPlacement, Phase, Placement, Plan};
use record::{ClaimTurn, FileFates, PlacedClaim, TargetClaim, Warning, Wiped};

use crate::check::path_conflicts::check_in_use;
use crate::check::process_needs;
use crate::execution::jobs::KeepLaunches;
use crate::files::cleanup::{self, CreatedFiles};
use crate::files::file_sets::{self, FileSets};
use crate::files::paths::{self, absolute_path};
use crate::files::targets;
use crate::files::trees;
use crate::ranks::merge_ranks::PhaseTotals;
use crate::ranks::order::{Answer, CaseEnding, EndStep, Order, PhaseOrder, Prepare, WipeResult};
use crate::ranks::phase::PhaseRun;
use crate::ranks::phase_barrier::{Beside, GatePass, StartGate};
use crate::ranks::present_data::has_data;
use crate::ranks::rank_assignment::{RankAssignment, RootOwners, files_of, paths_of, paths_opened};
use crate::ranks::rows::Rows;
use crate::ranks::signals::{Signals, no_thread};
use crate::{Program, RunnerError};

/// What a rank needs to know about the plan and the other ranks.
pub(crate) struct RankContext<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) run_id: &'a str,
    pub(crate) run_directory: PathBuf,
    pub(crate) started_unix_ns: i64,
    /// Directories that differ from node to node.
    pub(crate) local_directories: &'a [PathBuf],
    /// Devices that the user agreed to overwrite.
    pub(crate) permits: &'a [PermittedDevice],
    /// The program to execute for each launch of jobs. Set on rank 0.
    pub(crate) program: Option<&'a Program>,
}

/// This rank's part of one of several phases that run at the same time.
struct Part<'r> {
    run: PhaseRun<'r>,
    /// How long after the first of them it begins.
    start: Nanos,
    tasks: Range<u32>,
    group: Box<dyn Comm + 'r>,
    new_files: BTreeSet<PathBuf>,
    /// Whether this is the first rank of a node with tasks of the phase.
    leads: bool,
}

/// The result of a rank's part of a phase. `None` if it runs no task of it.
type PartResult = Result<Option<(PhaseTotals, Rows)>, RunnerError>;

impl Part<'_> {
    /// Runs the phase when the gate of `pass` opens.
    fn go(
        self,
        (host, strand): (&Host, &dyn Comm),
        pass: GatePass<'_>,
        (made, links): (&MadeFiles, &BTreeSet<PathBuf>),
        controls: &Arc<Controls>,
    ) -> Result<(PhaseTotals, Rows), RunnerError> {
        let Part { run, start, tasks, group, new_files, .. } = self;
        let [_, halt] = controls.stop_flags();
        let beside = Beside { pass, start, halt };
        run.go(
            (host, strand, group.as_ref()),
            tasks,
            (&new_files, made, links),
            (controls, Some(beside)),
            None,
        )
    }
}

/// Carries out the orders on one rank.
pub(crate) struct RankExecutor<'a> {
    pub(crate) host: &'a Host,
    comm: &'a dyn Comm,
    controls: Arc<Controls>,
    signals: Arc<Signals>,
    context: RankContext<'a>,
    file_sets: FileSets<'a>,
    pub(crate) quiet: QuietWatch,
    created: CreatedFiles,
    /// Links that the user has named as files.
    links: BTreeSet<PathBuf>,
    hog: Option<MemoryHog>,
    claim: Option<PlacedClaim>,
    /// The directories that contain a claim of this rank.
    claimed: Vec<PathBuf>,
    /// Claimed files that are not removed, because a check found wrong data in their case.
    kept: BTreeSet<PathBuf>,
    /// The device numbers of the directories of the current case, as of before its first pass.
    devices: BTreeMap<PathBuf, u64>,
}

impl<'a> RankExecutor<'a> {
    /// Creates the executor of this rank of `comm`, before the first case.
    pub(crate) fn new(
        host: &'a Host,
        comm: &'a dyn Comm,
        controls: Arc<Controls>,
        context: RankContext<'a>,
        file_sets: FileSets<'a>,
        quiet: QuietWatch,
    ) -> Self {
        let signals = Signals::listen(comm, &controls);
        // Another rank, or another tool that takes turns with a study, may replace the same files.
        let are_shared =
            comm.size() > 1 || matches!(context.plan.source, plan::PlanSource::CrossCheck { .. });
        let created = CreatedFiles::new(are_shared);
        Self {
            host,
            comm,
            controls,
            signals,
            context,
            file_sets,
            quiet,
            created,
            links: BTreeSet::new(),
            hog: None,
            claim: None,
            claimed: Vec::new(),
            kept: BTreeSet::new(),
            devices: BTreeMap::new(),
        }
    }

    /// Carries out this rank's part of `order`.
    ///
    /// # Errors
    /// Errors if the order failed.
    pub(crate) fn carry_out(&mut self, order: &Order) -> Result<Answer, RunnerError> {
        match order {
            Order::Clear => self.clear(),
            Order::Claim => self.claim(),
            Order::Withdraw => self.withdraw(),
            Order::CaseBegins { case } => self.case_begins(*case),
            Order::Prepare(prepare) => self.prepare(prepare),
            Order::Wipe { case } => self.wipe(*case),
            Order::Lacks { case } => self.lacks(*case),
            Order::DropCaches { case } => self.drop_caches(*case),
            Order::CaseEnds { case, ending } => self.case_ends(*case, *ending),
            Order::RemoveAll => {
                let removed = self.created.remove_all()?;
                Ok(Answer::Files { removed, there: true })
            }
            Order::ReportHost { .. }
            | Order::FindMissing { .. }
            | Order::Synchronize
            | Order::Check(_)
            | Order::Start { .. }
            | Order::Phase(_)
            | Order::Together(_)
            | Order::End
            | Order::Dismiss => Err(RunnerError::OutOfPlace),
        }
    }

    fn run_of<'r>(&self, order: &'r PhaseOrder) -> Result<PhaseRun<'r>, RunnerError>
    where
        'a: 'r,
    {
        let launcher = (self.context.program, self.context.run_id);
        PhaseRun::new(self.context.plan, order, launcher, self.quiet.mates())
    }

    fn case(&self, index: usize) -> Result<&'a Case, RunnerError> {
        self.context.plan.cases.get(index).ok_or(RunnerError::OutOfPlace)
    }

    fn assignment(&self, case: &Case) -> Result<RankAssignment, RunnerError> {
        Ok(RankAssignment::of(&case.workload, self.comm.topology())?)
    }

    fn tasks(&self, case: &Case) -> Result<Range<u32>, RunnerError> {
        Ok(self.assignment(case)?.tasks_of(self.comm.rank()))
    }

    /// Whether this is the first rank of a node.
    fn leads(&self) -> bool {
        self.comm.topology().is_leader(self.comm.rank())
    }

    /// Whether this is the first rank of a node that runs tasks of `case`.
    fn leads_for(&self, case: &Case) -> Result<bool, RunnerError> {
        let topology = self.comm.topology();
        let node = topology.node_of()[self.comm.rank() as usize];
        Ok(self.leads() && self.assignment(case)?.nodes(topology).contains(&node))
    }

    /// Whether this rank writes the claim in `directory`: rank 0 does for all shared directories, and the first rank
    /// of each other node for the node-local ones.
    fn claims_in(&self, directory: &Path) -> bool {
        self.comm.rank() == 0
            || (self.leads() && self.context.local_directories.iter().any(|own| own == directory))
    }

    /// Removes leftovers of an earlier start of this run, possibly on another node, so that they do not count as the
    /// user's files.
    fn clear(&self) -> Result<Answer, RunnerError> {
        for directory in file_sets::directories(self.context.plan) {
            if !self.claims_in(&directory) {
                continue;
            }
            let left = record::leftovers(&directory)?;
            for own in left.iter().filter(|left| left.claim.run_id == self.context.run_id) {
                own.remove_unseen()?;
            }
        }
        RunGroups::remove_left(self.host.root(), self.context.run_id)?;
        Ok(Answer::Done)
    }

    /// Writes claims in the target directories for the files that this run makes.
    fn claim(&mut self) -> Result<Answer, RunnerError> {
        self.links = self.links_of_user();
        #[cfg(feature = "planted-faults")]
        if crate::planted("unclaimed") {
            return Ok(Answer::Done);
        }
        let context = &self.context;
        let file_sets = FileSets::of_plan(context.plan);
        let cases: Vec<&Case> = file_sets.cases().filter(|case| targets::writes(case)).collect();
        let mut directories: Vec<PathBuf> =
            cases.iter().flat_map(|case| targets::directories(case)).collect();
        directories.retain(|directory| self.claims_in(directory));
        if directories.is_empty() {
            return Ok(Answer::Done);
        }
        let files = paths::absolute(cases.iter().flat_map(|case| paths::paths(case)))?;
        let targets = paths::absolute(directories)?;
        let own = paths::absolute(cases.iter().flat_map(|case| targets::own_directories(case)))?;
        let (directory, node) = (&context.run_directory, self.comm.node());
        let trees: Vec<(PathBuf, bool)> = cases.iter().flat_map(|case| trees::claimed(case)).collect();
        let roots = trees.iter().map(|(root, beside)| Ok((absolute_path(root)?, *beside)));
        let trees: Vec<(PathBuf, bool)> = roots.collect::<Result<_, RunnerError>>()?;
        let made_by = |filter: fn(&FileSet) -> bool| {
            let made = cases.iter().filter(|case| filter(&case.workload.files));
            paths::absolute(made.flat_map(|case| paths::paths(case).into_iter().chain(trees::roots(case))))
        };
        let kept = made_by(|files| files.keep == Keep::Always)?.into_iter().collect();
        // If an earlier case writes a file in place, its identity may change, but it is still the user's file.
        let reused: BTreeSet<PathBuf> =
            made_by(|files| files.existing == Existing::Reuse)?.into_iter().collect();
        let mut replaced: BTreeSet<PathBuf> =
            made_by(|files| files.existing == Existing::Replace)?.into_iter().collect();
        replaced.retain(|path| !reused.contains(path));
        let claim = TargetClaim::new(context.run_id, directory, context.started_unix_ns, Keep::Never, node)?;
        let claim = TargetClaim { fates: Arc::new(FileFates { kept, replaced }), ..claim.with_trees(&trees) };
        let turn = ClaimTurn::take(&targets);
        let placed = claim.place(&targets, &files, &own)?;
        self.claimed = targets;
        // Another run may have started at the same time. Without locks for directories, at least one of two runs sees
        // the other's claim.
        let in_use = check_in_use(context.plan, context.run_id, false, |at| self.claims_in(at));
        drop(turn);
        if let Err(error) = in_use {
            placed.withdraw()?;
            return Err(error);
        }
        self.claim = Some(placed);
        Ok(Answer::Done)
    }

    /// The files of this rank's tasks whose names are links. From now on, anyone can see what the run will create.
    fn links_of_user(&self) -> BTreeSet<PathBuf> {
        let mut paths = BTreeSet::new();
        for case in &self.context.plan.cases {
            // A finished case of a resumed run may have used more nodes than there are now.
            if let Ok(tasks) = self.tasks(case) {
                paths.extend(paths_opened(case, &tasks));
            }
        }
        paths.into_iter().filter(|path| path.is_symlink()).collect()
    }

    fn withdraw(&mut self) -> Result<Answer, RunnerError> {
        self.claim.take().map_or(Ok(()), PlacedClaim::withdraw)?;
        Ok(Answer::Done)
    }

    fn case_begins(&mut self, index: usize) -> Result<Answer, RunnerError> {
        let case = self.case(index)?;
        // Another case may be on a different layout.
        self.devices.clear();
        if case.workload.memory_hog > Bytes(0) && self.leads_for(case)? {
            self.hog = Some(MemoryHog::hold(case.workload.memory_hog)?);
        }
        Ok(Answer::Done)
    }

    fn case_ends(&mut self, index: usize, ending: CaseEnding) -> Result<Answer, RunnerError> {
        self.hog = None;
        let case = self.case(index)?;
        if trees::has(case) {
            return self.trees_end(case, index, ending);
        }
        let wrong_data = ending.wrong_data;
        if wrong_data && case.workload.files.keep == Keep::OnError {
            self.kept.extend(paths::absolute(paths::paths(case))?);
        }
        let removed = self.created.remove_after(case, index, &self.file_sets, wrong_data)?;
        Ok(Answer::Files { removed, there: true })
    }

    /// Removes the trees of a case that no later case needs. First each rank removes its tasks' items, then
    /// the ranks responsible for the roots remove the rest; a single rank does both at once.
    fn trees_end(&mut self, case: &Case, index: usize, ending: CaseEnding) -> Result<Answer, RunnerError> {
        let keep = match case.workload.files.keep {
            Keep::Always => !ending.failed,
            Keep::OnError => ending.wrong_data && !ending.failed,
            Keep::Never => false,
        };
        let roots = trees::roots(case);
        let needed = self.file_sets.roots_needed_after(index, &roots);
        if !keep && ending.step == EndStep::Tasks && needed.is_empty() {
            let tasks = self.tasks(case)?;
            // Earlier contents do not belong to this run, and only the rank responsible for the root knows them.
            let own = trees::makes(case) && case.workload.files.existing == Existing::Replace;
            let removed = if own { trees::remove_own(case, &tasks)?.removed } else { 0 };
            let removed = u32::try_from(removed).unwrap_or(u32::MAX);
            return Ok(Answer::Files { removed, there: true });
        }
        let mine: BTreeSet<PathBuf> = roots.difference(&needed).cloned().collect();
        let removed = match ending.step {
            EndStep::Tasks => 0,
            EndStep::Roots => self.created.remove_trees(&mine, keep)?,
        };
        Ok(Answer::Files { removed, there: true })
    }

    fn prepare(&mut self, prepare: &Prepare) -> Result<Answer, RunnerError> {
        let case = self.case(prepare.case)?;
        let tasks = self.tasks(case)?;
        self.check_devices(case)?;
        let mut removed = 0;
        if prepare.replace && case.workload.files.existing == Existing::Replace {
            let files = files_of(&case.workload, &tasks, prepare.pass);
            let paths: Vec<PathBuf> = files.into_iter().map(|slot| slot.path).collect();
            removed = self.created.replace(&paths, "replace")?;
        }
        if prepare.directories {
            self.created.own_directories(case, &tasks, prepare.pass)?;
        }
        if prepare.trees {
            let assignment = self.assignment(case)?;
            let topology = self.comm.topology();
            let owners = RootOwners {
                case,
                assignment: &assignment,
                topology,
                local_directories: self.context.local_directories,
            };
            let rank = self.comm.rank();
            let (targets, roots) = (owners.targets_of(rank), owners.roots_of(rank, prepare.pass));
            let anew = case.workload.files.existing == Existing::Replace;
            let keep = !anew && case.workload.work.jobs().is_some();
            removed +=
                self.created.trees(&targets, &roots, trees::in_target(&case.workload), (anew, keep))?;
        }
        let there = match &prepare.data {
            Some(known) => has_data(case, &tasks, prepare.pass, known)?,
            None => true,
        };
        Ok(Answer::Files { removed, there })
    }

    /// Refuses to continue if another file system has been mounted in place of the one that was measured before.
    fn check_devices(&mut self, case: &Case) -> Result<(), RunnerError> {
        for directory in targets::directories(case) {
            let Ok(metadata) = std::fs::metadata(&directory) else { continue };
            let device = *self.devices.entry(directory.clone()).or_insert(metadata.dev());
            if device != metadata.dev() {
                let changed = "it is on a different file system than in the previous pass: one was mounted or \
                     unmounted";
                return Err(RunnerError::file("continue in", &directory)(std::io::Error::other(changed)));
            }
        }
        Ok(())
    }

    fn wipe(&self, index: usize) -> Result<Answer, RunnerError> {
        let case = self.case(index)?;
        let tasks = self.tasks(case)?;
        let started = Instant::now();
        let mut files =
            self.created.replace(&paths_of(case, &tasks).into_iter().collect::<Vec<_>>(), "wipe")?;
        files = files.saturating_add(self.wipe_trees(case)?);
        let mut wiped = Vec::new();
        if files > 0 {
            wiped.push(WipeResult::Done(Wiped::Files { files, took_ns: nanoseconds(started.elapsed()) }));
        }
        if tasks.contains(&0) {
            for target in &case.workload.files.targets {
                if !self.controls.is_stopped() && paths::leads_to_device(target) {
                    wiped.push(self.discard(target)?);
                }
            }
            if case.layout.is_some() {
                wiped.extend(self.trim(case));
            }
        }
        Ok(Answer::Wiped(wiped))
    }

    /// Discards the free space of the file systems of a layout. Since the files have been removed, this is everything
    /// except the file systems' own data.
    fn trim(&self, case: &Case) -> Vec<WipeResult> {
        let mut trimmed = BTreeMap::new();
        let targets = case.workload.files.targets.iter().filter(|target| !paths::leads_to_device(target));
        for directory in targets.map(|target| targets::place_of(case, target)) {
            // An unreadable directory is reported by the phases that use it.
            let Ok(metadata) = directory.metadata() else { continue };
            trimmed.entry(metadata.dev()).or_insert(directory);
        }
        let trim = |directory: PathBuf| {
            let started = Instant::now();
            let directory_name = directory.display().to_string();
            match host::trim(&directory) {
                Ok(bytes) => {
                    let took_ns = nanoseconds(started.elapsed());
                    WipeResult::Done(Wiped::Space { directory: directory_name, bytes, took_ns })
                }
                Err(error) => WipeResult::Unapplied {
                    what: format!("discarding the free space at {directory_name}"),
                    reason: error.to_string(),
                },
            }
        };
        trimmed.into_values().take_while(|_| !self.controls.is_stopped()).map(trim).collect()
    }

    /// Removes the contents of the roots of `case` that this rank is responsible for.
    fn wipe_trees(&self, case: &Case) -> Result<u32, RunnerError> {
        let mut removed = 0_u64;
        if !trees::has(case) {
            return Ok(0);
        }
        for root in self.roots_kept(case)? {
            let swept = trees::remove(&root, trees::in_target(&case.workload))?;
            trees::stays(&swept)?;
            removed += swept.removed;
        }
        Ok(u32::try_from(removed).unwrap_or(u32::MAX))
    }

    /// The roots of all passes of `case` that this rank is responsible for.
    fn roots_kept(&self, case: &Case) -> Result<BTreeSet<PathBuf>, RunnerError> {
        let (assignment, topology) = (self.assignment(case)?, self.comm.topology());
        let owners = RootOwners {
            case,
            assignment: &assignment,
            topology,
            local_directories: self.context.local_directories,
        };
        Ok(owners.all_roots_of(self.comm.rank()))
    }

    fn discard(&self, target: &Path) -> Result<WipeResult, RunnerError> {
        // Only the guard issues permits, and never for a device that is in use or was not named.
        let permit = self.context.permits.iter().find(|permit| permit.covers(target));
        let permit = permit.ok_or_else(|| RunnerError::Target {
            path: target.to_owned(),
            problem: "is a device that may not be wiped".to_owned(),
            help: "name it with --destroy-data-on".to_owned(),
        })?;
        let started = Instant::now();
        Ok(match permit.discard() {
            Ok(bytes) => WipeResult::Done(Wiped::Device {
                device: permit.path().display().to_string(),
                bytes,
                took_ns: nanoseconds(started.elapsed()),
            }),
            Err(error) => WipeResult::Unapplied {
                what: format!("discarding {}", permit.path().display()),
                reason: error.to_string(),
            },
        })
    }

    /// Whether a file of the first pass is missing or shorter than the case will read, or a set of objects is missing.
    fn lacks(&self, index: usize) -> Result<Answer, RunnerError> {
        let case = self.case(index)?;
        if let Some(objects) = ObjectsPlacement::new(&case.workload) {
            let is_there = |task, set| objects.root(task, 0).join(ObjectsPlacement::set(task, set)).is_dir();
            let lacks = |task| (0..objects.objects().sets).any(|set| !is_there(task, set));
            return Ok(Answer::Lacking(self.tasks(case)?.any(lacks)));
        }
        let placement = Placement::new(&case.workload);
        let reads = case.phases.first().is_some_and(|phase| phase.needs_data());
        let bytes = if reads { placement.bytes_to_read().get() } else { 0 };
        let lacking = files_of(&case.workload, &self.tasks(case)?, 0).iter().any(|slot| match reads {
            true => require_data(&slot.path, bytes).is_err(),
            false => std::fs::metadata(&slot.path).is_err(),
        });
        Ok(Answer::Lacking(lacking))
    }

    fn drop_caches(&self, index: usize) -> Result<Answer, RunnerError> {
        let case = self.case(index)?;
        if !self.leads_for(case)? {
            return Ok(Answer::Done);
        }
        let files = || files_of(&case.workload, &(0..case.workload.tasks), 0);
        let dropped = match case.protocol.drop_caches {
            true => host::cache::drop_all(self.host.root()),
            false => files().iter().try_for_each(|slot| host::cache::evict(&slot.path)),
        };
        Ok(dropped.map_or_else(|error| Answer::Refused(error.to_string()), |()| Answer::Done))
    }

    /// Runs this rank's part of a phase, together with the other ranks that run tasks of it. Returns `None` if this
    /// rank runs no task.
    ///
    /// # Errors
    /// Errors if a transfer failed, here or on another rank, or if the host lacks something.
    pub(crate) fn take_part(
        &mut self,
        order: &PhaseOrder,
    ) -> Result<Option<(PhaseTotals, Rows)>, RunnerError> {
        let run = self.run_of(order)?;
        let assignment = RankAssignment::of(&run.workload, self.comm.topology())?;
        let Some(group) = self.comm.group(&assignment.ranks()) else { return Ok(None) };
        let tasks = assignment.tasks_of(self.comm.rank());
        self.go(&run, tasks, group.as_ref(), None).map(Some)
    }

    /// Like [`RankExecutor::take_part`], for a run with a single rank.
    pub(crate) fn phase(
        &mut self,
        order: &PhaseOrder,
        keep: &mut KeepLaunches<'_>,
    ) -> Result<(PhaseTotals, Rows), RunnerError> {
        let run = self.run_of(order)?;
        let tasks = 0..run.workload.tasks;
        self.go(&run, tasks, self.comm, Some(keep))
    }

    fn go(
        &mut self,
        run: &PhaseRun<'_>,
        tasks: Range<u32>,
        group: &dyn Comm,
        keep: Option<&mut KeepLaunches<'_>>,
    ) -> Result<(PhaseTotals, Rows), RunnerError> {
        let order = run.order;
        let new_files = self.new_files(run, &tasks);
        let leads = group.topology().is_leader(group.rank());
        let watches = leads && order.phase.is_result();
        if watches {
            self.quiet.phase_starts();
        }
        self.signals.phase(order.number);
        let result = run.go(
            (self.host, self.comm, group),
            tasks,
            (&new_files, self.created.made(), &self.links),
            (&self.controls, None),
            keep,
        );
        self.signals.phase(0);
        let (mut totals, rows) = result?;
        if watches && let Some(Warning::NotQuiet { seen, share }) = self.quiet.phase_ended() {
            let node = self.comm.topology().node_of()[self.comm.rank() as usize];
            totals.disturbed.push((node, seen, share));
        }
        Ok((totals, rows))
    }

    /// The files that `tasks` create in a phase.
    fn new_files(&mut self, run: &PhaseRun<'_>, tasks: &Range<u32>) -> BTreeSet<PathBuf> {
        let mut new_files = BTreeSet::new();
        if run.order.phase.writes() && run.workload.backend.moves_data() {
            for slot in files_of(&run.workload, tasks, run.order.pass) {
                if self.created.file(&slot.path) {
                    self.links.remove(&slot.path);
                    new_files.insert(slot.path);
                }
            }
        }
        new_files
    }

    /// Controls for so many phases at the same time.
    pub(crate) fn streams(&self, count: usize) -> Vec<Arc<Controls>> {
        (0..count).map(|_| Arc::new(self.controls.beside())).collect()
    }

    /// Runs this rank's part of phases of several cases at the same time, each with its own of `streams`, in a thread of its
    /// own. The results are in the same order, as those of [`RankExecutor::take_part`].
    pub(crate) fn together(&mut self, orders: &[PhaseOrder], streams: &[Arc<Controls>]) -> Vec<PartResult> {
        let comm = self.comm;
        let strands: Vec<Box<dyn Comm + '_>> =
            (1..).map(|number| comm.strand(number)).take(orders.len()).collect();
        let needs: Vec<ProcessNeeds> = orders.iter().map(|order| self.needs_of(order)).collect();
        let mut parts = Vec::new();
        for ((place, order), strand) in orders.iter().enumerate().zip(&strands) {
            let others = needs[..place].iter().chain(&needs[place + 1..]);
            let beside = others.fold(ProcessNeeds::default(), |all, one| all.and(*one));
            parts.push(self.part(order, (orders.len(), beside), strand.as_ref()));
        }
        let count = parts.iter().filter(|part| matches!(part, Ok(Some(_)))).count();
        let gate = StartGate::new(count, parts.iter().any(Result::is_err));
        let watches = parts.iter().flatten().flatten().any(|part| part.leads);
        if watches {
            self.quiet.phase_starts();
        }
        self.signals.phase(orders.first().map_or(0, |order| order.number));
        let (host, made, links) = (self.host, self.created.made(), &self.links);
        let mut results: Vec<PartResult> = thread::scope(|scope| {
            let mut threads = Vec::new();
            for ((part, controls), strand) in parts.into_iter().zip(streams).zip(&strands) {
                let strand = strand.as_ref();
                let started = part.and_then(|part| {
                    let Some(part) = part else { return Ok(None) };
                    let pass = gate.enter();
                    let go = move || part.go((host, strand), pass, (made, links), controls);
                    Ok(Some(thread::Builder::new().spawn_scoped(scope, go).map_err(no_thread)?))
                });
                threads.push(started);
            }
            // If a rank is lost, the phases end, and the next call tells of it.
            gate.open(|failed| comm.any(failed).unwrap_or(true));
            let ended = threads.into_iter().map(|thread| {
                thread?.map(|thread| thread.join().unwrap_or(Err(RunnerError::OutOfPlace))).transpose()
            });
            ended.collect()
        });
        self.signals.phase(0);
        let disturbed = watches.then(|| self.quiet.phase_ended()).flatten();
        let node = comm.topology().node_of()[comm.rank() as usize];
        if let Some(Warning::NotQuiet { seen, share }) = disturbed {
            for (totals, _) in results.iter_mut().flatten().flatten() {
                totals.disturbed.push((node, seen.clone(), share));
            }
        }
        results
    }

    /// What the tasks of this rank need in a phase. None if there is an error, which is that of the phase.
    fn needs_of(&self, order: &PhaseOrder) -> ProcessNeeds {
        let case = self.case(order.case);
        case.and_then(|case| Ok(process_needs::of_tasks(case, self.tasks(case)?.len() as u64)))
            .unwrap_or_default()
    }

    /// This rank's part of one of so many phases, of which the others need this in the process. `None` if it runs no task
    /// of it.
    fn part<'r>(
        &mut self,
        order: &'r PhaseOrder,
        (streams, beside): (usize, ProcessNeeds),
        strand: &'r dyn Comm,
    ) -> Result<Option<Part<'r>>, RunnerError>
    where
        'a: 'r,
    {
        let run = self.run_of(order)?.among(u32::try_from(streams).unwrap_or(u32::MAX), beside);
        let start = self.case(order.case)?.concurrent.as_ref().map_or(Nanos(0), |one| one.start);
        let assignment = RankAssignment::of(&run.workload, strand.topology())?;
        let Some(group) = strand.group(&assignment.ranks()) else { return Ok(None) };
        let tasks = assignment.tasks_of(strand.rank());
        let new_files = self.new_files(&run, &tasks);
        let leads = group.topology().is_leader(group.rank());
        Ok(Some(Part { run, start, tasks, group, new_files, leads }))
    }

    /// Removes this rank's files after a rank was lost. Claims of files that a lost rank may have left are kept,
    /// unless rank 0 can remove the files itself.
    ///
    /// # Errors
    /// Errors if something could not be removed.
    pub(crate) fn save_what_can_be(&mut self) -> Result<(), RunnerError> {
        self.hog = None;
        let mut result = self.created.remove_all().map(|_| ());
        if let Some(claim) = self.claim.take() {
            for directory in &self.claimed {
                result = result.and(self.remove_claimed(directory));
            }
            if result.is_ok() {
                result = claim.withdraw().map_err(RunnerError::from);
            }
        }
        result
    }

    /// Removes the files listed in this run's claim in `directory`, including those of lost ranks.
    fn remove_claimed(&self, directory: &Path) -> Result<(), RunnerError> {
        let left = record::leftovers(directory)?;
        let own = left.iter().filter(|left| left.claim.run_id == self.context.run_id);
        for left in own {
            let paths = left.files.iter().map(|file| &file.path).filter(|path| !self.kept.contains(*path));
            cleanup::remove_existing(paths.cloned(), "remove")?;
            left.remove_trees()?;
            // A directory that is not empty is kept.
            let _ = left.remove_directories();
        }
        Ok(())
    }
}

/// Whether `phase` reads data that must exist before it starts.
pub(crate) fn reads(case: &Case, phase: Phase) -> bool {
    phase.needs_data() && case.workload.backend.moves_data()
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
