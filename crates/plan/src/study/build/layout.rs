//! One `[[layout]]` table as a layout.

use std::path::PathBuf;

use crate::study::error::StudyError;
use crate::study::keys::LAYOUT;
use crate::study::names::unique;
use crate::study::table::values::{Fields, Values};
use crate::text::nearest::nearest;
use crate::text::visible::shown;
use crate::{Bytes, FileSystem, FileSystemKind, Layout, MdMetadata, Recipe, Volume};

/// Keys used by every recipe.
const ALWAYS: [&str; 5] = ["name", "recipe", "title", "stands_for", "devices"];
/// Keys used by recipes with a local file system.
const LOCAL: [&str; 4] = ["mount_point", "file_system", "make_options", "mount_options"];
/// Default chunk size, as in mdadm(8).
const CHUNK: Bytes = Bytes::kib(512);

/// The keys that `recipe` uses in addition to [`ALWAYS`], and those of them that are required.
fn keys(recipe: &str) -> (Vec<&'static str>, &'static [&'static str]) {
    let local = |more: &[&'static str]| LOCAL.iter().chain(more).copied().collect();
    match recipe {
        "raw" => (Vec::new(), &["devices"]),
        "per-device" => (local(&[]), &["devices", "mount_point"]),
        "btrfs" => (vec!["mount_point", "mount_options"], &["devices", "mount_point"]),
        "md" | "imsm" => (local(&["chunk", "node"]), &["devices", "mount_point"]),
        "lvm" => (local(&["group", "stripe", "volumes"]), &["devices", "mount_point", "stripe"]),
        "gpfs" => (
            vec!["mount_point", "file_system", "block", "nodes", "nsd_list"],
            &["devices", "mount_point", "file_system", "block", "nsd_list"],
        ),
        "lustre" => {
            (vec!["mount_point", "stripe_count", "first", "stripe"], &["mount_point", "stripe_count"])
        }
        "own" => (vec!["mount_point", "create", "verify", "destroy"], &["mount_point", "create", "destroy"]),
        _ => (vec!["mount_point"], &["mount_point"]),
    }
}

/// The layouts of a study, with their tables.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    pub(super) sound: Vec<Layout>,
    /// Names of all layouts, including invalid ones.
    pub(super) names: Vec<String>,
    /// Whether there may be others that could not be read.
    pub(super) partial: bool,
}

impl Layouts {
    /// Reads the `[[layout]]` tables; `partial` if there may be others.
    pub(super) fn read(tables: &[Fields], partial: bool, errors: &mut Vec<StudyError>) -> Self {
        let mut layouts = Self { partial, ..Self::default() };
        let mut names = Vec::new();
        for fields in tables {
            let Some(name) = fields.text("name").map(str::to_owned) else {
                layouts.partial = true;
                continue;
            };
            unique(&mut names, &name, fields.span("name"), "layout", errors);
            if fields.sound() {
                layouts.sound.extend(layout(&name, fields, errors));
            }
            layouts.names.push(name);
        }
        layouts
    }

    /// The layout with this name, if it is valid.
    pub(super) fn find(&self, name: &str) -> Option<&Layout> {
        self.sound.iter().find(|layout| layout.name == name)
    }
}

fn layout(name: &str, fields: &Fields, errors: &mut Vec<StudyError>) -> Option<Layout> {
    let before = errors.len();
    let word = fields.word("recipe")?;
    let (heeded, needed) = keys(word);
    for key in fields.keys().filter(|key| !ALWAYS.contains(key) && !heeded.contains(key)) {
        let message = format!("`{key}` would do nothing here");
        let help = format!("leave it out where recipe = \"{word}\"");
        errors.push(StudyError::new(fields.key_span(key), "without effect", message, help));
    }
    for key in needed.iter().filter(|key| !fields.has(key)) {
        let message = format!("layout `{name}` has no `{key}`, which recipe = \"{word}\" needs");
        let help = match *key {
            "stripe" => {
                "give the bytes on one device before the next one is used, for example \"128KiB\"".to_owned()
            }
            _ => LAYOUT.allowed(key),
        };
        errors.push(StudyError::new(fields.header(), format!("`{key}` is missing here"), message, help));
    }
    if errors.len() > before {
        return None;
    }
    let recipe = recipe(word, name, fields, errors)?;
    let texts = |key: &str| fields.texts(key).map_or_else(Vec::new, <[String]>::to_vec);
    let mount_point = fields.text("mount_point").map(PathBuf::from).unwrap_or_default();
    let layout = Layout {
        name: name.to_owned(),
        title: fields.text_or_empty("title"),
        stands_for: fields.text_or_empty("stands_for"),
        devices: texts("devices"),
        mount_point,
        recipe,
    };
    errors.extend(mistakes(&layout, fields));
    (errors.len() == before).then_some(layout)
}

/// Mistakes in the values of a layout, independent of the host.
fn mistakes(layout: &Layout, fields: &Fields) -> Vec<StudyError> {
    let relative = layout.devices.iter().find(|device| device.contains('/') && !device.starts_with('/'));
    if let Some(device) = relative {
        let message = format!("`{}` cannot be a block device", shown(device));
        let help = "give its absolute path, for example \"/dev/nvme1n1\", or its serial number";
        return vec![StudyError::new(fields.span("devices"), "in here", message, help)];
    }
    let error = |problem: crate::layout::LayoutProblem| {
        // Command line options have dashes.
        let key = problem.field.replace('-', "_");
        let (message, help) = problem.message.rsplit_once(": ").unwrap_or((&problem.message, ""));
        let help = if help.is_empty() { "docs/LAYOUTS.md says what each recipe takes" } else { help };
        StudyError::new(fields.span(&key), "in here", format!("`{key}`: {message}"), help)
    };
    layout.problems().into_iter().map(error).collect()
}

fn recipe(word: &str, name: &str, fields: &Fields, errors: &mut Vec<StudyError>) -> Option<Recipe> {
    let texts = |key: &str| fields.texts(key).map_or_else(Vec::new, <[String]>::to_vec);
    Some(match word {
        "raw" => Recipe::Raw,
        "per-device" => Recipe::PerDevice { file_system: file_system(fields, errors)? },
        "btrfs" => Recipe::Btrfs { mount_options: fields.text_or_empty("mount_options") },
        "md" | "imsm" => Recipe::Md {
            metadata: if word == "md" { MdMetadata::Plain } else { MdMetadata::Imsm },
            chunk: fields.bytes("chunk").unwrap_or(CHUNK),
            node: PathBuf::from(fields.text("node").unwrap_or("/dev/md0")),
            file_system: file_system(fields, errors)?,
        },
        "lvm" => Recipe::Lvm {
            group: fields.text("group").unwrap_or("ioproof").to_owned(),
            stripe: fields.bytes("stripe")?,
            volumes: volumes(name, fields, errors)?,
            file_system: file_system(fields, errors)?,
        },
        "gpfs" => Recipe::Gpfs {
            file_system: fields.text("file_system")?.to_owned(),
            block: fields.bytes("block")?,
            nodes: fields.count_u32("nodes").unwrap_or(32),
            nsd_list: PathBuf::from(fields.text("nsd_list")?),
        },
        "lustre" => Recipe::Lustre {
            stripe_count: fields.count_u32("stripe_count")?,
            first: fields.count_u32("first"),
            stripe: fields.bytes("stripe"),
        },
        "own" => Recipe::Own { create: texts("create"), verify: texts("verify"), destroy: texts("destroy") },
        _ => Recipe::Existing,
    })
}

fn file_system(fields: &Fields, errors: &mut Vec<StudyError>) -> Option<FileSystem> {
    let words = ["xfs", "ext4", "btrfs"];
    let kind = match fields.text("file_system").unwrap_or("xfs") {
        "xfs" => FileSystemKind::Xfs,
        "ext4" => FileSystemKind::Ext4,
        "btrfs" => FileSystemKind::Btrfs,
        other => {
            let message = format!("`file_system` cannot be \"{}\"", shown(other));
            let allowed = "write \"xfs\", \"ext4\" or \"btrfs\"";
            let help = nearest(other, words).map(|meant| format!("did you mean \"{meant}\"?"));
            let help = help.unwrap_or_else(|| allowed.to_owned());
            errors.push(StudyError::new(fields.span("file_system"), "not supported here", message, help));
            return None;
        }
    };
    Some(FileSystem {
        kind,
        make_options: fields.texts("make_options").map_or_else(Vec::new, <[String]>::to_vec),
        mount_options: fields.text_or_empty("mount_options"),
    })
}

/// Volumes, as in `["sasdata=3TB", "saswork"]`.
fn volumes(layout: &str, fields: &Fields, errors: &mut Vec<StudyError>) -> Option<Vec<Volume>> {
    let mut wrong = |message: String, help: &str| {
        errors.push(StudyError::new(fields.span("volumes"), "in here", message, help));
        None
    };
    let Some(written) = fields.texts("volumes") else {
        return Some(vec![Volume { name: "data".to_owned(), size: None }]);
    };
    let mut volumes: Vec<Volume> = Vec::new();
    for text in written {
        let (name, size) = match text.split_once('=') {
            Some((name, size)) => match Bytes::parse_study(size.trim()) {
                Ok(size) => (name.trim(), Some(size)),
                Err(error) => {
                    return wrong(format!("volume `{}`: {}", shown(name), error.message), &error.help);
                }
            },
            None => (text.trim(), None),
        };
        // The characters that LVM accepts (lvm(8)); a leading dash would be an option.
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+');
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) || name.starts_with('.') {
            let message = format!("`{}` cannot be the name of a volume", shown(name));
            return wrong(
                message,
                "write letters, digits, `.`, `_` or `+`; and a size after `=`, for example \"data=3TB\"",
            );
        }
        if volumes.iter().any(|volume| volume.name == name) {
            let message = format!("two volumes of layout `{layout}` are called `{name}`");
            return wrong(message, "give each a name of its own");
        }
        volumes.push(Volume { name: name.to_owned(), size });
    }
    Some(volumes)
}
