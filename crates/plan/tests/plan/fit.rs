//! Studies scaled to a budget.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use plan::study::{self, Options, Override};
use plan::{Budget, Bytes, Case, Cost, FitError, Nanos, Plan, RunEnvironment, SettingValue, UntoldKind, fit};
use proptest::prelude::*;

/// Each ready study on a directory where that is possible, else as written.
fn ready_studies() -> Vec<(String, Plan)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).expect("the studies").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "toml"));
    paths.sort();
    let study = |path: &PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("a text");
        let text = study::on_directory(&text, "/d").unwrap_or(text);
        let plan = study::read(path, &text).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        (name, plan)
    };
    paths.iter().map(study).collect()
}

fn read(text: &str) -> Plan {
    study::read("s.toml".as_ref(), text).unwrap_or_else(|errors| panic!("{:?} in {text}", errors.errors()))
}

/// A study of one workload with the given lines, on one directory.
fn workload(protocol: &str, lines: &str, more: &str) -> Plan {
    read(&format!(
        "[protocol]\n{protocol}\n[[target]]\nname = \"disk\"\ndirectory = \"/d\"\n\
         [[workload]]\nname = \"w\"\n{lines}\n{more}"
    ))
}

fn limited(time: Option<u64>, space: Option<Bytes>) -> Budget {
    Budget { time: time.map(Nanos::secs), space, ..Budget::default() }
}

fn nothing_known() -> RunEnvironment {
    RunEnvironment::default()
}

fn scaled(plan: &Plan, budget: &Budget) -> Plan {
    fit(plan, 1, budget, &nothing_known()).unwrap_or_else(|error| panic!("{error}"))
}

/// The least budget that an error names.
fn least(error: &FitError) -> Budget {
    let FitError::TooSmall { time, space, .. } = error else { panic!("{error}") };
    Budget {
        time: Some(Nanos::parse_study(time).expect("a time")),
        space: Some(Bytes::parse_study(space).expect("a size")),
        ..Budget::default()
    }
}

fn assert_fits(plan: &Plan, budget: &Budget) {
    let cost = Cost::of(plan, &nothing_known());
    let fits_time = budget.time.is_none_or(|time| cost.seconds <= time.as_secs_f64());
    let fits_space = budget.space.is_none_or(|space| cost.space <= space);
    assert!(fits_time && fits_space, "{cost:?} for {budget:?}");
}

/// What is left is part of the study, and no more than it.
fn assert_is_less(was: &Plan, is: &Plan) {
    assert_eq!((&was.source, &was.criteria, was.seed), (&is.source, &is.criteria, is.seed));
    for case in &is.cases {
        let of = was.cases.iter().find(|one| one.id == case.id).expect("a case of the study");
        assert_eq!(of.settings, case.settings, "what a sweep names stays");
        assert!(case.repetitions <= of.repetitions && case.passes_max() <= of.passes_max(), "{}", case.id);
        assert!(case.workload.footprint() <= of.workload.footprint(), "{}", case.id);
        assert!(case.workload.duration <= of.workload.duration, "{}", case.id);
        assert_eq!(case.workload.tasks, of.workload.tasks);
        assert_eq!(case.workload.order, of.workload.order, "its seed is that of the study");
    }
    let blocks: Vec<_> = is.blocks().collect();
    assert!(is.cases.is_empty() || blocks[0].start == 0 && !is.cases[0].in_turn);
}

fn counts(plan: &Plan, key: &str) -> Vec<u64> {
    let value = |case: &Case| {
        case.settings.iter().find(|one| one.key == key).map(|one| match one.value {
            SettingValue::Count(value) | SettingValue::Bytes(Bytes(value)) => value,
            _ => panic!("{one}"),
        })
    };
    let all: BTreeSet<u64> = plan.cases.iter().filter_map(value).collect();
    all.into_iter().collect()
}

#[test]
fn each_ready_study_fits_ten_minutes_and_10_gib_or_names_the_least_that_works() {
    let budget = limited(Some(600), Some(Bytes::gib(10)));
    let mut fitting = 0;
    for (name, plan) in ready_studies() {
        match fit(&plan, 1, &budget, &nothing_known()) {
            Ok(scaled) => {
                assert_fits(&scaled, &budget);
                assert_is_less(&plan, &scaled);
                assert_eq!(scaled.scaling.is_none(), scaled == plan, "{name}");
                fitting += 1;
            }
            Err(error) => {
                let least = least(&error);
                let scaled = fit(&plan, 1, &least, &nothing_known());
                let scaled = scaled.unwrap_or_else(|next| panic!("{name}: {error}, but then {next}"));
                assert_fits(&scaled, &least);
            }
        }
    }
    // `file-size` measures files that are larger, and a scaled size would not be one of its points.
    assert_eq!(fitting, ready_studies().len() - 1);
}

#[test]
fn a_study_that_fits_stays_as_it_is() {
    let plan = workload("repetitions = 2", "transfer = \"1MiB\"\nsize = \"1GiB\"\ndirect = true", "");
    let same = scaled(&plan, &limited(Some(3600), Some(Bytes::gib(1))));
    assert_eq!(same, plan);
    assert_eq!(scaled(&plan, &Budget::default()), plan);
}

const SWEEP: &str = "phases = [\"read\"]\nfill = true\nsharing = \"per-task\"\ntransfer = \"4KiB\"\nsize = \"16MiB\"\norder = \"random\"\n\
                     direct = true\nduration = \"20s\"\ntasks = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]";

#[test]
fn durations_go_first_then_points_then_repetitions() {
    let plan = workload("repetitions = 7", SWEEP, "");
    let of = |seconds| scaled(&plan, &limited(Some(seconds), None));
    // 10 points × 7 × 20 s.
    let shorter = of(700);
    assert!((shorter.cases.len(), shorter.cases[0].repetitions) == (10, 7));
    let fewer = of(60);
    assert!(fewer.cases.len() < 10 && fewer.cases[0].repetitions == 7, "{:?}", fewer.scaling);
    assert_eq!(counts(&fewer, "tasks").first(), Some(&1), "the ends stay");
    assert_eq!(counts(&fewer, "tasks").last(), Some(&32), "the ends stay");
    let least = of(15);
    assert!((least.cases.len(), least.cases[0].repetitions) == (2, 5), "{:?}", least.scaling);
    let duration = least.cases[0].workload.duration.expect("a duration").as_secs_f64();
    assert!(duration >= plan::PASS_SECONDS_MIN, "{duration}");
    let line = least.scaling.expect("it was scaled").to_string();
    assert!(line.starts_with("scaled to 15 s: 5 of 7 repetitions, 2 of 10 points"), "{line}");
}

#[test]
fn what_is_left_of_the_time_goes_to_the_durations() {
    let plan = workload("repetitions = 7", SWEEP, "");
    for seconds in [30, 60, 90, 120, 240, 700] {
        let budget = limited(Some(seconds), None);
        let used = Cost::of(&scaled(&plan, &budget), &nothing_known()).seconds;
        assert!(used <= seconds as f64 && used > 0.55 * seconds as f64, "{used} of {seconds} s");
    }
}

#[test]
fn points_that_are_named_stay_longer_than_others() {
    let named = "[[claim]]\nid = \"six\"\ntext = \"Six tasks are better than one.\"\n\
                 left = { workload = \"w\", at = { tasks = 6 } }\nrelation = \"greater\"\n\
                 right = { workload = \"w\", at = { tasks = 1 } }\n";
    let plan = workload("repetitions = 5", SWEEP, named);
    let some = scaled(&plan, &limited(Some(40), None));
    assert!(counts(&some, "tasks").contains(&6) && some.cases.len() < 10, "{:?}", counts(&some, "tasks"));
    assert_eq!(some.scaling.expect("it was scaled").untold, []);
    let fewest = scaled(&plan, &limited(Some(8), None));
    assert_eq!(counts(&fewest, "tasks"), [1]);
    let untold = fewest.scaling.expect("it was scaled").untold(UntoldKind::Claim, "six");
    let why = untold.expect("its point is gone");
    assert!(why.starts_with("the study was scaled to 8 s: one of its 2 figures was given up"), "{why}");
}

#[test]
fn a_swept_size_is_not_changed() {
    let plan = workload(
        "repetitions = 3",
        "transfer = \"1MiB\"\nsize = [\"64MiB\", \"1GiB\", \"16GiB\"]\ndirect = true",
        "",
    );
    let some = scaled(&plan, &limited(None, Some(Bytes::gib(2))));
    assert_eq!(counts(&some, "size"), [64 << 20, 1 << 30]);
    let error = fit(&plan, 1, &limited(None, Some(Bytes::mib(1))), &nothing_known()).expect_err("64 MiB");
    assert!(error.to_string().contains("--space 64MiB"), "{error}");
}

#[test]
fn points_beyond_the_limits_of_tasks_and_nodes_are_given_up() {
    let lines = "transfer = \"1MiB\"\nsize = \"64MiB\"\nsharing = \"per-task\"\ndirect = true\n\
                 nodes = [1, 2, 4]\ntasks_per_node = [1, 8]";
    let plan = workload("", lines, "");
    let with = |tasks, nodes| Budget { tasks, nodes, ..Budget::default() };
    let two = scaled(&plan, &with(None, Some(2)));
    assert_eq!((counts(&two, "nodes"), two.cases.len()), (vec![1, 2], 4));
    assert_eq!(scaled(&plan, &with(Some(8), Some(2))).cases.len(), 3, "2 × 8 are more than 8 tasks");
    let scaling = two.scaling.expect("it was scaled");
    assert_eq!(scaling.to_string(), "scaled to 2 nodes: 4 of 6 points");
    let four = workload("", &lines.replace("[1, 2, 4]", "[4, 8]"), "");
    let error = fit(&four, 1, &with(Some(2), Some(1)), &nothing_known()).expect_err("four nodes");
    let said =
        "no case of the study has at most --tasks 2 --nodes 1: the least that works is --tasks 4 --nodes 4";
    assert_eq!(error.to_string(), said);
}

#[test]
fn a_size_that_keeps_data_out_of_the_page_cache_stays_or_direct_io_takes_its_place() {
    let lines = "transfer = \"1MiB\"\nsize = \"64GiB\"";
    let plan = workload("repetitions = 5", lines, "");
    let with = |memory: u64| RunEnvironment { memory: Some(Bytes::gib(memory)), ..nothing_known() };
    let fitted = |memory, space| {
        let budget = limited(None, Some(Bytes::gib(space)));
        fit(&plan, 1, &budget, &with(memory)).expect("it fits")
    };
    let small = fitted(8, 16);
    assert_eq!(
        (small.cases[0].workload.direct, small.cases[0].workload.footprint()),
        (false, Bytes::gib(16))
    );
    let direct = fitted(8, 8);
    assert_eq!(
        (direct.cases[0].workload.direct, direct.cases[0].workload.footprint()),
        (true, Bytes::gib(8))
    );
    let scaling = direct.scaling.expect("it was scaled");
    assert_eq!(scaling.direct, ["w"]);
    assert!(scaling.to_string().contains("direct I/O"), "{scaling}");
    // It is in memory as it is.
    assert!(!fitted(128, 8).cases[0].workload.direct);
    // For the sake of time points and repetitions go first, and the size stays.
    let in_time = fit(&plan, 1, &limited(Some(1600), None), &with(32)).expect("it fits");
    assert_eq!(in_time.cases[0].workload.footprint(), Bytes::gib(64));
}

#[test]
fn a_cache_that_nothing_bypasses_keeps_the_size() {
    let text = "[[target]]\nname = \"array\"\ndirectory = \"/d\"\ncaches = \"1GiB\"\n\
                [[workload]]\nname = \"w\"\ntransfer = \"1MiB\"\nsize = \"160GiB\"\ndirect = true\n";
    let plan = read(text);
    let some = scaled(&plan, &limited(None, Some(Bytes::gib(40))));
    assert_eq!(some.cases[0].workload.footprint(), Bytes::gib(40));
    let error =
        fit(&plan, 1, &limited(None, Some(Bytes::gib(10))), &nothing_known()).expect_err("20 × 1 GiB");
    let said = error.to_string();
    assert!(
        said.contains("--space 20GiB") && said.ends_with("a cache would hold smaller files of w"),
        "{said}"
    );
}

#[test]
fn promises_and_published_claims_are_not_judged_by_smaller_files() {
    let more = "[[commitment]]\nname = \"streams\"\nphase = \"write\"\nstatistic = \"median\"\nbandwidth_at_least = \"1GB/s\"\n\
                [[claim]]\nid = \"a-claim-spec\"\nleft = { phase = \"write\" }\nrelation = \"greater\"\nright = \"2GB/s\"\n\
                [[claim]]\nid = \"own\"\ntext = \"Reads are faster.\"\nleft = { phase = \"read\" }\n\
                relation = \"greater\"\nright = { phase = \"write\" }\n";
    let plan = workload("repetitions = 5", "transfer = \"1MiB\"\nsize = \"64GiB\"\ndirect = true", more);
    let some = scaled(&plan, &limited(None, Some(Bytes::gib(1))));
    let scaling = some.scaling.expect("it was scaled");
    let why = |kind, name: &str| scaling.untold(kind, name);
    let files = "the study was scaled to 1 GiB: its files are smaller, 1 GiB instead of 64 GiB";
    assert_eq!(why(UntoldKind::Commitment, "streams").as_deref(), Some(files));
    assert_eq!(why(UntoldKind::Claim, "a-claim-spec").as_deref(), Some(files));
    assert_eq!(why(UntoldKind::Claim, "own"), None, "it is about what is measured");
}

#[test]
fn workloads_on_the_same_files_become_smaller_alike() {
    let text = "[[target]]\nname = \"disk\"\ndirectory = \"/d\"\n\
                [[workload]]\nname = \"made\"\nphases = [\"write\"]\ntransfer = \"4KiB\"\nsize = \"8GiB\"\ndirect = true\n\
                [[workload]]\nname = \"read\"\nphases = [\"read\"]\ntransfer = \"16MiB\"\nsize = \"8GiB\"\ndirect = true\n\
                depth = 16\n";
    let some = scaled(&read(text), &limited(None, Some(Bytes::gib(1))));
    let sizes: Vec<Bytes> = some.cases.iter().map(|case| case.workload.footprint()).collect();
    assert_eq!(sizes, [Bytes::gib(1); 2]);
}

/// The first workload cannot become smaller: its sizes are swept. The second has the files of the third, which the page
/// cache would hold if they were smaller.
#[test]
fn workloads_that_do_not_fit_are_given_up_at_last() {
    let text = "[study]\nnode_memory = \"4GiB\"\n[[target]]\nname = \"disk\"\ndirectory = \"/d\"\n\
                [[workload]]\nname = \"sizes\"\ntransfer = \"1MiB\"\nsize = [\"8GiB\", \"16GiB\"]\ndirect = true\n\
                [[workload]]\nname = \"short\"\nphases = [\"read\"]\nfill = true\ntransfer = \"4KiB\"\nsize = \"64GiB\"\n\
                direct = true\n\
                [[workload]]\nname = \"cached\"\nphases = [\"read\"]\nfill = true\ntransfer = \"4KiB\"\nsize = \"64GiB\"\n\
                advice = \"as-published\"\n\
                [[claim]]\nid = \"own\"\ntext = \"It reads.\"\nrelation = \"greater\"\n\
                left = { workload = \"cached\" }\nright = \"1/s\"\n";
    let of = |gib| {
        let some = scaled(&read(text), &limited(None, Some(Bytes::gib(gib))));
        let scaling = some.scaling.expect("given up");
        let footprints: Vec<_> =
            some.cases.iter().map(|case| (case.group.clone(), case.workload.footprint())).collect();
        (footprints, scaling.gone, scaling.untold.into_iter().map(|one| one.name).collect::<Vec<_>>())
    };
    let (short, cached) = ("short".to_owned(), "cached".to_owned());
    // The smaller of the swept sizes fits, and the others are as small as the memory allows.
    let sizes = ("sizes".to_owned(), Bytes::gib(8));
    assert_eq!(of(8), (vec![sizes, (short.clone(), Bytes::gib(8)), (cached, Bytes::gib(8))], vec![], vec![]));
    // The page cache would hold 4 GiB: what needs more goes, and what is left becomes small.
    let gone = [
        "sizes (alone it takes at least --time 35s --space 8GiB)",
        "cached (alone it takes at least --time 4min --space 8GiB)",
    ];
    let gone = gone.map(str::to_owned).to_vec();
    assert_eq!(of(4), (vec![(short, Bytes::gib(4))], gone, vec!["own".to_owned()]));
}

#[test]
fn trees_objects_and_blocks_become_smaller() {
    let text = "[[target]]\nname = \"disk\"\ndirectory = \"/d\"\n\
                [[workload]]\nname = \"t\"\nwork = \"tree\"\nitems_per_directory = 1000000\nfile_bytes = \"4KiB\"\ntasks = 4\n\
                [[workload]]\nname = \"o\"\nwork = \"objects\"\nprecreated = 100000\nsteps = 100000\ntasks = 2\n\
                [[workload]]\nname = \"b\"\ntransfer = \"1MiB\"\nblock = \"64MiB\"\nsegments = 64\ndirect = true\n";
    let plan = read(text);
    let budget = limited(Some(120), Some(Bytes::gib(1)));
    let some = scaled(&plan, &budget);
    assert_fits(&some, &budget);
    assert_is_less(&plan, &some);
    assert_eq!(some.cases.len(), 3);
}

#[test]
fn overrides_of_the_user_stay() {
    let text = "[[target]]\nname = \"disk\"\ndirectory = \"/d\"\n\
                [[workload]]\nname = \"w\"\ntransfer = \"1MiB\"\nsize = \"8GiB\"\ndirect = true\n";
    let overrides = vec![Override::parse("workload.w.transfer=64KiB").expect("an override")];
    let options = Options { overrides, ..Options::default() };
    let plan = study::read_with("s.toml".as_ref(), text, &options).expect("a study");
    let some = scaled(&plan, &limited(None, Some(Bytes::gib(1))));
    assert_eq!(some.cases[0].workload.geometry.transfer, Bytes::kib(64));
    assert_eq!(some.source, plan.source, "what the user wrote is told apart from what was given up");
    assert_eq!(some.scaling.expect("it was scaled").settings, ["workload.w.size=1GiB"]);
}

#[test]
fn only_a_study_is_scaled() {
    let quick = plan::PlanSource::Quick { directory: "/d".into(), others: Vec::new() };
    let plan = Plan::new("", quick, 1, Vec::new());
    let error = fit(&plan, 1, &limited(Some(1), None), &nothing_known()).expect_err("no study");
    assert_eq!(error, FitError::NoStudy);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Any budget is met, or the least that is named instead is.
    #[test]
    fn a_scaled_study_is_within_its_budget(
        seconds in 1_u64..5_000, space in 1_u64..20_000, repetitions in 1_u32..12, duration in 0_u64..60,
        tasks in prop::collection::btree_set(1_u32..64, 1..6), gib in 1_u64..64, buffered: bool, interleaved: bool,
    ) {
        let tasks: Vec<String> = tasks.iter().map(ToString::to_string).collect();
        let clock = if duration > 0 { format!("duration = \"{duration}s\"") } else { String::new() };
        let plan = workload(
            &format!("repetitions = {repetitions}\ninterleaved = {interleaved}"),
            &format!(
                "phases = [\"read\"]\nfill = true\ntransfer = [\"4KiB\", \"1MiB\"]\nsize = \"{gib}GiB\"\n\
                 sharing = \"per-task\"\ndirect = {}\ntasks = [{}]\n{clock}",
                !buffered,
                tasks.join(", ")
            ),
            "",
        );
        let environment = RunEnvironment { memory: Some(Bytes::gib(4)), ..nothing_known() };
        let within = |budget: &Budget| {
            let one = fit(&plan, 1, budget, &environment);
            assert_eq!(one, fit(&plan, 1, budget, &environment), "the same each time");
            let one = one?;
            let cost = Cost::of(&one, &environment);
            assert!(cost.seconds <= budget.time.expect("a time").as_secs_f64(), "{cost:?} for {budget}");
            assert!(cost.space <= budget.space.expect("a space"), "{cost:?} for {budget}");
            assert_is_less(&plan, &one);
            Ok(())
        };
        if let Err(error) = within(&limited(Some(seconds), Some(Bytes::mib(space)))) {
            let least = least(&error);
            within(&least).unwrap_or_else(|next| panic!("{error}, but then {next}"));
        }
    }
}
