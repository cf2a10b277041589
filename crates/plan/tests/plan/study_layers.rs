//! Targets that are layers of each other, and devices that tasks have for themselves.

use std::path::PathBuf;

use crate::common::study;
use plan::{Bytes, Keep, Sharing};

/// Three layers, the lowest of which stands on `below`.
fn layers(below: &str) -> String {
    format!(
        "[[target]]\nname = \"disk\"\ndevice = \"/dev/vdb\"\n{below}\n\
         [[target]]\nname = \"xfs\"\ndirectory = \"/mnt\"\nabove = \"disk\"\nfs_block = \"4MiB\"\n\
         slots = 4\ncapacity = \"2TB\"\nneeds = \"3TB\"\n\
         [[target]]\nname = \"nfs\"\ndirectory = \"/net\"\nabove = \"xfs\"\n\n\
         [[workload]]\nname = \"w\"\ntarget = [\"disk\", \"xfs\", \"nfs\"]\ntransfer = \"1MiB\"\nsize = \"8MiB\"\n"
    )
}

#[test]
fn a_layer_names_the_one_below_it() {
    let plan = study(&layers("")).unwrap();
    let above: Vec<Option<&str>> =
        plan.criteria.targets.iter().map(|target| target.above.as_deref()).collect();
    assert_eq!(above, [None, Some("disk"), Some("xfs")]);
    let xfs = &plan.criteria.targets[1];
    assert_eq!((xfs.fs_block, xfs.slots), (Some(Bytes::mib(4)), 4));
    assert_eq!((xfs.capacity, xfs.needs), (Some(Bytes(2_000_000_000_000)), Some(Bytes(3_000_000_000_000))));
}

#[test]
fn layers_that_stand_on_each_other_and_unknown_ones_are_refused() {
    let messages = |below: &str| -> Vec<String> {
        let errors = study(&layers(below)).unwrap_err();
        errors.errors().iter().map(|one| one.message().to_owned()).collect()
    };
    let round = messages("above = \"nfs\"");
    assert!(round.contains(&"target `disk` is built on itself".to_owned()), "{round:?}");
    assert_eq!(messages("above = \"dsk\""), ["there is no target `dsk`"]);
}

fn disks(lines: &str) -> String {
    format!(
        "[[target]]\nname = \"disks\"\ndisks = [\"/dev/vdb\", \"/dev/vdc\"]\n\n\
         [[workload]]\nname = \"w\"\ntransfer = \"2MiB\"\nsize = \"8MiB\"\n{lines}\n"
    )
}

#[test]
fn each_task_has_a_device_for_itself() {
    let plan = study(&disks("tasks = 2\nsharing = \"per-task\"")).unwrap();
    let files = &plan.cases[0].workload.files;
    assert_eq!(files.targets, ["/dev/vdb", "/dev/vdc"].map(PathBuf::from));
    assert_eq!((files.sharing, files.exact_names, files.keep), (Sharing::PerTask, true, Keep::Always));
    // Alone it is a device like any other, which its tasks share.
    let alone = study(&disks("member = 1\ntasks = 4")).unwrap();
    let files = &alone.cases[0].workload.files;
    assert_eq!((files.targets.len(), files.sharing, files.exact_names), (1, Sharing::Shared, false));
}

#[test]
fn tasks_that_would_share_a_device_and_paths_that_are_none_are_refused() {
    let first = |text: &str| study(text).unwrap_err().errors()[0].message().to_owned();
    let three = first(&disks("tasks = 3\nsharing = \"per-task\""));
    assert!(three.contains("2 names do not match 3 tasks"), "{three}");
    let shared = first(&disks("tasks = 2"));
    assert!(shared.contains("one shared file cannot be in 2 places"), "{shared}");
    let relative = first(&disks("tasks = 2").replace("/dev/vdc", "vdc"));
    assert!(relative.contains("`vdc` cannot be a block device"), "{relative}");
}

#[test]
fn own_is_a_file_or_a_part_of_a_device() {
    let text = layers("").replace("size = \"8MiB\"", "size = \"8MiB\"\nsharing = \"own\"\ntasks = 2");
    let plan = study(&text).unwrap();
    let sharing: Vec<Sharing> = plan.cases.iter().map(|case| case.workload.files.sharing).collect();
    assert_eq!(sharing, [Sharing::Shared, Sharing::PerTask, Sharing::PerTask]);
    let files = &study(&disks("tasks = 2\nsharing = \"own\"")).unwrap().cases[0].workload.files;
    assert_eq!((files.sharing, files.exact_names), (Sharing::PerTask, true));
}
