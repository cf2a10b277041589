//! Local file systems: creating, mounting and unmounting.

use std::path::{Path, PathBuf};

use super::{Action, FileSystem, FileSystemKind, MdMetadata, Provenance, Recipe, Step, Undo, UndoCondition};

/// The command printed in the first study for one card.
const PRINTED_MAKER: &str = "mkfs.xfs -f -K -d su=128k,sw=1";
const PRINTED_ONE_CARD: &str = "a-cmd-mkfs-t1";
/// The twelve mounts of the same study, of which only the first and the last are printed.
const PRINTED_TWELVE_CARDS: &str = "a-cmd-mount-t2";
/// The last of them, printed with a device that is already mounted.
const MISPRINTED_CARD: usize = 11;
const MISPRINTED_MOUNT: &str = "mount -t xfs /dev/nvme0n1 /p3700/11";
const MISPRINTED_BECAUSE: &str = "twelve mount points have twelve devices";
/// Mount options of the third study.
const PRINTED_OPTIONS: &str = "noatime,nodiratime";
const PRINTED_OPTIONS_IN: &str = "c-cmd-mount";

impl FileSystemKind {
    /// The name used by `mount -t` and the kernel's tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xfs => "xfs",
            Self::Ext4 => "ext4",
            Self::Btrfs => "btrfs",
        }
    }
}

impl Recipe {
    /// Signatures, by their util-linux names, that its commands leave on the devices of a half-built layout;
    /// none if unknown.
    #[must_use]
    pub fn signatures(&self) -> Option<Vec<&'static str>> {
        match self {
            Self::Raw | Self::Existing | Self::Lustre { .. } | Self::Gpfs { .. } => Some(Vec::new()),
            Self::PerDevice { file_system } => Some(vec![file_system.kind.name()]),
            Self::Btrfs { .. } => Some(vec!["btrfs"]),
            // With metadata at the end, a member starts with the content of the array.
            Self::Md { metadata, file_system, .. } => Some(match metadata {
                MdMetadata::Plain => vec!["linux_raid_member", file_system.kind.name()],
                MdMetadata::Imsm => vec!["isw_raid_member", "gpt", "PMBR", file_system.kind.name()],
            }),
            Self::Lvm { .. } => Some(vec!["LVM2_member"]),
            Self::Own { .. } => None,
        }
    }
}

impl Recipe {
    /// Devices that start where members start, if the layout has any: their contents become visible on the
    /// members once the metadata at the members' ends is gone.
    #[must_use]
    pub fn covered(&self) -> Vec<PathBuf> {
        match self {
            Self::Md { metadata: MdMetadata::Imsm, node, .. } => {
                vec![node.clone(), super::array::volume(MdMetadata::Imsm, node)]
            }
            _ => Vec::new(),
        }
    }
}

impl FileSystem {
    /// Creates it on `device`. The device was wiped before, so it is not discarded again, and any old file
    /// system that mkfs detects can only be left over from an earlier layout.
    pub(super) fn make(&self, device: &Path, provenance: Option<Provenance>) -> Step {
        let kind = self.kind.name();
        let mut words = vec![format!("mkfs.{kind}")];
        let has_extended = self.make_options.iter().any(|word| word == "-E");
        let base: &[&str] = match self.kind {
            FileSystemKind::Xfs | FileSystemKind::Btrfs => &["-f", "-K"],
            // Initialisation that ext4 would otherwise do in the background during the measurement.
            FileSystemKind::Ext4 if !has_extended => {
                &["-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"]
            }
            FileSystemKind::Ext4 => &["-F"],
        };
        let is_said = |word: &&&str| self.make_options.iter().any(|said| said == **word);
        words.extend(base.iter().filter(|word| !is_said(word)).map(|word| (**word).to_owned()));
        words.extend(self.make_options.iter().cloned());
        let is_printed = words.join(" ") == PRINTED_MAKER;
        words.push(device.to_string_lossy().into_owned());
        let found = if is_printed { Provenance::printed(PRINTED_ONE_CARD) } else { Provenance::Own };
        Step::new(format!("create {kind} on {}", device.display()), Action::Command(words))
            .after(device)
            .from(provenance.unwrap_or(found))
    }

    /// Mounts it at `place`, in a new directory. `number` is the index of the member, if several are mounted
    /// in the same way.
    pub(super) fn mount(&self, device: &Path, place: &Path, number: usize) -> [Step; 2] {
        let provenance = match (self.kind, self.mount_options.as_str(), number) {
            (FileSystemKind::Xfs, "", MISPRINTED_CARD) => {
                Provenance::corrected(PRINTED_TWELVE_CARDS, MISPRINTED_MOUNT, MISPRINTED_BECAUSE)
            }
            (FileSystemKind::Xfs, "", 0) => Provenance::printed(PRINTED_ONE_CARD),
            (FileSystemKind::Xfs, "", _) => Provenance::printed(PRINTED_TWELVE_CARDS),
            (FileSystemKind::Xfs, PRINTED_OPTIONS, _) => {
                Provenance::reconstructed(PRINTED_OPTIONS_IN, "only the options are printed")
            }
            _ => Provenance::Own,
        };
        mount(self.kind.name(), &self.mount_options, device, &[device.to_owned()], place, provenance)
    }
}

/// A directory and a mount on it. `sources` are all names that the kernel may show for the device.
pub(super) fn mount(
    kind: &str,
    options: &str,
    device: &Path,
    sources: &[PathBuf],
    place: &Path,
    provenance: Provenance,
) -> [Step; 2] {
    let mut words = vec!["mount".to_owned(), "-t".to_owned(), kind.to_owned()];
    if !options.is_empty() {
        words.extend(["-o".to_owned(), options.to_owned()]);
    }
    words.extend([device.to_string_lossy().into_owned(), place.to_string_lossy().into_owned()]);
    let mount = Step::new(format!("mount it at {}", place.display()), Action::Command(words))
        .undone_by(vec![unmount(sources, place)])
        .from(provenance);
    [directory(place), mount]
}

/// Unmounts the file system.
fn unmount(sources: &[PathBuf], place: &Path) -> Undo {
    Undo::new(
        format!("unmount {}", place.display()),
        Action::words(["umount", &place.to_string_lossy()]),
        UndoCondition::Mounted { place: place.to_owned(), sources: sources.to_owned() },
    )
}

/// A directory to mount at.
pub(super) fn directory(place: &Path) -> Step {
    let back = Undo::new(
        format!("remove {}, if it was created here", place.display()),
        Action::RemoveDirectory(place.to_owned()),
        UndoCondition::Begun,
    );
    Step::new(format!("create the directory {}", place.display()), Action::MakeDirectory(place.to_owned()))
        .undone_by(vec![back])
}

/// Discards all bytes of a device, before and after.
pub(super) fn wipe(device: &Path) -> Step {
    let action = Action::Wipe(device.to_owned());
    let back = Undo::new(format!("leave {} empty", device.display()), action.clone(), UndoCondition::Begun);
    Step::new(format!("start with an empty {}", device.display()), action).undone_by(vec![back])
}
