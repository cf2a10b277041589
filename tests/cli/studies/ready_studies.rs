//! The files under `studies/`: each is parsed unchanged, and runs in miniature with the command line in its own
//! header.

use std::fs;
use std::path::{Path, PathBuf};

use plan::study::{Options, Override, placed_elsewhere, read_with};
use plan::{Plan, PlanSource};
use serde_json::Value;
use testbed::Program;

use crate::desk::{Desk, assert_says, emptied, names, run};

/// Defines a test for each study, and the list of all studies.
macro_rules! ready_studies {
    ($($name:ident = $file:literal),* $(,)?) => {
        /// Every file under `studies/`.
        const ALL: &[&str] = &[$($file),*];

        $(
            #[test]
            fn $name() {
                runs_in_miniature($file);
            }
        )*
    };
}

ready_studies! {
    acceptance = "acceptance",
    backup_beside_users = "backup-beside-users",
    best_point = "best-point",
    block_size = "block-size",
    bsc_nvm = "bsc-nvm",
    buffer_size = "buffer-size",
    cuny_test1 = "cuny-test1",
    cuny_uv300 = "cuny-uv300",
    file_size = "file-size",
    fs_blocks = "fs-blocks",
    io500 = "io500",
    iops_definitions = "iops-definitions",
    iops_lustre = "iops-lustre",
    latency = "latency",
    layers = "layers",
    local_disk = "local-disk",
    luns = "luns",
    many_nodes_mixes = "many-nodes-mixes",
    mdtest_shared_directory = "mdtest-shared-directory",
    metadata = "metadata",
    metadata_beside_streams = "metadata-beside-streams",
    nodes_compared = "nodes-compared",
    open_advice = "open-advice",
    quality_of_service = "quality-of-service",
    randomops = "randomops",
    raw_disks = "raw-disks",
    read_write_mix = "read-write-mix",
    restart_beside_checkpoint = "restart-beside-checkpoint",
    sas_flash = "sas-flash",
    sas_mixed_analytics = "sas-mixed-analytics",
    scale_news = "scale-news",
    small_files = "small-files",
    steady_state = "steady-state",
    sub_blocks = "sub-blocks",
    task_count = "task-count",
    tasks_by_transfer_size = "tasks-by-transfer-size",
    threads = "threads",
    transfer_size = "transfer-size",
    weak_scaling = "weak-scaling",
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn path(name: &str) -> PathBuf {
    root().join("studies").join(name).with_extension("toml")
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("studies/{name}.toml: {error}"))
}

/// The command line in the header, without comment markers.
fn miniature(name: &str) -> String {
    let text = text(name);
    let comment = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim_start);
    let mut lines = comment.skip_while(|line| !line.starts_with("Miniature: "));
    let mut command = String::new();
    for line in &mut lines {
        command.push_str(line.trim_start_matches("Miniature: "));
        command.push('\n');
        if !line.ends_with('\\') {
            break;
        }
    }
    let start = format!("ioproof run studies/{name}.toml ");
    assert!(command.starts_with(&start), "studies/{name}.toml has no line that starts with {start:?}");
    command.trim_end().to_owned()
}

/// The words of a command line, split as a shell would.
fn words(command: &str) -> Vec<String> {
    let shell = Program::new("sh").args(["-c", &format!("printf '%s\\n' {command}")]);
    run(&shell).expect_code(0).stdout.lines().map(str::to_owned).collect()
}

/// The plan of a study with these values overridden.
fn plan_of(name: &str, overrides: Vec<Override>) -> Plan {
    let options = Options { overrides, ..Options::default() };
    let text = text(name);
    let text = placed_elsewhere(&text, &options.overrides).unwrap_or(text);
    read_with(&path(name), &text, &options)
        .unwrap_or_else(|errors| panic!("studies/{name}.toml: {:#?}", errors.errors()))
}

/// The command with `directory` in place of each DIR.
fn placed(command: &str, directory: &str) -> String {
    command.replace("=DIR", &format!("={directory}")).replace("\"DIR/", &format!("\"{directory}/"))
}

/// The plan of the miniature that the command line describes.
fn small_plan(name: &str) -> Plan {
    let command = miniature(name);
    let all = words(&placed(&command, "/there").replace("ioproof run ", ""));
    let set = all.iter().skip_while(|word| *word != "--set");
    let values = set.filter(|word| *word != "--set").map(|word| Override::parse(word).expect("an override"));
    plan_of(name, values.collect())
}

/// Files that replace a device in a miniature.
const STAND_INS: [&str; 6] = ["0", "1", "2", "disk", "volume", "nvme"];

/// The maximum number of bytes that a miniature may move.
const MINIATURE_BYTES_MAX: u64 = 2 << 30;

#[test]
fn every_study_is_in_the_list_and_in_the_documentation() {
    let mut found: Vec<String> = fs::read_dir(root().join("studies"))
        .expect("the studies")
        .flatten()
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, ALL);
    let document = fs::read_to_string(root().join("docs/STUDIES.md")).expect("the documentation");
    for name in ALL {
        assert!(document.contains(&format!("(../studies/{name}.toml)")), "docs/STUDIES.md lacks {name}");
    }
}

/// On a user's directory, a study measures nothing else. A study that needs more than a directory says so.
#[test]
fn every_study_is_put_on_one_directory_or_says_why_not() {
    let refused: Vec<&str> = ALL
        .iter()
        .copied()
        .filter(|name| {
            let Ok(own) = plan::study::on_directory(&text(name), "/mnt/own") else { return true };
            let plan = plan::study::read(&path(name), &own);
            let plan = plan.unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            let targets = plan.cases.iter().flat_map(|case| &case.workload.files.targets);
            for target in targets {
                assert!(target.starts_with("/mnt/own"), "{name} is on {}", target.display());
            }
            false
        })
        .collect();
    assert_eq!(refused, ["cuny-uv300", "fs-blocks", "layers", "luns", "raw-disks"]);
}

#[test]
fn ready_studies_are_in_the_program() {
    let desk = Desk::new();
    let list = run(&desk.ioproof("studies")).expect_code(0).stdout;
    // Titles are not indented, and questions are indented further.
    let rows = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("    "));
    let mut names: Vec<&str> = rows.filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    assert_eq!(names, ALL);
    let shown = run(&desk.ioproof("studies show latency")).expect_code(0).stdout;
    assert_eq!(shown, text("latency"));
    let unknown = run(&desk.ioproof("studies show latenci")).expect_code(2).stderr;
    assert_says(&unknown, &["did you mean `latency`?"]);
    let elsewhere = run(&desk.ioproof("run studies/latency.toml --yes")).expect_code(2).stderr;
    assert_says(&elsewhere, &["ioproof run latency --on DIR"]);
    let not_here = run(&desk.ioproof("run latency --yes")).expect_code(2).stderr;
    assert_says(&not_here, &["--on DIR", "gpfs, ssd, nvme"]);

    let placed = "run sas-mixed-analytics --set target.*.directory=. --explain --full";
    let placed = run(&desk.ioproof(placed)).expect_code(0).stdout;
    for theirs in ["P3700", "spinning", "8.00 TB", "43.2 TB"] {
        assert!(!placed.contains(theirs), "{theirs} of other hardware in {placed}");
    }

    let small = "run latency --on . --set workload.latency.size=1MiB --set workload.latency.duration=20ms \
                 --set protocol.repetitions=1 --yes --out record";
    let _ = run(&desk.ioproof(small)).expect_code(0);
    let report = run(&desk.ioproof("report --json record")).expect_code(0).stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let figures = report["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 4);
    assert!(figures.iter().all(|figure| figure["target"] == "storage"));
}

#[test]
fn every_study_is_read_as_it_stands_and_in_miniature() {
    for name in ALL {
        let whole = plan_of(name, Vec::new());
        let small = small_plan(name);
        assert!(matches!(whole.source, PlanSource::Study { .. }) && !whole.title.is_empty());
        let workloads = |plan: &Plan| {
            let mut groups: Vec<String> = plan.cases.iter().map(|case| case.group.clone()).collect();
            groups.dedup();
            groups
        };
        assert_eq!(workloads(&whole), workloads(&small), "{name}: the miniature leaves a workload out");
        let bytes: u64 = small.cases.iter().map(|case| plan::Forecast::of(case).phase_bytes.0).sum();
        assert!(bytes < MINIATURE_BYTES_MAX, "{name}: {bytes} bytes in each pass");
    }
}

#[test]
fn the_five_sources_stand_beside_their_published_figures_and_claims() {
    for (name, letter, figures, claims) in [
        ("cuny-uv300", "a-", 14, 6),
        ("bsc-nvm", "b-", 40, 5),
        ("sas-flash", "c-", 2, 1),
        ("iops-lustre", "d-", 15, 3),
        ("scale-news", "e-", 9, 1),
    ] {
        let terms = plan_of(name, Vec::new()).criteria;
        let published = terms.published.iter().filter(|place| place.id.starts_with(letter)).count();
        // A statement may have several rules.
        let mut tested: Vec<&str> = terms.claims.iter().map(|claim| claim.id.as_str()).collect();
        tested.dedup();
        let tested = tested.iter().filter(|id| id.starts_with(letter)).count();
        assert!(published >= figures, "{name}: {published} published figures");
        assert!(tested >= claims, "{name}: {tested} statements of the study");
    }
}

/// The maximum number of lines that `--explain` and the header of a run may print. What the host
/// lacks for the study comes after the explanation and depends on the host.
const EXPLAINED_LINES_MAX: usize = 165;
const HEADER_LINES_MAX: usize = 15;

#[test]
fn every_study_is_explained_in_few_lines_and_in_full_on_request() {
    let desk = Desk::new();
    let explain = |name: &str, words: &[&str]| {
        let program = desk.program().arg("run").arg(path(name)).arg("--explain").args(words);
        run(&program.arg("--state").arg(desk.path("state"))).expect_code(0).stdout
    };
    for name in ALL {
        let text = explain(name, &[]);
        let lines = text.lines().take_while(|&line| line != "Look at this first").count();
        assert!(lines <= EXPLAINED_LINES_MAX, "{name}: {lines} lines\n{text}");
        // Everything that causes data loss is shown: devices as well as paths.
        let plan = plan_of(name, Vec::new());
        let devices = plan.layouts.iter().flat_map(|layout| layout.devices.iter().cloned());
        let targets = plan.cases.iter().flat_map(|case| case.workload.files.targets.iter());
        let raw = targets.filter(|target| target.starts_with("/dev")).map(|path| path.display().to_string());
        let words: Vec<&str> = text.split_whitespace().collect();
        for device in devices.chain(raw) {
            assert!(words.contains(&device.as_str()), "{name} does not name {device}\n{text}");
        }
        for group in plan.cases.iter().map(|case| &case.group) {
            assert!(text.contains(group.as_str()), "{name} leaves out {group}");
        }
    }
    let (brief, full) = (explain("cuny-uv300", &[]), explain("cuny-uv300", &["--full"]));
    let hash = |text: &str| text.split_whitespace().last().map(str::to_owned);
    assert_eq!(hash(&brief), hash(&full), "the same commands are agreed to");
    for command in
        ["blkdiscard -f", "mkfs.xfs -f -K -d su=128k,sw=1", "mdadm --zero-superblock", "mmdelfs p3700"]
    {
        assert!(brief.contains(command) && full.contains(command), "{command} is not shown");
    }
    assert!(full.lines().count() > 1000, "each case in full");
}

/// The header of each study states how long the study takes.
#[test]
fn the_time_of_a_study_is_predicted_within_a_factor_of_two() {
    let hours = [
        ("cuny-uv300", 60.0),
        ("bsc-nvm", 60.0),
        ("weak-scaling", 36.0),
        ("many-nodes-mixes", 4.0),
        ("randomops", 1.0),
    ];
    for (name, hours) in hours {
        let plan = plan_of(name, Vec::new());
        let (all, _) = plan::estimates(&plan, &plan::RunEnvironment::default());
        let predicted = plan::Prediction::of(&plan.cases, &all, &plan::RunEnvironment::default());
        let plan::Interval { low, middle, high } = predicted.seconds;
        let ratio = middle / (3600.0 * hours);
        // A study without expectations is predicted by its ceilings: the least time that it can take.
        let least = if predicted.source.contains("ceilings") { 0.3 } else { 0.5 };
        assert!((least..=2.0).contains(&ratio), "{name}: {ratio} × {hours} h, from {}", predicted.source);
        assert!(low <= middle && middle <= high, "{name}: {:?}", predicted.seconds);
    }
}

/// Compares what study A reports about its cards with what a model of them yields; with less data, to be simulated in
/// seconds.
#[test]
fn the_time_of_study_a_is_predicted_as_its_cards_are_simulated() {
    let set = ["workload.*.size=64MiB", "protocol.repetitions=1"];
    let plan = plan_of("cuny-uv300", set.map(|one| plan::study::Override::parse(one).expect("a key")).into());
    let (all, _) = plan::estimates(&plan, &plan::RunEnvironment::default());
    let predicted = plan::Prediction::of(&plan.cases, &all, &plan::RunEnvironment::default()).seconds.middle;
    let desk = Desk::new();
    let words = format!("run cuny-uv300 --model twelve-p3700 --out record --set {} --set {}", set[0], set[1]);
    let _ = run(&desk.ioproof(&words)).expect_code(0);
    let report = desk.report();
    let simulated = report.0["run"]["virtual_ns"].as_f64().expect("nanoseconds") / 1e9;
    let ratio = predicted / simulated;
    assert!((1.0 / 1.5..=1.5).contains(&ratio), "{predicted} s predicted, {simulated} s simulated");
    // The prediction from the model's own bounds is closer; it is in the record.
    let bounds = report.0["run"]["predicted"]["seconds"].as_f64().expect("seconds");
    assert!((bounds / simulated - 1.0).abs() < 0.1, "{bounds} s by the bounds, {simulated} s simulated");
}

/// Study A measured GPFS with a tenth of the data, in phases of 1.8 s.
#[test]
fn the_short_phases_of_study_a_are_told() {
    let set = ["workload.layouts.size=100MiB", "workload.layouts.transfer=1MiB"];
    let set = set.map(|one| plan::study::Override::parse(one).expect("a key"));
    let plan = plan_of("cuny-uv300", set.into());
    let text = report::preflight(&plan, &plan::RunEnvironment::default(), report::Screen::PLAIN);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("too short for a rate that can be defended"), "{text}");
}

#[test]
fn the_header_of_every_study_is_short() {
    let around =
        plan::RunEnvironment { memory: Some(plan::Bytes::gib(16)), ..plan::RunEnvironment::default() };
    for name in ALL {
        let plan = plan_of(name, Vec::new());
        let text = report::preflight(&plan, &around, report::Screen::PLAIN);
        assert!(text.lines().count() <= HEADER_LINES_MAX, "{name}:\n{text}");
        for columns in [80, 100, 160] {
            let screen = report::Screen::PLAIN.wide(columns);
            for text in [report::preflight(&plan, &around, screen), report::outline(&plan, &around, screen)] {
                let long = text.lines().find(|line| line.chars().count() > columns);
                assert_eq!(long, None, "{name}, {columns} columns");
            }
        }
    }
}

/// The errors in a report according to the schema in the documentation.
fn faults(report: &Value) -> Vec<String> {
    let schema = fs::read_to_string(root().join("docs/report.schema.json")).expect("the schema");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    validator.iter_errors(report).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Runs the study with the command line in its header, in a directory of its own, and checks the results.
fn runs_in_miniature(name: &str) {
    let _emptied = text(name).contains("drop_caches = true").then(emptied);
    let desk = Desk::new();
    let directory = desk.path("data");
    fs::create_dir(&directory).expect("a directory");
    let command = placed(&miniature(name), &directory.display().to_string());
    let built = env!("CARGO_BIN_EXE_ioproof");
    let line = command.replacen("ioproof", &format!("exec '{built}'"), 1);
    let line = format!("{line} --yes --out '{}'", desk.record().display());
    let shell = Program::new("sh").args(["-c", &line]).current_dir(root());
    let finished = run(&shell).expect_code(0);
    assert!(finished.stdout.contains("report.html"), "{}", finished.stdout);
    assert!(desk.record().join("report.html").is_file(), "the page is written");

    let report = desk.report().0;
    assert_eq!(faults(&report), [""; 0], "{name}");
    let list = |key: &str| report[key].as_array().unwrap_or_else(|| panic!("no {key}")).clone();
    assert_eq!(report["run"]["state"], "complete", "{name}");
    assert_eq!(list("missing"), [Value::Null; 0], "{name}");
    let plan = small_plan(name);
    let cases = list("cases");
    assert_eq!(cases.len(), plan.cases.len(), "{name}");
    let unfinished: Vec<&Value> = cases.iter().filter(|case| case["state"] != "finished").collect();
    assert!(unfinished.is_empty(), "{name}: {unfinished:?}");
    let results: usize =
        plan.cases.iter().map(|case| case.phases.iter().filter(|phase| phase.is_result()).count()).sum();
    let figures = list("figures");
    assert_eq!(figures.len(), results, "{name}: a figure for each result phase");
    for figure in &figures {
        let rate = figure["transfers_per_second"]["median"].as_f64();
        assert!(rate > Some(0.0), "{name}: {figure}");
    }
    // Files that replace devices are not removed, just as devices are not.
    let is_device = |name: &String| STAND_INS.contains(&name.as_str());
    let left: Vec<String> =
        crate::desk::names(&directory).into_iter().filter(|name| !is_device(name)).collect();
    assert_eq!(left, [""; 0], "{name}: the data files are gone");
    crate::reports::answers::shows(name, &desk);
    shows_published_tables(name, &desk);
    if !plan.criteria.published.is_empty() {
        stands_beside_published_figures(name, &plan, &report["statements"]);
    }
}

/// Tables are reproduced as published: the same rows and columns, with the measured figures in the same cells.
fn shows_published_tables(name: &str, desk: &Desk) {
    let tables: &[(&str, &str, &[&str])] = match name {
        "bsc-nvm" => &[
            (
                ", 3.1 / Table 1 (",
                "sequential write | sequential read | 4 KiB random write | 4 KiB random read",
                &["GPFS", "SSD", "NVMe"],
            ),
            (
                ", 4.1 / Table 4 (",
                "GPFS, write | GPFS, read | SSD, write | SSD, read | NVMe, write | NVMe, read",
                &["4 KiB", "8 KiB", "16 KiB", "1 MiB"],
            ),
            (", 4 (sequential, 128 KB)", "write | read", &["449.0 ± 2.000 | 448.0 ± 1.000"]),
        ],
        "nodes-compared" => &[(", 4 / Table 3 (", "write | read", &["456.0 ± 53.00 | 514.0 ± 1.000"])],
        _ => return,
    };
    let report = run(&desk.ioproof("report record --format md")).expect_code(0).stdout;
    for (caption, columns, rows) in tables {
        let (_, table) = report.split_once(caption).unwrap_or_else(|| panic!("{name} has no {caption}"));
        let lines: Vec<String> = table.lines().take(20).map(|line| line.replace('*', "")).collect();
        for wanted in std::iter::once(columns).chain(*rows) {
            assert!(
                lines.iter().any(|line| line.contains(wanted)),
                "{caption} lacks {wanted:?}:\n{lines:#?}"
            );
        }
        assert!(lines.iter().any(|line| line.contains("own ÷ published")), "{caption} has no own figures");
    }
}

/// Every published figure of the study is shown, some of them next to a measured figure, and every rule has a
/// verdict or a reason for having none.
fn stands_beside_published_figures(name: &str, plan: &Plan, statements: &Value) {
    let list = |key: &str| statements[key].as_array().unwrap_or_else(|| panic!("no {key}")).clone();
    let beside = list("published");
    for place in &plan.criteria.published {
        assert!(beside.iter().any(|one| one["id"] == place.id.as_str()), "{name}: {} is not shown", place.id);
    }
    let compared = beside.iter().filter(|one| one["ratio"].as_f64() > Some(0.0)).count();
    assert!(compared > 0, "{name}: no published figure stands beside an own one");
    let claims = list("claim");
    for rule in &plan.criteria.claims {
        let verdict = claims.iter().find(|claim| claim["id"] == rule.id.as_str());
        let verdict = verdict.unwrap_or_else(|| panic!("{name}: {} has no verdict", rule.id));
        assert!(verdict["text"].as_str().is_some_and(|text| !text.is_empty()), "{verdict}");
    }
    // The phases of a miniature are too short for any verdict, and the report must say so.
    for claim in &claims {
        let nothing = claim["evidence"].as_array().is_none_or(Vec::is_empty);
        assert!(!nothing, "{name}: {claim}");
    }
    assert_eq!(list("commitment").len(), plan.criteria.commitments.len(), "{name}");
}

#[test]
fn ready_models_take_the_studies_that_their_first_lines_name_and_that_of_their_machine() {
    let desk = Desk::new();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("studies/models");
    let mut lines = vec!["run bsc-nvm --model cte-power".to_owned()];
    for name in names(&models) {
        let text = fs::read_to_string(models.join(&name)).expect("a model");
        let own: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("#   ioproof "))
            .map(|line| line.replace('\'', ""))
            .collect();
        assert!(!own.is_empty(), "{name} names no study");
        lines.extend(own);
    }
    for line in lines {
        let _ = run(&desk.ioproof(&format!("{line} --explain"))).expect_code(0);
    }
}
