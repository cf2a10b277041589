//! RAID-0 of the md driver.

use std::path::{Path, PathBuf};

use super::{Action, FileSystem, FileSystemKind, MdMetadata, Provenance, Step, Undo, UndoCondition};
use crate::Bytes;

/// The container of Intel's metadata that holds the array.
pub(super) const CONTAINER: &str = "/dev/md/imsm0";
const PRINTED: &str = "a-cmd-md-t5a";
const PRINTED_CHUNK: Bytes = Bytes::kib(128);
const PRINTED_FOR_IMSM: &str = "a-cmd-md-t5b";
const COPY_ERROR: &str = "the slide repeats the commands of test 5a, without Intel's metadata and without the partition that \
     its text mentions";

/// The block device that carries the file system.
pub(super) fn volume(metadata: MdMetadata, node: &Path) -> PathBuf {
    match metadata {
        MdMetadata::Plain => node.to_owned(),
        MdMetadata::Imsm => PathBuf::from(format!("{}p1", node.display())),
    }
}

/// Provenance of the command that makes the file system.
pub(super) fn made(metadata: MdMetadata, file_system: &FileSystem) -> Provenance {
    match (metadata, file_system.kind) {
        (MdMetadata::Imsm, _) => Provenance::reconstructed(PRINTED_FOR_IMSM, COPY_ERROR),
        (MdMetadata::Plain, FileSystemKind::Xfs) if file_system.make_options.is_empty() => {
            Provenance::corrected(
                PRINTED,
                "mkfs.xfs -k /dev/md0",
                "mkfs.xfs has no -k; -K (discard nothing) is meant; -f, so that it does not ask",
            )
        }
        _ => Provenance::Own,
    }
}

/// The array over `devices`, and for Intel's metadata its container and its partition.
pub(super) fn steps(metadata: MdMetadata, chunk: Bytes, node: &Path, devices: &[PathBuf]) -> Vec<Step> {
    let names: Vec<String> = devices.iter().map(|device| device.to_string_lossy().into_owned()).collect();
    let members = names.iter().map(String::as_str);
    let printed = if chunk == PRINTED_CHUNK { Provenance::printed(PRINTED) } else { Provenance::Own };
    let count = format!("--raid-devices={}", devices.len());
    let chunk = format!("--chunk={}", chunk.get() / 1024);
    let array = node.to_string_lossy();
    match metadata {
        MdMetadata::Plain => {
            let words = ["mdadm", "--create", &array, &chunk, "--level=0", &count];
            let mut back = vec![stop(node, devices)];
            back.extend(release(devices, "linux_raid_member"));
            vec![
                Step::new(
                    format!("stripe {} devices as {array}", devices.len()),
                    Action::words(words.into_iter().chain(members)),
                )
                .undone_by(back)
                .from(printed),
            ]
        }
        MdMetadata::Imsm => {
            let reconstructed = || Provenance::reconstructed(PRINTED_FOR_IMSM, COPY_ERROR);
            let container = Path::new(CONTAINER);
            let words = ["mdadm", "--create", CONTAINER, "--metadata=imsm", &count];
            let mut back = vec![stop(container, devices)];
            back.extend(release(devices, "isw_raid_member"));
            let hold = Step::new(
                format!("put {} devices into a container with Intel's metadata", devices.len()),
                Action::words(words.into_iter().chain(members)),
            );
            // Asked for a container's members without their names, mdadm 4.2 takes the last one first.
            let words = ["mdadm", "--create", &array, "--run", "--level=0", &chunk, &count];
            let members = names.iter().map(String::as_str);
            let stripe =
                Step::new(format!("stripe them as {array}"), Action::words(words.into_iter().chain(members)))
                    .after(container)
                    .undone_by(vec![stop(node, devices)]);
            let words = ["parted", "-s", &array, "mklabel", "gpt", "mkpart", "primary", "xfs", "0%", "100%"];
            let divide =
                Step::new(format!("create one partition on {array}"), Action::words(words)).after(node);
            [hold.undone_by(back), stripe, divide].map(|step| step.from(reconstructed())).into()
        }
    }
}

fn stop(node: &Path, members: &[PathBuf]) -> Undo {
    Undo::new(
        format!("stop {}", node.display()),
        Action::words(["mdadm", "--stop", &node.to_string_lossy()]),
        UndoCondition::Stacked { node: node.to_owned(), members: members.to_owned() },
    )
}

/// Removes the metadata from each member.
fn release<'a>(members: &'a [PathBuf], kind: &'a str) -> impl Iterator<Item = Undo> + 'a {
    members.iter().map(move |member| {
        Undo::new(
            format!("remove the metadata from {}", member.display()),
            Action::words(["mdadm", "--zero-superblock", &member.to_string_lossy()]),
            UndoCondition::Carries { device: member.clone(), kind: kind.to_owned() },
        )
    })
}
