//! Targets by name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::error::{StudyError, count};
use super::fields::{Fields, Span, Values, shown};
use super::nearest::nearest;
use crate::{Client, Layer, TargetTerms};

/// The keys of which exactly one says where a target is.
const PLACES: [&str; 4] = ["path", "paths", "directory", "device"];

/// A place to measure.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) paths: Vec<PathBuf>,
    /// The number of the first target with the same paths: workloads on both share their files.
    pub(super) place: usize,
    pub(super) terms: TargetTerms,
    /// Its one path is a block device.
    pub(super) device: bool,
    /// The directories in which trees are made.
    pub(super) directories: Vec<PathBuf>,
}

/// Stands in where work has no target.
pub(super) static NOWHERE: LazyLock<Target> = LazyLock::new(|| Target {
    paths: Vec::new(),
    place: usize::MAX,
    terms: TargetTerms::default(),
    device: false,
    directories: Vec::new(),
});

/// All targets of a study.
#[derive(Debug, Default)]
pub(super) struct Targets {
    sound: Vec<Target>,
    /// Names of all targets, also of those that are wrong in themselves.
    names: Vec<(String, Span)>,
    /// A target's name could not be read: it may be the one that a workload asks for.
    partial: bool,
}

impl Targets {
    /// Reads the `[[target]]` tables; `partial` where there may be others.
    pub(super) fn read(tables: &[Fields], partial: bool, errors: &mut Vec<StudyError>) -> Self {
        let mut targets = Self { partial, ..Self::default() };
        for fields in tables {
            let Some(name) = fields.text("name").map(str::to_owned) else {
                targets.partial = true;
                continue;
            };
            unique(&mut targets.names, &name, fields.span("name"), "target", errors);
            if fields.sound() {
                targets.sound.extend(target(name, fields, errors));
            }
        }
        targets.number_places();
        targets.check_baselines(tables, errors);
        targets
    }

    fn number_places(&mut self) {
        let mut places = HashMap::new();
        for (index, target) in self.sound.iter_mut().enumerate() {
            target.place = *places.entry(target.paths.clone()).or_insert(index);
        }
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

    /// The names of all targets.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// What the study says about each target.
    pub(super) fn terms(&self) -> Vec<TargetTerms> {
        self.sound.iter().map(|target| target.terms.clone()).collect()
    }

    /// What is wrong with `wanted`, which stands at `span`, as the name of a target.
    pub(super) fn unknown(&self, wanted: &str, span: Span) -> Option<StudyError> {
        if self.partial || self.names().any(|name| name == wanted) {
            return None;
        }
        Some(unknown("target", wanted, span, self.names()))
    }

    /// The target that a workload names, or the only one.
    pub(super) fn of(&self, workload: &impl Values, errors: &mut Vec<StudyError>) -> Option<&Target> {
        let Some(wanted) = workload.text("target") else {
            if self.names.len() != 1 && !self.partial {
                errors.push(no_target(workload, self.names().collect()));
            }
            return self.sound.first().filter(|_| self.names.len() == 1);
        };
        let found = self.sound.iter().find(|target| target.terms.name == wanted);
        if found.is_none() {
            errors.extend(self.unknown(wanted, workload.span("target")));
        }
        found
    }
}

/// A name that no table of the kind `noun` has.
pub(super) fn unknown<'n>(
    noun: &str,
    wanted: &str,
    span: Span,
    names: impl Iterator<Item = &'n str> + Clone,
) -> StudyError {
    let help = match (nearest(wanted, names.clone()), names.clone().next().is_none()) {
        (Some(meant), _) => format!("did you mean \"{meant}\"?"),
        (None, false) => format!("the {noun}s are {}", names.collect::<Vec<_>>().join(", ")),
        (None, true) => format!("the study has no [[{noun}]]; add one of this name"),
    };
    let message = format!("there is no {noun} `{}`", shown(wanted));
    StudyError::new(span, format!("no such {noun}"), message, help)
}

/// Adds `name` to `names`, and reports it if it is there already.
pub(super) fn unique(
    names: &mut Vec<(String, Span)>,
    name: &str,
    span: Span,
    noun: &str,
    errors: &mut Vec<StudyError>,
) {
    if let Some((_, first)) = names.iter().find(|(other, _)| other == name) {
        let message = format!("two {noun}s are called `{name}`");
        let help = format!("the name of a {noun} is unique in a study");
        errors.push(StudyError::new(span, "again here", message, help).and(first.clone(), "first here"));
        return;
    }
    names.push((name.to_owned(), span));
}

fn target(name: String, fields: &Fields, errors: &mut Vec<StudyError>) -> Option<Target> {
    let given: Vec<&str> = PLACES.into_iter().filter(|place| fields.has(place)).collect();
    let help = "give one of `path`, `paths`, `directory` and `device`";
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
                "no place given",
                format!("nothing says where target `{name}` is"),
                help,
            ),
        });
        return None;
    };
    let one = fields.text(place).map(PathBuf::from);
    let (paths, directories) = match *place {
        "paths" => {
            let paths: Vec<PathBuf> = fields.texts("paths")?.iter().map(PathBuf::from).collect();
            (paths.clone(), paths)
        }
        "directory" => {
            let directory = one?;
            (vec![directory.join(format!("ioproof-{name}.data"))], vec![directory])
        }
        _ => (vec![one.clone()?], vec![one?]),
    };
    let device = *place == "device";
    if device && !paths.iter().all(|path| path.is_absolute() && path != Path::new("/")) {
        let message = format!("`{}` cannot be a block device", paths[0].display());
        let help = "give its path from the root, as \"/dev/nvme1n1\"";
        errors.push(StudyError::new(fields.span("device"), "not the path of a device", message, help));
        return None;
    }
    Some(Target { paths, place: 0, terms: terms(name, fields), device, directories })
}

fn terms(name: String, fields: &Fields) -> TargetTerms {
    TargetTerms {
        name,
        title: fields.text_or_empty("title"),
        stands_for: fields.text_or_empty("stands_for"),
        layer: match fields.word("layer") {
            Some("node-local") => Layer::NodeLocal,
            Some("shared") => Layer::Shared,
            _ => Layer::Unstated,
        },
        client: match fields.word("client") {
            Some("local-to-server") => Client::LocalToServer,
            Some("remote") => Client::Remote,
            _ => Client::Unstated,
        },
        devices: fields.count_u32("devices").unwrap_or(0),
        baseline: fields.text("baseline").map(str::to_owned),
        server_memory: fields.bytes("server_memory"),
        caches: fields.bytes("caches"),
        rack_units: fields.number("rack_units").unwrap_or(0.0),
    }
}

fn no_target(workload: &impl Values, names: Vec<&str>) -> StudyError {
    let (message, help) = if names.is_empty() {
        (
            "the study has no [[target]] that this workload could use",
            "add one, with `name` and `path`, `paths`, `directory` or `device`".to_owned(),
        )
    } else {
        ("nothing says on which target this runs", format!("add `target`, one of {}", names.join(", ")))
    };
    StudyError::new(workload.header(), "on which target?", message, help)
}
