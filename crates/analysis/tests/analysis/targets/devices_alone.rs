//! Devices individually and together: slow ones, grades, seek times, stripes, limits of processes.

use analysis::{
    figures::{Figure, figures},
    gate::Gate,
    scaling::ProcessLimit,
    sweeps::curves,
    targets::{SeekFit, SeekTime, UNEVEN_SHARE, member_sets, seek_fits},
};
use plan::{Amount, Bytes, Expectation, Order, Per, Phase, Sharing, TargetDescription};
use proptest::prelude::{prop_assert, proptest};
use record::{BlockDeviceFacts, Fact, HostFacts, PhaseKey, TargetDevices, TaskRow, Warning};

use crate::common::rows::{SECOND, phase, run_of, task};
use crate::common::studies::{Study, bytes, count, findings, said, target};

const MB: f64 = 1e6;

/// A host with the devices `sda`, `sdb` … of these models under `/dev`.
pub(crate) fn host(models: &[&str], queues: u32) -> HostFacts {
    let unknown = || Fact::Unknown("made up".to_owned());
    let name = |place: usize| format!("sd{}", char::from(b'a' + u8::try_from(place).expect("few")));
    let mut host = run_of(&Study::new(Vec::new()).plan, &[], &[], &[]).manifest.host.clone();
    for (place, model) in models.iter().enumerate() {
        host.devices.push(BlockDeviceFacts {
            name: name(place),
            model: if model.is_empty() { unknown() } else { Fact::Known((*model).to_owned()) },
            serial: unknown(),
            firmware: unknown(),
            size_bytes: 1 << 30,
            rotational: Fact::Known(true),
            scheduler: unknown(),
            hardware_queues: Fact::Known(queues),
            queue_requests: Fact::Known(64),
            read_ahead_bytes: Fact::Unknown("made up".to_owned()),
            logical_block_bytes: Fact::Known(512),
            physical_block_bytes: Fact::Known(512),
            numa_node: Fact::Unknown("made up".to_owned()),
            ..BlockDeviceFacts::default()
        });
        host.target_devices.push(TargetDevices {
            path: format!("/dev/{}", name(place)),
            top: vec![name(place)],
            bottom: vec![name(place)],
        });
    }
    host
}

fn expectation(name: &str, megabytes: f64, reached: &str) -> Expectation {
    Expectation {
        phase: Some(Phase::Read),
        per: Per::Device,
        reached: reached.to_owned(),
        missed: if name == "least" { "look for a different vendor".to_owned() } else { String::new() },
        ..Expectation::new(name, Amount::BytesPerSecond(megabytes * MB))
    }
}

/// Six repetitions with this median in MB/s.
fn repeated(rate: f64) -> [f64; 6] {
    [0.998, 0.999, 1.0, 1.0, 1.001, 1.002].map(|share| share * rate * MB)
}

/// Seven disks of two models, measured individually by the key `member`.
fn disks() -> Study {
    let mut study = Study::new(vec![target("disks", |t| t.devices = 7)]);
    for (member, rate) in [(0, 120.0), (1, 118.0), (2, 70.0), (3, 121.0), (4, 119.0), (5, 55.0), (6, 54.0)] {
        study.add_of("alone", "disks", &[count("member", member)], Phase::Read, &repeated(rate), |spec| {
            let name = char::from(b'a' + u8::try_from(member).expect("few"));
            spec.files.targets = vec![format!("/dev/sd{name}").into()];
        });
    }
    study.plan.criteria.expectations = vec![
        expectation("vendor", 150.0, "what the vendor says"),
        expectation("seller", 100.0, "what the seller says"),
        expectation("least", 50.0, "above 40 to 50 MB/s"),
    ];
    study
}

#[test]
fn a_slow_disk_is_slow_among_its_own_model_and_each_model_has_its_grade() {
    let study = disks();
    let host = host(&["A", "A", "A", "A", "A", "B", "B"], 1);
    let sets = member_sets(&Gate::new(&study.plan, &study.figures(), &[]), &[&host]);
    let [set] = sets.as_slice() else { panic!("{sets:?}") };
    let slow: Vec<&str> = set
        .members
        .iter()
        .filter(|member| member.slow == Some(true))
        .map(|member| member.name.as_str())
        .collect();
    assert_eq!(slow, ["sdc"], "the disks of model B are all slow, which is their model's matter");
    assert_eq!((set.target.as_str(), set.together, set.uneven), ("disks", false, Some(true)));
    assert!((set.variation - (121.0 - 70.0) / 121.0).abs() < 1e-9, "of one model");
    let models: Vec<_> =
        set.models.iter().map(|one| (one.model.as_str(), one.rates.n, one.grade.as_str())).collect();
    assert_eq!(models, [("A", 5, "seller"), ("B", 2, "least")]);
    // Without facts all devices count as one unknown model.
    let sets = member_sets(&Gate::new(&study.plan, &study.figures(), &[]), &[]);
    assert_eq!((sets[0].models.len(), sets[0].models[0].model.as_str()), (1, "model unknown"));
}

#[test]
fn the_fastest_of_several_devices_is_no_best_point() {
    let study = disks();
    assert!(study.findings().best.is_empty());
    // With another key that varies, a point can be chosen.
    let mut sizes = study;
    sizes.add_of(
        "alone",
        "disks",
        &[count("member", 0), count("tasks", 2)],
        Phase::Read,
        &repeated(9.0),
        |_| (),
    );
    assert_eq!(sizes.findings().best.len(), 1);
}

#[test]
fn what_was_measured_once_is_not_called_slow_or_uneven() {
    let study = disks();
    let host = host(&["A", "A", "A", "A", "A", "B", "B"], 1);
    let grades = |figures: &[Figure]| {
        let sets = member_sets(&Gate::new(&study.plan, figures, &[]), &[&host]);
        sets[0].models.iter().map(|one| (one.grade.clone(), one.says.clone())).collect::<Vec<_>>()
    };
    let mut figures = study.figures();
    figures.iter_mut().for_each(|figure| figure.repetitions.truncate(5));
    assert_eq!(grades(&figures)[0].0, "seller", "five passes of five disks, of which one is slow");
    figures.iter_mut().for_each(|figure| figure.repetitions.truncate(1));
    let sets = member_sets(&Gate::new(&study.plan, &figures, &[]), &[]);
    assert_eq!(sets[0].uneven, None, "{:?}", sets[0].variation);
    assert!(sets[0].members.iter().all(|one| one.slow != Some(true)), "{sets:?}");
    // One pass of five disks, one of them slow, does not show whether they reach 100 MB/s. The same holds for two
    // disks that are 9 % above a limit of 50 MB/s.
    let found = grades(&figures);
    assert_eq!(found.iter().map(|one| one.0.as_str()).collect::<Vec<_>>(), ["least", ""]);
    assert!(found[1].1.starts_with("least: too close to tell"), "{found:?}");
}

#[test]
fn directories_of_one_device_are_not_several_devices() {
    let mut study = disks();
    for case in &mut study.plan.cases {
        let mut spec: plan::WorkloadSpec = case.workload.clone().into();
        spec.files.targets = vec!["/dev/sda".into()];
        case.workload = spec.validate().expect("valid");
    }
    let host = host(&["A"], 1);
    let sets = member_sets(&Gate::new(&study.plan, &study.figures(), &[]), &[&host]);
    assert_eq!(sets, []);
}

#[test]
fn a_model_below_all_grades_says_which_one_it_missed() {
    let mut study = disks();
    study.plan.criteria.expectations.remove(2);
    let host = host(&["A", "A", "A", "A", "A", "B", "B"], 1);
    let sets = member_sets(&Gate::new(&study.plan, &study.figures(), &[]), &[&host]);
    let of_b = &sets[0].models[1];
    assert_eq!(of_b.grade, "below seller");
}

/// A grade that is missed by as much as the program was held back says nothing about the devices.
#[test]
fn a_grade_is_not_missed_by_what_held_the_program_back() {
    let mut study = disks();
    study.plan.criteria.expectations.remove(2);
    study.plan.criteria.expectations[1].missed = "another seller".to_owned();
    let mut run = run_of(&study.plan, &[], &[], &[]);
    run.manifest.host = host(&["A", "A", "A", "A", "A", "B", "B"], 1);
    let told = |share: f64| {
        let mut figures = study.figures();
        for pass in figures.iter_mut().flat_map(|one| &mut one.repetitions).filter(|_| share > 0.0) {
            pass.warnings = vec![Warning::Starved { seen: "stopped".to_owned(), share }];
        }
        let found = analysis::findings::findings(&run, &figures);
        let models = found.device_models.iter().filter_map(|one| one.says());
        let grades: Vec<String> = models.map(|one| format!("{}: {}", one.model, one.grade)).collect();
        let of_one = found.expected.iter().filter(|one| one.figure() == 5).filter_map(|one| one.says());
        let missed: Vec<String> = of_one.filter_map(|one| one.reached.clone()).collect();
        (grades, missed)
    };
    let below =
        (vec!["A: seller".to_owned(), "B: below seller".to_owned()], vec!["another seller".to_owned()]);
    assert_eq!(told(0.0), below);
    assert_eq!(told(0.1), below, "54 MB/s could have been 67");
    assert_eq!(told(0.3), (vec!["A: seller".to_owned()], Vec::new()), "54 MB/s could have been 112");
}

/// Three nodes that each measured their own two devices. The second device of the last node is slow.
#[test]
fn devices_of_nodes_that_measured_by_themselves_are_theirs() {
    let mut study = Study::new(vec![target("disks", |t| t.devices = 2)]);
    for member in 0..2 {
        study.add_of("alone", "disks", &[count("member", member)], Phase::Read, &[0.0; 3], |spec| {
            spec.files.targets = vec![["/dev/sda", "/dev/sdb"][usize::try_from(member).expect("few")].into()];
        });
    }
    let nodes = ["n1", "n2", "n3"];
    let (mut phases, mut tasks) = (Vec::new(), Vec::new());
    for (case, is_second) in study.plan.cases.iter().zip([false, true]) {
        for (repetition, node) in (0..).zip(nodes) {
            let key = PhaseKey { case: case.id.as_str().into(), repetition, phase: Phase::Read };
            let seconds = if is_second && node == "n3" { 10 } else { 1 };
            let task = task(&key, 0, 100 << 20, (0, seconds * SECOND));
            tasks.push(TaskRow { node: node.into(), ..task });
            phases.push(phase(&key, 100 << 20, seconds * SECOND));
        }
    }
    let run = run_of(&study.plan, &phases, &tasks, &[]);
    let figures = figures(&run, analysis::RateName::ByWall);
    let hosts = [["A", "A"], ["A", "B"], ["A", "A"]].map(|models| host(&models, 1));
    let named = |(host, node): (&HostFacts, &str)| HostFacts { node: node.to_owned(), ..host.clone() };
    let hosts: Vec<HostFacts> = hosts.iter().zip(nodes).map(named).collect();
    let sets = member_sets(&Gate::new(&study.plan, &figures, &[]), &hosts.iter().collect::<Vec<_>>());
    let found: Vec<_> =
        sets.iter().map(|set| (set.node.as_str(), set.models.len(), set.variation > 0.5)).collect();
    assert_eq!(found, [("n1", 1, false), ("n2", 2, false), ("n3", 1, true)]);
    let slow: Vec<&str> = sets
        .iter()
        .flat_map(|set| &set.members)
        .filter(|one| one.slow != Some(false))
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(slow, ["n3:sdb"]);
}

#[test]
fn targets_of_one_device_each_are_members_too_but_not_the_layers_above_them() {
    let disk = |name: &str| target(name, |target| target.devices = 1);
    let above = target("xfs", |target| (target.devices, target.above) = (1, Some("one".to_owned())));
    let nas = target("nas", |_| {});
    let mut study = Study::new(vec![disk("one"), disk("two"), above, nas]);
    for (name, rate) in [("one", 100.0), ("two", 50.0), ("xfs", 90.0), ("nas", 10.0)] {
        study.add("w", name, &[], Phase::Write, &[rate * MB]);
    }
    let sets = member_sets(&Gate::new(&study.plan, &study.figures(), &[]), &[]);
    let names: Vec<&str> = sets[0].members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!((sets.len(), names), (1, vec!["one", "two"]));
    assert!((sets[0].variation - 0.5).abs() < 1e-12);
}

#[test]
fn members_together_have_the_rates_of_their_own_tasks() {
    let mut study = Study::new(vec![target("disks", |_| {})]);
    study.add_of("all", "disks", &[], Phase::Read, &[0.0], |spec| {
        spec.tasks = 4;
        (spec.files.sharing, spec.files.targets) =
            (Sharing::PerTask, vec!["/dev/sda".into(), "/dev/sdb".into()]);
    });
    let key = PhaseKey { case: study.plan.cases[0].id.as_str().into(), repetition: 0, phase: Phase::Read };
    // Tasks 0 and 2 use the first device, together from 0 to 4 s. Tasks 1 and 3 use the second.
    let mib = 1 << 20;
    let tasks = [
        task(&key, 0, 30 * mib, (0, 3 * SECOND)),
        task(&key, 1, 30 * mib, (0, 6 * SECOND)),
        task(&key, 2, 10 * mib, (SECOND, 4 * SECOND)),
        task(&key, 3, 30 * mib, (0, 6 * SECOND)),
    ];
    let run = run_of(&study.plan, &[phase(&key, 100 * mib, 6 * SECOND)], &tasks, &[]);
    let figures = figures(&run, analysis::RateName::ByWall);
    let sets = member_sets(&Gate::new(&study.plan, &figures, &[]), &[&host(&["A", "A"], 1)]);
    let seen: Vec<_> = sets[0]
        .members
        .iter()
        .map(|one| (one.name.as_str(), one.bytes_per_second.median / mib as f64))
        .collect();
    assert_eq!(seen, [("sda", 10.0), ("sdb", 10.0)]);
    assert!(sets[0].together && sets[0].variation < UNEVEN_SHARE);
}

/// Two paths on each of two nodes, where each path is 10 MiB/s: what `members` are made of is the fact whether a device
/// of the node carries the bytes.
fn on_two_nodes(paths: [&str; 2], hosts: &[&HostFacts]) -> Vec<(String, f64)> {
    let mut study = Study::new(vec![target("disks", |_| {})]);
    study.add_of("all", "disks", &[], Phase::Read, &[0.0], |spec| {
        spec.tasks = 4;
        (spec.files.sharing, spec.files.targets) = (Sharing::PerTask, paths.map(Into::into).to_vec());
    });
    let key = PhaseKey { case: study.plan.cases[0].id.as_str().into(), repetition: 0, phase: Phase::Read };
    let mib = 1 << 20;
    let tasks: Vec<TaskRow> = (0..4)
        .map(|number| TaskRow {
            node: if number < 2 { "node1".into() } else { "node2".into() },
            ..task(&key, number, 20 * mib, (0, 2 * SECOND))
        })
        .collect();
    let run = run_of(&study.plan, &[phase(&key, 80 * mib, 2 * SECOND)], &tasks, &[]);
    let figures = figures(&run, analysis::RateName::ByWall);
    let sets = member_sets(&Gate::new(&study.plan, &figures, &[]), hosts);
    let [set] = sets.as_slice() else { panic!("{sets:?}") };
    set.members.iter().map(|one| (one.name.clone(), one.bytes_per_second.median / mib as f64)).collect()
}

#[test]
fn devices_of_several_nodes_are_not_added_up_under_their_common_name() {
    let (first, second) = (host(&["A", "A"], 1), host(&["A", "A"], 1));
    let hosts = [&HostFacts { node: "node1".into(), ..first }, &HostFacts { node: "node2".into(), ..second }];
    let seen = on_two_nodes(["/dev/sda", "/dev/sdb"], &hosts);
    let expected = ["node1:sda", "node2:sda", "node1:sdb", "node2:sdb"].map(|name| (name.to_owned(), 10.0));
    assert_eq!(seen, expected);
    // No device of the nodes carries the bytes of a file system that both mount.
    let seen = on_two_nodes(["/lustre/a", "/lustre/b"], &hosts);
    assert_eq!(seen, ["/lustre/a", "/lustre/b"].map(|name| (name.to_owned(), 20.0)));
}

/// The rate of a disk with 8 ms positioning time and 160 MB/s.
fn disk_rate(size: f64) -> f64 {
    size / (8e-3 + size / 160e6)
}

fn fits(study: &Study, figures: &[Figure]) -> Vec<SeekFit> {
    let gate = Gate::new(&study.plan, figures, &[]);
    seek_fits(&gate, &curves(&gate))
}

fn sized(target_terms: Vec<TargetDescription>, devices: f64, sizes: &[u64]) -> Study {
    let mut study = Study::new(target_terms);
    for &size in sizes {
        let rate = (devices * disk_rate(size as f64) * 10.0).round() / 10.0;
        study.add_of("sizes", "disk", &[bytes("transfer", size)], Phase::Read, &[rate], |spec| {
            spec.order = Order::Random { seed: 1 };
            spec.geometry.block = Bytes(spec.geometry.transfer.0 * 4);
        });
    }
    study
}

#[test]
fn seek_time_and_rate_are_fitted_from_the_rates_of_several_sizes() {
    let sizes = [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
    let study = sized(vec![target("disk", |t| t.devices = 1)], 1.0, &sizes);
    let figures = study.figures();
    let fits = fits(&study, &figures);
    let [one] = fits.as_slice() else { panic!("{fits:?}") };
    let line = one.line().expect("five sizes");
    assert!((line.positioning_ns / 8e6 - 1.0).abs() < 1e-4, "{line:?}");
    assert!((line.bytes_per_second / 160e6 - 1.0).abs() < 1e-4, "{line:?}");
    assert!((line.half_rate_bytes - 1.28e6).abs() < 1e3);
    assert_eq!((one.devices, one.points.len()), (1, 5));
    for point in &one.points {
        let predicted = line.rate_at(point.bytes);
        assert!((predicted / disk_rate(point.bytes) - 1.0).abs() < 1e-4, "{point:?}");
    }
}

/// Rates of several disks together do not show the seek time of one, because it is unknown how they shared the
/// requests.
#[test]
fn the_rates_of_several_devices_are_not_those_of_one() {
    let study =
        sized(vec![target("disk", |t| t.devices = 3)], 3.0, &[16 << 10, 64 << 10, 256 << 10, 1 << 20]);
    let figures = study.figures();
    let fits = fits(&study, &figures);
    let [one] = fits.as_slice() else { panic!("{fits:?}") };
    let why = "the rates are of 3 devices together: measure one (`member = 0`)";
    assert_eq!(one.fit.as_ref().expect_err("several devices"), why);
}

#[test]
fn a_fit_is_refused_where_the_sizes_do_not_carry_it() {
    let line = |sizes: &[f64], time: fn(f64) -> f64| {
        SeekTime::of(&sizes.iter().map(|&size| (size, time(size))).collect::<Vec<_>>())
    };
    let disk = |size: f64| 8e6 + size / 0.16;
    let refused = |sizes: &[f64], time| line(sizes, time).expect_err("no line");
    assert_eq!(refused(&[1e4, 1e5, 1e6], disk), "3 sizes are too few: 4 are needed");
    let twice = refused(&[1e4, 1e4, 1e5, 1e6], disk);
    assert_eq!(twice, "3 sizes are too few: 4 are needed", "one size twice is one size");
    let narrow = refused(&[1e6, 2e6, 3e6, 4e6], disk);
    assert_eq!(narrow, "the largest size is 4.0 times the smallest: 8 times are needed");
    assert!(refused(&[1e4, 1e5, 1e6, 1e7], |_| 5e6).starts_with("larger transfers take no longer"));
    let steps = |size: f64| if size < 5e5 { 1e6 } else { 1e8 };
    assert!(refused(&[1e4, 1e5, 1e6, 1e7], steps).contains("% off any line"));
    // For a device without positioning time the fit goes through 0, never below.
    let flash = line(&[1e4, 1e5, 1e6, 1e7], |size| size / 2.0).expect("a line");
    assert!(flash.positioning_ns.abs() < 1.0 && (flash.bytes_per_second - 2e9).abs() < 1.0);
}

proptest! {
    /// For any device, the fit to times with errors of at most 2 % recovers its parameters within their intervals.
    #[test]
    fn any_disk_is_found_within_its_interval(
        positioning_us in 50.0..20_000.0_f64,
        megabytes in 20.0..3_000.0_f64,
        noise in proptest::collection::vec(-0.02..0.02_f64, 7),
    ) {
        let points: Vec<(f64, f64)> = noise.iter().enumerate().map(|(place, noise)| {
            let size = 4096.0 * 4.0_f64.powi(i32::try_from(place).expect("few"));
            (size, (positioning_us * 1e3 + size / megabytes * 1e3) * (1.0 + noise))
        }).collect();
        let line = SeekTime::of(&points).expect("seven sizes");
        prop_assert!(line.error <= 0.02);
        prop_assert!(line.positioning_ns >= 0.0 && line.interval.0 <= line.bytes_per_second);
        // With noise of 2 %, neither changes by more than a tenth if both are visible in the data.
        let half = positioning_us * megabytes;
        if (8_192.0..4e6).contains(&half) {
            prop_assert!((line.positioning_ns / (positioning_us * 1e3) - 1.0).abs() < 0.10, "{line:?}");
            prop_assert!((line.bytes_per_second / (megabytes * 1e6) - 1.0).abs() < 0.10, "{line:?}");
        }
    }
}

#[test]
fn a_file_system_is_predicted_from_the_strips_of_its_blocks() {
    let system = |name: &str, block: u64| {
        target(name, |target| {
            (target.above, target.devices, target.fs_block) =
                (Some("disk".to_owned()), 8, Some(Bytes(block)));
        })
    };
    let targets = vec![target("disk", |_| {}), system("fs-4m", 4 << 20), system("fs-256k", 256 << 10)];
    let mut study = sized(targets, 1.0, &[16 << 10, 64 << 10, 256 << 10, 1 << 20]);
    study.add("w", "fs-4m", &[], Phase::Read, &[300e6]);
    let found = study.findings().strips;
    let points: Vec<_> = said(&found).into_iter().map(|(_, point)| point).collect();
    let blocks: Vec<_> =
        points.iter().map(|one| (one.target.as_str(), one.strip, one.extrapolated)).collect();
    assert_eq!(blocks, [("fs-256k", 32_768.0, false), ("fs-4m", 524_288.0, false)]);
    for point in &points {
        assert!((point.predicted / (8.0 * disk_rate(point.strip)) - 1.0).abs() < 1e-3, "{point:?}");
    }
    assert_eq!(points[0].measured, None);
    assert!((points[1].ratio.expect("measured") - 300e6 / (8.0 * disk_rate(524_288.0))).abs() < 1e-3);
}

#[test]
fn one_process_that_gains_nothing_from_more_devices_is_the_limit() {
    let mut study = Study::new(vec![target("luns", |_| {})]);
    for (members, one, many) in [(2_u64, 9_800.0, 20e3), (4, 10_000.0, 40e3), (12, 9_900.0, 118e3)] {
        for (tasks, rate) in [(1, one), (24, many)] {
            let settings = [count("tasks", tasks), count("members", members)];
            study.add_of("luns", "luns", &settings, Phase::Read, &[rate * 4096.0], |spec| {
                spec.files.targets = (0..members).map(|lun| format!("/lun/{lun}").into()).collect();
                spec.files.sharing = Sharing::PerTask;
            });
        }
    }
    // The single process used a processor all the time, while the others waited.
    for row in &mut study.phases {
        let single =
            study.plan.cases.iter().any(|case| *case.id == *row.key.case && case.workload.tasks == 1);
        row.user_cpu_ns = if single { row.io_ns } else { row.io_ns / 2 };
    }
    let found = findings(&study.plan, &study.figures(), 64).process_limits;
    let found: Vec<_> = said(&found).into_iter().map(|(_, one)| one).collect();
    let seen: Vec<_> = found.iter().map(|one| (one.tasks, one.flat, one.points.len())).collect();
    assert_eq!(seen, [(1, true, 3), (24, false, 3)]);
    assert!((found[0].spread - 0.02).abs() < 1e-3);
    assert_eq!(found[0].points.iter().map(|(devices, ..)| *devices).collect::<Vec<_>>(), [2, 4, 12]);
}

/// Equal numbers of tasks on 1, 2 and 4 devices at the same rate, for targets with this baseline and this processor
/// use in tenths of the time.
fn alike(baseline: Option<&str>, busy: u64) -> Vec<ProcessLimit> {
    let devices = [("one", 1), ("two", 2), ("four", 4)];
    let of = |(name, devices)| {
        target(name, |target| {
            (target.devices, target.baseline) =
                (devices, baseline.filter(|&single| single != name).map(str::to_owned));
        })
    };
    let mut study = Study::new(devices.map(of).to_vec());
    for (name, _) in devices {
        study.add("w", name, &[], Phase::Read, &[1e9]);
    }
    for row in &mut study.phases {
        row.user_cpu_ns = row.io_ns / 10 * busy;
    }
    said(&study.findings().process_limits).into_iter().map(|(_, one)| one.clone()).collect()
}

#[test]
fn processes_are_the_limit_only_where_processors_were_busy() {
    let flat = |busy| alike(Some("one"), busy).iter().map(|one| one.flat).collect::<Vec<_>>();
    assert_eq!(flat(10), [true]);
    assert_eq!(flat(3), [false], "the tasks waited for the storage");
    assert_eq!(flat(0), [false], "nothing is known of the processors");
}

#[test]
fn targets_of_different_kinds_are_not_compared_by_their_devices() {
    assert_eq!(alike(None, 10), []);
}
