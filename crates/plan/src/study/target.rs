//! Targets by name.

use std::path::{Path, PathBuf};

use super::error::{StudyError, count};
use super::fields::{Fields, Span};
use super::nearest::nearest;

/// The keys of which exactly one says where a target is.
const PLACES: [&str; 4] = ["path", "paths", "directory", "device"];

/// A place to measure.
#[derive(Debug)]
pub(super) struct Target {
    name: String,
    pub(super) paths: Vec<PathBuf>,
    /// Its one path is a block device.
    pub(super) device: bool,
}

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
            let Some(name) = fields.text("name") else {
                targets.partial = true;
                continue;
            };
            unique(&mut targets.names, &name, fields.span("name"), "target", errors);
            if fields.sound() {
                targets.sound.extend(target(name, fields, errors));
            }
        }
        targets
    }

    /// The target that a workload names, or the only one.
    pub(super) fn of(&self, workload: &Fields, errors: &mut Vec<StudyError>) -> Option<&Target> {
        let names = || self.names.iter().map(|(name, _)| name.as_str());
        let Some(wanted) = workload.text("target") else {
            if self.names.len() != 1 && !self.partial {
                errors.push(no_target(workload, names().collect()));
            }
            return self.sound.first().filter(|_| self.names.len() == 1);
        };
        if !names().any(|name| name == wanted) && !self.partial {
            let help = match (nearest(&wanted, names()), self.names.is_empty()) {
                (Some(meant), _) => format!("did you mean \"{meant}\"?"),
                (None, false) => format!("the targets are {}", names().collect::<Vec<_>>().join(", ")),
                (None, true) => "the study has no [[target]]; add one of this name".to_owned(),
            };
            let message = format!("there is no target `{}`", wanted.escape_debug());
            errors.push(StudyError::new(workload.span("target"), "no such target", message, help));
            return None;
        }
        self.sound.iter().find(|target| target.name == wanted)
    }
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
    let paths = match *place {
        "paths" => fields.texts("paths")?.into_iter().map(PathBuf::from).collect(),
        "directory" => vec![one?.join(format!("ioproof-{name}.data"))],
        _ => vec![one?],
    };
    let device = *place == "device";
    if device && !paths.iter().all(|path| path.is_absolute() && path != Path::new("/")) {
        let message = format!("`{}` cannot be a block device", paths[0].display());
        let help = "give its path from the root, as \"/dev/nvme1n1\"";
        errors.push(StudyError::new(fields.span("device"), "not the path of a device", message, help));
        return None;
    }
    Some(Target { name, paths, device })
}

fn no_target(workload: &Fields, names: Vec<&str>) -> StudyError {
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
