//! What a user sees of a study file: the plan it makes, or every mistake at its place.
#![expect(clippy::unwrap_used, reason = "a study that should be read and is not, fails the test")]

use std::fmt::Write as _;
use std::path::Path;

use crate::common::{RIGHT, shown, study};
use plan::study::{StudyError, read, reference};
use plan::{
    Advice, Backend, Bytes, Existing, Forecast, Keep, Nanos, Order, Phase, Placement, Plan, ReadFrom,
    Sharing, Stopping,
};

/// Where the project's studies and documents are.
fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// What matters of a plan.
fn summary(plan: &Plan) -> String {
    let mut text = format!("{} (seed {})\n", plan.title, plan.seed);
    for case in &plan.cases {
        let forecast = Forecast::of(case);
        writeln!(text, "{}: {}", case.id, case.title).unwrap();
        for &phase in &case.phases {
            writeln!(text, "  {}", case.workload.conditions(phase)).unwrap();
        }
        let (repetitions, bytes) = (case.repetitions, forecast.phase_bytes.both_units());
        let first = &Placement::new(&case.workload).files(0)[0];
        let (files, each, first) = (forecast.files, forecast.file_bytes, first.path.display());
        writeln!(text, "  {repetitions} × {bytes} in {files} × {each}, first {first}").unwrap();
    }
    text
}

#[test]
fn right_studies_become_plans() {
    let shared = format!(
        "{RIGHT}\n[[workload]]\nname = \"random\"\ntransfer = \"4k\"\nsize = \"256MiB\"\norder = \"random\"\n\
         phases = [\"read\"]\ndepth = 32\ndirect = true\nduration = \"10s\"\nrepetitions = 1\n"
    );
    let many = RIGHT
        .replace("path = \"/mnt/scratch/data\"", "paths = [\"/mnt/0/0\", \"/mnt/1/1\", \"/mnt/2/2\"]")
        .replace("tasks = 4", "tasks = 6\nsharing = \"per-task\"\nbackend = \"uring\"");
    insta::assert_snapshot!("right_minimal", summary(&study(RIGHT).unwrap()));
    insta::assert_snapshot!("right_shared_data", summary(&study(&shared).unwrap()));
    insta::assert_snapshot!("right_many_targets", summary(&study(&many).unwrap()));
}

#[test]
fn every_key_arrives_in_the_workload() {
    let plan = study(include_str!("all-keys.toml")).unwrap();
    let case = &plan.cases[0];
    assert_eq!((case.id.as_str(), case.title.as_str()), ("w", "all of it"));
    let phases = [Phase::Write, Phase::CheckWrite, Phase::Mixed, Phase::Read, Phase::CheckRead];
    assert_eq!(case.phases, phases);
    assert_eq!((case.repetitions, case.delay), (9, Nanos::millis(500)));
    assert_eq!(case.time_limit, Some(Nanos::secs(3600)));
    let spec = &case.workload;
    assert_eq!(spec.geometry.transfer, Bytes::kib(4));
    assert_eq!((spec.geometry.block, spec.geometry.segments), (Bytes::mib(1), 3));
    assert_eq!((spec.tasks, spec.files.sharing), (8, Sharing::PerTask));
    assert!(matches!(spec.order, Order::Random { .. }));
    assert_eq!(spec.backend, Backend::Uring { depth: 16, required: true });
    assert!(spec.direct && spec.sync.per_write && !spec.sync.at_close);
    assert_eq!(spec.advice, Advice::AsMeant);
    assert!(matches!(spec.read_from, ReadFrom::Shuffle { at_least: 2, reseed: true, .. }));
    let stonewall = spec.stonewall.unwrap();
    assert_eq!((stonewall.deadline, stonewall.wear_out), (Nanos::secs(30), true));
    assert_eq!(spec.pace.unwrap().transfers_per_second.to_bits(), 1000.5_f64.to_bits());
    assert_eq!(spec.read_percent, 70);
    assert!(spec.barriers && spec.verify && spec.quit_on_error && spec.single_attempt);
    assert!(spec.files.fill && spec.files.preallocate);
    assert!(spec.files.unique_dir && spec.files.file_per_repetition);
    assert_eq!((spec.files.existing, spec.files.keep), (Existing::Reuse, Keep::OnError));
    assert_eq!((spec.signature, spec.memory_hog), (99, Bytes::gib(1)));
    assert_eq!(spec.outlier, Some(Nanos::secs(5)));
    let protocol = &case.protocol;
    assert_eq!((protocol.warm_up, protocol.rounds, protocol.precondition), (1, 2, 1));
    assert!(protocol.wipe && protocol.drop_caches);
    assert_eq!(protocol.stopping, Stopping::Interval { share: 0.1, least: 9 });
    assert_eq!(protocol.phase_min, Nanos::secs(2));
    let across = &plan.cases[1].workload;
    assert_eq!((across.tasks, across.nodes, across.operations), (8, 4, Some(2000)));
    assert_eq!(across.read_from, ReadFrom::Shift { tasks: 2 });
    assert!(across.fresh_order);
}

#[test]
fn the_backend_follows_the_depth_unless_it_is_named() {
    let backend = |keys: &str| study(&format!("{RIGHT}{keys}\n")).unwrap().cases[0].workload.backend;
    assert_eq!(backend(""), Backend::Psync);
    assert_eq!(backend("depth = 4"), Backend::Uring { depth: 4, required: false });
    assert_eq!(backend("backend = \"uring\""), Backend::Uring { depth: 1, required: true });
    assert_eq!(backend("backend = \"null\""), Backend::Null);
}

#[test]
fn a_size_is_that_of_each_file() {
    let block = |keys: &str| {
        let text = RIGHT.replace("block = \"64MiB\"", keys);
        study(&text).unwrap().cases[0].workload.geometry.block
    };
    assert_eq!(block("size = \"64MiB\""), Bytes::mib(16), "four tasks share the file");
    assert_eq!(block("size = \"64MiB\"\nsharing = \"per-task\""), Bytes::mib(64));
}

#[test]
fn what_one_workload_says_of_the_files_holds_for_all_that_share_them() {
    let text = format!(
        "{RIGHT}\n[[workload]]\nname = \"again\"\ntransfer = \"4k\"\nsize = \"1m\"\nkeep = \"always\"\n\
         phases = [\"read\"]\n"
    );
    let plan = study(&text).unwrap();
    assert_eq!(plan.cases[0].workload.files.keep, Keep::Always);
    assert_eq!(plan.cases[0].workload.files, plan.cases[1].workload.files);
}

#[test]
fn data_that_is_there_already_is_read_when_the_study_says_so() {
    let text = RIGHT.replace("tasks = 4", "phases = [\"read\"]\nfill = false");
    assert!(!study(&text).unwrap().cases[0].workload.files.fill);
}

#[test]
fn a_device_is_never_made_or_removed_and_never_given_up_by_the_study() {
    let plan = study(&RIGHT.replace("path = \"/mnt/scratch/data\"", "device = \"/dev/sdz\"")).unwrap();
    let files = &plan.cases[0].workload.files;
    assert_eq!((files.existing, files.keep), (Existing::Reuse, Keep::Always));
    assert!(plan.destroy_data_on.is_empty());
}

#[test]
fn the_same_study_gives_the_same_plan_and_another_seed_another_order() {
    let random = RIGHT.replace("tasks = 4", "order = \"random\"");
    let order = |text: &str| study(text).unwrap().cases[0].workload.order;
    assert_eq!(study(&random).unwrap(), study(&random).unwrap());
    assert_ne!(order(&random), order(&random.replace("seed = 7", "seed = 8")));
}

#[test]
fn several_mistakes_are_shown_at_once_in_the_order_of_the_file() {
    let text = RIGHT
        .replace("seed = 7", "seed = -7")
        .replace("repetitions", "repetition")
        .replace("/mnt/scratch/data", "")
        .replace("target = \"scratch\"", "target = \"elsewhere\"")
        .replace("\"1MiB\"", "true")
        .replace("tasks = 4", "tasks = 4.5\nsegments = \"ten\"");
    let errors = study(&text).unwrap_err();
    let places: Vec<usize> = errors.errors().iter().map(StudyError::place).collect();
    assert!(places.is_sorted() && places.len() == 7, "{places:?}");
    insta::assert_snapshot!("several", shown(&errors));
}

#[test]
fn many_mistakes_are_counted_and_the_first_are_shown() {
    let text: String = (0..50).map(|i| format!("key{i} = 1\n")).collect();
    let errors = study(&text).unwrap_err();
    assert_eq!(errors.errors().len(), 20);
    assert!(errors.to_string().contains("50 mistakes"), "{errors}");
}

#[test]
fn the_studies_that_come_with_the_program_are_right() {
    let mut seen = 0;
    for entry in std::fs::read_dir(project().join("studies")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let plan = read(&path, &text).unwrap_or_else(|errors| panic!("{}", shown(&errors)));
        assert!(!plan.cases.is_empty(), "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 2, "{seen} studies");
}

#[test]
fn test_1_of_the_cuny_study_is_what_its_command_line_says() {
    let path = project().join("studies/cuny-test1.toml");
    let plan = read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
    let workload = &plan.cases[0].workload;
    assert_eq!(workload.bytes(), Bytes(62_914_560_000));
    assert_eq!(workload.read_from, ReadFrom::Shift { tasks: 1 });
    assert!(workload.direct && workload.sync.at_close);
    assert_eq!(Placement::new(workload).file_count(), 6);
}

#[test]
fn the_reference_is_that_of_this_reader() {
    let path = project().join("docs/STUDY.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, reference()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == reference(),
        "docs/STUDY.md is not what the reader accepts; run `UPDATE_DOCS=1 cargo test -p ioproof-plan`"
    );
}

#[test]
fn the_examples_of_the_reference_are_right() {
    let text = reference();
    let examples: Vec<&str> =
        text.split("```toml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect();
    assert!(examples.len() >= 4, "{examples:?}");
    for example in examples {
        study(example).unwrap_or_else(|errors| panic!("{}", shown(&errors)));
    }
}

/// A row without a header above is shown as plain text.
#[test]
fn every_row_of_the_reference_is_in_a_table() {
    let text = reference();
    let mut before = ["", ""];
    for line in text.lines() {
        if line.starts_with('|') && before[0].is_empty() && before[1].starts_with('|') {
            assert!(line.starts_with("|---"), "no header above {line}");
        }
        before = [before[1], line];
    }
}

#[test]
fn orders_and_ways_to_the_kernel_have_words() {
    let workload = |keys: &str| study(&format!("{RIGHT}{keys}\n")).unwrap().cases.remove(0).workload;
    assert_eq!(workload("order = \"backward\"").order, Order::Backward);
    assert_eq!(workload("order = \"same\"").order, Order::Same);
    assert_eq!(workload("order = \"strided\"").order, Order::Strided { stride: 17 });
    assert_eq!(workload("order = \"strided\"\nstride = 4").order, Order::Strided { stride: 4 });
    assert_eq!(workload("backend = \"stdio\"").backend, Backend::Stdio);
    assert_eq!(workload("backend = \"vectored\"\npieces = 2").backend, Backend::Vectored { pieces: 2 });
    let pages = workload("backend = \"vectored\"");
    let expected = (pages.geometry.transfer.0 / 4096).clamp(1, 16);
    assert_eq!(pages.backend, Backend::Vectored { pieces: u32::try_from(expected).unwrap() });
    let idle = shown(&study(&format!("{RIGHT}stride = 3\n")).unwrap_err());
    assert!(idle.contains("order = \"strided\""), "{idle}");
}
