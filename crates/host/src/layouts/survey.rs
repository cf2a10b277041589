//! Determines the steps of a layout, and all obstacles.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use plan::layout::{Action, Step, UndoCondition, package};
use plan::{Layout, Recipe};

use super::error::Obstacle;
use super::ledger::{MadeLayout, OwnedDevice};
use super::ownership::Ownership;
use super::{CommandHash, Layouts, devices, kernel, ownership};
use crate::activity::programs;
use crate::file_systems::file_system;
use crate::{PermittedDevice, Refusal, Root};

/// The steps of a layout, and all obstacles.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// The steps in order. A device that was not identified is shown as given.
    pub steps: Vec<Step>,
    /// The nodes of the devices, in the order of the layout. A device that was not identified is shown as
    /// given.
    pub devices: Vec<PathBuf>,
    /// The user's own checks, which are executed after creation.
    pub checks: Vec<Action>,
    /// Hash of the commands, to be compared with the one that the user agreed to.
    pub commands: CommandHash,
    /// All obstacles. If there are none, the layout can be created.
    pub obstacles: Vec<Obstacle>,
}

/// A survey with the permits of the devices that it holds.
pub(super) struct Inspection {
    pub(super) survey: Survey,
    pub(super) owned: Vec<OwnedDevice>,
    pub(super) permits: Vec<PermittedDevice>,
}

impl Layouts {
    /// Determines the steps and all obstacles. Nothing is written, and no rights are needed: facts that
    /// would need rights are listed as obstacles. `consents` are the values of `--destroy-data-on` in
    /// addition to the devices that the layout names.
    #[must_use]
    pub fn survey(&self, layout: &Layout, consents: &[String]) -> Survey {
        self.inspect(layout, consents).survey
    }

    pub(super) fn inspect(&self, layout: &Layout, consents: &[String]) -> Inspection {
        let mut obstacles: Vec<Obstacle> = layout.problems().into_iter().map(Obstacle::Problem).collect();
        let (nodes, owned) = self.find(layout, &mut obstacles);
        let (steps, checks) = match layout.problems().is_empty() {
            true => (layout.steps(&nodes), layout.checks(&nodes)),
            false => (Vec::new(), Vec::new()),
        };
        let directories: Vec<PathBuf> = env::current_dir().into_iter().chain(self.study.clone()).collect();
        let commands = CommandHash::of_layout(&layout.name, &owned, &steps, &checks, &directories);
        obstacles.extend(tools(&steps));
        obstacles.extend(kernel::obstacles(&self.root, &layout.recipe));
        if needs_root(&layout.recipe) && !rustix::process::geteuid().is_root() {
            obstacles.push(Obstacle::NeedsRoot);
        }
        obstacles.extend(self.places(layout));
        obstacles.extend(names(&self.root, &layout.recipe, &steps));
        obstacles.extend(self.neighbours(layout, &nodes));
        let permits = self.permits(layout, consents, &owned, &mut obstacles);
        Inspection { survey: Survey { steps, devices: nodes, checks, commands, obstacles }, owned, permits }
    }

    /// The nodes of the devices, and the facts about those found. A device that is named twice, even under
    /// different names, is an obstacle, because it would become two members of an array.
    fn find(&self, layout: &Layout, obstacles: &mut Vec<Obstacle>) -> (Vec<PathBuf>, Vec<OwnedDevice>) {
        let mut seen: HashMap<PathBuf, &String> = HashMap::new();
        let mut nodes = Vec::new();
        let mut owned = Vec::new();
        for given in &layout.devices {
            let mut refuse =
                |reason: String| obstacles.push(Obstacle::Device { given: given.clone(), reason });
            let node = match devices::node(&self.root, given) {
                Ok(node) => node,
                Err(reason) => {
                    refuse(reason);
                    nodes.push(PathBuf::from(given));
                    continue;
                }
            };
            if let Some(before) = seen.insert(node.clone(), given) {
                refuse(format!(
                    "it is {}, which {before:?} already names: name each device once",
                    node.display()
                ));
            }
            owned.extend(devices::own(&self.root, given, &node));
            nodes.push(node);
        }
        (nodes, owned)
    }

    /// Asks the guard for each device. Naming a device in a layout is consent to the loss of its data.
    fn permits(
        &self,
        layout: &Layout,
        consents: &[String],
        owned: &[OwnedDevice],
        obstacles: &mut Vec<Obstacle>,
    ) -> Vec<PermittedDevice> {
        let consents: Vec<String> = layout.devices.iter().chain(consents).cloned().collect();
        let mut permits: Vec<PermittedDevice> = Vec::new();
        for device in owned {
            // A second claim of the same device would find it in use by this process.
            if permits.iter().any(|permit| permit.number() == device.number()) {
                continue;
            }
            match self.guard.permit(&device.path, &consents) {
                Ok(permit) => permits.push(permit),
                Err(Refusal { reasons, .. }) => {
                    let path = device.path.clone();
                    obstacles.push(Obstacle::Refused(Refusal { path, reasons }));
                }
            }
        }
        permits
    }

    /// Obstacles at the places that the layout uses.
    fn places(&self, layout: &Layout) -> Vec<Obstacle> {
        match &layout.recipe {
            Recipe::Raw => Vec::new(),
            Recipe::Existing => existing(&self.root, &layout.mount_point).into_iter().collect(),
            Recipe::Lustre { .. } => lustre(&self.root, &layout.mount_point).into_iter().collect(),
            _ => layout
                .directories()
                .iter()
                .filter_map(|path| ownership::mount_point_obstacle(&self.root, path))
                .collect(),
        }
    }

    /// Reports layouts in ledgers that have the same name or devices.
    pub(super) fn neighbours(&self, layout: &Layout, nodes: &[PathBuf]) -> Vec<Obstacle> {
        let others = match self.standing() {
            Ok(others) => others,
            Err(error) => return vec![Obstacle::Layout(error.to_string())],
        };
        others.iter().filter_map(|other| neighbour(other, layout, nodes)).collect()
    }
}

fn neighbour(other: &MadeLayout, layout: &Layout, nodes: &[PathBuf]) -> Option<Obstacle> {
    let way_out = match other.owner() {
        Some(pid) => format!("process {pid} is using it: wait for it to end"),
        None if other.is_leftover() => "a program left it behind: run ioproof layout clean".to_owned(),
        None => format!("dismantle it first: ioproof layout destroy {}", other.name()),
    };
    if other.name() == layout.name {
        return Some(Obstacle::Layout(format!("a layout {} already exists; {way_out}", other.name())));
    }
    let shared = other.devices().into_iter().find(|device| other.is_here() && nodes.contains(device))?;
    Some(Obstacle::Layout(format!("{} belongs to layout {}; {way_out}", shared.display(), other.name())))
}

fn existing(root: &Root, path: &Path) -> Option<Obstacle> {
    let reason = match fs::metadata(root.path(path)) {
        Ok(metadata) if metadata.is_dir() => return None,
        Ok(_) => "it is not a directory: give the directory to measure".to_owned(),
        Err(error) => format!("{error}: give an existing directory"),
    };
    Some(Obstacle::Place { path: path.to_owned(), reason })
}

/// Checks that the directory is new or empty, because stripes only apply to new files.
fn lustre(root: &Root, path: &Path) -> Option<Obstacle> {
    if let Some(obstacle) = ownership::mount_point_obstacle(root, path) {
        return Some(obstacle);
    }
    let table = file_system::mount_table(root).ok()?;
    let kind = file_system::facts(root, &table, path).ok()?.kind;
    (kind != "lustre").then(|| Obstacle::Place {
        path: path.to_owned(),
        reason: format!("it is on {kind}, not on Lustre: give a directory below a Lustre mount point"),
    })
}

/// The missing programs, each with the first step that needs it, including those needed for the undo.
fn tools(steps: &[Step]) -> Vec<Obstacle> {
    let undoing = steps.iter().flat_map(|step| &step.undo).map(|undo| (&undo.action, &undo.purpose));
    let doing = steps.iter().map(|step| (&step.action, &step.purpose));
    let mut missing: Vec<(&str, &String)> = Vec::new();
    for (action, purpose) in doing.chain(undoing) {
        if let Some(program) = action.program()
            && programs::find(program).is_none()
            && !missing.iter().any(|(known, _)| *known == program)
        {
            missing.push((program, purpose));
        }
    }
    let obstacle = |(program, purpose): (&str, &String)| Obstacle::Tool {
        program: program.to_owned(),
        purpose: purpose.clone(),
        package: package(program),
    };
    missing.into_iter().map(obstacle).collect()
}

/// Reports existing arrays, groups and file systems with the names of the layout, because they belong to
/// others.
fn names(root: &Root, recipe: &Recipe, steps: &[Step]) -> Vec<Obstacle> {
    let taken = |path: PathBuf, reason: String| Obstacle::Place { path, reason };
    let mut obstacles = Vec::new();
    for when in steps.iter().flat_map(|step| &step.undo).map(|undo| &undo.when) {
        match when {
            UndoCondition::Stacked { node, .. } if root.exists(&node.to_string_lossy()) => {
                obstacles.push(taken(node.clone(), "it already exists: give another --node".to_owned()));
            }
            UndoCondition::Grouped { group, volume: None, .. } => {
                let place = Path::new("/dev").join(group);
                if root.path(&place).exists() || ownership::examine(root, when) != Ownership::Nothing {
                    obstacles
                        .push(taken(place, "this group already exists: give another --group".to_owned()));
                }
            }
            UndoCondition::Answers(_) if matches!(recipe, Recipe::Gpfs { .. }) => {
                if let Recipe::Gpfs { file_system, .. } = recipe
                    && ownership::examine(root, when) != Ownership::Nothing
                {
                    let reason = "this file system already exists: give another --file-system".to_owned();
                    obstacles.push(taken(PathBuf::from(file_system), reason));
                }
            }
            _ => {}
        }
    }
    obstacles
}

/// Whether the recipe needs root. A user's own commands may not need it.
fn needs_root(recipe: &Recipe) -> bool {
    !matches!(recipe, Recipe::Existing | Recipe::Lustre { .. } | Recipe::Own { .. } | Recipe::Raw)
}
