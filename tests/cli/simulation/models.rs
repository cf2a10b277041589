//! Models: their maximum rates, and fits of models to runs.

use std::fs;
use std::time::Duration;

use testbed::{Finished, Programme, ProgrammedFs, skipped};

use crate::desk::{Desk, assert_near, assert_says, measured, run};

/// A device of a model, and the parameters that a fit must recover.
struct Truth {
    noise: &'static str,
    slots: u32,
    time_us: f64,
    /// The keys of its service time other than the mean.
    distribution: &'static str,
    limits: &'static str,
    sweep: &'static str,
}

const OVER_DEPTH: &str =
    "transfer = \"4KiB\"\nsize = \"16MiB\"\nbackend = \"uring\"\ntasks = 1\ndepth = \"1..64 times 2\"";
const OVER_TASKS: &str =
    "transfer = \"4KiB\"\nsize = \"4MiB\"\nsharing = \"per-task\"\ntasks = [1, 2, 3, 4, 6, 8, 12, 16]";
const OVER_SIZES: &str = "transfer = [\"4KiB\", \"64KiB\", \"256KiB\", \"1MiB\"]\nsize = \"64MiB\"\nsharing = \"per-task\"\n\
                          tasks = [1, 2, 4, 8, 16]";

impl Truth {
    fn model(&self) -> String {
        let Self { noise, slots, time_us, distribution, limits, .. } = self;
        format!(
            "model = {{ name = \"a disk\", noise = {noise} }}\nnode = {{ processors = 16, request_time = \"4us\" }}\n\
             [[device]]\nname = \"disk\"\nslots = {slots}\nread = {{ time = \"{time_us}us\"{distribution} }}\n\
             write = {{ time = \"{time_us}us\" }}\nlimits = {{ {limits} }}\n\
             [[layout]]\nname = \"l\"\ndevices = \"disk\"\n"
        )
    }

    /// Fits a model to a run on this device.
    fn fitted(&self, desk: &Desk, seed: u32, options: &str) -> Finished {
        self.fitted_with(desk, seed, options, "")
    }

    /// The same, with more tables in the study.
    fn fitted_with(&self, desk: &Desk, seed: u32, options: &str, tables: &str) -> Finished {
        let study = format!(
            "[protocol]\nphase_min = \"1ms\"\nrepetitions = 6\n[[target]]\nname = \"d\"\ndirectory = \"unused\"\n\
             [[workload]]\nname = \"sweep\"\nphases = [\"read\"]\norder = \"random\"\ndirect = true\nfill = true\n{}\n{tables}",
            self.sweep
        );
        fs::write(desk.path("truth.toml"), self.model()).expect("a model");
        fs::write(desk.path("study.toml"), study).expect("a study");
        let words = format!("run study.toml --model truth.toml --seed {seed} --out run-{seed}");
        let _ = run(&desk.ioproof(&words)).expect_code(0);
        run(&desk.ioproof(&format!("model fit run-{seed} {options}")))
    }
}

/// Value and interval of a parameter: `  slots  6 (6 to 7)`, in the unit of its line.
fn parameter(text: &str, name: &str) -> Option<(f64, f64, f64)> {
    let line = text.lines().find_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix(name))?;
    let numbers: Vec<f64> = line
        .split(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .filter_map(|word| word.parse().ok())
        .collect();
    let most = if line.contains("or more") { f64::INFINITY } else { *numbers.get(2)? };
    Some((*numbers.first()?, *numbers.get(1)?, most))
}

fn assert_holds(text: &str, name: &str, truth: f64) {
    let (value, low, high) = parameter(text, name).unwrap_or_else(|| panic!("no {name} in {text}"));
    // The interval is a 95 % interval, and a latency bucket is up to one hundredth wide.
    let slack = 0.01 * truth;
    assert!(
        low - slack <= truth && truth <= high + slack,
        "{name} is {truth}: {value} ({low} to {high})\n{text}"
    );
}

#[test]
fn a_fit_of_a_simulated_run_gives_back_its_model() {
    let fixed =
        Truth { noise: "0.01", slots: 13, time_us: 120.0, distribution: "", limits: "", sweep: OVER_DEPTH };
    let truths = [
        Truth { distribution: ", distribution = \"exponential\"", slots: 6, time_us: 90.0, ..fixed },
        Truth { slots: 32, time_us: 80.0, limits: "read_iops = 100_000", ..fixed },
        Truth {
            distribution: ", distribution = \"log-normal\", deviation = 0.6",
            noise: "0.02",
            sweep: OVER_TASKS,
            slots: 5,
            ..fixed
        },
        fixed,
    ];
    for truth in truths {
        for seed in [1, 2] {
            let desk = Desk::new();
            let fitted = truth.fitted(&desk, seed, "").expect_code(0);
            let text = &fitted.stdout;
            assert_holds(text, "slots", f64::from(truth.slots));
            assert_holds(text, "reads, time", truth.time_us);
            let processor =
                text.lines().find_map(|line| line.strip_prefix("#   processor time")?.split_once("µs"));
            let processor: f64 = processor.and_then(|(value, _)| value.trim().parse().ok()).expect("a time");
            // The value comes from a single phase, with the noise of the model.
            assert!((processor / 4.0 - 1.0).abs() < 0.08, "{processor} µs\n{text}");
        }
    }
}

#[test]
fn sizes_tell_the_rate_of_bytes_and_the_limit_of_a_device() {
    let truth = Truth {
        noise: "0.005",
        slots: 8,
        time_us: 100.0,
        distribution: ", rate = \"500MB/s\"",
        limits: "read_bandwidth = \"2GB/s\"",
        sweep: OVER_SIZES,
    };
    let desk = Desk::new();
    let text = truth.fitted(&desk, 3, "").expect_code(0).stdout.clone();
    assert_holds(&text, "slots", 8.0);
    assert_holds(&text, "reads, time", 100.0);
    assert_holds(&text, "reads, rate", 500.0);
    assert_holds(&text, "reads, bandwidth", 2000.0);
}

#[test]
fn a_fit_predicts_the_upper_points_and_what_was_not_measured() {
    let truth = Truth {
        noise: "0.01",
        slots: 6,
        time_us: 90.0,
        distribution: ", distribution = \"exponential\"",
        limits: "",
        sweep: OVER_DEPTH,
    };
    let desk = Desk::new();
    let text = truth.fitted(&desk, 1, "--out fitted.toml").expect_code(0).stdout.clone();
    for depth in [32, 64] {
        let line = text
            .lines()
            .find(|line| line.contains(&format!("depth {depth}, 4 KiB: ")) && line.contains("measured"));
        let numbers: Vec<f64> = line
            .and_then(|line| line.split_once(": "))
            .into_iter()
            .flat_map(|(_, line)| line.split(|letter: char| !letter.is_ascii_digit()))
            .filter_map(|word| word.parse().ok())
            .collect();
        let [value, low, high, found] = numbers[..] else { panic!("{text}") };
        assert!(low <= found && found <= high, "{text}");
        assert!((high - low) / 2.0 / value <= 0.15, "{text}");
    }
    assert_says(&text, &["it is valid beyond the points to which it was fitted"]);
    let model = fs::read_to_string(desk.path("fitted.toml")).expect("the model");
    assert_says(&model, &["source = \"fitted to run ", "# residuals"]);

    // A depth that was not measured, on the model and on its fit: compares rate, median and a high percentile.
    let study = "[protocol]\nphase_min = \"1ms\"\n[[target]]\nname = \"d\"\ndirectory = \"unused\"\n\
                 [[workload]]\nname = \"w\"\nphases = [\"read\"]\norder = \"random\"\ndirect = true\nfill = true\n\
                 transfer = \"4KiB\"\nsize = \"64MiB\"\nbackend = \"uring\"\ndepth = 11\n";
    fs::write(desk.path("other.toml"), study).expect("a study");
    let of = |model: &str| {
        let _ = fs::remove_dir_all(desk.record());
        let _ = run(&desk.ioproof(&format!("run other.toml --model {model} --out record"))).expect_code(0);
        let report = desk.report();
        let figure = report.figure("read").clone();
        let latency = &figure["latency"][0];
        let at = |key: &str| latency[key].as_f64().unwrap_or_else(|| panic!("no {key}: {latency}"));
        [report.transfers("read"), at("p50_ns"), at("p99_ns")]
    };
    let (own, fitted) = (of("truth.toml"), of("fitted.toml"));
    for ((own, fitted), what) in own.into_iter().zip(fitted).zip(["rate", "median", "99th percentile"]) {
        assert_near(what, fitted, own, 0.10);
    }
}

#[test]
fn what_no_limit_was_seen_of_is_not_extrapolated() {
    let truth =
        Truth { noise: "0.01", slots: 500, time_us: 800.0, distribution: "", limits: "", sweep: OVER_DEPTH };
    let desk = Desk::new();
    let refused = truth.fitted(&desk, 1, "--out fitted.toml").expect_code(3);
    assert_says(&refused.stderr, &["no limit of the storage was reached", "ceiling = true", "--in-range"]);
    assert!(!desk.path("fitted.toml").exists());
    let accepted = run(&desk.ioproof("model fit run-1 --in-range --out fitted.toml")).expect_code(0);
    assert_says(&accepted.stdout, &["or more)", "not to be used beyond the measured range"]);
    let _ = run(&desk.ioproof("model check fitted.toml")).expect_code(0);
}

#[test]
fn a_ceiling_of_the_study_stands_in_for_a_limit_that_was_not_seen_below() {
    let truth = Truth {
        noise: "0.005",
        slots: 500,
        time_us: 800.0,
        distribution: "",
        limits: "read_iops = 22_000",
        sweep: OVER_DEPTH,
    };
    let ceiling = "[[expectation]]\nname = \"link\"\ntarget = \"d\"\niops = 23_000\nceiling = true\n";
    let desk = Desk::new();
    // Depths of 1 to 16 do not reach the limit, but depth 32 cannot exceed the ceiling.
    let refused = truth.fitted(&desk, 1, "").expect_code(3);
    assert_says(&refused.stderr, &["up to 16 in flight no limit of the storage was reached"]);
    let desk = Desk::new();
    let fitted = truth.fitted_with(&desk, 1, "", ceiling).expect_code(0);
    assert_says(&fitted.stdout, &["it is valid beyond the points to which it was fitted"]);
}

#[test]
fn runs_that_tell_too_little_are_refused_with_the_reason() {
    let truth =
        Truth { noise: "0.01", slots: 4, time_us: 100.0, distribution: "", limits: "", sweep: OVER_DEPTH };
    let desk = Desk::new();
    fs::write(desk.path("truth.toml"), truth.model()).expect("a model");
    let (whole, short) = (OVER_DEPTH, OVER_DEPTH.replace("1..64 times 2", "1..4 times 2"));
    let fixed = OVER_DEPTH.replace("\"1..64 times 2\"", "4");
    for (index, (sweep, protocol, words)) in [
        (whole, "phase_min = \"1ms\"\nrepetitions = 1", "each point was measured once"),
        (&short, "phase_min = \"1ms\"\nrepetitions = 3", "3 points can be used, but 4 are needed"),
        (&fixed, "phase_min = \"1ms\"\nrepetitions = 3", "nothing is varied"),
        (whole, "repetitions = 3", "too short"),
    ]
    .into_iter()
    .enumerate()
    {
        let study = format!(
            "[protocol]\n{protocol}\n[[target]]\nname = \"d\"\ndirectory = \"unused\"\n[[workload]]\nname = \"sweep\"\n\
             phases = [\"read\"]\norder = \"random\"\ndirect = true\nfill = true\n{sweep}\n"
        );
        fs::write(desk.path("study.toml"), study).expect("a study");
        let _ = run(&desk.ioproof(&format!("run study.toml --model truth.toml --out run-{index}")))
            .expect_code(0);
        let refused = run(&desk.ioproof(&format!("model fit run-{index}"))).expect_code(3);
        assert_says(&refused.stderr, &[words]);
    }
    let unknown = run(&desk.ioproof("model fit run-0 --workload other")).expect_code(2);
    assert_says(&unknown.stderr, &["no reads or writes of workload `other`"]);
}

#[test]
fn the_weakest_link_of_a_ready_model_is_shown_for_each_number_of_nodes() {
    let desk = Desk::new();
    let shown = run(&desk.ioproof("model show cte-power --nodes 1,4,8,16 --transfer 1MiB")).expect_code(0);
    let text = &shown.stdout;
    let gpfs = text.split("layout ").find(|part| part.starts_with("GPFS")).expect("the layout");
    let reads: Vec<&str> = gpfs.lines().filter(|line| line.contains("sequential reads")).collect();
    for (line, rate) in reads.iter().zip(["1.25 GB/s", "5.00 GB/s", "10.0 GB/s", "10.0 GB/s"]) {
        assert!(line.contains(rate), "{rate}: {line}");
    }
    assert_eq!(reads.len(), 4, "{gpfs}");
    assert!(reads[0].contains(" node ") && reads[3].contains("8 × ethernet"), "{gpfs}");
    let refused = run(&desk.ioproof("model show cte-power --nodes 4,17")).expect_code(2);
    assert_says(&refused.stderr, &["--nodes 17: the model has 16 nodes"]);
}

#[test]
fn a_model_file_with_mistakes_is_told_line_by_line() {
    let desk = Desk::new();
    let text = "model = { name = \"m\" }\nnode = { processors = 1 }\n[[device]]\nname = \"d\"\ncount = 2\n\
                read = { time = \"1ms\" }\nwrite = { time = \"1ms\" }\n[[layout]]\nname = \"l\"\ndevices = \"d\"\nstripe = 3\n";
    fs::write(desk.path("m.toml"), text).expect("a model");
    let refused = run(&desk.ioproof("model check m.toml")).expect_code(2);
    assert_says(&refused.stderr, &["m.toml, line 11: a stripe over 3 devices does not fit `d`, which has 2"]);
    let missing = run(&desk.ioproof("model check nowhere.toml")).expect_code(2);
    assert_says(&missing.stderr, &["nowhere.toml", "cte-power"]);
    fs::write(desk.path("m.toml"), text.replace("stripe = 3", "targets = [\"other\"]")).expect("a model");
    let _ = run(&desk.ioproof("model check m.toml")).expect_code(0);
    // The study has a target that is not in the model.
    let study = "[[target]]\nname = \"d\"\ndirectory = \"unused\"\n[[workload]]\nname = \"w\"\nphases = [\"write\"]\n\
                 transfer = \"4KiB\"\nsize = \"1MiB\"\n";
    fs::write(desk.path("study.toml"), study).expect("a study");
    let lacking = run(&desk.ioproof("run study.toml --model m.toml")).expect_code(4);
    assert_says(&lacking.stderr, &["the target `d` is not on any layout of the model"]);
}

/// Number of requests that the device serves concurrently, and the time for each.
const SLOTS: usize = 4;
const LATENCY: Duration = Duration::from_millis(5);

#[test]
fn measured_a_fit_to_a_real_device_predicts_a_number_of_tasks_that_was_not_measured() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(fit_to_a_device);
}

fn fit_to_a_device(times: u32) {
    let slow = Programme { write_latency: LATENCY * times, ..Programme::default() };
    let disk = ProgrammedFs::builder().threads(SLOTS).programme(slow).mount().expect("a device");
    let desk = Desk::new();
    let study = |tasks: &str| {
        format!(
            "[protocol]\nphase_min = \"100ms\"\n[[target]]\nname = \"d\"\ndirectory = \"{}\"\n\
             [[workload]]\nname = \"sweep\"\nphases = [\"write\"]\nsharing = \"per-task\"\norder = \"random\"\n\
             direct = true\nbarriers = true\ntransfer = \"4k\"\nsize = \"64k\"\nduration = \"{}ms\"\ntasks = {tasks}\n\
             repetitions = 3\n",
            disk.path().display(),
            // Many times as long as the last of the tasks has to wait.
            800 * times
        )
    };
    let _ = run(&desk.study(&study("[1, 2, 3, 4, 6, 8, 12]"))).expect_code(0);
    let text = run(&desk.ioproof("model fit record --out fitted.toml")).expect_code(0).stdout.clone();
    let (slots, ..) = parameter(&text, "slots").expect("slots");
    assert_near("slots", slots, SLOTS as f64, 0.0);
    // A number of tasks larger than all that were measured: on the device, and on the model.
    let of = |options: &str, name: &str| {
        fs::write(desk.path("other.toml"), study("16")).expect("a study");
        let _ = run(&desk.ioproof(&format!("run other.toml --out {name} {options}"))).expect_code(0);
        let report = run(&desk.ioproof(&format!("report {name} --json"))).expect_code(0);
        let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
        let rate = &report["figures"][0]["transfers_per_second"]["median"];
        rate.as_f64().unwrap_or_else(|| panic!("no rate: {rate}"))
    };
    let (found, predicted) = (of("", "found"), of("--model fitted.toml", "predicted"));
    assert_near("rate of 16 tasks", predicted, found, 0.25);
}

/// A fit once took the tail beyond p99 from the mean of the last hundredth: half of the p99.99 of a log-normal time.
#[test]
fn the_tail_of_a_fit_is_the_measured_one_as_far_as_it_was_measured() {
    let truth = Truth {
        noise: "0.0",
        slots: 3,
        time_us: 500.0,
        distribution: ", distribution = \"log-normal\", deviation = 1.2",
        limits: "",
        sweep: "transfer = \"4KiB\"\nsize = \"32MiB\"\nsharing = \"per-task\"\ntasks = [1, 2, 4, 8]",
    };
    let desk = Desk::new();
    let _ = truth.fitted(&desk, 1, "--out fitted.toml").expect_code(0);
    // 49,152 transfers with one in flight: five of them are beyond p99.99.
    let model = fs::read_to_string(desk.path("fitted.toml")).expect("a model");
    assert_says(&model, &["percentiles: known up to p99.9,", "percentile = 99.9"]);
    let promise = |percentile: &str| {
        format!(
            "[[commitment]]\nname = \"p{percentile}\"\nworkload = \"alone\"\nphase = \"read\"\n\
             percentile = {percentile}\nlatency_at_most = \"1s\"\nby = \"a seller\"\nstatistic = \"median\"\n"
        )
    };
    let study = format!(
        "[protocol]\nphase_min = \"1ms\"\nrepetitions = 17\n[[target]]\nname = \"d\"\ndirectory = \"unused\"\n\
         [[workload]]\nname = \"alone\"\nphases = [\"read\"]\norder = \"random\"\ndirect = true\nfill = true\n\
         transfer = \"4KiB\"\nsize = \"64MiB\"\n{}{}",
        promise("99.9"),
        promise("99.99")
    );
    fs::write(desk.path("alone.toml"), study).expect("a study");
    let of_model = |model: &str| {
        let _ = fs::remove_dir_all(desk.record());
        let words = format!("run alone.toml --model {model}.toml --out record");
        let _ = run(&desk.ioproof(&words)).expect_code(0);
        let figure = desk.report().figure("read").clone();
        let slow = figure["latency"][0]["p99_9_ns"].as_f64().expect("a latency");
        (slow, run(&desk.ioproof("verdict record")).stdout)
    };
    let ((own, of_own), (of_fit, of_fitted)) = (of_model("truth"), of_model("fitted"));
    assert_near("p99.9", of_fit, own, 0.1);
    assert_says(&of_own, &["2 commitments: 2 would be kept in this model."]);
    assert_says(
        &of_fitted,
        &["1 would be kept in this model", "the model describes percentiles up to p99.9, not p99.99"],
    );
}

#[test]
fn the_models_that_are_ready_are_listed_with_their_studies() {
    let desk = Desk::new();
    let listed = run(&desk.ioproof("model list")).expect_code(0).stdout;
    for (model, command) in [
        ("cte-power", "ioproof run weak-scaling --model cte-power"),
        ("five-p3700", "ioproof run sas-flash --model five-p3700"),
        ("io-cell", "ioproof run threads --model io-cell"),
        ("laptop", "ioproof run local-disk --model laptop"),
        ("lustre-ef560", "ioproof run iops-lustre --model lustre-ef560"),
        ("scale-disks", "ioproof run scale-news --model scale-disks"),
        ("twelve-p3700", "ioproof run cuny-uv300 --model twelve-p3700"),
    ] {
        assert_says(&listed, &[model, command]);
        let _ = run(&desk.ioproof("model show").arg(model)).expect_code(0);
    }
    let misspelt = run(&desk.ioproof("run local-disk --model laptpo")).expect_code(2).stderr;
    assert_says(&misspelt, &["laptpo", "did you mean `laptop`?", "ioproof model list"]);
}
