//! Volumes of LVM, each striped over all devices.

use std::path::{Path, PathBuf};

use super::{Action, Provenance, Step, Undo, UndoCondition, Volume};
use crate::Bytes;

/// The text describes it without printing a command.
const SOURCE: &str = "c-cmd-lvm";
const NOT_PRINTED: &str = "\"striped using Linux LVM and then partitioned in to three file systems\" is all that is printed; the \
     stripe size is not";
/// LVM's signature of a member device.
const MEMBER: &str = "LVM2_member";

/// The node of a volume.
pub(super) fn node(group: &str, volume: &str) -> PathBuf {
    Path::new("/dev").join(group).join(volume)
}

/// The group over `devices`, and its volumes: those with a size come first, so that the others share
/// the remaining space.
pub(super) fn steps(group: &str, stripe: Bytes, volumes: &[Volume], devices: &[PathBuf]) -> Vec<Step> {
    let names: Vec<String> = devices.iter().map(|device| device.to_string_lossy().into_owned()).collect();
    let mut steps: Vec<Step> = names
        .iter()
        .map(|name| {
            let back = Undo::new(
                format!("remove LVM's metadata from {name}"),
                Action::words(["pvremove", name]),
                UndoCondition::Carries { device: PathBuf::from(name), kind: MEMBER.to_owned() },
            );
            Step::new(format!("initialise {name} for LVM"), Action::words(["pvcreate", name]))
                .undone_by(vec![back])
        })
        .collect();
    let grouped = |volume: Option<&str>| UndoCondition::Grouped {
        group: group.to_owned(),
        volume: volume.map(str::to_owned),
        members: devices.to_owned(),
    };
    let words = ["vgcreate", group].into_iter().chain(names.iter().map(String::as_str));
    let back = Undo::new(
        format!("remove the volume group {group}"),
        Action::words(["vgremove", group]),
        grouped(None),
    );
    steps.push(
        Step::new(
            format!("create the volume group {group} from {} devices", devices.len()),
            Action::words(words),
        )
        .undone_by(vec![back]),
    );
    let (stripes, unit) = (devices.len().to_string(), format!("{}k", stripe.get() / 1024));
    let sized = volumes.iter().filter_map(|volume| Some((volume, written(volume.size?))));
    let sized = sized.map(|(volume, size)| (volume, "-L", size));
    let open: Vec<&Volume> = volumes.iter().filter(|volume| volume.size.is_none()).collect();
    let count = open.len();
    let open = open.into_iter().enumerate().map(|(before, volume)| {
        // Each takes its share of the space that the earlier ones left.
        (volume, "-l", format!("{}%FREE", 100 / (count - before)))
    });
    for (volume, option, size) in sized.chain(open) {
        let name = volume.name.as_str();
        // Old signatures at the same place do not matter: the devices were wiped.
        let words = ["lvcreate", "-y", "-i", &stripes, "-I", &unit, option, &size, "-n", name, group];
        let full = format!("{group}/{name}");
        let back = Undo::new(
            format!("remove the volume {full}"),
            Action::words(["lvremove", "-y", &full]),
            grouped(Some(name)),
        );
        steps.push(
            Step::new(format!("create the volume {full}, striped over all devices"), Action::words(words))
                .undone_by(vec![back]),
        );
    }
    steps.into_iter().map(|step| step.from(Provenance::reconstructed(SOURCE, NOT_PRINTED))).collect()
}

/// A size as LVM reads it, as in `3T`.
fn written(size: Bytes) -> String {
    let found = [(40, 'T'), (30, 'G'), (20, 'M'), (10, 'K')]
        .into_iter()
        .find(|(shift, _)| size.get().is_multiple_of(1 << shift));
    match found {
        Some((shift, letter)) => format!("{}{letter}", size.get() >> shift),
        None => format!("{}B", size.get()),
    }
}
