//! The program called as mdtest: what it leaves on disk and prints, compared with the real program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use testbed::{Launch, Program, Strace, skipped};

use crate::calls;
use crate::desk::{Desk, assert_says, run};

/// The real program, if it is installed.
fn real() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|directory| directory.join("mdtest")).find(|path| path.is_file());
    found.ok_or_else(|| "no mdtest in PATH: build IOR and put its programs there".to_owned())
}

/// Everything below `directory`.
fn below(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next).expect("a directory").flatten() {
            found.insert(entry.path().strip_prefix(directory).expect("below").display().to_string());
            if entry.path().is_dir() {
                left.push(entry.path());
            }
        }
    }
    found
}

/// The mean in the row called `name`.
fn mean(output: &str, name: &str) -> f64 {
    let row = output.lines().find(|line| line.trim_start().starts_with(name));
    let row = row.unwrap_or_else(|| panic!("no {name} in\n{output}"));
    let values: Vec<f64> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    values[2]
}

#[test]
fn a_line_by_hand_measures_every_phase_and_leaves_nothing() {
    let desk = Desk::new();
    let ran = run(&desk.ioproof("mdtest -n 50 -z 1 -b 2 -i 2 -d tree --tasks-per-rank 2 --out record"))
        .expect_code(0);
    assert_says(
        &ran.stdout,
        &["2 total task(s) on 1 node(s)", "2 tasks, 96 files/directories", "(of 2 iterations)"],
    );
    for name in
        ["Directory rename", "File creation", "File stat", "File read", "File removal", "Tree removal"]
    {
        assert!(mean(&ran.stdout, name) > 0.0, "{name}\n{}", ran.stdout);
    }
    assert!(!desk.path("tree").exists() || below(&desk.path("tree")).is_empty());
    // The record contains the same values.
    assert_eq!(desk.report().state(), "complete");
}

#[test]
fn the_line_of_the_talk_gives_six_rates() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("mdtest-ec")).expect("a directory that exists already");
    let line =
        "mdtest -d mdtest-ec -i 1 -n 1000 -F -w 0 -Z -p 1 --tasks-per-rank 4 --compat 1.9 --out record";
    let ran = run(&desk.ioproof(line)).expect_code(0);
    assert_says(&ran.stdout, &["4 tasks, 4000 files", "SUMMARY: (of 1 iterations)", "File creation :"]);
    for name in ["File creation", "File stat", "File read", "File removal", "Tree creation", "Tree removal"] {
        assert!(mean(&ran.stdout, name) > 0.0, "{name}\n{}", ran.stdout);
    }
    assert!(below(&desk.path("mdtest-ec")).is_empty(), "what existed is still there, and empty");
}

#[test]
fn a_deadline_is_left_for_the_lines_that_follow() {
    let desk = Desk::new();
    let common = "mdtest -n 2000000 -F -u -L -N 1 -d easy -x status";
    let made = run(&desk.ioproof(&format!("{common} -C -W 1 --tasks-per-rank 2 --out made"))).expect_code(0);
    assert_says(&made.stdout, &["Continue stonewall hit min: "]);
    let each: u64 =
        std::fs::read_to_string(desk.path("status")).expect("a status").parse().expect("a number");
    let files = below(&desk.path("easy")).into_iter().filter(|path| path.contains("file.mdtest.")).count();
    assert_eq!(files as u64, 2 * each, "each task made as many");
    let rest = run(&desk.ioproof(&format!("{common} -T -E -r --tasks-per-rank 2 --out rest"))).expect_code(0);
    assert!(!rest.stderr.contains("not as"), "{}", rest.stderr);
    assert!(mean(&rest.stdout, "File removal") > 0.0 && mean(&rest.stdout, "File creation") == 0.0);
    assert!(!below(&desk.path("easy")).iter().any(|path| path.contains("mdtest_tree")), "all is removed");
}

#[test]
fn mdtest_and_ioproof_leave_the_same_and_find_what_the_other_left() {
    let mdtest = real();
    if skipped(mdtest.as_ref().map(drop).map_err(Clone::clone)) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let mdtest = mdtest.expect("it is there");
    let desk = Desk::new();
    let theirs = |words: &str| {
        let program = Program::new(&mdtest).current_dir(desk.path("")).args(words.split_whitespace());
        run(&Launch::open_mpi(2).start(&program)).expect_code(0).stdout
    };
    let ours = |words: &str, out: &str| {
        let program = desk.ioproof(&format!("mdtest {words} --out {out}"));
        run(&Launch::open_mpi(2).start(&program)).expect_code(0).stdout
    };
    for (number, shape) in
        ["-n 20 -F", "-n 20 -z 1 -b 3 -L -u -F", "-I 3 -z 2 -b 2", "-n 6 -S"].iter().enumerate()
    {
        let shape = format!("{shape} -w 100 -C");
        theirs(&format!("{shape} -d theirs"));
        ours(&format!("{shape} -d ours"), &format!("made{number}"));
        assert_eq!(below(&desk.path("theirs")), below(&desk.path("ours")), "{shape}");
        // Each of the two programs removes what the other has created.
        let rest = shape.replace("-C", "-T -E -r -e 100");
        let printed = theirs(&format!("{rest} -d ours"));
        assert!(!printed.contains("WARNING: unable"), "{shape}\n{printed}");
        ours(&format!("{rest} -d theirs"), &format!("rest{number}"));
        for directory in ["ours", "theirs"] {
            assert!(below(&desk.path(directory)).is_empty(), "{shape}: {directory}");
        }
    }
}

#[test]
fn two_ranks_share_the_work() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    let desk = Desk::new();
    let words = "mdtest -n 40 -N 1 -w 3901 -e 3901 -X -F -Y -d tree --saveRankPerformanceDetails=ranks.csv --out record";
    let ran = run(&Launch::open_mpi(2).start(&desk.ioproof(words))).expect_code(0);
    assert_says(
        &ran.stdout,
        &["2 total task(s) on 1 node(s)", "Nodemap: 11", "Shifting ranks by 1", "2 tasks, 80 files"],
    );
    let ranks = std::fs::read_to_string(desk.path("ranks.csv")).expect("the details");
    assert_eq!(ranks.lines().count(), 4, "{ranks}");
}

/// The system calls on each item, as strace shows them for mdtest itself: two items in each of two directories.
#[test]
fn items_take_the_calls_of_the_real_one() {
    if skipped(Strace::available()) {
        return;
    }
    let calls_of = |words: &str| {
        let desk = Desk::new();
        let program = desk.ioproof(&format!("mdtest -n 4 -z 1 -b 1 {words} -d d --out record"));
        let trace = Strace::new().calls(calls::OF_ITEMS).run(&program).expect("a trace");
        let _ = trace.finished.clone().expect_code(0);
        calls::below(&trace, &desk.path("d/test-dir.0-0"))
    };
    let (upper, lower) = ("mdtest_tree.0/", "mdtest_tree.0/mdtest_tree.1/");
    let tree = ["mkdir mdtest_tree.0/ 0775", "mkdir mdtest_tree.0/mdtest_tree.1/ 0775"].map(str::to_owned);
    let removed = ["rmdir mdtest_tree.0/mdtest_tree.1/", "rmdir mdtest_tree.0/"].map(str::to_owned);
    let each = |kind: &str, calls: &[&str]| {
        let name = |item: u32| format!("{}{kind}.mdtest.0.{item}", if item < 2 { upper } else { lower });
        let of_item = |item| calls.iter().map(move |call| call.replace("NAME", &name(item)));
        (0..4).flat_map(of_item).collect::<Vec<String>>()
    };
    let files = [
        each("file", &["open NAME O_RDWR|O_CREAT 0664", "lseek 0", "write 100", "fsync", "close"]),
        each("file", &["stat NAME 0"]),
        each("file", &["open NAME O_RDWR", "lseek 0", "read 50", "close"]),
        each("file", &["unlink NAME"]),
    ];
    assert_eq!(calls_of("-F -w 100 -e 50 -y"), [&tree[..], &files.concat(), &removed].concat());
    let nodes = [
        each("file", &["mknod NAME S_IFREG|0400"]),
        each("file", &["stat NAME 0"]),
        each("file", &["open NAME O_RDWR", "close"]),
        each("file", &["unlink NAME"]),
    ];
    assert_eq!(calls_of("-F -k"), [&tree[..], &nodes.concat(), &removed].concat());
    let item = |item: u32| format!("{}dir.mdtest.0.{item}", if item < 2 { upper } else { lower });
    let aside = format!("{}-XX", item(0));
    let ring = [(item(0), aside.clone()), (item(1), item(0)), (item(2), item(1)), (aside, item(2))];
    let directories = [
        each("dir", &["mkdir NAME 0775"]),
        each("dir", &["stat NAME 0"]),
        ring.map(|(old, new)| format!("rename {old} {new}")).to_vec(),
        each("dir", &["rmdir NAME"]),
    ];
    assert_eq!(calls_of("-D"), [&tree[..], &directories.concat(), &removed].concat());
}
