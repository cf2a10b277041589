//! Complete runs of small plans on real files.

mod campaign;
mod many;
mod mortal;
mod place;
mod protocol;
mod quiet;
mod resume;
mod together;
mod trees;
mod turns;

use std::fs;
use std::sync::Arc;

use engine::Controls;
use plan::{Backend, Bytes, Existing, Geometry, Keep, Nanos, Order, Phase, Sharing, Stonewall};
use record::{RunState, Warning};
use runner::{ErrorKind, Event, Watch};

use crate::place::{Place, case, spec};

#[test]
fn what_was_written_is_read_and_then_gone() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    (spec.tasks, spec.files.sharing) = (3, Sharing::PerTask);
    let phases = [Phase::Write, Phase::CheckWrite, Phase::Read];
    let (ended, run) = place.run(vec![case("a", spec, &phases)]);
    assert!(ended.failed.is_none() && ended.left_behind.is_none() && !ended.interrupted, "{ended:?}");
    assert_eq!(ended.wrong_cells, 0);
    assert_eq!(run.state, RunState::Complete);
    let names: Vec<Phase> = run.all_phases().map(|row| row.key.phase).collect();
    assert_eq!(names, phases);
    assert!(run.all_phases().all(|row| row.bytes() == 3 * 256 * 1024 && row.transfers() == 3 * 64));
    let counted: u64 = run.latency("a").iter().map(|bucket| bucket.count).sum();
    assert_eq!(counted, 3 * 3 * 64, "every transfer has its latency");
    assert_eq!(run.tasks("a").len(), 9);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn files_that_are_to_be_kept_stay_and_nothing_else_does() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    spec.files.keep = Keep::Always;
    place.run(vec![case("a", spec, &[Phase::Write])]);
    assert_eq!(place.left(), ["file"]);
}

#[test]
fn a_failing_case_does_not_end_the_run() {
    let place = Place::new();
    // A missing file is reported before the run.
    let path = place.data().join("short");
    fs::write(&path, "").expect("written");
    let short = case("short", spec(&path), &[Phase::Read]);
    let whole = case("whole", spec(&place.file()), &[Phase::Write]);
    let (ended, run) = place.run(vec![short, whole]);
    let (message, kind) = ended.failed.expect("a case failed");
    assert!(message.contains("short"), "{message}");
    assert_eq!(kind, ErrorKind::Refused);
    assert_eq!(run.failed_cases[0].case, "short");
    assert_eq!(run.all_phases().count(), 1);
    assert_eq!(run.all_phases().next().expect("a phase").key.case, "whole");
}

/// Fills up a file system when the second case starts.
struct Filler(std::path::PathBuf);

impl Watch for Filler {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::CaseStarted { index: 1, .. } = event {
            let mut file = fs::File::create(self.0.join("filler")).expect("can be made");
            let piece = vec![1; 1 << 16];
            while std::io::Write::write_all(&mut file, &piece).is_ok() {}
        }
    }
}

#[test]
fn a_target_that_becomes_full_costs_a_sweep_only_its_own_cases() {
    if testbed::skipped(testbed::Testbed::available()) {
        return;
    }
    let device = testbed::LoopDevice::builder().bytes(32 << 20).file_system(testbed::FileSystem::Ext4);
    let device = device.build().expect("a small file system");
    let full = device.mount_point().expect("mounted").to_owned();
    let place = Place::new();
    let mut cases: Vec<_> = ["a", "b", "c"].map(|id| case(id, spec(&place.file()), &[Phase::Write])).to_vec();
    cases[1] = case("b", spec(&full.join("file")), &[Phase::Write]);
    let checked = place.check(cases).expect("there is room at the start");
    let (ended, run) = place.live(&checked, &mut Filler(full), Arc::new(Controls::new()));
    let (message, kind) = ended.failed.expect("one case failed");
    assert!(message.contains("no space left"), "{message}");
    assert_eq!(kind, ErrorKind::TransferFailed);
    let failed: Vec<_> = run.failed_cases.iter().map(|failed| failed.case.to_string()).collect();
    assert_eq!(failed, ["b"]);
    let rows: Vec<_> = run.all_phases().map(|row| row.key.case.to_string()).collect();
    assert_eq!(rows, ["a", "c"]);
}

#[test]
fn reading_holes_is_refused() {
    let place = Place::new();
    fs::File::create(place.file()).and_then(|file| file.set_len(256 << 10)).expect("a sparse file");
    let (ended, run) = place.run(vec![case("a", spec(&place.file()), &[Phase::Read])]);
    let (message, kind) = ended.failed.expect("refused");
    assert!(message.contains("hole at offset 0"), "{message}");
    assert_eq!(kind, ErrorKind::Refused);
    assert_eq!(run.all_phases().count(), 0, "nothing was read");
    assert_eq!(place.left(), ["file"], "what was there before stays");
}

#[test]
fn data_that_reads_need_is_filled_where_the_plan_allows_it() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    (spec.files.fill, spec.files.existing, spec.verify) = (true, Existing::Reuse, true);
    let (ended, run) = place.run(vec![case("a", spec, &[Phase::Read])]);
    assert!(ended.failed.is_none(), "{ended:?}");
    let phases: Vec<Phase> = run.all_phases().map(|row| row.key.phase).collect();
    assert_eq!(phases, [Phase::Fill, Phase::Read]);
    assert_eq!(ended.wrong_cells, 0);
    assert!(place.left().is_empty());
}

#[test]
fn wrong_data_is_found_named_and_counted() {
    let place = Place::new();
    let mut write = spec(&place.file());
    write.files.keep = Keep::Always;
    place.run(vec![case("write", write.clone(), &[Phase::Write])]);
    let mut bytes = fs::read(place.file()).expect("kept");
    bytes[5000..5004].copy_from_slice(b"oops");
    fs::write(place.file(), bytes).expect("can be written");
    fs::remove_dir_all(place.directory.path().join("record")).expect("of the first run");
    let (ended, run) = place.run(vec![case("check", write, &[Phase::CheckRead])]);
    assert_eq!(ended.wrong_cells, 1);
    let said = run.warnings.iter().any(
        |row| matches!(&row.warning, Warning::WrongData { cells: 1, first } if first.contains("offset 5000")),
    );
    assert!(said, "{:?}", run.warnings);
}

#[test]
fn after_a_stonewall_only_what_was_written_is_read() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    spec.geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::gib(1), segments: 1 };
    (spec.tasks, spec.verify) = (2, true);
    spec.stonewall = Some(Stonewall { deadline: Nanos::millis(30), wear_out: false });
    let (ended, run) = place.run(vec![case("a", spec, &[Phase::Write, Phase::Read, Phase::CheckWrite])]);
    assert!(ended.failed.is_none(), "{ended:?}");
    let [write, read, check] = &run.all_phases().collect::<Vec<_>>()[..] else {
        panic!("three phases, not {}", run.all_phases().count())
    };
    assert!(write.stonewall_bytes.is_some() && write.bytes() < 2 << 30);
    assert!(read.bytes() <= write.bytes());
    assert_eq!(check.bytes(), write.bytes());
    assert_eq!(ended.wrong_cells, 0);
}

/// Stops the run when its first phase starts.
struct StopAtOnce;

impl Watch for StopAtOnce {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::PhaseStarted { controls, .. } = event {
            controls.stop();
        }
    }
}

#[test]
fn a_run_that_is_stopped_keeps_its_record_and_leaves_no_files() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    spec.duration = Some(Nanos::secs(600));
    let checked = place.check(vec![case("a", spec, &[Phase::Write])]).expect("runs here");
    let (ended, run) = place.live(&checked, &mut StopAtOnce, Arc::new(Controls::new()));
    assert!(ended.interrupted);
    assert_eq!(run.state, RunState::Interrupted);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn files_that_do_not_fit_are_refused_before_anything_is_written() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    spec.geometry = Geometry { transfer: Bytes::mib(1), block: Bytes::gib(1 << 20), segments: 1 };
    let error = place.check(vec![case("a", spec, &[Phase::Write])]).expect_err("1 PiB do not fit");
    assert!(error.to_string().contains("1 PiB"), "{error}");
    assert_eq!(error.kind(), ErrorKind::HostLacks);
    assert!(place.left().is_empty());
}

#[test]
fn a_directory_as_target_is_told_what_to_do() {
    let place = Place::new();
    let error = place.check(vec![case("a", spec(&place.data()), &[Phase::Write])]).expect_err("a directory");
    assert!(error.to_string().contains("is a directory"), "{error}");
}

#[test]
fn the_null_backend_touches_no_file() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    spec.backend = Backend::Null;
    let (ended, run) = place.run(vec![case("a", spec, &[Phase::Write, Phase::Read])]);
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(run.all_phases().count(), 2);
    assert!(place.left().is_empty());
}

#[test]
fn what_is_no_file_where_a_task_s_file_should_stand_is_refused_before_the_start() {
    let place = Place::new();
    fs::create_dir(place.data().join("file.00000001")).expect("can be made");
    let mut spec = spec(&place.file());
    (spec.tasks, spec.files.sharing) = (2, Sharing::PerTask);
    let error = place.check(vec![case("a", spec, &[Phase::Write])]).expect_err("a directory stands there");
    assert!(error.to_string().contains("file.00000001"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn a_file_is_not_made_through_a_link_that_leads_nowhere() {
    let place = Place::new();
    let elsewhere = place.directory.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, place.file()).expect("can be made");
    let mut spec = spec(&place.file());
    spec.files.existing = Existing::Reuse;
    let error = place.check(vec![case("a", spec, &[Phase::Write])]).expect_err("a link stands there");
    assert!(error.to_string().contains("dangling symbolic link"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn names_that_cannot_be_made_are_refused_before_the_start() {
    let place = Place::new();
    for (name, word) in [("x".repeat(250), "too long"), ("new/".to_owned(), "slash")] {
        let mut spec = spec(&place.data().join(name));
        spec.files.sharing = if word == "slash" { Sharing::Shared } else { Sharing::PerTask };
        let error = place.check(vec![case("a", spec, &[Phase::Write])]).expect_err("no such name");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_mixed_phase_that_goes_on_accepts_what_it_has_written_itself() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    (spec.verify, spec.files.fill, spec.read_percent) = (true, true, 50);
    (spec.order, spec.duration) = (Order::Random { seed: 1 }, Some(Nanos::millis(200)));
    let (ended, run) = place.run(vec![case("a", spec, &[Phase::Mixed])]);
    assert_eq!((ended.failed, ended.wrong_cells), (None, 0));
    let pass = 64 * 4;
    assert!(run.all_phases().any(|row| row.reads + row.writes > 2 * pass), "more than one pass");
}

#[test]
fn reading_leaves_the_access_time_of_a_file_alone() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    spec.files.keep = Keep::Always;
    place.run(vec![case("write", spec.clone(), &[Phase::Write])]);
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(946_684_800);
    let times = fs::FileTimes::new().set_accessed(long_ago);
    fs::File::options().write(true).open(place.file()).and_then(|file| file.set_times(times)).expect("own");
    fs::remove_dir_all(place.directory.path().join("record")).expect("of the first run");
    let (ended, _) = place.run(vec![case("read", spec, &[Phase::Read])]);
    assert!(ended.failed.is_none(), "{ended:?}");
    let accessed = fs::metadata(place.file()).and_then(|found| found.accessed()).expect("told");
    assert_eq!(accessed, long_ago);
}

/// Puts something under the name of the file after the run has claimed it, as another user could.
struct Plant<F>(F);

impl<F: FnMut()> Watch for Plant<F> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::PhaseStarted { .. } = event {
            (self.0)();
        }
    }
}

/// Creates something at a path.
type Make = fn(&std::path::Path);

#[test]
fn what_takes_the_name_of_a_data_file_is_neither_used_nor_removed() {
    let kinds: [(&str, Make); 3] = [
        ("file", |path| fs::write(path, "mine").expect("written")),
        ("pipe", |path| {
            let made = std::process::Command::new("mkfifo").arg(path).status().expect("it starts");
            assert!(made.success());
        }),
        ("link", |path| std::os::unix::fs::symlink("nowhere", path).expect("a link")),
    ];
    // The phase before which it is put there, counted over both repetitions: a read, a write, and a read.
    for ((kind, make), before) in kinds.into_iter().flat_map(|kind| [2, 3, 4].map(|before| (kind, before))) {
        let place = Place::new();
        let theirs = place.directory.path().join("theirs");
        let mut spec = spec(&place.file());
        spec.files.sharing = Sharing::PerTask;
        let mut case = case("a", spec, &[Phase::Write, Phase::Read]);
        case.repetitions = 2;
        let checked = place.check(vec![case]).expect("it can start");
        let planted = place.data().join("file.00000000");
        let mut phases = 0;
        let mut plant = Plant(|| {
            phases += 1;
            if phases == before {
                make(&theirs);
                fs::rename(&theirs, &planted).expect("it takes the name");
            }
        });
        let (ended, _) = place.live(&checked, &mut plant, Arc::new(Controls::new()));
        let Some((message, error)) = ended.failed else { panic!("{kind} before phase {before} is not seen") };
        assert_eq!(error, ErrorKind::Refused, "{kind} before phase {before}: {message}");
        assert!(message.contains("has appeared there since the run began"), "{message}");
        assert!(planted.symlink_metadata().is_ok(), "{kind} before phase {before}: it was removed");
        if kind == "file" {
            assert_eq!(fs::read_to_string(&planted).expect("it is there"), "mine");
        }
    }
}

#[test]
fn a_link_that_appears_after_the_claim_is_not_followed() {
    let shapes = [(Sharing::PerTask, "file.00000000"), (Sharing::Shared, "file")];
    let all = [[Phase::Write].as_slice(), &[Phase::Read]];
    for ((sharing, name), phases) in shapes.into_iter().flat_map(|shape| all.map(|phases| (shape, phases))) {
        let place = Place::new();
        let victim = place.directory.path().join("victim");
        let text = vec![b'x'; 1 << 20];
        fs::write(&victim, &text).expect("a file");
        let mut spec = spec(&place.file());
        (spec.tasks, spec.files.sharing, spec.files.fill) = (2, sharing, phases == [Phase::Read]);
        let checked = place.check(vec![case("a", spec, phases)]).expect("it can start");
        let planted = place.data().join(name);
        let mut plant = Plant(|| {
            let _ = fs::remove_file(&planted);
            std::os::unix::fs::symlink(&victim, &planted).expect("a link");
        });
        let (ended, _) = place.live(&checked, &mut plant, Arc::new(Controls::new()));
        let (message, kind) = ended.failed.expect("it is seen");
        assert_eq!(kind, ErrorKind::Refused, "{message}");
        assert!(message.contains("has appeared there since the run began"), "{message}");
        assert_eq!(fs::read(&victim).expect("it is there"), text, "{sharing:?} {phases:?}");
    }
}
