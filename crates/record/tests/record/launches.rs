//! Launches of jobs that end before their pass: none is lost, counted too early, or duplicated.

use std::fs;
use std::path::{Path, PathBuf};

use plan::Phase;
use record::{
    InterruptedPass, LaunchRow, Outcome, PhaseRecord, Recorder, Run, RunState, StepRow, merge, write_merged,
};

use crate::sample;

/// Launches per pass.
const LAUNCHES: u32 = 4;
const PASSES: [(u32, Phase); 4] = [(0, Phase::Load), (0, Phase::Jobs), (1, Phase::Load), (1, Phase::Jobs)];

/// A pass with [`LAUNCHES`] launches of two steps each.
fn pass(case: &str, repetition: u32, phase: Phase) -> PhaseRecord {
    let mut record = sample::phase(case, repetition, phase, 2);
    let (launch, steps) = (record.launches[0].clone(), record.steps.clone());
    record.launches = (0..LAUNCHES).map(|number| LaunchRow { launch: number, ..launch.clone() }).collect();
    let of = |number: u32| steps.iter().map(move |step| StepRow { launch: number, ..step.clone() });
    record.steps = (0..LAUNCHES).flat_map(of).collect();
    record
}

/// Reports the launches `these` of `record` as ended.
fn tell(recorder: &mut Recorder, record: &PhaseRecord, these: &[u32]) {
    let launches: Vec<LaunchRow> =
        record.launches.iter().filter(|row| these.contains(&row.launch)).cloned().collect();
    let steps: Vec<StepRow> =
        record.steps.iter().filter(|row| these.contains(&row.launch)).cloned().collect();
    recorder.launches_ended(&record.phase.key, &launches, &steps).expect("recorded");
}

/// Records all passes of the case `seq`: one launch ends first, then two at once, then the last.
fn go_through(recorder: &mut Recorder) {
    recorder.case_started("seq").expect("started");
    for (repetition, phase) in PASSES {
        let record = pass("seq", repetition, phase);
        for these in [&[2][..], &[0, 3], &[1]] {
            tell(recorder, &record, these);
        }
        recorder.phase_finished(&record).expect("recorded");
    }
    recorder.case_finished("seq").expect("finished");
}

/// A run of that case, which was killed before its tables were sealed.
fn written(place: &Path) -> PathBuf {
    let directory = place.join("whole");
    let mut recorder = Recorder::create(&directory, &manifest()).expect("created");
    go_through(&mut recorder);
    directory
}

fn manifest() -> record::Manifest {
    let mut manifest = sample::manifest();
    manifest.plan.cases.truncate(1);
    manifest
}

/// Copies the first `length` bytes of the journal in `whole` and its manifest, but no tables.
fn cut(whole: &Path, directory: &Path, length: usize) {
    fs::create_dir(directory).expect("made");
    fs::copy(whole.join("manifest.json"), directory.join("manifest.json")).expect("copied");
    let journal = fs::read(whole.join("journal.jsonl")).expect("readable");
    fs::write(directory.join("journal.jsonl"), &journal[..length]).expect("cut");
}

/// Identifies a launch by its pass and number.
type Which = (u32, Phase, u32);

fn which(row: &LaunchRow) -> Which {
    (row.key.repetition, row.key.phase, row.launch)
}

/// The launches reported by the complete lines of `journal`: in passes that have ended, and in the one that has not.
fn told(journal: &[u8]) -> (Vec<Which>, Vec<Which>) {
    let (mut counted, mut interrupted): (Vec<Which>, Vec<Which>) = (Vec::new(), Vec::new());
    for line in journal.split(|byte| *byte == b'\n') {
        let Ok(event) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
        let phase = if event["phase"] == "load" { Phase::Load } else { Phase::Jobs };
        let repetition = u32::try_from(event["repetition"].as_u64().unwrap_or(0)).expect("small");
        match event["event"].as_str() {
            Some("launches-ended") => {
                let numbers = event["tables"]["launches"]["launch"].as_array().expect("a column");
                let number = |value: &serde_json::Value| {
                    value.as_u64().and_then(|one| u32::try_from(one).ok()).expect("a number")
                };
                interrupted.extend(numbers.iter().map(|value| (repetition, phase, number(value))));
            }
            Some("phase-finished") => {
                assert_eq!(interrupted.len(), LAUNCHES as usize);
                interrupted.clear();
                counted.extend((0..LAUNCHES).map(|number| (repetition, phase, number)));
            }
            _ => {}
        }
    }
    (counted, interrupted)
}

fn interrupted(run: &Run, attempt: u32) -> Vec<Which> {
    let of_attempt = |pass: &&InterruptedPass| pass.attempt == attempt;
    run.interrupted.iter().filter(of_attempt).flat_map(|pass| pass.launches.iter().map(which)).collect()
}

/// Asserts that each launch of `run` has its steps, and that all values are as recorded.
fn is_whole(run: &Run) {
    for pass in &run.interrupted {
        let all = self::pass("seq", pass.key.repetition, pass.key.phase);
        assert!(pass.launches.iter().all(|row| all.launches.contains(row)), "{:?}", pass.launches);
        assert!(pass.steps.iter().all(|row| all.steps.contains(row)), "{:?}", pass.steps);
        assert_eq!(pass.steps.len(), 2 * pass.launches.len());
    }
}

#[test]
fn a_journal_that_is_cut_anywhere_has_every_launch_before_the_cut_once() {
    let place = tempfile::tempdir().expect("a directory");
    let whole = written(place.path());
    let journal = fs::read(whole.join("journal.jsonl")).expect("readable");
    let started = journal.iter().position(|byte| *byte == b'\n').expect("a line");
    let ends = (started + 1..=journal.len()).filter(|&end| journal[end - 1] == b'\n');
    // Near the end of each line, and at positions in between.
    let cuts: std::collections::BTreeSet<usize> =
        ends.flat_map(|end| [end - 2, end - 1, end]).chain((started..journal.len()).step_by(331)).collect();
    for cut_at in cuts {
        let directory = place.path().join("cut");
        cut(&whole, &directory, cut_at);
        let (counted, left) = told(&journal[..cut_at]);
        let run = Run::open(&directory).expect("readable");
        assert!(run.damage.iter().all(|one| one.what.contains("is incomplete")), "{:?}", run.damage);
        assert_eq!(run.launches("seq").iter().map(which).collect::<Vec<_>>(), counted, "cut at {cut_at}");
        assert_eq!(interrupted(&run, 1), left, "cut at {cut_at}");
        is_whole(&run);
        fs::remove_dir_all(&directory).expect("removed");
    }
}

#[test]
fn a_run_that_goes_on_keeps_the_launches_of_its_earlier_attempts() {
    let place = tempfile::tempdir().expect("a directory");
    let whole = written(place.path());
    let journal = fs::read(whole.join("journal.jsonl")).expect("readable");
    let ends: Vec<usize> = (1..=journal.len()).filter(|&end| journal[end - 1] == b'\n').collect();
    // After run-started, case-started and the four lines of the first load: within the first matrix, and within the
    // second one.
    for (number, line) in [6, 8, 15].into_iter().enumerate() {
        let directory = place.path().join(number.to_string());
        cut(&whole, &directory, ends[line] + 9);
        let (counted, left) = told(&journal[..ends[line]]);
        let first: Vec<Which> = counted.iter().chain(&left).copied().collect();

        let (mut recorder, resumed) = Recorder::resume(&directory).expect("resumed");
        assert_eq!(resumed.finished, Vec::<String>::new());
        recorder.case_started("seq").expect("started");
        tell(&mut recorder, &pass("seq", 0, Phase::Load), &[3]);
        drop(recorder);
        let run = Run::open(&directory).expect("readable");
        assert_eq!((run.launches("seq").len(), run.damage.as_slice()), (0, &[][..]), "it was begun again");
        assert_eq!((interrupted(&run, 1), interrupted(&run, 2)), (first.clone(), vec![(0, Phase::Load, 3)]));

        let (mut recorder, _) = Recorder::resume(&directory).expect("resumed");
        go_through(&mut recorder);
        recorder.finish(&Outcome::Complete).expect("the end");
        let run = Run::open(&directory).expect("readable");
        assert_eq!((run.state.clone(), run.damage.as_slice()), (RunState::Complete, &[][..]));
        assert_eq!((interrupted(&run, 1), interrupted(&run, 2)), (first, vec![(0, Phase::Load, 3)]));
        assert_eq!(interrupted(&run, 3), []);
        assert_eq!(run.launches("seq").len(), PASSES.len() * LAUNCHES as usize, "once");
        is_whole(&run);
        // A reader of the tables alone finds each counted launch exactly once.
        fs::remove_file(directory.join("journal.jsonl")).expect("removed");
        let tables = Run::open(&directory).expect("readable");
        assert_eq!(tables.launches("seq").len(), PASSES.len() * LAUNCHES as usize);
        assert_eq!(tables.interrupted, []);
    }
}

/// The line of a complete pass is not the only one that reports its launches.
#[test]
fn launches_outlive_a_damaged_line_of_their_pass() {
    let place = tempfile::tempdir().expect("a directory");
    let whole = written(place.path());
    let text = fs::read_to_string(whole.join("journal.jsonl")).expect("readable");
    let is_matrix = |line: &&str| {
        line.contains("\"phase-finished\"") && line.contains("\"repetition\":1,\"phase\":\"jobs\"")
    };
    let line = text.lines().find(is_matrix).expect("it is there");
    let directory = place.path().join("damaged");
    cut(&whole, &directory, 0);
    for damaged in [line.replacen("\"launches\":{", "\"launches\":[", 1), "x".repeat(line.len())] {
        fs::write(directory.join("journal.jsonl"), text.replace(line, &damaged)).expect("written");
        let run = Run::open(&directory).expect("readable");
        assert_eq!(run.damage.len(), 1, "{:?}", run.damage);
        let left: Vec<Which> = [2, 0, 3, 1].map(|number| (1, Phase::Jobs, number)).to_vec();
        assert_eq!(interrupted(&run, 1), left);
        assert_eq!(run.launches("seq").len(), 3 * LAUNCHES as usize);
    }
}

#[test]
fn a_merged_run_has_the_interrupted_launches_of_all() {
    let place = tempfile::tempdir().expect("a directory");
    let whole = written(place.path());
    let journal = fs::read(whole.join("journal.jsonl")).expect("readable");
    let ends: Vec<usize> = (1..=journal.len()).filter(|&end| journal[end - 1] == b'\n').collect();
    let other = place.path().join("other");
    cut(&whole, &other, ends[9]);
    let text = fs::read_to_string(other.join("journal.jsonl")).expect("readable");
    let text = sample::without_checksums(&text).replace("sample-1", "sample-2");
    fs::write(other.join("journal.jsonl"), text).expect("written");
    let text = fs::read_to_string(other.join("manifest.json")).expect("readable");
    fs::write(other.join("manifest.json"), text.replace("sample-1", "sample-2")).expect("written");
    let left = |run: &Run| interrupted(run, 1);
    let alone = left(&Run::open(&other).expect("readable"));
    assert_eq!(alone.len(), 3);
    let runs = [&whole, &other].map(|directory| Run::open(directory).expect("readable"));
    let merged = merge(runs.to_vec()).expect("merged");
    assert_eq!(left(&merged), alone);
    let copy = place.path().join("merged");
    write_merged(&merged, &[], &copy).expect("written");
    let read = Run::open(&copy).expect("readable");
    assert_eq!((left(&read), read.damage.as_slice()), (alone, &[][..]));
    assert_eq!(read.launches("seq").len(), merged.launches("seq").len());
}
