//! File modes of everything that the program creates: they respect the user's umask.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::desk::{Desk, run, tree};

/// Fails if anything below `place` has a bit of `mask` set.
fn assert_without(mask: u32, place: &Path) {
    let found = tree(place);
    assert!(!found.is_empty());
    for path in found.keys() {
        let mode = fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode & mask, 0, "{} has mode {mode:o} under umask {mask:o}", path.display());
    }
}

#[test]
fn nothing_is_open_to_more_people_than_the_umask_says() {
    for mask in [0o077, 0o027] {
        let (desk, _) = Desk::with_data();
        fs::create_dir_all(desk.path("root/proc/sys/vm")).expect("a directory");
        fs::write(desk.path("root/proc/sys/vm/swappiness"), "60\n").expect("a file");
        fs::create_dir(desk.path("runs")).expect("a directory");
        fs::create_dir(desk.path("files")).expect("a directory");
        let lines = [
            "ior -w -r -k -F -N 2 -u -t 4k -b 64k -o files/f --out runs/ior",
            "mdtest -C -n 5 -d files/trees --out runs/mdtest",
            "report runs/ior",
            "host tune swappiness --root root --state runs/state --yes",
        ];
        for line in lines {
            let _ = run(&desk.after(&format!("umask {mask:o}"), line)).expect_code(0);
        }
        assert_without(mask, &desk.path("runs"));
        assert_without(mask, &desk.path("files"));
    }
}
