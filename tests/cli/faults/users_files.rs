//! Files that ioproof did not create are lost only if the user has agreed to it. Files that it did create are
//! replaced as the original tools replace them.

use std::fs;
use std::os::unix::fs::symlink;

use testbed::{Launch, skipped};

use crate::desk::{Desk, assert_says, at_terminal, names, run};

/// Data that a user may have: text, or bytes that look like benchmark data.
fn belongings() -> [Vec<u8>; 3] {
    let mut seed = 1_u64;
    let noise = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    });
    [b"my thesis\n".repeat(10_000), noise.take(300_000).collect(), vec![0; 1 << 16]]
}

const STUDY: &str = "[[target]]\nname = \"t\"\npath = \"mine\"\n\
                     [[workload]]\nname = \"w\"\ntransfer = \"4k\"\nsize = \"64k\"\n";
/// Overwrites files in place.
const REUSING: &str = "existing = \"reuse\"\nkeep = \"always\"\nfill = true\n";

/// Command lines that write, remove or fill the file `mine`.
const LINES: [&str; 9] = [
    "ior -w -k -t 4k -b 64k -o mine",
    "ior -w -E -k -t 4k -b 64k -o mine",
    "ior -w -r -t 4k -b 64k -O useO_DIRECT=0 -o mine",
    "iozone -i 0 -s 64k -r 4k -f mine",
    "gpfsperf create seq mine -n 64k -r 4k",
    "gpfsperf write seq mine -n 4k -r 4k",
    "ioping -q -WWW -i 0 -c 2 -s 512 -S 512 mine",
    "run study.toml",
    "run reusing.toml",
];

/// A desk with studies and with a file that a user may have.
fn desk(mine: &[u8]) -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("study.toml"), STUDY).expect("a study");
    fs::write(desk.path("reusing.toml"), format!("{STUDY}{REUSING}")).expect("a study");
    fs::write(desk.path("mine"), mine).expect("a file");
    desk
}

#[test]
fn what_ioproof_has_not_made_is_not_lost_unasked() {
    for mine in belongings() {
        let desk = desk(&mine);
        let before = names(&desk.path(""));
        for line in LINES {
            let refused = run(&desk.ioproof(line)).expect_code(3);
            assert_says(&refused.stderr, &["mine exists", "data will be lost", "--yes"]);
            assert_says(&run(&desk.ioproof(line).arg("--explain")).expect_code(0).stdout, &["--yes"]);
            assert!(fs::read(desk.path("mine")).expect("it is there") == mine, "{line} changed it");
            assert_eq!(names(&desk.path("")), before, "{line} left something");
        }
    }
}

#[test]
fn whoever_agrees_loses_it() {
    for line in LINES {
        let desk = desk(&belongings()[1]);
        let _ = run(&desk.ioproof(line).args(["--yes", "--out", "record"])).expect_code(0);
        assert!(fs::read(desk.path("mine")).ok() != Some(belongings()[1].clone()), "{line} wrote nothing");
    }
}

#[test]
fn what_ioproof_has_made_is_replaced_as_the_tool_does() {
    let makers = [
        "ior -w -k -t 4k -b 256k -o mine",
        "ior -w -k -t 47008 -b 47008 -s 20 -G 271 -o mine",
        "ior -w -k -Z -t 1m -b 4m -o mine -a MMAP",
        "iozone -i 0 -w -s 256k -r 64k -f mine",
        "gpfsperf create rand mine -n 512k -r 64k",
        "run reusing.toml",
    ];
    for maker in makers {
        for line in LINES {
            let desk = desk(b"");
            let out = ["--out", "record"];
            let _ = run(&desk.ioproof(maker).args(["--out", "first"])).expect_code(0);
            let ran = run(&desk.ioproof(line).args(out));
            // Transfers whose size is not a multiple of 512 place their cells at other offsets than the rest.
            assert_eq!(ran.code, Some(0), "{maker}, then {line}: {}", ran.stderr);
            assert!(!ran.stderr.contains("will be lost"), "{maker}, then {line}: {}", ran.stderr);
        }
    }
}

#[test]
fn one_line_of_the_user_in_a_file_of_ioproof_makes_it_theirs() {
    let desk = desk(b"");
    for at in [0, 100_000, 262_144] {
        let _ = run(&desk.ioproof("ior -w -k -t 4k -b 256k -o mine --yes --out record")).expect_code(0);
        fs::remove_dir_all(desk.record()).expect("a record");
        let mut bytes = fs::read(desk.path("mine")).expect("it is kept");
        let notes = b"my notes";
        bytes.splice(at..(at + notes.len()).min(bytes.len()), notes.iter().copied());
        fs::write(desk.path("mine"), &bytes).expect("written");
        let _ = run(&desk.ioproof(LINES[0])).expect_code(3);
        assert!(fs::read(desk.path("mine")).expect("it is there") == bytes);
    }
}

#[test]
fn a_link_counts_as_the_file_that_it_leads_to_and_a_second_name_is_somebody_s() {
    let desk = desk(b"my thesis");
    symlink("mine", desk.path("link")).expect("a link");
    for line in ["ior -w -E -k -t 4k -b 64k -o link", "ior -w -k -t 4k -b 64k -o link"] {
        let _ = run(&desk.ioproof(line)).expect_code(3);
        assert_eq!(fs::read(desk.path("mine")).expect("it is there"), b"my thesis");
    }
    let _ = run(&desk.ioproof("ior -w -k -t 4k -b 64k -o own --out record")).expect_code(0);
    fs::hard_link(desk.path("own"), desk.path("kept")).expect("a second name");
    let _ = run(&desk.ioproof("ior -w -E -k -t 4k -b 64k -o own")).expect_code(3);
}

/// With `-Z` in release 1.9, items were placed directly in the directory that the user named, and files with the same
/// names there were removed.
#[test]
fn a_file_with_the_name_of_an_item_is_the_user_s() {
    let desk = Desk::new();
    let place = desk.path("place");
    fs::create_dir(&place).expect("a directory");
    let mine = place.join("file.mdtest.0.9");
    fs::write(&mine, "my thesis").expect("a file");
    let line = "mdtest --compat 1.9 -Z -F -n 3 -w 4k -d place";
    assert_says(&run(&desk.ioproof(line)).expect_code(3).stderr, &["file.mdtest.0.9 exists", "--yes"]);
    assert_eq!(names(&place), ["file.mdtest.0.9"]);
    fs::remove_file(&mine).expect("moved away");
    for phase in ["-C", "-r"] {
        let _ = run(&desk.ioproof(&format!("{line} {phase}"))).expect_code(0);
    }
}

#[test]
fn what_is_only_read_stays_and_needs_no_answer() {
    let desk = desk(&[7; 1 << 16]);
    for line in ["ior -r -t 4k -b 64k -o mine", "gpfsperf read seq mine -r 4k", "ioping -q -i 0 -c 2 mine"] {
        let _ = run(&desk.ioproof(line)).expect_code(0);
        assert_eq!(fs::read(desk.path("mine")).expect("it is there"), [7; 1 << 16]);
    }
}

#[test]
fn the_first_of_several_files_is_named_with_their_number() {
    let desk = desk(b"my thesis");
    for task in [1, 2] {
        fs::write(desk.path(&format!("mine.0000000{task}")), "a chapter").expect("a file");
    }
    let refused = run(&desk.ioproof("ior -w -F -N 4 -t 4k -b 64k -o mine")).expect_code(3);
    assert_says(&refused.stderr, &["mine.00000001 and 1 more exist (18 B"]);
    assert!(!desk.path("mine.00000000").exists());
}

#[test]
fn one_rank_decides_for_all() {
    let desk = desk(b"my thesis");
    fs::write(desk.path("mine.00000001"), "a chapter").expect("a file");
    let before = names(&desk.path(""));
    for (available, launch) in
        [(Launch::open_mpi_available(), Launch::open_mpi(2)), (Launch::mpich_available(), Launch::mpich(2))]
    {
        if skipped(available) {
            continue;
        }
        let line = "ior -w -F -k -t 4k -b 64k -o mine";
        let refused = run(&launch.start(&desk.ioproof(line)));
        assert_eq!(refused.code, Some(3), "{}", refused.stderr);
        assert_eq!(refused.stderr.matches("mine.00000001 exists").count(), 1, "{}", refused.stderr);
        assert_eq!(fs::read(desk.path("mine.00000001")).expect("it is there"), b"a chapter");
        assert_eq!(names(&desk.path("")), before);
    }
}

#[test]
fn at_a_terminal_only_a_yes_loses_data() {
    for words in ["ior -w -k -t 4k -b 64k -o mine", "iozone -i 0 -s 64k -r 4k -f mine", "run study.toml"] {
        for (answer, agrees) in
            [("", false), ("\\n", false), ("n\\n", false), ("what\\n", false), ("y\\n", true)]
        {
            let desk = desk(b"my thesis");
            let ended = at_terminal(&desk.ioproof(words), answer);
            assert_says(&ended.stdout, &["mine exists (9 B", "[y/N]"]);
            assert_eq!(ended.code, Some(if agrees { 0 } else { 3 }), "{words}, {answer:?}: {}", ended.stdout);
            let stays = fs::read(desk.path("mine")).ok() == Some(b"my thesis".to_vec());
            assert_eq!(stays, !agrees, "{words}, {answer:?}");
            assert_eq!(desk.path("ioproof-runs").exists(), agrees, "{words}, {answer:?}");
        }
    }
}
