//! The output of other tools is imported as pasted, shown, compared and judged.

use std::fs;
use std::path::PathBuf;

use crate::desk::{Desk, assert_says, run};

/// A test fixture of the importer.
pub(crate) fn fixture(name: &str) -> String {
    let directory =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("crates/dialect/tests/dialect/fixtures/import");
    fs::read_to_string(directory.join(name)).expect("a fixture")
}

/// Imports the fixture `name`, pasted into a file with an arbitrary name, and returns the output.
fn pasted(desk: &Desk, name: &str) -> String {
    fs::write(desk.path("pasted"), fixture(name)).expect("a file");
    let _ = run(&desk.ioproof("import pasted --out record")).expect_code(0);
    run(&desk.ioproof("report --full --format text record")).expect_code(0).stdout
}

#[test]
fn the_published_blocks_show_their_values_and_checks() {
    let expected: [(&str, &[&str]); 5] = [
        ("published-tsqosperf-write.txt", &["imported", "16,125", "16124635.71", "records of 16 MiB"]),
        (
            "published-tsqosperf-read.txt",
            &["55.11", "13,455", "0.0743 ms, printed 0.074 ms", "of 1000 bytes"],
        ),
        (
            "published-mdtest-1.9.3.txt",
            &[
                "where it stands: 24 of results, ",
                "50,033",
                "3937604.341",
                "13.86 + 4.18 + 8 = 26.05 s of 26 s",
            ],
        ),
        (
            "published-iozone-3.414.txt",
            &[
                "where it stands: 20",
                "5,859,946",
                "76 × 77104.55 = 5859945.8, printed 5859945.57",
                "6488345 ÷ 8388608 = 0.773471",
                "0.773472",
            ],
        ),
        ("published-iohist.txt", &["54.9 µs", "71.9 µs", "17.1 µs"]),
    ];
    for (name, says) in expected {
        let desk = Desk::new();
        assert_says(&pasted(&desk, name), says);
    }
}

/// The client's 74.3 µs minus the 54.9 µs in its history.
#[test]
fn a_whole_page_brings_history_and_rate_together() {
    let desk = Desk::new();
    let said = pasted(&desk, "published-page.txt");
    assert_says(&said, &["where it stands: 60 of results", "74.3 µs", "19.4 µs"]);
}

#[test]
fn an_imported_record_is_a_record() {
    let desk = Desk::new();
    let _ = pasted(&desk, "ior-4.1.txt");
    let report = run(&desk.ioproof("report record --format json")).expect_code(0).stdout;
    assert_says(&report, &["\"provenance\": \"imported\""]);
    let _ = run(&desk.ioproof("check record"));
    // There was no commitment.
    let _ = run(&desk.ioproof("verdict record")).expect_code(0);
    fs::write(desk.path("other"), fixture("fio-3.33-plus.json")).expect("a file");
    let _ = run(&desk.ioproof("import other --out second")).expect_code(0);
    assert_says(&run(&desk.ioproof("merge both record second")).expect_code(0).stdout, &["2 cases"]);
}

/// One IOR command line, once as printed by IOR and once as measured by ioproof.
#[test]
fn imported_and_measured_runs_stand_side_by_side() {
    let desk = Desk::new();
    fs::write(desk.path("theirs"), fixture("ior-4.1.txt")).expect("a file");
    let _ = run(&desk.ioproof("import theirs --out imported")).expect_code(0);
    let _ = run(&desk.ior("-a POSIX -w -r -i 3 -t 64k -b 64m -o iorf")).expect_code(0);
    let compared = run(&desk.ioproof("compare --full imported record")).expect_code(0).stdout;
    assert_says(&compared, &["64 KiB sequential write", "64 KiB sequential read", "imported"]);
    // The order in which its repetitions were measured is unknown.
    let itself = run(&desk.ioproof("compare imported --against-itself 1")).expect_code(2).stderr;
    assert_says(&itself, &["imported", "ioproof run"]);
}

#[test]
fn nothing_is_imported_by_half() {
    let desk = Desk::new();
    let whole = fixture("published-mdtest-1.9.3.txt");
    fs::write(desk.path("good"), fixture("ior-4.1.txt")).expect("a file");
    fs::write(desk.path("cut"), &whole[..whole.len() - 60]).expect("a file");
    let refused = run(&desk.ioproof("import good cut --out record")).expect_code(2).stderr;
    assert_says(&refused, &["cut:22:", "three digits"]);
    assert!(!desk.record().exists(), "a record was begun");
    fs::write(desk.path("strange"), "frobnicate 1.0: 7 frobs/s\n").expect("a file");
    let refused = run(&desk.ioproof("import strange --out record")).expect_code(2).stderr;
    assert_says(&refused, &["strange: this is not the output of a known tool", "iozone", "--as"]);
    let refused = run(&desk.ioproof("import good --as fio --out record")).expect_code(2).stderr;
    assert_says(&refused, &["good: this is not the output of fio", "--as"]);
    let refused = run(&desk.ioproof("import missing --out record")).expect_code(2).stderr;
    assert_says(&refused, &["missing"]);
    assert!(!desk.record().exists());
}

#[test]
fn a_newer_release_is_read_with_a_warning_that_names_it() {
    let desk = Desk::new();
    let newer = fixture("ior-4.1.txt").replace("IOR-4.1.0+dev", "IOR-9.2.0");
    fs::write(desk.path("newer"), newer).expect("a file");
    let said = run(&desk.ioproof("import newer --out record")).expect_code(0).stdout;
    assert_says(&said, &["IOR 9.2.0 is newer than 4.1"]);
}

/// A record gets its name once it is complete; an existing file of that name stays.
#[test]
fn a_record_that_is_there_is_not_touched() {
    let desk = Desk::new();
    let first = pasted(&desk, "ior-4.1.txt");
    assert_says(&first, &["imported from pasted (IOR 4.1.0+dev)", "measured 2026-11-21"]);
    let names = || {
        let mut names: Vec<_> = fs::read_dir(desk.path("."))
            .expect("the desk")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    };
    let before = (names(), fs::read(desk.record().join("journal.jsonl")).expect("a journal"));
    let refused = run(&desk.ioproof("import pasted --out record")).expect_code(7).stderr;
    assert_says(&refused, &["record", "not empty"]);
    let refused = run(&desk.ioproof("import pasted --out pasted/below")).expect_code(7).stderr;
    assert_says(&refused, &["pasted"]);
    assert_eq!((names(), fs::read(desk.record().join("journal.jsonl")).expect("a journal")), before);
}

/// The import adds nothing that was not printed: no host, no time and no duration.
#[test]
fn the_head_says_where_imported_data_came_from() {
    let desk = Desk::new();
    let said = pasted(&desk, "published-tsqosperf-read.txt");
    assert_says(
        &said,
        &[
            "on a host that is not printed",
            "imported from pasted (tsqosperf)",
            "when it was measured is not printed",
        ],
    );
    assert!(!said.contains("took 0") && !said.contains("seed") && !said.contains("Latency of"), "{said}");
}

/// nsdperf may have used TCP or RDMA, over any interface.
#[test]
fn a_transport_that_is_not_printed_is_not_claimed() {
    let desk = Desk::new();
    let said = pasted(&desk, "nsdperf.txt");
    assert_says(&said, &["RPC/s", "not printed", "1 clients to 1 servers"]);
    assert!(!said.contains("interface") && !said.contains("processors: asking"), "{said}");
}

/// B29: the printed result of IOzone next to a measured result of IOR, for one point. No statement is made about 9
/// ms.
#[test]
fn what_another_tool_has_printed_is_compared_with_an_own_run_of_its_point() {
    let desk = Desk::new();
    let _ = pasted(&desk, "iozone-3.508.txt");
    fs::rename(desk.record(), desk.path("theirs")).expect("kept");
    let _ = run(&desk.ior("-w -r -F -e -t 64k -b 16m --tasks-per-rank 2 -o iorf")).expect_code(0);
    let said = run(&desk.ioproof("compare --full theirs record")).expect_code(0).stdout;
    assert_says(
        &said,
        &["write → test0", "read → test0", "rate while transferring", "too short: both runs, before"],
    );
    assert!(!said.contains("differs in") && !said.contains("on unknown"), "{said}");
    // They are paired only by their point.
    fs::remove_dir_all(desk.record()).expect("gone");
    let _ = run(&desk.ior("-w -r -F -e -t 128k -b 16m --tasks-per-rank 2 -o iorf")).expect_code(0);
    let said = run(&desk.ioproof("compare --full theirs record")).expect_code(0).stdout;
    assert_says(&said, &["0 figures in both runs. ", "No case is in both runs"]);
}

/// A text that is imported twice is one measurement.
#[test]
fn a_text_is_not_within_the_limits_of_itself() {
    let desk = Desk::new();
    let _ = pasted(&desk, "md-workbench-4.1.txt");
    fs::rename(desk.record(), desk.path("theirs")).expect("kept");
    let _ = pasted(&desk, "md-workbench-4.1.txt");
    let refused = run(&desk.ioproof("compare theirs record --verdict")).expect_code(2).stderr;
    assert_says(&refused, &["the same text was imported twice"]);
    let _ = run(&desk.ioproof("compare theirs record")).expect_code(0);
}

#[test]
fn imported_metadata_figures_are_compared_with_own_ones() {
    let desk = Desk::new();
    let _ = pasted(&desk, "md-workbench-4.1.txt");
    fs::rename(desk.record(), desk.path("theirs")).expect("kept");
    let _ = run(&desk.ioproof("md-workbench -D 2 -I 200 -P 500 --tasks-per-rank 2 -o objects --out record"))
        .expect_code(0);
    let said = run(&desk.ioproof("compare --full theirs record")).expect_code(0).stdout;
    assert_says(&said, &["precreate", "benchmark", "cleanup", "operations/s"]);
    // Its mean lies anywhere between the seven values that it prints.
    assert!(!said.contains("mean latency"), "{said}");
}

/// Impossible values in a text are reported, and a figure with such values does not meet a commitment.
#[test]
fn printed_statistics_that_cannot_be_are_doubted() {
    let desk = Desk::new();
    let whole = fixture("mdtest-4.1.txt");
    for (printed, changed, says) in [
        // The mean of three values cannot exceed the largest.
        ("400468.691      35619.003", "500468.691      35619.003", "a mean of 500468.691"),
        // Three values in that range have a larger deviation.
        ("400468.691      35619.003", "400468.691        619.003", "it is at least"),
        ("400468.691      35619.003", "400468.691      95619.003", "it is at most"),
    ] {
        let _ = fs::remove_dir_all(desk.record());
        fs::write(desk.path("pasted"), whole.replace(printed, changed)).expect("a file");
        let _ = run(&desk.ioproof("import pasted --out record")).expect_code(0);
        let said = run(&desk.ioproof("check --json record")).stdout;
        assert_says(&said, &["contradiction", "file-create", says]);
    }
    // None of the real outputs of tools raises such a doubt.
    let directory =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("crates/dialect/tests/dialect/fixtures/import");
    for entry in fs::read_dir(directory).expect("the fixtures") {
        let name = entry.expect("a fixture").file_name();
        let _ = fs::remove_dir_all(desk.record());
        let _ = pasted(&desk, &name.to_string_lossy());
        let said = run(&desk.ioproof("check --json record")).stdout;
        assert!(!said.contains("statistics of the same values"), "{}: {said}", name.display());
    }
}

#[test]
fn what_is_imported_is_judged_by_terms_that_come_with_it() {
    let desk = Desk::new();
    fs::write(desk.path("pasted"), fixture("published-mdtest-1.9.3.txt")).expect("a file");
    let promise = |name: &str, workload: &str, least: u32| {
        format!(
            "[[commitment]]\nname = \"{name}\"\nworkload = \"{workload}\"\nphase = \"file-create\"\n\
             statistic = \"worst\"\niops_at_least = {least}\n"
        )
    };
    fs::write(desk.path("terms.toml"), promise("creates", "mdtest", 50_000)).expect("written");
    let said = run(&desk.ioproof("import pasted --out kept --terms terms.toml")).expect_code(0).stdout;
    assert_says(&said, &["PASS", "creates", "given at the import, after the measurement"]);
    let kept = run(&desk.ioproof("verdict kept")).expect_code(0).stdout;
    assert_says(&kept, &["PASS", "50,000"]);
    fs::write(desk.path("terms.toml"), promise("more", "mdtest", 60_000)).expect("written");
    let _ = run(&desk.ioproof("import pasted --out failed --terms terms.toml")).expect_code(0);
    assert_says(&run(&desk.ioproof("verdict failed")).expect_code(8).stdout, &["FAIL", "-16.6 %"]);
    fs::write(desk.path("terms.toml"), promise("creates", "mdtset", 50_000)).expect("written");
    let refused = run(&desk.ioproof("import pasted --out none --terms terms.toml")).expect_code(2).stderr;
    assert_says(&refused, &["terms.toml:3", "no workload `mdtset`", "did you mean \"mdtest\"?"]);
    assert!(!desk.path("none").exists(), "no record without its terms");
}

/// What IOR says of its own errors decides whether a commitment is kept.
#[test]
fn errors_that_a_tool_prints_stay_with_its_figure() {
    let desk = Desk::new();
    let whole = fixture("ior-3.2.1.txt");
    let terms = "[[target]]\nname = \"ior\"\ncaches = \"0B\"\n[[commitment]]\nname = \"writes\"\nworkload = \"test0\"\n\
                 phase = \"write\"\nstatistic = \"mean\"\nbandwidth_at_least = \"1MB/s\"\n";
    fs::write(desk.path("terms.toml"), terms).expect("written");
    let row = whole.lines().find(|line| line.starts_with("write ")).expect("a pass of writes");
    let told = |line: &str| {
        let _ = fs::remove_dir_all(desk.record());
        fs::write(desk.path("pasted"), whole.replace(row, &format!("{line}{row}"))).expect("a file");
        let _ = run(&desk.ioproof("import pasted --out record --terms terms.toml")).expect_code(0);
        run(&desk.ioproof("verdict record")).stdout
    };
    let failed = told("ior WARNING: fsync() failed, errno 5, Input/output error\n");
    assert_says(&failed, &["DOUBTFUL", "failed fsync", "the tool itself reports a failed fsync", "errno 5"]);
    let wrong = told("WARNING: Incorrect data on write (3 errors found).\n");
    assert_says(&wrong, &["DOUBTFUL", "wrong data", "(3 errors found)"]);
    let others = told("ior WARNING: cannot open hints file.\n");
    assert!(!others.contains("reports"), "no error of the measurement: {others}");
}

/// The rate of an iteration that is missing from the statistics below it.
#[test]
fn iterations_that_their_statistics_are_not_of_are_doubted() {
    let desk = Desk::new();
    let whole = fixture("ior-3.2.1.txt");
    let told = |text: &str| {
        let _ = fs::remove_dir_all(desk.record());
        fs::write(desk.path("pasted"), text).expect("a file");
        let _ = run(&desk.ioproof("import pasted --out record")).expect_code(0);
        run(&desk.ioproof("check --json record")).stdout
    };
    assert!(!told(&whole).contains("of the iterations"), "as it was printed");
    let changed = told(&whole.replace("write     1069.34 ", "write     9069.34 "));
    assert_says(
        &changed,
        &["contradiction", "maximum of the iterations: 9069.34 by its 2 iterations, printed 1069.34"],
    );
}
