//! What a protocol requires around the phases, tested on real files and devices.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Controls;
use host::{Host, Root};
use plan::{
    Backend, Bytes, Case, Existing, Geometry, Nanos, PassRole, Phase, Plan, PlanSource, Protocol, Sharing,
    Stopping,
};
use record::{Run, Warning, Wiped};
use runner::{ErrorKind, Event, Silent, Watch};
use testbed::{FileSystem, LoopDevice, Testbed};

use crate::place::{Place, case, spec};

/// Records what was wiped.
#[derive(Default)]
struct Log(Vec<Wiped>);

impl Watch for Log {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Wiped { what, .. } = event {
            self.0.push((*what).clone());
        }
    }
}

fn phases(run: &Run) -> Vec<(u32, Phase)> {
    run.all_phases().map(|row| (row.key.repetition, row.key.phase)).collect()
}

#[test]
fn of_two_rounds_both_are_kept_and_the_second_counts() {
    let place = Place::new();
    let mut case = case("a", spec(&place.file()), &[Phase::Write, Phase::Read]);
    case.repetitions = 2;
    case.protocol = Protocol { warm_up: 1, rounds: 2, ..Protocol::default() };
    let (ended, run) = place.run(vec![case.clone()]);
    assert!(ended.failed.is_none(), "{ended:?}");
    let expected: Vec<_> = (0..5).flat_map(|pass| [(pass, Phase::Write), (pass, Phase::Read)]).collect();
    assert_eq!(phases(&run), expected);
    let recorded: Vec<u32> = (0..5).filter(|pass| case.role(*pass) == PassRole::Recorded).collect();
    assert_eq!(recorded, [2, 4]);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn each_pass_has_files_of_its_own_where_that_is_asked() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    spec.files.file_per_repetition = true;
    let mut case = case("a", spec, &[Phase::Write]);
    case.protocol = Protocol { warm_up: 2, ..Protocol::default() };
    let (ended, run) = place.run(vec![case]);
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(run.all_phases().count(), 3);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn a_phase_that_is_shorter_than_the_study_wants_is_marked() {
    let place = Place::new();
    let mut case = case("a", spec(&place.file()), &[Phase::Write]);
    let short = |run: &Run| run.warnings.iter().any(|row| matches!(row.warning, Warning::TooShort { .. }));
    case.protocol.phase_min = Nanos(1);
    assert!(!short(&place.run(vec![case.clone()]).1));
    place.forget_record();
    case.protocol.phase_min = Nanos::secs(600);
    assert!(short(&place.run(vec![case]).1));
}

#[test]
fn files_are_wiped_before_the_rounds_of_each_repetition() {
    let place = Place::new();
    fs::write(place.file(), "somebody's").expect("can be written");
    let mut spec = spec(&place.file());
    (spec.files.existing, spec.files.fill) = (Existing::Reuse, true);
    let mut case = case("a", spec, &[Phase::Read]);
    case.repetitions = 2;
    (case.protocol.wipe, case.protocol.rounds, case.protocol.precondition) = (true, 2, 1);
    let checked = place.check(vec![case]).expect("runs here");
    assert!(runner::replaced(&checked.plan, &[]).is_some(), "the user is asked before");
    let mut log = Log::default();
    let (ended, run) = place.live(&checked, &mut log, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    assert!(
        matches!(log.0[..], [Wiped::Files { files: 1, .. }, Wiped::Files { files: 1, .. }]),
        "somebody's file before the first repetition, and the one written since before the second: {:?}",
        log.0
    );
    let repetition = |first: u32| [(first, Phase::Fill), (first, Phase::Read), (first + 1, Phase::Read)];
    assert_eq!(phases(&run), [repetition(0), repetition(2)].concat());
}

/// Every phase that overwrites a file of the user is announced first, not only the write phase.
#[test]
fn a_file_that_anything_writes_over_is_named_before() {
    let place = Place::new();
    fs::write(place.file(), "somebody's").expect("can be written");
    let lost = |phases: &[Phase], change: &dyn Fn(&mut Case)| {
        let mut case = case("a", spec(&place.file()), phases);
        change(&mut case);
        let plan = Plan::new(
            String::new(),
            PlanSource::Quick { directory: "/t".into(), others: Vec::new() },
            0,
            vec![case],
        );
        runner::replaced(&plan, &[]).is_some()
    };
    assert!(lost(&[Phase::Read], &|case| case.protocol.precondition = 1));
    assert!(lost(&[Phase::Fill, Phase::Read], &|_| {}));
    assert!(lost(&[Phase::Mixed], &|_| {}));
    assert!(!lost(&[Phase::Read], &|_| {}), "nothing is written");
    let filled = |case: &mut plan::Case| {
        let mut spec = spec(&place.file());
        spec.files.fill = true;
        case.workload = spec.validate().expect("valid");
    };
    assert!(lost(&[Phase::Read], &filled), "it is too short, and is written anew");
    fs::write(place.file(), vec![1; 64 << 20]).expect("can be written");
    assert!(!lost(&[Phase::Read], &filled), "it is long enough, and is read as it is");
}

#[test]
fn preconditioning_writes_all_of_the_files_and_is_no_result() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    (spec.files.existing, spec.files.sharing, spec.tasks) = (Existing::Reuse, Sharing::PerTask, 2);
    (spec.verify, spec.geometry.transfer) = (true, Bytes::kib(4));
    let mut case = case("a", spec, &[Phase::Write, Phase::Read]);
    case.protocol.precondition = 2;
    let (ended, run) = place.run(vec![case]);
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(phases(&run), [(0, Phase::Fill), (0, Phase::Fill), (0, Phase::Write), (0, Phase::Read)]);
    assert!(run.all_phases().all(|row| row.bytes() == 2 * 256 * 1024));
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn caches_are_dropped_before_each_phase_that_reads() {
    let place = Place::new();
    let switch = place.directory.path().join("proc/sys/vm/drop_caches");
    fs::create_dir_all(switch.parent().expect("it has one")).expect("can be made");
    fs::write(&switch, "").expect("can be written");
    let mut case = case("a", spec(&place.file()), &[Phase::Write, Phase::Read]);
    case.protocol.drop_caches = true;
    let checked = place.check(vec![case]).expect("runs here");
    let fake = Host::new(Root::new(place.directory.path()));
    let (ended, run) = place.live_on(&fake, &checked, &mut Silent, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(fs::read_to_string(&switch).expect("written"), "3");
    let refused = |run: &Run| {
        let row = run
            .warnings
            .iter()
            .find(|row| matches!(&row.warning, Warning::Unapplied { what, .. } if what == "dropping caches"));
        row.map(|row| row.key.as_ref().map(|key| key.phase))
    };
    assert_eq!(refused(&run), None);

    fs::remove_dir_all(place.directory.path().join("proc")).expect("of this test");
    place.forget_record();
    let (ended, run) = place.live_on(&fake, &checked, &mut Silent, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "a cache that stays is no failure: {ended:?}");
    assert_eq!(refused(&run), Some(Some(Phase::Read)), "the figure says so");
}

/// A case that writes and reads a 16 MiB device.
fn on_device(id: &str, device: &Path) -> Case {
    let mut spec = spec(device);
    spec.geometry = Geometry { transfer: Bytes::kib(64), block: Bytes::mib(1), segments: 1 };
    (spec.files.existing, spec.files.keep) = (Existing::Reuse, plan::Keep::Always);
    let mut case = case(id, spec, &[Phase::Write]);
    case.protocol.wipe = true;
    case
}

/// The number of discards reported by the kernel (`Documentation/admin-guide/iostats.rst`, field 12).
fn discards(device: &LoopDevice) -> u64 {
    let stat = fs::read_to_string(format!("/sys/block/{}/stat", device.name())).expect("it is there");
    stat.split_ascii_whitespace().nth(11).and_then(|field| field.parse().ok()).expect("Linux 4.18 or later")
}

#[test]
fn twelve_devices_are_discarded_before_their_cases() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let build = |_| LoopDevice::builder().bytes(16 << 20).build().expect("a loop device");
    let devices: Vec<LoopDevice> = (0..12).map(build).collect();
    let place = Place::new();
    let paths: Vec<PathBuf> = devices.iter().map(|device| device.device().to_owned()).collect();
    let cases = paths.iter().map(|path| on_device(&path.display().to_string(), path)).collect();
    let checked = place.check_giving_up(cases, &paths).expect("free devices");
    let before: Vec<u64> = devices.iter().map(discards).collect();
    let mut log = Log::default();
    let (ended, run) = place.live(&checked, &mut log, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(run.all_phases().count(), 12);
    let told = |path: &PathBuf| {
        log.0.iter().any(|wiped| matches!(wiped, Wiped::Device { device, bytes, .. } if Path::new(device) == path && *bytes == 16 << 20))
    };
    assert!(paths.iter().all(told) && log.0.len() == 12, "{:?}", log.0);
    let recorded: Vec<&Wiped> = run.wiped.iter().map(|(_, wiped)| wiped).collect();
    assert_eq!(recorded, log.0.iter().collect::<Vec<_>>(), "the record says the same");
    let grown = devices.iter().zip(&before).filter(|(device, before)| discards(device) > **before).count();
    assert_eq!(grown, 12);
}

#[test]
fn a_discarded_device_is_not_read_before_it_is_written() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(16 << 20).build().expect("a loop device");
    let place = Place::new();
    let mut case = on_device("a", device.device());
    case.phases = vec![Phase::Read];
    let checked = place.check_giving_up(vec![case], &[device.device().to_owned()]).expect("a free device");
    let (ended, _) = place.live(&checked, &mut Silent, Arc::new(Controls::new()));
    let (message, kind) = ended.failed.expect("it holds nothing");
    assert!(message.contains("was discarded"), "{message}");
    assert_eq!(kind, ErrorKind::Refused);
}

#[test]
fn a_device_that_is_mounted_or_not_named_is_never_wiped() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let place = Place::new();
    let mounted = LoopDevice::builder().bytes(64 << 20).file_system(FileSystem::Ext4).build().expect("ext4");
    let path = mounted.device().to_owned();
    let before = discards(&mounted);
    let mut case = on_device("a", &path);
    case.phases = vec![Phase::Read];
    let error = place.check_giving_up(vec![case.clone()], std::slice::from_ref(&path)).expect_err("mounted");
    assert!(error.to_string().contains("mounted"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Refused);
    let free = LoopDevice::builder().bytes(16 << 20).build().expect("a loop device");
    let error = place.check(vec![on_device("b", free.device())]).expect_err("not named");
    assert!(error.to_string().contains("--destroy-data-on"), "{error}");
    assert_eq!(discards(&mounted), before);
}

#[test]
fn a_case_is_over_as_soon_as_its_values_have_settled() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    spec.backend = Backend::Null;
    let mut case = case("a", spec, &[Phase::Write, Phase::Read]);
    case.repetitions = 40;
    // Any five values are steady within these limits, and no values are steady within the limits below.
    case.protocol.stopping = Stopping::Steady { window: 5, excursion: 1e9, slope: 1e9 };
    let (ended, run) = place.run(vec![case.clone()]);
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(run.all_phases().count(), 5 * 2, "five repetitions of two phases");
    let doubts = |run: &Run| {
        let doubts = run.warnings.iter().filter(|row| matches!(row.warning, Warning::NotSteady { .. }));
        doubts.filter_map(|row| row.key.as_ref().map(|key| (key.repetition, key.phase))).collect::<Vec<_>>()
    };
    assert_eq!(doubts(&run), []);
    place.forget_record();
    case.repetitions = 6;
    case.protocol.stopping = Stopping::Steady { window: 5, excursion: 0.0, slope: 0.0 };
    let (_, run) = place.run(vec![case]);
    assert_eq!(run.all_phases().count(), 6 * 2);
    assert_eq!(doubts(&run), [(5, Phase::Write), (5, Phase::Read)], "each figure says so");
}
