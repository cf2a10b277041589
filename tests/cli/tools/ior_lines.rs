//! Command lines like those in IOR's own test scripts, run one after the other under MPI, with the expected exit code
//! and the expected files. `scripts/ior-tests.sh` runs the scripts themselves, if their sources are available.

use std::fs;

use testbed::{Launch, skipped};

use crate::desk::{Desk, assert_says, run};

/// A command line: the tool, its ranks and options, its output, and the files on the desk afterwards.
type Row = (&'static str, u32, &'static str, &'static [&'static str], &'static [&'static str]);

/// Command lines of ior on the file `f`, in the order of a script.
const IOR: &[Row] = &[
    ("ior", 2, "-w -C -k -e -m -t 100k -b 200k", &["write"], &["f.0"]),
    ("ior", 2, "-w -k -e -t 100k -b 200k", &["write"], &["f"]),
    // Ten blocks for each of two tasks, but the file has only four.
    ("ior", 2, "-r -k -e -t 100k -b 200k -s 10 -z -z", &["random", "read"], &["f"]),
    ("ior", 2, "-r -z-k -e -t 100k -b 200k", &["read"], &["f"]),
    ("ior", 1, "-w -z -F -Y -e -t 100k -b 2000k", &["write"], &["f"]),
    ("ior", 1, "-w -z -F -k -e -i 2 -t 100k -b 200k", &["write"], &["f.00000000"]),
    ("ior", 1, "-a MMAP -r -z -F -k -e -t 100k -b 200k", &["MMAP", "read"], &["f.00000000"]),
    ("ior", 2, "-w -z -C -Q 1 -F -k -e -t 100k -b 200k", &["write"], &["f.00000001"]),
    ("ior", 2, "-r -z -Z -Q 3 -X 13 -F -k -e -t 100k -b 200k", &["read"], &["f.00000001"]),
    ("ior", 3, "-w -z -Z -Q 1 -X -13 -F -e -t 100k -b 200k", &["write"], &[]),
    ("ior", 2, "-w -Z -t 100k -b 100k -d 0.1", &["write"], &[]),
    (
        "ior",
        2,
        "-a DUMMY -e -F -t 1m -b 1m -A 328883 -O summaryFormat=JSON -O summaryFile=out.json",
        &[],
        &["out.json"],
    ),
    (
        "ior",
        2,
        "-a DUMMY -w -O stoneWallingStatusFile=wall -O stoneWallingWearOut=1 -D 1 -t 1000 -b 1000 -s 15 -k",
        &["write"],
        &["wall"],
    ),
    (
        "ior",
        2,
        "-a DUMMY -r -O stoneWallingStatusFile=wall -D 1 -t 1000 -b 1000 -s 30 -k",
        &["read"],
        &["wall"],
    ),
    ("ior", 2, "-f script", &["write"], &["f.00000000.0", "f.00000001.0"]),
];

/// Command lines of mdtest in the directory `d`.
const MDTEST: &[Row] = &[
    ("mdtest", 1, "-a POSIX", &["-- started at", "-- finished at"], &[]),
    ("mdtest", 2, "-a POSIX -W 2", &["-- finished at"], &[]),
    ("mdtest", 1, "-C -T -r -F -I 1 -z 1 -b 1 -L -u", &["File creation", "File removal"], &[]),
    ("mdtest", 1, "-C -T -I 1 -z 1 -b 1 -u", &["Directory creation", "File stat"], &[]),
    ("mdtest", 2, "-a DUMMY -I 20 -W 1 -x wall -C", &["File creation"], &["wall"]),
    ("mdtest", 2, "-a DUMMY -I 20 -x wall -T -v", &["File stat"], &["wall"]),
];

/// Command lines of md-workbench in the directory `o`; each removes its sets or continues with those of the previous
/// lines.
const MD_WORKBENCH: &[Row] = &[
    ("md-workbench", 3, "-O=1 -D=1 -G=10 -P=1 -I=1 -R=2 -X", &["cleanup process", "(0 errs)"], &[]),
    ("md-workbench", 3, "-D=4 -P=4 -I=1 -R=2 -X -t=0.001 -L=lat", &["(0 errs)"], &["lat-0.00-1-stat.csv"]),
    ("md-workbench", 3, "-D=2 -P=4 -I=3 -R=2 -X -W -w 1", &["stonewall-iter:3", "(0 errs)"], &[]),
    (
        "md-workbench",
        3,
        "-D=2 -P=4 -I=3 -1 -W -w 1 --run-info-file=at",
        &["precreate process"],
        &["at", "o/2_1/file-3"],
    ),
    (
        "md-workbench",
        3,
        "-D=2 -P=4 -I=3 -2 -W -w 1 --run-info-file=at -R=1",
        &["(0 errs)"],
        &["o/2_1/file-6"],
    ),
    ("md-workbench", 3, "-D=2 -P=4 -I=3 -2 --read-only --run-info-file=at", &["(0 errs)"], &["o/2_1/file-6"]),
    ("md-workbench", 3, "-D=2 -P=4 -I=3 -3 --run-info-file=at --print-detailed-stats", &["cleanup"], &[]),
    ("md-workbench", 3, "-D=2 -P=4 -I=3 -2 --run-info-file=at --print-detailed-stats", &["benchmark"], &[]),
];

/// Runs `lines`, each with the words of `place` appended.
fn hold(lines: &[Row], place: &str) {
    if skipped(Launch::mpich_available()) {
        return;
    }
    let desk = Desk::new();
    let script = "IOR START\nwriteFile =1\n   reorderTasks=1\n\tfilePerProc=1\nkeepFile=1\nmultiFile=1\n\
                  transferSize=10k\nblockSize=20k\nrun\n--dummy.delay-create=1000\nuseo_direct=0\napi=dummy\n\
                  ior stop\n";
    fs::write(desk.path("script"), script).expect("written");
    fs::create_dir(desk.path("d")).expect("a directory");
    for (tool, ranks, words, said, left) in lines {
        let line = format!("{words} {place}");
        let _ = fs::remove_dir_all(desk.record());
        let ran = run(&Launch::mpich(*ranks).start(&desk.tool(tool, &line))).expect_code(0);
        assert_says(&ran.stdout, said);
        for name in *left {
            assert!(desk.path(name).exists(), "{tool} {line}: {name} is not there");
        }
    }
    if let Ok(text) = fs::read(desk.path("out.json")) {
        let json: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        assert!(json["tests"].is_array(), "{json}");
    }
}

#[test]
fn lines_of_ior_hold() {
    hold(IOR, "-o f");
}

#[test]
fn lines_of_mdtest_hold() {
    hold(MDTEST, "-d d");
}

#[test]
fn lines_of_md_workbench_hold() {
    hold(MD_WORKBENCH, "-o o");
}
