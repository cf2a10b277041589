//! Reads back the properties of a layout, instead of relying on the success of its commands.

mod geometry;
mod lustre;
mod stacks;

use std::path::{Path, PathBuf};

use plan::layout::Action;
use plan::{FileSystem, FileSystemKind, Recipe};
use record::{CommandEnd, Fact, LayoutFinding};

use super::commands::{self, Remarks};
use super::{MadeLayout, ownership};
use crate::Root;
use crate::devices::block;
use crate::file_systems::file_system;
use crate::file_systems::mounts::Mount;

/// The kernel's mount table, the main source.
const MOUNT_TABLE: &str = "/proc/self/mountinfo";
/// Options that are not shown in the table, because they only control the mount program.
const UNSHOWN: [&str; 9] =
    ["defaults", "auto", "noauto", "user", "nouser", "users", "nofail", "_netdev", "nomtime"];
/// The beginnings of such options that have a value.
const UNSHOWN_KEYS: [&str; 2] = ["device=", "x-"];

/// The collected findings.
pub(super) struct Findings<'a> {
    root: &'a Root,
    all: Vec<LayoutFinding>,
}

impl Findings<'_> {
    /// Adds a finding. `wanted` is the value in the layout, if any.
    fn add(
        &mut self,
        subject: impl ToString,
        property: &str,
        wanted: Option<String>,
        found: Fact<String>,
        source: impl ToString,
    ) {
        self.all.push(LayoutFinding {
            subject: subject.to_string(),
            property: property.to_owned(),
            wanted,
            found,
            source: source.to_string(),
        });
    }
}

pub(super) fn findings(root: &Root, standing: &MadeLayout) -> Vec<LayoutFinding> {
    let mut findings = Findings { root, all: Vec::new() };
    let layout = standing.layout();
    let (devices, places) = (standing.devices(), standing.places());
    match &layout.recipe {
        Recipe::Raw => devices.iter().for_each(|device| findings.raw(device)),
        Recipe::PerDevice { file_system } => {
            for (device, place) in devices.iter().zip(&places) {
                findings.local(place, std::slice::from_ref(device), file_system, None);
            }
        }
        Recipe::Btrfs { mount_options } => {
            findings.mounted(&layout.mount_point, &devices, Some("btrfs"), mount_options);
            findings.striped_btrfs(&layout.mount_point, &devices);
        }
        Recipe::Md { chunk, node, file_system, .. } => {
            findings.array(node, *chunk, &devices);
            let volume = steps_mount(standing).unwrap_or_else(|| node.clone());
            let stripe = (chunk.get(), devices.len());
            findings.local(&layout.mount_point, &[volume], file_system, Some(stripe));
        }
        Recipe::Lvm { group, stripe, volumes, file_system } => {
            findings.group(group, *stripe, volumes, devices.len());
            for (volume, place) in volumes.iter().zip(&places) {
                let node = Path::new("/dev").join(group).join(&volume.name);
                findings.local(place, &[node], file_system, Some((stripe.get(), devices.len())));
            }
        }
        Recipe::Gpfs { file_system, block, .. } => {
            let sources = [PathBuf::from(file_system), Path::new("/dev").join(file_system)];
            findings.mounted(&layout.mount_point, &sources, Some("gpfs"), "noatime");
            findings.gpfs(file_system, *block);
        }
        Recipe::Lustre { stripe_count, first, stripe } => {
            findings.mounted_above(&layout.mount_point, Some("lustre"));
            findings.lustre(&layout.mount_point, *stripe_count, *first, *stripe);
        }
        Recipe::Existing => findings.mounted_above(&layout.mount_point, None),
        Recipe::Own { .. } => {
            for check in layout.checks(&devices) {
                findings.check(&check);
            }
            findings.mounted_above(&layout.mount_point, None);
        }
    }
    if !matches!(layout.recipe, Recipe::Raw) {
        places.iter().for_each(|place| findings.space(place));
    }
    findings.all
}

/// The device that the layout has mounted, according to its last step.
fn steps_mount(standing: &MadeLayout) -> Option<PathBuf> {
    let Action::Command(words) = &standing.ledger.steps.last()?.step.action else { return None };
    words.iter().rev().nth(1).map(PathBuf::from)
}

impl Findings<'_> {
    fn raw(&mut self, device: &Path) {
        let name = block::number_at(self.root, device).and_then(|number| block::name_of(self.root, number));
        let (found, source) = match name {
            Some(name) => {
                let source = format!("/sys/class/block/{name}/size");
                let bytes = block::size_bytes(self.root, &name);
                (
                    bytes.map_or_else(
                        || Fact::Unknown(format!("no {source}")),
                        |bytes| Fact::Known(bytes.to_string()),
                    ),
                    source,
                )
            }
            None => (Fact::Unknown("it does not exist".to_owned()), "/sys/dev/block".to_owned()),
        };
        self.add(device.display(), "bytes", None, found, source);
    }

    /// Checks a local file system at `place`. If it is on a stripe, with the stripe's unit and number of
    /// members.
    fn local(
        &mut self,
        place: &Path,
        sources: &[PathBuf],
        file_system: &FileSystem,
        stripe: Option<(u64, usize)>,
    ) {
        self.mounted(place, sources, Some(file_system.kind.name()), &file_system.mount_options);
        if file_system.kind == FileSystemKind::Xfs {
            self.xfs(place, &file_system.make_options, stripe);
        }
    }

    /// Checks the mount at `place`: kind, device and options.
    fn mounted(&mut self, place: &Path, sources: &[PathBuf], kind: Option<&str>, options: &str) {
        let Some(mount) = ownership::mount_at(self.root, place) else {
            let found = Fact::Known("nothing is mounted there".to_owned());
            return self.add(place.display(), "file system", kind.map(str::to_owned), found, MOUNT_TABLE);
        };
        let wanted = kind.map(str::to_owned);
        self.add(place.display(), "file system", wanted, Fact::Known(mount.kind.clone()), MOUNT_TABLE);
        // A device has several names, and for a file system on several devices the kernel may show any of
        // them.
        let is_own = ownership::is_from(self.root, &mount, sources);
        let (wanted, found) = match sources {
            [source] if is_own => (Some(source.display().to_string()), source.display().to_string()),
            [source] => (Some(source.display().to_string()), mount.source.clone()),
            _ if is_own => (None, mount.source.clone()),
            _ => (Some("one of the layout's".to_owned()), mount.source.clone()),
        };
        self.add(place.display(), "mounted device", wanted, Fact::Known(found), MOUNT_TABLE);
        self.options(place, &mount, options);
    }

    /// Adds the requested options, as far as the kernel shows them, and then all options that it shows.
    fn options(&mut self, place: &Path, mount: &Mount, asked: &str) {
        let all = mount.all_options();
        let asked: Vec<&str> = asked
            .split(',')
            .filter(|option| !option.is_empty() && !UNSHOWN.contains(option))
            .filter(|option| !UNSHOWN_KEYS.iter().any(|key| option.starts_with(key)))
            .collect();
        if !asked.is_empty() {
            let shown: Vec<&str> = all.split(',').collect();
            let found: Vec<&str> = asked.iter().copied().filter(|option| shown.contains(option)).collect();
            let found = if found.is_empty() { "none of them".to_owned() } else { found.join(",") };
            let wanted = Some(asked.join(","));
            self.add(place.display(), "mount options asked for", wanted, Fact::Known(found), MOUNT_TABLE);
        }
        self.add(place.display(), "mount options", None, Fact::Known(all), MOUNT_TABLE);
    }

    /// Checks the file system that contains a directory, even if others have mounted it.
    fn mounted_above(&mut self, directory: &Path, kind: Option<&str>) {
        let wanted = kind.map(str::to_owned);
        let facts = file_system::mount_table(self.root)
            .and_then(|table| file_system::facts(self.root, &table, directory));
        match facts {
            Ok(facts) => {
                self.add(directory.display(), "file system", wanted, Fact::Known(facts.kind), MOUNT_TABLE);
                self.add(directory.display(), "mounted device", None, Fact::Known(facts.source), MOUNT_TABLE);
                self.add(directory.display(), "mount options", None, Fact::Known(facts.options), MOUNT_TABLE);
            }
            Err(error) => {
                let found = Fact::Unknown(error.to_string());
                self.add(directory.display(), "file system", wanted, found, MOUNT_TABLE);
            }
        }
    }

    fn space(&mut self, place: &Path) {
        match rustix::fs::statvfs(self.root.path(place)) {
            Ok(space) => {
                let bytes = |blocks: u64| Fact::Known(blocks.saturating_mul(space.f_frsize).to_string());
                self.add(place.display(), "bytes", None, bytes(space.f_blocks), "statvfs");
                self.add(place.display(), "free bytes", None, bytes(space.f_bavail), "statvfs");
            }
            Err(error) => {
                self.add(place.display(), "bytes", None, Fact::Unknown(error.to_string()), "statvfs");
            }
        }
    }

    /// Runs a user's own check. A nonzero exit status means that there is a difference.
    fn check(&mut self, check: &Action) {
        let remarks = Remarks { purpose: "check the layout", printed: None };
        let run = commands::perform(check, remarks, |_| Err("this is not a check".to_owned()));
        let (wanted, found) = (CommandEnd::Exited(0).to_string(), run.status.to_string());
        self.add(&run.command, "check", Some(wanted), Fact::Known(found), run.output.trim());
    }

    /// The output of a command, or the reason why it is unknown.
    fn ask(words: &[&str]) -> Fact<String> {
        let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match commands::run(&owned) {
            (CommandEnd::Exited(0), output) => Fact::Known(output),
            (end, output) => {
                let why = output.lines().next().map(|line| format!(": {line}")).unwrap_or_default();
                Fact::Unknown(format!("{}: {end}{why}", words.join(" ")))
            }
        }
    }
}
