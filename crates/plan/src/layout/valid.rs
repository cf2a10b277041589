//! Validation of layouts, without access to a host. Values that pass are safe in a command line: none can be
//! mistaken for an option, and no word names a path that the guard does not know.

use std::collections::HashSet;
use std::path::{Component, Path};

use thiserror::Error;

use super::{FileSystem, Layout, MdMetadata, Recipe, Volume, own};
use crate::{Bytes, shell_word};

/// A mistake in a layout, with the study field or option that contains it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field}: {message}")]
pub struct LayoutProblem {
    /// As in `mount-point`.
    pub field: &'static str,
    /// What is wrong and what to write, as a fragment.
    pub message: String,
}

/// Limit on devices in one layout.
const DEVICES_MAX: usize = 1024;
/// Limit on the length of a name, which is used for a file, a directory and a volume.
const NAME_BYTES_MAX: usize = 64;
/// Chunks and stripes must be a multiple of a page.
const PAGE: u64 = 4096;
/// Directories needed by the system itself.
const SYSTEM_PLACES: [&str; 8] = ["/boot", "/bin", "/dev", "/etc", "/lib", "/proc", "/sys", "/usr"];
/// Prefixes by which mkfs and mount look a device up.
const DEVICE_TAGS: [&str; 4] = ["UUID=", "LABEL=", "PARTUUID=", "PARTLABEL="];

/// Mistakes, as they are found.
struct Problems(Vec<LayoutProblem>);

impl Problems {
    fn add(&mut self, field: &'static str, message: impl Into<String>) {
        self.0.push(LayoutProblem { field, message: message.into() });
    }

    fn add_if(&mut self, is_wrong: bool, field: &'static str, message: impl FnOnce() -> String) {
        if is_wrong {
            self.add(field, message());
        }
    }
}

impl Layout {
    /// All mistakes in it; if there are none, the commands of [`Layout::steps`] are valid.
    #[must_use]
    pub fn problems(&self) -> Vec<LayoutProblem> {
        let mut problems = Problems(Vec::new());
        name(&mut problems, "name", &self.name);
        for (field, text) in [("title", &self.title), ("stands-for", &self.stands_for)] {
            problems.add_if(text.chars().any(char::is_control), field, || "give one line of text".to_owned());
        }
        self.devices_problems(&mut problems);
        if !matches!(self.recipe, Recipe::Raw) {
            place(&mut problems, &self.mount_point, matches!(self.recipe, Recipe::Existing));
        }
        self.recipe_problems(&mut problems);
        problems.0
    }

    fn devices_problems(&self, problems: &mut Problems) {
        let field = "devices";
        let count = self.devices.len();
        match &self.recipe {
            Recipe::Existing | Recipe::Lustre { .. } => problems
                .add_if(count > 0, field, || "an existing directory takes none: leave them out".to_owned()),
            Recipe::Own { .. } | Recipe::Gpfs { .. } => {}
            Recipe::Btrfs { .. } | Recipe::Md { .. } => problems
                .add_if(count < 2, field, || format!("a stripe needs at least two, and {count} are named")),
            Recipe::Raw | Recipe::PerDevice { .. } | Recipe::Lvm { .. } => {
                problems.add_if(count == 0, field, || {
                    "name at least one by its path, serial number or world wide name".to_owned()
                })
            }
        }
        problems.add_if(count > DEVICES_MAX, field, || {
            format!("{count} are named, but at most {DEVICES_MAX} are allowed")
        });
        let mut seen = HashSet::new();
        for device in &self.devices {
            let is_word = !device.trim().is_empty() && !device.chars().any(char::is_control);
            problems.add_if(!is_word, field, || {
                format!(
                    "{device:?} does not name a device: give a path, a serial number or a world wide \
                         name"
                )
            });
            problems.add_if(device.starts_with('-'), field, || {
                format!("{device:?} would be taken for an option: give another name for the device")
            });
            problems
                .add_if(!seen.insert(device), field, || format!("{device:?} is named twice: name each once"));
            let is_listed = matches!(self.recipe, Recipe::Btrfs { .. }) && device.contains(',');
            problems.add_if(is_listed, field, || {
                format!("{device:?} has a comma, which mount takes for the end of the name: use another path")
            });
        }
    }

    fn recipe_problems(&self, problems: &mut Problems) {
        match &self.recipe {
            Recipe::Raw | Recipe::Existing => {}
            Recipe::PerDevice { file_system } => options(problems, file_system),
            Recipe::Btrfs { mount_options: words } => mount_options(problems, words),
            Recipe::Md { metadata, chunk, node, file_system } => {
                pages(problems, "chunk", *chunk);
                array_node(problems, *metadata, node);
                options(problems, file_system);
            }
            Recipe::Lvm { group, stripe, volumes, file_system } => {
                name(problems, "group", group);
                pages(problems, "stripe", *stripe);
                problems.add_if(!stripe.get().is_power_of_two(), "stripe", || {
                    format!("LVM takes powers of two, such as 128KiB, not {stripe}")
                });
                self.volumes(problems, volumes);
                options(problems, file_system);
            }
            Recipe::Gpfs { file_system, block, nodes, nsd_list } => {
                name(problems, "file-system", file_system);
                problems.add_if(!block.get().is_power_of_two() || block.get() < 16 << 10, "block", || {
                    format!("GPFS takes powers of two of at least 16 KiB, such as 1MiB, not {block}")
                });
                problems.add_if(*nodes == 0, "nodes", || {
                    "give the number of nodes that will mount it".to_owned()
                });
                let list = nsd_list.to_string_lossy();
                let is_word =
                    !list.is_empty() && !list.starts_with('-') && !list.chars().any(char::is_control);
                problems.add_if(!is_word, "nsd-list", || "give the file that lists the NSDs".to_owned());
            }
            Recipe::Lustre { stripe_count, stripe, .. } => {
                problems.add_if(*stripe_count == 0, "stripe-count", || {
                    "give the number of targets, at least 1".to_owned()
                });
                if let Some(stripe) = stripe {
                    let unit = 64 << 10;
                    let is_wrong = stripe.get() == 0 || !stripe.get().is_multiple_of(unit);
                    problems.add_if(is_wrong, "stripe", || {
                        format!("Lustre takes multiples of {}, not {stripe}", Bytes(unit))
                    });
                }
            }
            Recipe::Own { create, verify, destroy } => self.own_problems(problems, create, verify, destroy),
        }
    }

    fn volumes(&self, problems: &mut Problems, volumes: &[Volume]) {
        let field = "volumes";
        problems.add_if(volumes.is_empty(), field, || "name at least one".to_owned());
        let mut seen = HashSet::new();
        for volume in volumes {
            name(problems, field, &volume.name);
            problems
                .add_if(!seen.insert(&volume.name), field, || format!("{:?} is named twice", volume.name));
            let is_empty = volume.size.is_some_and(|size| size.get() == 0);
            problems.add_if(is_empty, field, || {
                format!("{:?} has a size of 0: give a larger one, or leave it out", volume.name)
            });
            let reserved = ["snapshot", "pvmove"].iter().any(|word| volume.name.starts_with(word));
            problems.add_if(reserved, field, || format!("LVM reserves names like {:?}", volume.name));
        }
    }

    fn own_problems(
        &self,
        problems: &mut Problems,
        create: &[String],
        verify: &[String],
        destroy: &[String],
    ) {
        problems.add_if(create.is_empty(), "create", || "give at least one command".to_owned());
        problems.add_if(destroy.is_empty(), "destroy", || {
            "give the commands that undo all of `create`, or `true` if there is nothing to undo".to_owned()
        });
        for (field, lines) in [("create", create), ("verify", verify), ("destroy", destroy)] {
            for line in lines {
                let is_line = !line.trim().is_empty() && !line.contains('\0');
                problems.add_if(!is_line, field, || "an empty command does nothing: remove it".to_owned());
                let place = self.mount_point.to_string_lossy();
                let is_open = shell_word(&place) != place && own::fills_in_quotes(line);
                problems.add_if(is_open, field, || {
                    format!(
                        "leave out the quotes around {{mount}}: {place:?} is filled in with its own quotes"
                    )
                });
                for name in own::unknown(line, self.devices.len()) {
                    problems.add(
                        field,
                        format!(
                            "{name} does not stand for a device: {} are named, from {{device0}} on",
                            self.devices.len()
                        ),
                    );
                }
            }
        }
    }
}

/// A name that is a plain word in a command line, a path and a volume group.
fn name(problems: &mut Problems, field: &'static str, text: &str) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    let starts_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let is_plain = starts_well && text.bytes().all(plain) && text.len() <= NAME_BYTES_MAX;
    problems.add_if(!is_plain, field, || {
        format!(
            "{text:?} is not a valid name: give up to {NAME_BYTES_MAX} letters, digits and `.`, `_`, `+`, \
             `-`, starting with a letter or digit"
        )
    });
}

fn place(problems: &mut Problems, path: &Path, is_there: bool) {
    let field = "mount-point";
    let text = path.to_string_lossy();
    if !path.is_absolute() {
        return problems.add(field, format!("give an absolute path, such as /mnt/test, not {text:?}"));
    }
    let is_direct = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    problems.add_if(!is_direct || text.chars().any(char::is_control), field, || {
        format!("give a path without `..` and on one line, not {text:?}")
    });
    // An existing directory is not mounted over, so any is allowed.
    let is_system = path == Path::new("/") || SYSTEM_PLACES.iter().any(|place| path.starts_with(place));
    problems.add_if(is_system && !is_there, field, || {
        format!("{text} belongs to the system: give a path below /mnt, for example")
    });
}

fn pages(problems: &mut Problems, field: &'static str, size: Bytes) {
    problems.add_if(size.get() == 0 || !size.get().is_multiple_of(PAGE), field, || {
        format!("give a multiple of {}, such as 128KiB, not {size}", Bytes(PAGE))
    });
}

/// The partition of a named array has a different name depending on its directory; the name for a numbered
/// array does not depend on it.
fn array_node(problems: &mut Problems, metadata: MdMetadata, node: &Path) {
    let text = node.to_string_lossy();
    let number = text.strip_prefix("/dev/md").filter(|rest| rest.len() <= 3);
    let is_number =
        number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    let is_name = text.strip_prefix("/dev/md/").is_some_and(|name| {
        let mut bytes = name.bytes();
        name.len() <= 32
            && bytes.next().is_some_and(|byte| byte.is_ascii_alphanumeric())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    });
    let is_right = is_number || (is_name && metadata == MdMetadata::Plain);
    problems.add_if(!is_right, "node", || match metadata {
        MdMetadata::Plain => format!("give /dev/md0 or /dev/md/NAME, not {text:?}"),
        MdMetadata::Imsm => format!("give one with a number, such as /dev/md0, not {text:?}"),
    });
}

fn options(problems: &mut Problems, file_system: &FileSystem) {
    let field = "mkfs-options";
    let mut before: Option<&String> = None;
    for word in &file_system.make_options {
        let is_word = !word.is_empty() && !word.chars().any(|c| c.is_control() || c.is_whitespace());
        problems
            .add_if(!is_word, field, || format!("{word:?} is not one word for mkfs: give each separately"));
        problems.add_if(names_place(word), field, || {
            format!(
                "{word:?} names another place, which is not guarded: a layout may use only its own \
                     devices"
            )
        });
        // A word that does not follow an option would be taken for the device.
        let is_stray = !word.starts_with('-') && !before.is_some_and(|before| before.starts_with('-'));
        problems.add_if(is_stray, field, || format!("{word:?} does not follow an option"));
        problems.add_if(word == "--", field, || "`--` ends the options: leave it out".to_owned());
        before = Some(word);
    }
    mount_options(problems, &file_system.mount_options);
}

fn mount_options(problems: &mut Problems, words: &str) {
    let field = "mount-options";
    let is_list = !words.starts_with('-') && !words.chars().any(|c| c.is_control() || c.is_whitespace());
    problems.add_if(!is_list, field, || {
        format!("separate them with commas, as in noatime,nodiratime, not {words:?}")
    });
    problems.add_if(names_place(words), field, || {
        format!("{words:?} names another place, which is not guarded: a layout may use only its own devices")
    });
}

fn names_place(word: &str) -> bool {
    word.contains('/') || DEVICE_TAGS.iter().any(|tag| word.contains(tag))
}
