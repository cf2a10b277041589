//! Targets by name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::layout::Layouts;
use crate::study::error::{StudyError, count};
use crate::study::keys::TARGET;
use crate::study::names::{unique, unknown};
use crate::study::table::definition::{Setter, setters};
use crate::study::table::values::{Fields, Span, Values};
use crate::text::nearest::nearest;
use crate::text::visible::shown;
use crate::{Layout, Recipe, TargetDescription};

/// The keys that locate a target; exactly one must be given.
const PLACES: [&str; 6] = ["path", "paths", "directory", "device", "disks", "layout"];

/// A place to measure.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) paths: Vec<PathBuf>,
    /// The index of the first target with the same paths: workloads on both share their files.
    pub(super) place: usize,
    pub(super) description: TargetDescription,
    /// Whether its paths are block devices.
    pub(super) device: bool,
    /// The layout that must be in place.
    pub(super) layout: Option<String>,
    /// The directories in which trees are created.
    pub(super) directories: Vec<PathBuf>,
    /// The directories for permanent, work and utility space of jobs.
    pub(super) spaces: Vec<PathBuf>,
}

/// The target of a workload, and which of its members it uses; all members if none are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MemberSelection {
    /// The index of the target among the valid ones.
    target: usize,
    from: usize,
    count: usize,
}

/// Used for work without a target.
pub(super) static NO_TARGET: LazyLock<Target> = LazyLock::new(|| Target {
    paths: Vec::new(),
    place: usize::MAX,
    description: TargetDescription::default(),
    device: false,
    layout: None,
    directories: Vec::new(),
    spaces: Vec::new(),
});

/// Paths below a layout: the same paths below another layout hold different data.
type LayoutPaths = (Option<String>, Vec<PathBuf>);

/// All targets of a study.
#[derive(Debug, Default)]
pub(super) struct Targets {
    sound: Vec<Target>,
    /// Targets of which workloads only use some members.
    parts: HashMap<MemberSelection, Target>,
    /// The number of the first target at each set of paths.
    places: HashMap<LayoutPaths, usize>,
    /// Names of all targets, including invalid ones.
    names: Vec<(String, Span)>,
    /// Whether a target's name could not be read, so that it may be the one that a workload names.
    partial: bool,
}

impl Targets {
    /// Reads the `[[target]]` tables; `partial` if there may be others.
    pub(super) fn read(
        tables: &[Fields],
        layouts: &Layouts,
        partial: bool,
        errors: &mut Vec<StudyError>,
    ) -> Self {
        let mut targets = Self { partial, ..Self::default() };
        for fields in tables {
            let Some(name) = fields.text("name").map(str::to_owned) else {
                targets.partial = true;
                continue;
            };
            unique(&mut targets.names, &name, fields.span("name"), "target", errors);
            if fields.sound() {
                targets.sound.extend(target(name, fields, layouts, errors));
            }
        }
        targets.number_places();
        targets.check_baselines(tables, errors);
        targets.check_layers(tables, errors);
        targets
    }

    fn number_places(&mut self) {
        for (index, target) in self.sound.iter_mut().enumerate() {
            target.place = *self.places.entry((target.layout.clone(), target.paths.clone())).or_insert(index);
        }
    }

    /// Creates a target from the members that a workload names, if it names any.
    pub(super) fn divide(&mut self, workload: &impl Values) {
        if !workload.has("member") && !workload.has("members") {
            return;
        }
        let Ok(members) = self.members_of(workload, &mut Vec::new()) else { return };
        if self.parts.contains_key(&members) {
            return;
        }
        let whole = &self.sound[members.target];
        let range = members.from..members.from + members.count;
        let paths = whole.paths[range.clone()].to_vec();
        let directories = whole.directories.get(range).map_or_else(Vec::new, <[PathBuf]>::to_vec);
        // Indices of whole targets are below that of the first part.
        let next = self.sound.len() + self.parts.len();
        let layout = whole.layout.clone();
        let place = *self.places.entry((layout.clone(), paths.clone())).or_insert(next);
        let description = whole.description.clone();
        let spaces = Vec::new();
        let part = Target { paths, place, description, device: whole.device, layout, directories, spaces };
        self.parts.insert(members, part);
    }

    fn check_baselines(&self, tables: &[Fields], errors: &mut Vec<StudyError>) {
        for fields in tables {
            if let Some(baseline) = fields.text("baseline") {
                errors.extend(self.unknown(baseline, fields.span("baseline")));
                if fields.text("name") == Some(baseline) {
                    let message = format!("target `{baseline}` is its own baseline");
                    let help = "name the target of one device that it is made of, or leave `baseline` out";
                    errors.push(StudyError::new(fields.span("baseline"), "itself", message, help));
                }
            }
        }
    }

    /// Checks that the layers of targets form no cycle.
    fn check_layers(&self, tables: &[Fields], errors: &mut Vec<StudyError>) {
        let below: HashMap<&str, &str> =
            tables.iter().filter_map(|fields| fields.text("name").zip(fields.text("above"))).collect();
        for fields in tables {
            let (Some(name), Some(first)) = (fields.text("name"), fields.text("above")) else { continue };
            errors.extend(self.unknown(first, fields.span("above")));
            let down = std::iter::successors(Some(first), |at| below.get(at).copied());
            // After this many steps all targets have been visited.
            if down.take(tables.len()).any(|at| at == name) {
                let message = format!("target `{name}` is built on itself");
                let help = "name the layer below it, or leave `above` out";
                errors.push(StudyError::new(fields.span("above"), "leads back to itself", message, help));
            }
        }
    }

    /// The names of all targets.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// The study's description of each target.
    pub(super) fn descriptions(&self) -> Vec<TargetDescription> {
        self.sound.iter().map(|target| target.description.clone()).collect()
    }

    /// The error for `wanted`, at `span`, if it is not the name of a target.
    pub(super) fn unknown(&self, wanted: &str, span: Span) -> Option<StudyError> {
        if self.partial || self.names().any(|name| name == wanted) {
            return None;
        }
        Some(unknown("target", wanted, span, self.names()))
    }

    /// The target that a workload names, or the only one, restricted to the members that the workload names.
    pub(super) fn of(&self, workload: &impl Values, errors: &mut Vec<StudyError>) -> Option<&Target> {
        if workload.has("member") || workload.has("members") {
            let members = self.members_of(workload, errors).ok()?;
            return self.parts.get(&members);
        }
        self.sound.get(self.index_of(workload, errors)?)
    }

    /// The index of the valid target that a workload names.
    fn index_of(&self, workload: &impl Values, errors: &mut Vec<StudyError>) -> Option<usize> {
        let Some(wanted) = workload.text("target") else {
            if self.names.len() != 1 && !self.partial {
                errors.push(no_target(workload, self.names().collect()));
            }
            return (self.names.len() == 1 && !self.sound.is_empty()).then_some(0);
        };
        let found = self.sound.iter().position(|target| target.description.name == wanted);
        if found.is_none() {
            errors.extend(self.unknown(wanted, workload.span("target")));
        }
        found
    }

    /// The members of its target that a workload names by `member` or `members`; an error is reported if
    /// these are wrong.
    fn members_of(
        &self,
        workload: &impl Values,
        errors: &mut Vec<StudyError>,
    ) -> Result<MemberSelection, ()> {
        let target = self.index_of(workload, errors).ok_or(())?;
        let (name, all) = (&self.sound[target].description.name, self.sound[target].paths.len());
        let given = |key: &str| {
            let given = workload.has(key).then(|| workload.count(key)).flatten();
            given.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        let mut refuse = |key: &str, message: String, help: String| {
            errors.push(StudyError::new(workload.span(key), "of this target", message, help));
            Err(())
        };
        let of = count(all as u64, "member");
        match (given("member"), given("members")) {
            (Some(_), Some(_)) => {
                let message = "both `member` and `members` say which members are used";
                let help = "give `member` for a single one, or `members` for the first several";
                let error = StudyError::new(workload.key_span("members"), "and here", message, help);
                errors.push(error.and(workload.key_span("member"), "here"));
                Err(())
            }
            (Some(from), None) if from < all => Ok(MemberSelection { target, from, count: 1 }),
            (Some(from), None) => refuse(
                "member",
                format!("target `{name}` has {of}, but none with the number {from}"),
                format!(
                    "members are numbered from 0 to {}, in the order of the target",
                    all.saturating_sub(1)
                ),
            ),
            (None, Some(count)) if count <= all => Ok(MemberSelection { target, from: 0, count }),
            (None, Some(count)) => refuse(
                "members",
                format!("target `{name}` has {of}, not {count}"),
                format!("write a number from 1 to {all}; a target with several has `paths` or a `layout`"),
            ),
            (None, None) => Err(()),
        }
    }
}

fn target(name: String, fields: &Fields, layouts: &Layouts, errors: &mut Vec<StudyError>) -> Option<Target> {
    let given: Vec<&str> = PLACES.into_iter().filter(|place| fields.has(place)).collect();
    let help = "give one of `path`, `paths`, `directory`, `device`, `disks` and `layout`";
    let [place] = given.as_slice() else {
        errors.push(match given.as_slice() {
            [first, second, ..] => StudyError::new(
                fields.key_span(second),
                "and another here",
                format!("target `{name}` is in {}", count(given.len() as u64, "place")),
                help,
            )
            .and(fields.key_span(first), "one place"),
            _ => StudyError::new(
                fields.header(),
                "no location",
                format!("target `{name}` has no location"),
                help,
            ),
        });
        return None;
    };
    if *place == "layout" {
        return on_layout(name, fields, layouts, errors);
    }
    if fields.has("volume") {
        let message = "`volume` would do nothing here";
        let help = "it needs a `layout`; otherwise leave it out";
        errors.push(StudyError::new(fields.key_span("volume"), "without effect", message, help));
    }
    let one = fields.text(place).map(PathBuf::from);
    let (paths, directories) = match *place {
        "paths" | "disks" => {
            let paths: Vec<PathBuf> = fields.texts(place)?.iter().map(PathBuf::from).collect();
            (paths.clone(), paths)
        }
        "directory" => {
            let directory = one?;
            (vec![directory.join(format!("ioproof-{name}.data"))], vec![directory])
        }
        _ => (vec![one.clone()?], vec![one?]),
    };
    let device = matches!(*place, "device" | "disks");
    let is_device = |path: &PathBuf| path.is_absolute() && path != Path::new("/");
    if let Some(other) = paths.iter().find(|path| device && !is_device(path)) {
        let message = format!("`{}` cannot be a block device", other.display());
        let help = "give its absolute path, for example \"/dev/nvme1n1\"";
        errors.push(StudyError::new(fields.span(place), "not the path of a device", message, help));
        return None;
    }
    let mut description = description(name, fields);
    if *place == "disks" && description.devices == 0 {
        description.devices = u32::try_from(paths.len()).unwrap_or(u32::MAX);
    }
    let spaces = spaces(&directories, None, fields, errors)?;
    Some(Target { paths, place: 0, description, device, layout: None, directories, spaces })
}

/// A target that is a layout, or a volume of one.
fn on_layout(
    name: String,
    fields: &Fields,
    layouts: &Layouts,
    errors: &mut Vec<StudyError>,
) -> Option<Target> {
    let wanted = fields.text("layout")?;
    let Some(layout) = layouts.find(wanted) else {
        let known = layouts.names.iter().map(String::as_str);
        if !layouts.partial && !known.clone().any(|name| name == wanted) {
            errors.push(unknown("layout", wanted, fields.span("layout"), known));
        }
        return None;
    };
    let mut directories = layout.directories();
    if let Some(volume) = fields.text("volume") {
        directories = vec![volume_of(layout, volume, fields, errors)?];
    }
    let device = layout.recipe == Recipe::Raw;
    let paths = match device {
        true => layout.devices.iter().map(PathBuf::from).collect(),
        false => directories.iter().map(|at| at.join(format!("ioproof-{name}.data"))).collect(),
    };
    let mut description = description(name, fields);
    if description.devices == 0 {
        description.devices = u32::try_from(members(layout)).unwrap_or(u32::MAX);
    }
    if description.title.is_empty() {
        description.title.clone_from(&layout.title);
    }
    if description.stands_for.is_empty() {
        description.stands_for.clone_from(&layout.stands_for);
    }
    let spaces = spaces(&directories, Some(layout), fields, errors)?;
    Some(Target {
        paths,
        place: 0,
        description,
        device,
        layout: Some(layout.name.clone()),
        directories,
        spaces,
    })
}

/// Number of devices that hold the data of a layout, as far as known.
fn members(layout: &Layout) -> usize {
    match layout.recipe {
        Recipe::Lustre { stripe_count, .. } => stripe_count as usize,
        _ => layout.devices.len(),
    }
}

/// The directory of one volume of a layout.
fn volume_of(
    layout: &Layout,
    wanted: &str,
    fields: &Fields,
    errors: &mut Vec<StudyError>,
) -> Option<PathBuf> {
    let volumes = match &layout.recipe {
        Recipe::Lvm { volumes, .. } => volumes.as_slice(),
        _ => &[],
    };
    if volumes.iter().any(|volume| volume.name == wanted) {
        return Some(layout.mount_point.join(wanted));
    }
    let names: Vec<&str> = volumes.iter().map(|volume| volume.name.as_str()).collect();
    let help = match names.as_slice() {
        [] => "leave `volume` out; `member` of a workload selects one of several directories".to_owned(),
        names => format!("its volumes are {}", names.join(", ")),
    };
    let message = format!("layout `{}` has no volume `{}`", layout.name, shown(wanted));
    errors.push(StudyError::new(fields.span("volume"), "no such volume", message, help));
    None
}

/// The directories of permanent, work and utility space: those that the target states, or else its first
/// three directories, with the last one used for missing ones.
fn spaces(
    directories: &[PathBuf],
    layout: Option<&Layout>,
    fields: &Fields,
    errors: &mut Vec<StudyError>,
) -> Option<Vec<PathBuf>> {
    // Devices have no directories, and jobs on devices are rejected.
    let Some(last) = directories.last() else { return Some(Vec::new()) };
    let mut spaces: Vec<PathBuf> =
        (0..3).map(|space| directories.get(space).unwrap_or(last).clone()).collect();
    for (space, key) in [(1, "work"), (2, "utility")] {
        let Some(wanted) = fields.text(key) else { continue };
        let own = match layout {
            Some(layout) if !Path::new(wanted).is_absolute() => {
                let all = layout.directories();
                let Some(found) = all.iter().find(|at| at.file_name().is_some_and(|name| name == wanted))
                else {
                    errors.push(no_volume(layout, &all, wanted, fields.span(key)));
                    return None;
                };
                found.clone()
            }
            _ => PathBuf::from(wanted),
        };
        // Utility space shares work space, unless it has a directory of its own.
        if space == 1 && directories.len() < 3 {
            spaces[2].clone_from(&own);
        }
        spaces[space] = own;
    }
    Some(spaces)
}

/// The error for a layout that has the volumes or file systems `all`, but not `wanted`.
fn no_volume(layout: &Layout, all: &[PathBuf], wanted: &str, span: Span) -> StudyError {
    let names: Vec<String> =
        all.iter().filter_map(|at| Some(at.file_name()?.to_string_lossy().into_owned())).collect();
    let help = match nearest(wanted, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("write one of {}, or an absolute path", names.join(", ")),
    };
    let message = format!("layout `{}` has no volume `{}`", layout.name, shown(wanted));
    StudyError::new(span, "no such volume", message, help)
}

/// Descriptions of targets whose location comes from elsewhere or is unknown.
pub(super) fn described(tables: &[Fields]) -> Vec<TargetDescription> {
    tables.iter().filter_map(|fields| Some(description(fields.text("name")?.to_owned(), fields))).collect()
}

fn description(name: String, fields: &Fields) -> TargetDescription {
    let mut description = TargetDescription { name, ..TargetDescription::default() };
    for (set, value) in setters(TARGET.keys, fields) {
        if let Setter::Target(set) = set {
            set(&mut description, value);
        }
    }
    description
}

fn no_target(workload: &impl Values, names: Vec<&str>) -> StudyError {
    let (message, help) = if names.is_empty() {
        (
            "the study has no [[target]] that this workload could use",
            "add one, with `name` and `path`, `paths`, `directory`, `device` or `disks`".to_owned(),
        )
    } else {
        ("this workload names no target", format!("add `target`, one of {}", names.join(", ")))
    };
    StudyError::new(workload.header(), "no target", message, help)
}
