//! Runs that were killed, truncated or damaged: intact data is returned, and damaged data is reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use plan::Phase;
use record::{Outcome, RecordError, Recorder, Run, RunState};
use tempfile::TempDir;

use crate::sample;
use crate::whole::{assert_holds, everything};

/// The tables of a run.
const TABLES: [&str; 15] = [
    "phases",
    "tasks",
    "latency",
    "series",
    "node_series",
    "devices",
    "history",
    "printed",
    "ends",
    "launches",
    "steps",
    "spaces",
    "servers",
    "server_texts",
    "warnings",
];

fn recorded() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    sample::write(&directory, 2, Outcome::Complete).expect("recorded");
    (place, directory)
}

fn cut(path: &Path, bytes: u64) {
    fs::OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(bytes)).expect("cut");
}

/// Every length of the journal that a kill can result in.
#[test]
fn a_journal_cut_anywhere_gives_every_finished_phase() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    let records = sample::case("seq", 2);
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    recorder.case_started("seq").expect("started");
    let journal = directory.join("journal.jsonl");
    let mut ends = Vec::new();
    for record in &records {
        recorder.phase_finished(record).expect("recorded");
        ends.push(fs::metadata(&journal).expect("there").len());
    }
    // Simulates a kill: the lock disappears with the process, and nothing more is written.
    drop(recorder);
    let text = fs::read(&journal).expect("readable");
    let start = text.iter().position(|&b| b == b'\n').expect("a first line") as u64;
    for length in (start..=text.len() as u64).rev().step_by(997).chain(ends.iter().map(|end| end - 1)) {
        fs::write(&journal, &text[..usize::try_from(length).expect("small")]).expect("cut");
        let run = Run::open(&directory).expect("readable");
        assert_eq!(run.state, RunState::Killed);
        // A line that lacks only its final line feed still counts as complete.
        let whole = ends.iter().filter(|&&end| end - 1 <= length).count();
        assert_holds(&run, &records[..whole]);
        assert!(run.damage.len() <= 1, "{:?}", run.damage);
    }
}

#[test]
fn a_torn_line_is_named() {
    let (_place, directory) = recorded();
    let journal = directory.join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("readable");
    let second_case = text.find("\"case\":\"rand\",\"repetition\":1").expect("recorded");
    cut(&journal, second_case as u64 + 100);
    // Simulates a kill: no table has been sealed yet.
    for table in TABLES {
        fs::remove_dir_all(directory.join(table)).expect("removed");
    }
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.state, RunState::Killed);
    assert_eq!(run.damage.len(), 1);
    assert!(run.damage[0].what.contains("is incomplete after"), "{}", run.damage[0]);
    assert_holds(&run, &everything(2)[..6]);
}

/// If a table is damaged, its case is read from the journal. If the journal is damaged, the tables have the rows.
#[test]
fn a_damaged_table_is_named_and_its_rows_come_from_the_journal() {
    for table in TABLES {
        let (_place, directory) = recorded();
        let path = directory.join(table).join("000001.parquet");
        let mut bytes = fs::read(&path).expect("readable");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        fs::write(&path, &bytes).expect("damaged");
        let run = Run::open(&directory).expect("readable");
        assert_eq!(run.damage.len(), 1, "{table}: {:?}", run.damage);
        assert_eq!(run.damage[0].path, path);
        assert_holds(&run, &everything(2));

        cut(&path, 40);
        let run = Run::open(&directory).expect("readable");
        assert!(run.damage[0].what.contains("40 bytes"), "{}", run.damage[0]);
        assert_holds(&run, &everything(2));
    }
}

#[test]
fn a_missing_table_directory_is_named_and_its_rows_come_from_the_journal() {
    let (_place, directory) = recorded();
    fs::remove_dir_all(directory.join("latency")).expect("removed");
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.damage.len(), 1, "{:?}", run.damage);
    assert_holds(&run, &everything(2));
}

#[test]
fn without_its_journal_a_run_is_read_from_its_tables() {
    let (_place, directory) = recorded();
    fs::remove_file(directory.join("journal.jsonl")).expect("removed");
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.damage.len(), 1);
    assert!(run.damage[0].what.contains("only sealed tables"), "{}", run.damage[0]);
    assert!(matches!(run.state, RunState::Failed { .. }), "it must not pass for complete: {:?}", run.state);
    assert_holds(&run, &everything(2));
}

#[test]
fn without_its_manifest_a_run_is_read_from_its_journal() {
    let (_place, directory) = recorded();
    for damage in [None, Some("{\"format_version\": 1"), Some("")] {
        match damage {
            None => fs::remove_file(directory.join("manifest.json")).expect("removed"),
            Some(text) => fs::write(directory.join("manifest.json"), text).expect("damaged"),
        }
        let run = Run::open(&directory).expect("readable");
        assert_eq!(run.damage.len(), 1);
        assert!(run.manifest.finished_unix_ns.is_some(), "the journal has the end of the run");
        assert_holds(&run, &everything(2));
    }
}

#[test]
fn a_damaged_line_costs_one_phase_at_most() {
    let (_place, directory) = recorded();
    let journal = directory.join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("readable");
    let lines: Vec<&str> = text.lines().collect();
    // Without tables, the journal is the only source.
    for table in TABLES {
        fs::remove_dir_all(directory.join(table)).expect("removed");
    }
    for (index, line) in lines.iter().enumerate() {
        let mut damaged = lines.clone();
        let half = &line[..line.len() / 2];
        damaged[index] = half;
        fs::write(&journal, damaged.join("\n") + "\n").expect("damaged");
        let run = Run::open(&directory).expect("readable");
        let lost = usize::from(line.contains("phase-finished"));
        assert_eq!(run.all_phases().count(), 8 - lost, "line {index}: {half:.60}");
        assert!(
            run.damage.iter().any(|damage| damage.what.contains(&format!("line {}", index + 1))),
            "{index}"
        );
    }
}

/// Bytes anywhere in a table are changed, with neither a checksum nor the journal available. The reader may lose the
/// table, but nothing else, and must not crash.
#[test]
fn a_damaged_table_without_a_journal_costs_that_table_at_most() {
    let (_place, directory) = recorded();
    fs::remove_file(directory.join("journal.jsonl")).expect("removed");
    let path = directory.join("tasks/000001.parquet");
    let whole = fs::read(&path).expect("readable");
    for index in (0..whole.len()).step_by(5) {
        let mut bytes = whole.clone();
        bytes[index] ^= 0xff;
        fs::write(&path, &bytes).expect("damaged");
        let run = Run::open(&directory).expect("readable");
        assert_eq!(run.all_phases().count(), 8);
        assert_eq!(run.series("rand").len(), 12, "the other tables are there");
    }
}

/// Environment variable with the directory in which [`a_recorder_to_be_killed`] writes.
const CHILD_DIRECTORY: &str = "IOPROOF_TEST_RECORD_DIRECTORY";

/// Not a test by itself: records until it is killed.
#[test]
#[ignore = "the process that `kill_9_leaves_every_finished_phase` kills"]
fn a_recorder_to_be_killed() {
    let Some(directory) = std::env::var_os(CHILD_DIRECTORY) else { return };
    let mut recorder = Recorder::create(Path::new(&directory), &sample::manifest()).expect("created");
    for number in 0.. {
        let case = format!("case{number}");
        recorder.case_started(&case).expect("started");
        for record in sample::case(&case, 50) {
            recorder.phase_finished(&record).expect("recorded");
        }
        recorder.case_finished(&case).expect("sealed");
    }
}

#[test]
fn kill_9_leaves_every_finished_phase() {
    let place = tempfile::tempdir().expect("a directory");
    for attempt in 0..5 {
        let directory = place.path().join(format!("run{attempt}"));
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "damage::a_recorder_to_be_killed", "--ignored"])
            .env(CHILD_DIRECTORY, &directory)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("a process");
        // Phases that the child has reported as finished are those with a complete line.
        let lines =
            |path: &Path| fs::read_to_string(path).map_or(0, |text| text.matches("phase-finished").count());
        while lines(&directory.join("journal.jsonl")) < 7 + attempt {
            std::thread::yield_now();
        }
        let running = Run::open(&directory).expect("readable while it runs");
        assert_eq!((&running.state, running.damage.as_slice()), (&RunState::Running, &[][..]));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let run = Run::open(&directory).expect("readable");
        assert_eq!(run.state, RunState::Killed);
        assert!(run.all_phases().count() >= 7 + attempt - 1, "{} phases", run.all_phases().count());
        assert!(run.all_phases().count() >= running.all_phases().count());
        assert!(
            run.damage.iter().all(|damage| damage.what.contains("while it was being written")),
            "{:?}",
            run.damage
        );
        let case = |number: usize| sample::case(&format!("case{number}"), 50);
        let records: Vec<_> =
            (0..=run.all_phases().count() / 4).flat_map(case).take(run.all_phases().count()).collect();
        assert_holds(&run, &records);
    }
}

#[test]
fn a_directory_without_a_run_is_told_so() {
    let place = tempfile::tempdir().expect("a directory");
    let error = Run::open(place.path()).expect_err("no run");
    assert!(matches!(error, RecordError::NotARun { .. }), "{error}");
}

/// A tmpfs with a given size. It is unmounted when the value is dropped.
struct SmallFileSystem(TempDir);

impl SmallFileSystem {
    fn mount(size: &str) -> Option<Self> {
        let place = tempfile::tempdir().expect("a directory");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "ioproof-test"])
            .arg(place.path())
            .output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(place)),
            _ => {
                println!("skipped: a tmpfs cannot be mounted here (needs root)");
                None
            }
        }
    }

    fn remount_read_only(&self) {
        let status = Command::new("mount").args(["-o", "remount,ro"]).arg(self.0.path()).status();
        assert!(status.expect("mount runs").success());
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        // If this fails, there is nothing left to do. The result of the test is more informative.
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_file_system_is_named_and_what_was_recorded_stays() {
    let Some(small) = SmallFileSystem::mount("64k") else { return };
    let directory = small.0.path().join("run");
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    recorder.case_started("seq").expect("started");
    let mut records = Vec::new();
    let error = loop {
        let record = sample::phase("seq", u32::try_from(records.len()).expect("few"), Phase::Write, 40);
        match recorder.phase_finished(&record) {
            Ok(()) => records.push(record),
            Err(error) => break error,
        }
        assert!(records.len() < 100, "64 KiB must be full by now");
    };
    let text = error.to_string();
    assert!(text.contains("journal.jsonl") && text.contains("free some space"), "{text}");
    assert!(!records.is_empty(), "some phases fit");
    // The remaining space may or may not be enough for the end. The phases are recorded in either case.
    let _ = recorder.finish(&Outcome::Failed(text));
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.damage, []);
    assert_holds(&run, &records);
}

#[test]
fn a_run_that_cannot_start_for_lack_of_space_leaves_nothing() {
    let Some(small) = SmallFileSystem::mount("8k") else { return };
    let directory = small.0.path().join("run");
    fs::write(small.0.path().join("other"), vec![1; 4096]).expect("room for one page");
    let error = Recorder::create(&directory, &sample::manifest()).map(|_| ()).expect_err("refused");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert!(!directory.exists());
}

#[test]
fn a_file_system_that_turns_read_only_is_named_and_what_was_recorded_stays() {
    let Some(small) = SmallFileSystem::mount("1m") else { return };
    let directory = small.0.path().join("run");
    let record = sample::phase("seq", 0, Phase::Write, 2);
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    recorder.case_started("seq").expect("started");
    recorder.phase_finished(&record).expect("recorded");
    drop(recorder);
    small.remount_read_only();
    let run = Run::open(&directory).expect("readable");
    assert_holds(&run, &[record]);
    let error = Recorder::create(&small.0.path().join("other"), &sample::manifest())
        .map(|_| ())
        .expect_err("refused");
    assert!(error.to_string().contains("other") && error.to_string().contains("writable"), "{error}");
}

/// A truncated journal has less information than a missing one, but must not hide more.
#[test]
fn a_cut_journal_does_not_hide_whole_tables() {
    let (_place, directory) = recorded();
    let journal = directory.join("journal.jsonl");
    let text = fs::read(&journal).expect("readable");
    let ends: Vec<usize> = (1..=text.len()).filter(|&end| text[end - 1] == b'\n').collect();
    let rand = text.windows(15).rposition(|part| part == b"\"case-finished\"").expect("recorded");
    // Cut within the first case, between two lines, and just before the end of the second case.
    for length in [4000, ends[3], rand - 10] {
        fs::write(&journal, &text[..length]).expect("cut");
        let run = Run::open(&directory).expect("readable");
        assert_holds(&run, &everything(2));
        assert_eq!(run.finished_cases, sample::CASES, "cut at {length}");
        assert_eq!(run.state, RunState::Killed);
        let named = |damage: &record::Damage| damage.what.contains("000001.parquet");
        assert!(run.damage.iter().any(named), "{:?}", run.damage);
    }
}

/// Opens the run after one text in a file was replaced.
fn edited(directory: &Path, name: &str, from: &str, to: &str) -> Run {
    let path = directory.join(name);
    let text = fs::read_to_string(&path).expect("readable");
    assert!(text.contains(from), "{from} is in {name}");
    fs::write(&path, text.replacen(from, to, 1)).expect("written");
    Run::open(directory).expect("readable")
}

#[test]
fn a_digit_that_was_changed_in_the_journal_is_told_and_its_line_not_used() {
    let (_place, directory) = recorded();
    let run = edited(&directory, "journal.jsonl", "\"wall_ns\":[3000000000]", "\"wall_ns\":[2000000000]");
    let [damage] = run.damage.as_slice() else { panic!("{:?}", run.damage) };
    assert!(damage.what.contains("it is not what was written: its checksum differs"), "{damage}");
    assert_holds(&run, &everything(2));
    for table in TABLES {
        fs::remove_dir_all(directory.join(table)).expect("removed");
    }
    let run = Run::open(&directory).expect("readable");
    assert!(run.all_phases().all(|phase| phase.wall_ns == 3_000_000_000), "the changed phase is not shown");
}

#[test]
fn a_line_that_is_missing_from_the_journal_is_told() {
    let (_place, directory) = recorded();
    let path = directory.join("journal.jsonl");
    let text = fs::read_to_string(&path).expect("readable");
    let line = text.lines().find(|line| line.contains("phase-finished")).expect("one");
    fs::write(&path, text.replacen(&format!("{line}\n"), "", 1)).expect("written");
    let run = Run::open(&directory).expect("readable");
    assert!(
        run.damage.iter().any(|one| one.what.contains("a line is missing before line")),
        "{:?}",
        run.damage
    );
}

#[test]
fn a_manifest_that_was_changed_is_told_and_the_journal_says_what_was_asked() {
    let (_place, directory) = recorded();
    let asked = Run::open(&directory).expect("readable").manifest;
    let run = edited(&directory, "manifest.json", "\"logical_cpus\": 2", "\"logical_cpus\": 8");
    let [damage] = run.damage.as_slice() else { panic!("{:?}", run.damage) };
    assert!(damage.what.contains("its checksum differs; read from the journal instead"), "{damage}");
    assert_eq!((run.manifest.plan, run.manifest.host), (asked.plan, asked.host));
}
