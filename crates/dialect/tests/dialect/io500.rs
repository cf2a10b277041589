//! IO500: the lines of its phases, its results and their hashes, against recorded runs of the benchmark itself.

use dialect::import::{Text, import};
use dialect::io500::{Config, Entry, Memo, Outcome, Phase, Request, Setup, Sheet, parse, verify};
use dialect::ior::Launcher;
use record::io500::{BANDWIDTH, INVALID, METADATA, SCORE, SCORE_EXTENDED, TOTAL};

/// A dry run of the benchmark with options of each section, and its results.
const LINES: &str = include_str!("io500/lines.ini");
const LINES_RESULT: &str = include_str!("io500/lines_result.txt");
const LINES_SUMMARY: &str = include_str!("io500/lines_summary.txt");
/// A run of one second on two processes.
const RUN: &str = include_str!("io500/run.ini");
const RUN_RESULT: &str = include_str!("io500/run_result.txt");
const RUN_SUMMARY: &str = include_str!("io500/run_summary.txt");
const RUN_CONFIG: &str = include_str!("io500/run_config.ini");
const TIMESTAMP: &str = "2026.11.27-12.00.00";

fn setup(config: &str, tasks: u32) -> Setup {
    Setup::new(Config::parse("config.ini", config).expect("valid"), TIMESTAMP, tasks)
}

/// The value of `key` in a section of a result.
fn value(result: &str, section: &str, key: &str) -> Option<String> {
    let after = result.replace("runtime limits!exe", "runtime limits!\nexe");
    let after = after.split(&format!("\n[{section}]\n")).nth(1)?;
    let lines = after.lines().take_while(|line| !line.starts_with('['));
    let mut pairs = lines.filter_map(|line| line.split_once(" = "));
    pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.to_owned())
}

fn number(result: &str, section: &str, key: &str) -> Option<f64> {
    value(result, section, key)?.split(' ').next()?.parse().ok()
}

#[test]
fn every_phase_has_the_line_of_the_benchmark() {
    for (config, result, tasks) in [(LINES, LINES_RESULT, 1), (RUN, RUN_RESULT, 2)] {
        let setup = setup(config, tasks);
        let rate = number(result, "mdtest-easy-write", "score").expect("a score");
        for phase in Phase::all().filter(|phase| *phase != Phase::Timestamp) {
            let line = setup.line(phase, rate).join(" ");
            assert_eq!(Some(line), value(result, phase.name(), "exe"), "{}", phase.name());
        }
    }
}

/// The results that `setup` gives with the scores of `result`.
fn again(setup: &Setup, result: &str, is_dry: bool) -> (String, String) {
    let mut sheet = Sheet::new(setup.clone(), "ref".to_owned(), true, is_dry);
    let begin = sheet.begin(0);
    let (mut text, mut summary) = (begin.result, begin.summary);
    let rate = number(result, "mdtest-easy-write", "score").unwrap_or(0.0);
    for phase in Phase::all() {
        text.push_str(&sheet.phase_begins(phase, &setup.line(phase, rate), rate, 0).result);
        let mut outcome = Outcome::none(number(result, phase.name(), "t_delta").expect("a time"));
        outcome.score = number(result, phase.name(), "score").unwrap_or(0.0);
        let keys = [
            "throughput-stonewall",
            "rate-stonewall",
            "maxOpTime",
            "scoreIteration0",
            "maxOpTime0",
            "found",
            "total-files",
        ];
        for key in keys {
            if let Some(value) = value(result, phase.name(), key) {
                outcome.entries.push(Entry::Pair(key, value));
            }
        }
        let end = sheet.phase_ends(phase, &outcome, 0);
        text.push_str(&end.result);
        summary.push_str(&end.summary);
    }
    let end = sheet.end(0);
    (text + &end.result, summary + &end.summary)
}

/// Without what differs from run to run: times of day, and the program's own words.
fn comparable(result: &str) -> String {
    let lines = result.replace("/s : ERROR", "").replace("runtime limits!exe", "runtime limits!\nexe");
    let kept = lines.lines().filter(|line| {
        !["t_start", "t_end", "; START", "; END", "; WARNING", "MD ", "BW ", "SCORE ", "hash"]
            .iter()
            .any(|start| line.starts_with(start))
    });
    kept.map(|line| format!("{line}\n")).collect()
}

#[test]
fn results_are_written_as_the_benchmark_writes_them() {
    for (config, result, tasks, is_dry) in [(LINES, LINES_RESULT, 1, true), (RUN, RUN_RESULT, 2, false)] {
        let (text, _) = again(&setup(config, tasks), result, is_dry);
        assert_eq!(comparable(&text), comparable(result));
    }
}

#[test]
fn summaries_and_scores_are_those_of_the_benchmark() {
    for (config, result, summary, tasks, is_dry) in
        [(LINES, LINES_RESULT, LINES_SUMMARY, 1, true), (RUN, RUN_RESULT, RUN_SUMMARY, 2, false)]
    {
        let setup = setup(config, tasks);
        let (text, own) = again(&setup, result, is_dry);
        let without_times = |text: &str| {
            let lines = text.lines().map(|line| {
                let (head, tail) = line.split_once(": time ").unwrap_or((line, ""));
                format!("{head}{}\n", if tail.contains("INVALID") { "!" } else { "" })
            });
            lines.collect::<String>()
        };
        // The scores of a result have six decimals, so the means of them may differ in the last.
        let phases = |text: &str| {
            let lines = without_times(text);
            lines.lines().filter(|line| !line.starts_with("[SCORE")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(phases(&own), phases(summary));
        for section in ["SCORE", "SCOREX"] {
            for key in ["MD", "BW", "SCORE"] {
                let (own, theirs) = (number(&text, section, key), number(result, section, key));
                let (own, theirs) = (own.expect("a score"), theirs.expect("a score"));
                assert!((own - theirs).abs() <= 1e-6 * theirs, "{section} {key}: {own} {theirs}");
            }
        }
        let (said, _) = verify(&Config::parse("c", config).expect("valid"), &text);
        assert!(said.contains("[OK] But this is an invalid run!"), "{said}");
    }
}

#[test]
fn results_of_the_benchmark_pass_its_verification_here_and_doctored_ones_do_not() {
    for (config, result) in [(LINES, LINES_RESULT), (RUN, RUN_RESULT), (RUN_CONFIG, RUN_RESULT)] {
        let config = Config::parse("c", config).expect("valid");
        let (said, is_valid) = verify(&config, result);
        assert!(said.contains("[OK] But this is an invalid run!") && !is_valid, "{said}");
        let better = result.replacen("score           = ", "score           = 9", 1);
        let (said, is_valid) = verify(&config, &better);
        assert!(said.contains("ERROR: the scores have the hash") && !is_valid, "{said}");
    }
    let (said, is_valid) = verify(&Config::default(), RUN_RESULT);
    assert!(said.contains("ERROR: the configuration has the hash") && !is_valid, "{said}");
}

#[test]
fn hashes_of_older_releases_are_no_errors() {
    let other = Config::parse("c", "[debug]\nstonewall-time = 299\n").expect("valid");
    // A name that is no release is judged by the year, which is 1970 here.
    for (version, is_older) in [("io500-isc23", true), ("", true), ("abcdef", true), ("io500-sc25", false)] {
        let result = valid_result(version);
        let (said, is_valid) = verify(&other, &result);
        assert_eq!(said.contains("ERROR: the configuration has the hash"), !is_older, "{version}: {said}");
        assert_eq!(said.contains("the hash of the configuration is of an older release"), is_older, "{said}");
        assert!(!said.contains("ERROR: the scores") && is_valid == is_older, "{version}: {said}");
        let better = result.replacen("score           = ", "score           = 9", 1);
        let (said, is_valid) = verify(&other, &better);
        assert!(!is_valid && !said.contains("[OK]"), "{version}: {said}");
        assert_eq!(said.contains("ERROR: the scores"), !version.is_empty(), "{version}: {said}");
        assert_eq!(said.contains("\n[NOT VERIFIED] the hash of the scores"), version.is_empty(), "{said}");
    }
}

/// The result of a valid run by a release called `version`.
fn valid_result(version: &str) -> String {
    let setup = Setup::new(Config::default(), TIMESTAMP, 2);
    let mut sheet = Sheet::new(setup.clone(), version.to_owned(), false, false);
    let mut text = sheet.begin(0).result;
    for phase in Phase::all().filter(|phase| !phase.is_extended()) {
        text.push_str(&sheet.phase_begins(phase, &setup.line(phase, 1.0), 1.0, 0).result);
        let outcome = Outcome { score: 2.0, seconds: 301.0, entries: Vec::new() };
        text.push_str(&sheet.phase_ends(phase, &outcome, 0).result);
    }
    text.push_str(&sheet.end(0).result);
    text
}

#[test]
fn a_run_that_keeps_to_the_rules_is_valid() {
    let text = valid_result("v");
    assert!(!text.contains("INVALID"), "{text}");
    assert_eq!(number(&text, "SCORE", "SCORE"), Some(2.0));
    let (said, is_valid) = verify(&Config::default(), &text);
    assert!(is_valid && said.contains("[OK]"), "{said}");
}

#[test]
fn what_this_program_does_not_do_is_refused_with_a_reason() {
    for (config, told) in [
        ("[global]\nio-buffers-on-gpu = TRUE\n", "buffers are in main memory"),
        ("[find]\nexternal-script = ./x.sh\n", "commands from a configuration file are not run"),
        ("[global]\ndrop-caches = TRUE\ndrop-caches-cmd = rm -r x\n", "configuration file are not run"),
        ("[mdworkbench]\nfilesPerProc = 3\n", "set both precreatePerSet and filesPerProc"),
        ("[global]\ndatadir = a b\n", "a path with spaces"),
    ] {
        let error = setup(config, 1).check().expect_err(config).to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn what_a_run_has_kept_cannot_lead_elsewhere() {
    let memo = |timestamp: &str| Memo {
        config: RUN.to_owned(),
        timestamp: timestamp.to_owned(),
        is_extended: false,
        is_fresh: true,
    };
    assert_eq!(Memo::read(&memo(TIMESTAMP).text()), Some(memo(TIMESTAMP)));
    for timestamp in ["../../elsewhere", "", ".hidden", "a b"] {
        assert_eq!(Memo::read(&memo(timestamp).text()), None, "{timestamp}");
    }
}

#[test]
fn command_lines_are_read_as_the_benchmark_reads_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("c.ini");
    std::fs::write(&path, RUN).expect("written");
    let read = |line: &str| {
        let line = line.replace("c.ini", &path.display().to_string());
        parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), Launcher::default())
    };
    let Request::Run(run) = read("io500 c.ini --mode=extended --timestamp x -v -v").expect("valid") else {
        panic!("a run");
    };
    assert!(run.is_extended && !run.is_dry && run.timestamp.as_deref() == Some("x"));
    assert_eq!(
        read("io500 c.ini --config-hash").expect("valid"),
        Request::Text("config-hash     = 54674C3\n".into())
    );
    assert!(matches!(read("io500 c.ini --verify result.txt").expect("valid"), Request::Verify { .. }));
    for (line, told) in [
        ("io500 --dry-run", "no configuration is given"),
        ("io500 c.ini d.ini", "is a second configuration"),
        ("io500 c.ini --mode=fast", "give standard or extended"),
        ("io500 c.ini --timestamp=../x", "is not a directory name"),
        ("io500 none.ini", "none.ini"),
    ] {
        let error = read(line).expect_err(line).to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// The phases that `text` has, with their results in the benchmark's units.
fn imported(text: &str) -> Vec<(Phase, f64)> {
    let text = Text { name: "result.txt", bytes: text.as_bytes() };
    let imported = import(&[text], None, 0).unwrap_or_else(|error| panic!("{error}"));
    let of = |record: &record::PhaseRecord| {
        let row = &record.phase;
        let phase = Phase::named(&row.key.case).expect("a phase");
        let seconds = row.wall_ns as f64 / 1e9;
        let amount =
            if phase.unit() == "GiB/s" { row.bytes() as f64 / GIB } else { row.items as f64 / 1000.0 };
        (phase, amount / seconds)
    };
    imported.phases.iter().map(of).collect()
}

const GIB: f64 = 1_073_741_824.0;

#[test]
fn results_and_summaries_of_the_benchmark_are_imported_with_their_figures() {
    for text in [RUN_RESULT, RUN_SUMMARY] {
        let found = imported(text);
        let phases = Phase::all().filter(|phase| *phase != Phase::Timestamp);
        assert_eq!(found.iter().map(|(phase, _)| *phase).collect::<Vec<_>>(), phases.collect::<Vec<_>>());
        for (phase, score) in found {
            let printed = number(RUN_RESULT, phase.name(), "score").expect("a score");
            // Of a phase of some milliseconds whole files are counted.
            assert!((score - printed).abs() < 1e-3 * printed, "{}: {score} {printed}", phase.name());
        }
    }
    // Scores stand beside the last phase, and say themselves that they are invalid.
    for text in [RUN_RESULT, RUN_SUMMARY] {
        let text = Text { name: "result.txt", bytes: text.as_bytes() };
        let imported = import(&[text], None, 0).expect("results");
        let last = imported.phases.last().expect("a phase");
        let score = |label, statistic| {
            let mut rows = last.printed.iter().filter(|row| row.label == label && row.statistic == statistic);
            rows.next().unwrap_or_else(|| panic!("no {label} {statistic} in {:?}", last.printed))
        };
        for (label, section) in [(SCORE, "SCORE"), (SCORE_EXTENDED, "SCOREX")] {
            for (statistic, key) in [(BANDWIDTH, "BW"), (METADATA, "MD"), (TOTAL, "SCORE")] {
                let wanted = number(RUN_RESULT, section, key);
                assert_eq!(score(label, statistic).number, wanted, "{label} {statistic}");
            }
            assert!(score(label, TOTAL).value.ends_with(" [INVALID]"));
        }
        let reasons =
            imported.phases.iter().flat_map(|phase| &phase.printed).filter(|row| row.label == INVALID);
        assert!(reasons.count() >= 4, "a phase of a second is invalid");
    }
    // A dry run has no result.
    let text = Text { name: "result.txt", bytes: LINES_RESULT.as_bytes() };
    assert!(import(&[text], None, 0).expect_err("no result").to_string().contains("score = 1.5"));
}

/// Run with `UPDATE_DOCS=1` to write the tables into the page again.
#[test]
fn the_page_has_every_option() {
    crate::page::has("IO500.md", &dialect::io500::reference());
}
