//! Converts the settings of a command line to cases of a plan.

use plan::{
    Backend, Bytes, Case, Existing, FileSet, Geometry, Keep, Nanos, Phase, PlanError, Sharing, Spread,
    Stonewall, Tree, WorkloadSpec,
};

use super::options::OPTIONS;
use super::settings::Settings;
use crate::launcher::Launcher;
use crate::{Extras, ToolError};

/// The tasks of each case, in order, and their placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tasks {
    /// Total number of tasks of the launcher's processes, or of this process.
    pub all: u32,
    /// Number of tasks of each process of a launcher; 0 if one process runs all.
    pub per_rank: u32,
    /// The node of each task.
    pub node_of: Vec<u32>,
    /// Number of tasks of each case.
    pub counts: Vec<u32>,
}

impl Tasks {
    pub(super) fn of(
        settings: &Settings,
        extras: &Extras,
        launcher: Launcher<'_>,
    ) -> Result<Self, ToolError> {
        let per_rank = extras.tasks_per_rank;
        let by_hand = launcher.node_of.is_empty();
        let node_of = launcher.node_of_tasks(per_rank);
        let all = u32::try_from(node_of.len()).unwrap_or(u32::MAX);
        let last = if settings.last == 0 { all } else { settings.last };
        // Without -l the first number is ignored, as in mdtest.
        let first = if settings.last == 0 { all } else { settings.first.max(1) };
        if first > last {
            return Err(OPTIONS.error(
                &format!("-f {first} -l {last}"),
                "the first number of tasks is greater than the last; give a smaller -f, or a larger -l",
            ));
        }
        if last > all {
            return Err(OPTIONS.error(
                &format!("-l {last}"),
                &format!(
                    "there are {all} tasks; start more processes, or run more tasks on each: \
                     --tasks-per-rank {}",
                    u64::from(last).div_ceil(launcher.node_of.len().max(1) as u64)
                ),
            ));
        }
        let counts = (first..=last).step_by(settings.stride as usize).collect();
        Ok(Self { all, per_rank: if by_hand { 0 } else { per_rank }, node_of, counts })
    }

    /// Number of nodes on which the first `tasks` of them run.
    pub(super) fn nodes(&self, tasks: u32) -> u32 {
        let mut nodes: Vec<u32> = self.node_of.iter().take(tasks as usize).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        u32::try_from(nodes.len()).unwrap_or(u32::MAX).max(1)
    }

    /// Which tasks are on the same node as the first one, for example `11100`.
    pub(super) fn map(&self) -> String {
        self.node_of.iter().map(|node| if self.node_of.first() == Some(node) { '1' } else { '0' }).collect()
    }
}

impl Settings {
    /// The tree that each iteration creates.
    ///
    /// # Errors
    /// Errors if there are fewer items than directories, or if mdtest would create several trees.
    pub(super) fn tree(&self, in_target: bool) -> Result<Tree, ToolError> {
        let mut tree = Tree {
            depth: self.depth,
            branching: self.branching.max(1),
            leaf_only: self.leaf_only,
            own_trees: self.own_trees,
            write_bytes: Bytes(self.write_bytes),
            read_bytes: Bytes(self.read_bytes),
            sync: self.sync,
            shift: self.shift,
            random: self.random.then(|| self.seed.unwrap_or(1)),
            collective: self.collective,
            make_node: self.make_node,
            in_target,
            shared: self.shared,
            sync_all: self.sync_all,
            ..Tree::flat(0)
        };
        let directories = tree.used_directories().1;
        tree.items_per_directory = match (self.items, self.items_per_directory) {
            // No phase uses items.
            (0, 0) => 1,
            (items, 0) => items / directories.max(1),
            (_, each) => each,
        };
        let trees = self.items / self.items_per_directory.max(1);
        if self.items_per_directory > 0 && trees > 1 {
            return Err(OPTIONS.error(
                &format!("-n {} -I {}", self.items, self.items_per_directory),
                &format!(
                    "mdtest would create {trees} trees one after the other; ioproof creates one in each \
                     iteration: give only -I {} for all items in one tree, or -I {1} -i {trees}",
                    self.items, self.items_per_directory
                ),
            ));
        }
        if tree.items_per_directory == 0 {
            return Err(OPTIONS.error(
                &format!("-n {}", self.items),
                &format!(
                    "is less than one item for each of {directories} directories; give {directories} or more"
                ),
            ));
        }
        Ok(tree)
    }

    /// Whether there are items. Without any, mdtest only creates and removes the tree.
    pub(super) fn has_items(&self) -> bool {
        self.items > 0 || self.items_per_directory > 0
    }

    /// The phases of an iteration, in mdtest's order.
    pub(super) fn phases(&self) -> Vec<Phase> {
        let chosen = self.chosen;
        let some = self.has_items();
        let (directories, files) = (some && self.has_directories(), some && self.has_files());
        [
            (chosen.create, Phase::TreeCreate),
            (directories && chosen.create, Phase::DirectoryCreate),
            (directories && chosen.stat, Phase::DirectoryStat),
            (directories && chosen.rename, Phase::DirectoryRename),
            (directories && chosen.remove, Phase::DirectoryRemove),
            (files && chosen.create, Phase::FileCreate),
            (files && chosen.stat, Phase::FileStat),
            (files && chosen.read, Phase::FileRead),
            (files && chosen.remove, Phase::FileRemove),
            (chosen.remove, Phase::TreeRemove),
        ]
        .into_iter()
        .filter_map(|(wanted, phase)| wanted.then_some(phase))
        .collect()
    }

    fn files(&self) -> FileSet {
        FileSet {
            targets: self.directories.clone(),
            sharing: Sharing::Shared,
            exact_names: false,
            unique_dir: false,
            file_per_repetition: true,
            existing: Existing::Reuse,
            // Items remain if no remove phase has removed them: -C alone leaves the tree for a later run.
            keep: if self.chosen.remove { Keep::Never } else { Keep::Always },
            preallocate: false,
            fill: false,
        }
    }

    /// The case with this number of tasks.
    ///
    /// # Errors
    /// Errors if a workload cannot be measured.
    pub(super) fn case(
        &self,
        tree: &Tree,
        tasks: u32,
        all: &Tasks,
        limit: Option<u64>,
    ) -> Result<Case, ToolError> {
        let id = if all.counts.len() == 1 { "mdtest".to_owned() } else { format!("tasks-{tasks}") };
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new(&id, "", geometry);
        spec.work = tree.clone().into();
        spec.files = self.files();
        (spec.tasks, spec.nodes) = (tasks, all.nodes(tasks));
        if all.per_rank > 0 {
            spec.spread = Spread::Ranks { tasks_per_rank: all.per_rank };
        }
        spec.backend = if self.api == "DUMMY" { Backend::Null } else { Backend::Psync };
        spec.stonewall = (self.stonewall > 0 && self.chosen.create)
            .then(|| Stonewall { deadline: Nanos::secs(self.stonewall), wear_out: true });
        spec.transfer_limit = limit;
        (spec.verify, spec.direct) = (self.verify, self.direct);
        spec.signature = self.signature.max(0).cast_unsigned();
        let workload = spec.validate().map_err(|error| wrong(&error))?;
        let phases = self.phases();
        if phases.is_empty() && !self.has_items() {
            let told = "there are no items, so nothing would be done; give -n for each task, or -I for each directory";
            return Err(OPTIONS.error("-n 0", told));
        }
        if phases.is_empty() {
            return Err(OPTIONS.error("-U", "there are no directories to rename; leave out -F or -U"));
        }
        Ok(Case {
            title: self.title(tree, tasks),
            repetitions: self.iterations,
            delay: Nanos::secs(self.delay),
            ..Case::new(id, workload, phases)
        })
    }

    /// The name of the items in mdtest's line of tasks.
    pub(super) const fn noun(&self) -> &'static str {
        match (self.shared, self.has_files(), self.has_directories()) {
            (true, ..) => "file",
            (false, true, true) => "files/directories",
            (false, _, true) => "directories",
            (false, ..) => "files",
        }
    }

    fn title(&self, tree: &Tree, tasks: u32) -> String {
        let each = if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
        let place = if self.own_trees { "trees of their own" } else { "one tree" };
        format!("{each}, {} {} of each, in {place}", tree.items_per_task(), self.noun())
    }
}

fn wrong(error: &PlanError) -> ToolError {
    let written = match error.field {
        "tasks" | "nodes" | "tasks_per_rank" => "--tasks-per-rank",
        "target" => "-d",
        "duration" => "-W",
        field => field,
    };
    OPTIONS.error(written, &format!("{error}; {}", error.help))
}
