//! Studies on models: what is simulated, what is refused, and that nothing on this host is touched.

use std::fs;

use rustix::process::Signal;
use testbed::Program;

use crate::desk::{Desk, assert_says, names, run};

/// One device that serves four requests concurrently, at 100 µs each: at most 40,000 per second.
const DISK: &str = "model = { name = \"four slots\" }\nnode = { processors = 64 }\n\
    [[device]]\nname = \"disk\"\nslots = 4\nread = { time = \"100us\", distribution = \"exponential\" }\n\
    write = { time = \"100us\" }\n[[layout]]\nname = \"fs\"\ndevices = \"disk\"\n";

/// Random reads of 4 KiB by 1, 4 and 16 tasks.
const READS: &str = "[protocol]\nrepetitions = 2\n[[target]]\nname = \"t\"\ndirectory = \"data\"\n\
    [[workload]]\nname = \"reads\"\nphases = [\"read\"]\nfill = true\ntransfer = \"4KiB\"\norder = \"random\"\n\
    tasks = [1, 4, 16]\nsize = \"16MiB\"\nsharing = \"per-task\"\ndirect = true\nduration = \"2s\"\n";

fn simulated(desk: &Desk, model: &str, study: &str, more: &str) -> Program {
    fs::write(desk.path("model.toml"), model).expect("a model");
    fs::write(desk.path("study.toml"), study).expect("a study");
    desk.ioproof("run study.toml --model model.toml").args(more.split_whitespace())
}

#[test]
fn a_study_on_a_model_gives_what_its_parts_can_and_touches_nothing() {
    let (desk, data) = Desk::with_data();
    let shown = run(&simulated(&desk, DISK, READS, "--out record")).expect_code(0).stdout;
    assert_says(&shown, &["SIMULATED by model four slots"]);
    assert_eq!(names(&data), ["mine"], "the target is not touched");
    let report = desk.report();
    let figures = report.0["figures"].as_array().expect("figures");
    let rates = figures.iter().map(|figure| figure["transfers_per_second"]["median"].as_f64());
    // One task: 100 µs for each request. Four tasks: each has its own slot. Sixteen tasks: all slots are busy.
    for (rate, expected) in rates.map(|rate| rate.expect("a rate")).zip([1e4, 4e4, 4e4]) {
        assert!((rate / expected - 1.0).abs() < 0.02, "{rate} instead of {expected}");
    }
}

#[test]
fn what_is_no_model_is_refused_in_a_moment() {
    let desk = Desk::new();
    let wrong = [
        (DISK.replace("four slots", " "), "reports show the name"),
        (
            DISK.replace(
                "time = \"100us\" }",
                "distribution = \"empirical\", quantiles = [\"0s\", \"0s\"] }",
            ),
            "takes no time",
        ),
        (format!("{DISK}chunk = \"1B\"\n"), "a chunk has at least"),
        (format!("{DISK}[[layout]]\nname = \"fs\"\ndevices = \"disk\"\n"), "another part is also named `fs`"),
        (format!("{DISK}[[trouble]]\ndevices = \"disk\"\nkind = \"warming\"\nshare = 1.0\n"), "up to 0.95"),
        (DISK.replace("slots = 4", "slots = 4\nsize = \"0\""), "a device of 0 bytes"),
        (
            DISK.replace("processors = 64", "processors = 64, count = 1048576")
                .replace("\nslots", "\ncount = 2\nslots"),
            "product",
        ),
    ];
    for (model, told) in wrong {
        let refused = run(&simulated(&desk, &model, READS, "")).expect_code(2);
        assert_says(&refused.stderr, &["model.toml", told]);
    }
    let endless = run(&desk.ioproof("model check /dev/zero")).expect_code(2);
    assert_says(&endless.stderr, &["/dev/zero", "more than 16 MiB"]);
}

#[test]
fn rates_of_a_simulated_run_are_called_simulated_where_they_predict() {
    let desk = Desk::new();
    let study = READS.replace("duration = \"2s\"\n", "");
    let _ = run(&simulated(&desk, DISK, &study, "--out record")).expect_code(0);
    let text = run(&desk.ioproof("run study.toml --explain --like record")).expect_code(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&text, &["run record (simulated by model four slots)"]);
}

#[test]
fn requests_between_nodes_need_a_network() {
    let desk = Desk::new();
    let model = DISK.replace("processors = 64", "processors = 64, count = 2, request_time = \"1us\"");
    let study = "[[workload]]\nname = \"rpc\"\nwork = \"rpc\"\nnodes = 2\nduration = \"1s\"\n";
    let refused = run(&simulated(&desk, &model, study, "")).expect_code(4);
    assert_says(&refused.stderr, &["no network between its nodes", "`through`"]);
}

#[test]
fn nothing_is_predicted_for_data_that_no_model_fills() {
    let desk = Desk::new();
    let study = READS.replace("size = \"16MiB\"", "size = \"16TiB\"");
    let shown = run(&simulated(&desk, DISK, &study, "--explain")).expect_code(0).stdout;
    // Three cases with two repetitions of 2 s each.
    assert_says(&shown, &["about 12 s, from fixed durations"]);
}

#[test]
fn what_is_explained_of_a_run_on_a_model_is_of_the_model() {
    let desk = Desk::new();
    let objects = format!(
        "{READS}[[workload]]\nname = \"small\"\nwork = \"objects\"\ntasks = 1\nprecreated = 50\nsteps = 100\n"
    );
    for full in ["--explain", "--explain --full"] {
        let shown = run(&simulated(&desk, CLUSTER, &objects, full)).expect_code(0).stdout;
        let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_says(
            &text,
            &[
                "SIMULATED by model a cluster",
                "the time of benchmark, cleanup, precreate is not known before the simulation",
            ],
        );
        for wrong in ["assumed", "replaced", "are removed", "the page cache"] {
            assert!(!text.contains(wrong), "{wrong} in\n{shown}");
        }
    }
    // A prediction that lacks phases cannot be used to estimate the length of the run.
    let shown = run(&simulated(&desk, CLUSTER, &objects, "--out record")).expect_code(0);
    assert_says(&shown.stderr, &["4 cases × 2, no time known"]);
    assert!(!shown.stdout.contains("the predicted"), "{}", shown.stdout);
}

#[test]
fn a_simulation_that_fails_is_not_to_be_resumed() {
    let desk = Desk::new();
    let slow = DISK.replace("write = { time = \"100us\" }", "write = { time = \"1000000s\" }");
    let study = READS.replace("[\"read\"]", "[\"write\"]").replace("duration = \"2s\"\n", "");
    let ended = run(&simulated(&desk, &slow, &study, "--out record")).expect_code(4);
    assert_says(&ended.stderr, &["more than 50 days on the model", "do less"]);
    assert!(!ended.stderr.contains("--resume"), "{}", ended.stderr);
}

#[test]
fn notes_on_a_simulated_run_are_not_about_a_host() {
    let desk = Desk::new();
    // One processor, which is always busy.
    let busy = DISK.replace("processors = 64", "processors = 1, request_time = \"200us\"");
    let _ = run(&simulated(&desk, &busy, READS, "--out record")).expect_code(0);
    let shown = run(&desk.ioproof("report record --full --format text")).expect_code(0).stdout;
    for wrong in ["the host may be the limit", "quiet host"] {
        assert!(!shown.contains(wrong), "{wrong} in\n{shown}");
    }
}

#[test]
fn advice_on_a_doubt_is_about_the_model() {
    let desk = Desk::new();
    let warming = format!("{DISK}[[trouble]]\ndevices = \"disk\"\nkind = \"warming\"\nshare = 0.9\n");
    let _ =
        run(&simulated(&desk, &warming, READS, "--set protocol.repetitions=3 --out record")).expect_code(0);
    let told = run(&desk.ioproof("check record --json")).expect_code(8).stdout;
    assert_says(&told, &["passes jump", "look at the caches and the troubles of the model"]);
    assert!(!told.contains("for new users"), "{told}");
}

#[test]
fn the_published_matrix_of_jobs_runs_on_the_model_of_its_cards() {
    let desk = Desk::new();
    let words = "run sas-mixed-analytics --model five-p3700 --set workload.mix.target=flash \
                 --set workload.mix.scale=1e-5 --out record";
    let shown = run(&desk.ioproof(words)).expect_code(0).stdout;
    assert_says(&shown, &["SIMULATED by model five P3700 cards", "101 of 101 complete"]);
}

#[test]
fn a_simulated_run_keeps_no_commitment_and_says_why() {
    let desk = Desk::new();
    let study = format!(
        "{READS}\n[[commitment]]\nname = \"fast\"\nworkload = \"reads\"\nphase = \"read\"\nstatistic = \"median\"\n\
         iops_at_least = 10_000\nover = \"best\"\n"
    );
    let ended = run(&simulated(&desk, DISK, &study, "--verdict")).expect_code(8);
    assert_says(&ended.stderr, &["simulated, so it keeps no commitment", "verdict --json"]);
}

/// Three devices, the last of which has a quarter of the rate of the others.
const MEMBERS: &str = "model = { name = \"three\" }\nnode = { processors = 64 }\n\
    [[device]]\nname = \"disk\"\ncount = 3\nread = { time = \"100us\" }\nwrite = { time = \"100us\" }\n\
    [[layout]]\nname = \"fs\"\ndevices = \"disk\"\n\
    [[trouble]]\nkind = \"slow\"\ndevices = \"disk\"\nmembers = [2]\nshare = 0.25\n";

/// Each of three paths alone, and then all of them together.
const EACH: &str = "[protocol]\nrepetitions = 2\n[[target]]\nname = \"t\"\npaths = [\"a\", \"b\", \"c\"]\n\
    [[workload]]\nname = \"each\"\nphases = [\"read\"]\nfill = true\ntransfer = \"4KiB\"\norder = \"random\"\n\
    member = [0, 1, 2]\ntasks = 3\nsize = \"16MiB\"\nsharing = \"per-task\"\ndirect = true\nduration = \"2s\"\n\
    [[workload]]\nname = \"all\"\nphases = [\"read\"]\nfill = true\ntransfer = \"4KiB\"\norder = \"random\"\n\
    tasks = 3\nsize = \"16MiB\"\nsharing = \"per-task\"\ndirect = true\nduration = \"2s\"\n";

#[test]
fn a_member_of_a_target_is_the_device_with_its_number() {
    let desk = Desk::new();
    let text = run(&simulated(&desk, MEMBERS, EACH, "--out record")).expect_code(0).stdout;
    let rates = rates(&desk);
    for (rate, expected) in rates.iter().zip([10_000.0, 10_000.0, 2_500.0, 22_500.0]) {
        assert!((rate / expected - 1.0).abs() < 0.01, "{rates:?}");
    }
    // Which device is the fastest is no point to choose.
    assert!(!text.contains("best") && !text.contains("Best"), "{text}");
    assert_says(
        &fs::read_to_string(desk.path("record/report.html")).expect("a page"),
        &["t, one by one: rate of each device"],
    );
}

#[test]
fn devices_of_a_target_have_a_line_with_their_variation() {
    let desk = Desk::new();
    let study = EACH.replacen("tasks = 3", "tasks = [1, 2, 3]", 1);
    let text = run(&simulated(&desk, MEMBERS, &study, "--out record")).expect_code(0).stdout;
    for said in ["devices each read, tasks 1", "devices each read, tasks 3"] {
        assert_says(&text, &[said, "2.50k IOPS to 10.0k IOPS of 3 devices, one by one; variation 75"]);
    }
}

/// Study E: two fabrics with half of the nodes each.
#[test]
fn a_limit_of_some_nodes_is_beside_their_part_and_names_of_no_node_are_told() {
    let desk = Desk::new();
    let model = DISK.replace("processors = 64", "count = 4, processors = 64");
    let fabric = |name: &str, nodes: &str| {
        format!("[[expectation]]\nname = \"{name}\"\niops = 10_000\nnodes = \"{nodes}\"\n")
    };
    let study = READS.replace("tasks = [1, 4, 16]", "nodes = 4\ntasks = 16\nhistory = 10")
        + &fabric("one", "node[0-2]")
        + &fabric("other", "node3")
        + &fabric("none", "nod[1-2]");
    let run = run(&simulated(&desk, &model, &study, "--out record")).expect_code(0);
    assert_says(&(run.stdout.clone() + &run.stderr), &["`history` of `reads` records nothing"]);
    assert_says(
        &run.stdout,
        &[
            "Expected and reached",
            "node[0-2]",
            "No figure is of a node in nod[1-2], so that \"none\" is compared with none",
        ],
    );
    let report = desk.report().0;
    let rows = report["statements"]["expected"].as_array().expect("a list");
    let of = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {rows:?}"));
        row["measured"].as_f64().expect("a number")
    };
    // Four slots of 100 µs serve 40,000 reads a second.
    assert!((of("one") / of("other") - 3.0).abs() < 0.3, "{rows:?}");
    assert!(((of("one") + of("other")) / 40_000.0 - 1.0).abs() < 0.02, "{rows:?}");
}

#[test]
fn small_files_go_through_the_page_cache_as_large_ones_do() {
    let desk = Desk::new();
    let model = "model = { name = \"cached\" }\n\
        node = { processors = 8, cache = { size = \"4GiB\", dirty = \"1GiB\", rate = \"4GB/s\" } }\n\
        [[device]]\nname = \"disk\"\nread = { rate = \"500MB/s\" }\nwrite = { rate = \"500MB/s\" }\n\
        [[layout]]\nname = \"fs\"\ndevices = \"disk\"\n";
    let study = "[protocol]\nrepetitions = 2\n[[target]]\nname = \"t\"\ndirectory = \"data\"\n[[workload]]\n\
        name = \"files\"\nwork = \"tree\"\nphases = [\"tree-create\", \"file-create\", \"file-read\", \
        \"file-remove\", \"tree-remove\"]\nitems_per_directory = 400\nfile_bytes = \"1MiB\"\nfsync = \"close\"\n";
    let _ = run(&simulated(&desk, model, study, "--out record")).expect_code(0);
    let rates = rates(&desk);
    let (disk, memory) = (500e6 / 1_048_576.0, 4e9 / 1_048_576.0);
    assert!((rates[1] / disk - 1.0).abs() < 0.02, "creates wait for the device: {rates:?}");
    assert!((rates[2] / memory - 1.0).abs() < 0.02, "reads find all in memory: {rates:?}");
}

#[test]
fn what_a_page_cache_has_not_written_yet_is_told() {
    let desk = Desk::new();
    let model =
        DISK.replace("processors = 64", "processors = 64, cache = { size = \"1GiB\", rate = \"1GB/s\" }");
    let study = READS.replace("phases = [\"read\"]\nfill = true\n", "phases = [\"write\"]\n");
    let study = study.replace("direct = true\nduration = \"2s\"\n", "direct = false\n");
    let _ = run(&simulated(&desk, &model, &study, "--out record")).expect_code(0);
    assert_says(&desk.tables(), &["data still in memory: devices had written"]);
}

#[test]
fn the_same_seed_gives_the_same_figures_and_another_one_gives_others() {
    let desk = Desk::new();
    let table = |seed: &str, out: &str| {
        let _ = run(&simulated(&desk, DISK, READS, &format!("--seed {seed} --out {out}"))).expect_code(0);
        let mut tables = std::collections::BTreeMap::new();
        for name in ["phases", "latency", "series", "tasks", "devices"] {
            for file in names(&desk.path(out).join(name)) {
                let bytes = fs::read(desk.path(out).join(name).join(&file)).expect("a table");
                tables.insert((name, file), bytes);
            }
        }
        assert!(!tables.is_empty());
        tables
    };
    let first = table("7", "one");
    assert!(first == table("7", "two"), "the same bytes");
    assert!(first != table("8", "three"), "other random numbers");
}

#[test]
fn the_weakest_link_bounds_a_cluster_as_in_the_study_of_weak_scaling() {
    let desk = Desk::new();
    let words = "run weak-scaling --model cte-power --set workload.weak-scaling.nodes=[1,4,8,16] \
                 --set workload.weak-scaling.tasks_per_node=16 --set workload.weak-scaling.size=512MiB \
                 --set workload.weak-scaling.target=gpfs --set workload.weak-scaling.phases=[\"write\"] \
                 --set protocol.repetitions=1 --out record";
    let _ = run(&desk.ioproof(words)).expect_code(0);
    let report = desk.report();
    let figures = report.0["figures"].as_array().expect("figures");
    let rates: Vec<f64> = figures
        .iter()
        .map(|figure| figure["bytes_per_second"]["median"].as_f64().expect("a rate") / 1e9)
        .collect();
    // First the links of the nodes, then the eight links of the cluster with 1.25 GB/s each.
    for (rate, bound) in rates.iter().zip([1.25, 5.0, 10.0, 10.0]) {
        assert!(rate / bound < 1.001 && rate / bound > 0.8, "{rates:?}");
    }
}

#[test]
fn what_a_model_does_not_have_is_refused_before_the_start() {
    let desk = Desk::new();
    let wide = DISK.replace("devices = \"disk\"\n", "devices = \"disk\"\nstripe = 2\n");
    let zero = DISK.replace("write = { time = \"100us\" }", "write = { time = \"0us\" }");
    let none = DISK.replace("devices = \"disk\"", "devices = \"disc\"");
    let others = DISK.replace("name = \"fs\"\n", "name = \"fs\"\ntargets = [\"other\"]\n");
    let checks = READS.replace("direct = true", "direct = true\nverify = true");
    let nodes = READS.replace("tasks = [1, 4, 16]", "nodes = 3\ntasks_per_node = 1");
    let sized = |size: &str| DISK.replace("slots = 4\n", &format!("slots = 4\nsize = \"{size}\"\n"));
    let (small, smaller) = (sized("200MiB"), sized("15MiB"));
    let local = DISK.replace("processors = 64", "processors = 64, count = 2") + "local = true\n";
    let shared = READS.replace("tasks = [1, 4, 16]", "nodes = 2\ntasks_per_node = 1");
    let shared = shared.replace("\"per-task\"", "\"shared\"");
    let uneven = DISK.replace("slots = 4\n", "slots = 4\ncount = 3\nsize = \"30MiB\"\n");
    let four = READS.replace("tasks = [1, 4, 16]", "tasks = 4");
    let halves = sized("20MiB").replace("name = \"fs\"\n", "name = \"fs\"\ntargets = [\"t\"]\n")
        + "[[layout]]\nname = \"other\"\ntargets = [\"u\"]\ndevices = \"disk\"\n";
    let both = READS.replace("tasks = [1, 4, 16]", "tasks = 1").replace(
        "[[workload]]",
        "[[target]]\nname = \"u\"\ndirectory = \"u\"\n[[workload]]\ntarget = [\"t\", \"u\"]\nkeep = \"always\"",
    );
    let striped = DISK.replace("slots = 4\n", "slots = 4\ncount = 3\n") + "stripe = 2\n";
    let member = MEMBERS.replace("count = 3", "count = 2").replace("members = [2]", "members = [1]");
    for (model, study, code, words) in [
        (&wide, READS, 2, ["line 11", "stripe over 2 devices"]),
        (&zero, READS, 2, ["line 7", "takes no time"]),
        (&none, READS, 2, ["line 10", "`disc`"]),
        (&others, READS, 4, ["`t`", "other"]),
        (&DISK.to_owned(), &checks, 4, ["reads", "no data that could be checked"]),
        (&DISK.to_owned(), &nodes, 4, ["3 nodes", "the model has 1"]),
        (&small, READS, 4, ["need 256 MiB", "layout `fs` of the model has a capacity of 200 MiB"]),
        (&smaller, READS, 4, ["a file of 16 MiB is on one device of layout `fs`", "store only 15 MiB"]),
        (&local, &shared, 3, ["cannot share a file on `t`", "node-local"]),
        (
            &uneven,
            &four,
            4,
            ["4 files of 16 MiB are distributed unevenly", "one device gets 2 files, but has space for 1"],
        ),
        (&halves, &both, 4, ["need 32 MiB", "device group `disk` of the model has a capacity of 20 MiB"]),
        (&striped, EACH, 4, ["a member of `t` is one device", "stores each file on 2"]),
        (&member, EACH, 4, ["has 3 members", "has 2 devices"]),
    ] {
        let refused = run(&simulated(&desk, model, study, "--out record")).expect_code(code);
        assert_says(&refused.stderr, &words);
        assert!(!desk.record().exists(), "nothing was written");
    }
    let unknown = run(&desk.ioproof("run luns --model nothing.toml")).expect_code(2);
    assert_says(&unknown.stderr, &["nothing.toml", "laptop"]);
}

/// Four nodes with 1 GB/s adapters and a link between them, and a metadata service.
const CLUSTER: &str = "model = { name = \"a cluster\" }\n\
    node = { count = 4, clock_offset = \"6ms\", processors = 4, request_time = \"2us\", bandwidth = \"1GB/s\", through = [\"fabric\"] }\n\
    [[link]]\nname = \"fabric\"\nlatency = \"20us\"\n\
    [[metadata]]\nname = \"mds\"\nslots = 4\ncreate = { time = \"300us\" }\nstat = { time = \"50us\" }\n\
    remove = { time = \"100us\" }\n\
    [[device]]\nname = \"disk\"\nslots = 4\nread = { time = \"100us\" }\nwrite = { time = \"200us\" }\n\
    [[layout]]\nname = \"fs\"\ndevices = \"disk\"\nmetadata = \"mds\"\n";

/// The median rate of each figure, in operations per second.
fn rates(desk: &Desk) -> Vec<f64> {
    let figures = desk.report().0["figures"].as_array().expect("figures").clone();
    figures.iter().map(|one| one["transfers_per_second"]["median"].as_f64().expect("a rate")).collect()
}

#[test]
fn requests_and_responses_are_simulated_between_the_processes_of_a_study() {
    let desk = Desk::new();
    let study = "[protocol]\nrepetitions = 2\n[[workload]]\nname = \"net\"\nwork = \"rpc\"\nnodes = 4\nprocesses = 8\n\
        pattern = [\"one-to-one\", \"many-to-one\"]\nrequest_bytes = \"64KiB\"\nresponse_bytes = 1\nuncounted = \"100ms\"\n\
        depth = 8\nduration = \"2s\"\n";
    let shown = run(&simulated(&desk, CLUSTER, study, "--out record")).expect_code(0).stdout;
    assert_says(&shown, &["SIMULATED by model a cluster", "many-to-one", "RPC/s"]);
    // One-to-one: the adapters of two nodes receive 64 KiB for each exchange. Many-to-one: the adapter of one node
    // receives what six processes on the other three send, while one process on the same node sends without the
    // network, as fast as threads can answer.
    let rates = rates(&desk);
    let adapter = 1e9 / 65_536.0;
    assert!((rates[0] / (2.0 * adapter) - 1.0).abs() < 0.02, "{rates:?}");
    assert!(rates[1] > adapter, "{rates:?}");
    assert!(!names(&desk.path("record/ends")).is_empty(), "the processes are in the record");
    let journal = fs::read_to_string(desk.path("record/journal.jsonl")).expect("the journal");
    assert_says(&journal, &["\"offset_ns\":2000000", "\"offset_ns\":6000000", "\"error_ns\":20000"]);
    let bound = study.replace("depth = 8", "depth = 8\nclient_processors = \"numa:0\"");
    let refused = run(&simulated(&desk, CLUSTER, &bound, "--out other")).expect_code(4);
    assert_says(&refused.stderr, &["net", "`client_processors`"]);
    let timeless = DISK.replace("processors = 64", "count = 4");
    let refused = run(&simulated(&desk, &timeless, study, "--out other")).expect_code(4);
    assert_says(&refused.stderr, &["net", "no network between its nodes"]);
}

#[test]
fn objects_are_simulated_in_sets() {
    let desk = Desk::new();
    let study = "[protocol]\nrepetitions = 2\n[[target]]\nname = \"t\"\ndirectory = \"data\"\n\
        [[workload]]\nname = \"small\"\nwork = \"objects\"\ntasks = 1\nsets = 2\nprecreated = 50\nsteps = 100\n";
    let _ = run(&simulated(&desk, CLUSTER, study, "--out record")).expect_code(0);
    let report = desk.report();
    let figures = report.0["figures"].as_array().expect("figures");
    let benchmark = figures.iter().find(|one| one["phase"] == "benchmark").expect("a figure");
    let rate = benchmark["transfers_per_second"]["median"].as_f64().expect("a rate");
    // Stat, open and read, remove, create and write: each takes 2 µs of processor time and its own service time.
    let step = (4.0 * 2.0 + 50.0 + (50.0 + 100.0) + 100.0 + (300.0 + 200.0)) / 1e6;
    assert!((rate / (4.0 / step) - 1.0).abs() < 0.01, "{rate} instead of {}", 4.0 / step);
}

#[test]
fn jobs_are_launched_on_the_processors_of_a_model() {
    let desk = Desk::new();
    let study = "[protocol]\nrepetitions = 1\n[[target]]\nname = \"t\"\ndirectory = \"data\"\n\
        [[table]]\nname = \"claims\"\nrows = 100000\ndistinct = \"1 %\"\n\
        [[test]]\nname = \"fit\"\nkind = \"computation\"\nstreams = 3\nthreads = 2\nmemory = \"64MiB\"\n\
        step = [{ do = \"regression\", input = \"claims\", operations = 8e9 }]\n\
        [[workload]]\nname = \"mix\"\nwork = \"jobs\"\n";
    let fast = CLUSTER.replace(
        "count = 4, clock_offset = \"6ms\", ",
        "rows_per_second = 10e6, operations_per_second = 1e9, ",
    );
    let shown = run(&simulated(&desk, &fast, study, "--out record")).expect_code(0).stdout;
    assert_says(&shown, &["SIMULATED by model a cluster", "3 of 3 complete", "processor"]);
    let report = desk.report();
    let jobs = &report.0["figures"].as_array().expect("figures")[1];
    // Three jobs of 8 billion operations on four processors, in addition to the rows.
    let rate = jobs["bytes_per_second"]["median"].as_f64().expect("a rate");
    let seconds = 3.0 * 100_000.0 * 128.0 / rate;
    assert!((seconds / 6.0 - 1.0).abs() < 0.03, "{seconds} s");
    let rows = fast.replace("operations_per_second = 1e9, ", "");
    let refused = run(&simulated(&desk, &rows, study, "--out other")).expect_code(4);
    assert_says(&refused.stderr, &["`fit`", "`operations_per_second`"]);
}

#[test]
fn a_simulated_run_goes_on_only_with_its_model() {
    let desk = Desk::new();
    let study = READS.replace("\"2s\"", "\"100s\"");
    let mut running = simulated(&desk, DISK, &study, "--out record").spawn().expect("it starts");
    crate::desk::wait_for(&mut running, "a case", || crate::desk::events(&desk, "case-finished") > 0);
    running.signal(Signal::INT).expect("it lives");
    let ended = running.wait().expect("it ends").expect_code(130);
    let resume =
        ended.stderr.split('`').find_map(|words| words.strip_prefix("ioproof ")).expect("the next step");
    assert_says(resume, &["run --resume", "--model model.toml --seed 0"]);
    let refused = run(&desk.ioproof("run --resume record")).expect_code(2);
    assert_says(&refused.stderr, &["simulated", "--model model.toml --seed 0"]);
}
