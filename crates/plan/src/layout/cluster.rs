//! Cluster file systems, whose own commands lay data out.

use std::path::{Path, PathBuf};

use super::files::directory;
use super::{Action, Provenance, Step, Undo, UndoCondition};
use crate::Bytes;

const GPFS_1M: &str = "a-cmd-gpfs-t3";
const GPFS_4M: &str = "a-cmd-gpfs-t4";
const GPFS_4M_PRINTED: &str = "mncrfs p3700 -F p3700.1st -B 4M -v no -n 32 -j scatter -T/global/p3700 -A no";
const GPFS_4M_REASON: &str = "character recognition misread mmcrfs and p3700.lst";
const GPFS_BACK: &str = "the commands that undo it are not printed";
const LUSTRE: &str = "study D, layout on OSTs";
const LUSTRE_REASON: &str = "\"Always started at LUN 0\", with stripe counts 1, 2, 4, 8 and 12";

/// A file system of GPFS over the NSDs of a list, and its mount. Options as printed: no search for an earlier
/// file system (`-v no`), blocks at pseudo-random places (`-j scatter`), no mount at start (`-A no`).
pub(super) fn gpfs(name: &str, block: Bytes, nodes: u32, nsd_list: &Path, place: &Path) -> [Step; 2] {
    let (list, count) = (nsd_list.to_string_lossy(), nodes.to_string());
    let (size, at) = (unit(block), format!("-T{}", place.display()));
    let words = [
        "mmcrfs", name, "-F", &list, "-B", &size, "-v", "no", "-n", &count, "-j", "scatter", &at, "-A", "no",
    ];
    let made = match block.get() >> 20 {
        1 => Provenance::printed(GPFS_1M),
        4 => Provenance::corrected(GPFS_4M, GPFS_4M_PRINTED, GPFS_4M_REASON),
        _ => Provenance::Own,
    };
    let mounted = if block.get() >> 20 == 4 { GPFS_4M } else { GPFS_1M };
    let place_word = place.to_string_lossy();
    let reconstructed =
        |undo: Undo| Undo { provenance: Provenance::reconstructed(mounted, GPFS_BACK), ..undo };
    let remove = Undo::new(
        format!("delete the file system {name}"),
        Action::words(["mmdelfs", name]),
        UndoCondition::Answers(["mmlsfs", name].map(str::to_owned).into()),
    );
    let unmount = Undo::new(
        format!("unmount {place_word}"),
        Action::words(["mmumount", &place_word]),
        UndoCondition::Mounted {
            place: place.to_owned(),
            sources: vec![PathBuf::from(name), Path::new("/dev").join(name)],
        },
    );
    [
        Step::new(format!("create the GPFS file system {name} with blocks of {block}"), Action::words(words))
            .undone_by(vec![reconstructed(remove)])
            .from(made),
        Step::new(
            format!("mount it at {place_word}"),
            Action::words(["mmmount", &place_word, "-o", "nomtime,noatime"]),
        )
        .undone_by(vec![reconstructed(unmount)])
        .from(Provenance::printed(mounted)),
    ]
}

/// A size as GPFS and Lustre read it: `1M`, `256K`.
fn unit(size: Bytes) -> String {
    match size.get() {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        bytes => format!("{}K", bytes >> 10),
    }
}

/// A directory of Lustre and the stripe layout of files created in it.
pub(super) fn lustre(count: u32, first: Option<u32>, stripe: Option<Bytes>, place: &Path) -> [Step; 2] {
    let place_word = place.to_string_lossy();
    let mut words = vec!["lfs".to_owned(), "setstripe".to_owned(), "-c".to_owned(), count.to_string()];
    words.extend(first.into_iter().flat_map(|first| ["-i".to_owned(), first.to_string()]));
    words.extend(stripe.into_iter().flat_map(|stripe| ["-S".to_owned(), unit(stripe)]));
    words.push(place_word.clone().into_owned());
    let provenance = match (first, stripe) {
        (Some(0), None) => Provenance::reconstructed(LUSTRE, LUSTRE_REASON),
        _ => Provenance::Own,
    };
    let back = Undo::new(
        format!("let {place_word} inherit the layout of its parent directory again"),
        Action::words(["lfs", "setstripe", "-d", &place_word]),
        UndoCondition::Answers(["lfs", "getstripe", "-d", &place_word].map(str::to_owned).into()),
    );
    let lay =
        Step::new(format!("stripe new files in {place_word} over {count} targets"), Action::Command(words));
    [directory(place), lay.undone_by(vec![back]).from(provenance)]
}
