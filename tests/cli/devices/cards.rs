//! The study of twelve cards (`studies/cuny-uv300.toml`) in miniature: twelve devices, throttled in proportion to the
//! published cards. Each layout is made, measured and dismantled, and the host is left as it was found.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use testbed::{Limits, LoopDevice, Program, Programme, ProgrammedFs, Rig, Running, Testbed, skipped};

use crate::desk::{Desk, allow_commands, assert_near, assert_says, events, hash_in, measured, run, wait_for};

/// One hundredth of the read and write rates of one card (study A, Test 1).
const READ: u64 = 27_800_000;
const WRITE: u64 = 20_500_000;
/// Number of cards.
const CARDS: usize = 12;
/// How far a ratio may deviate from what the limits imply.
const SHARE: f64 = 0.05;
/// Devices that are the bottleneck reach more than this share of their limit in every case.
const FULL: f64 = 0.95;
/// Time limit for formatting, measuring and dismantling three layouts at these rates.
const LIMIT: Duration = Duration::from_secs(400);

/// A list of paths in the form that `--set` takes.
fn list(paths: &[PathBuf]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| format!("\"{}\"", path.display())).collect();
    format!("[{}]", quoted.join(", "))
}

/// The study on the devices `cards`, with its directories and ledger on `desk`: one card, twelve cards, and, instead
/// of XVM, a stripe that this kernel supports.
fn study(desk: &Desk, cards: &[LoopDevice], more: &[&str]) -> Program {
    let devices: Vec<PathBuf> = cards.iter().map(|one| one.device().to_owned()).collect();
    let members: String = devices.iter().map(|device| format!(",device={}", device.display())).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let at = desk.path("p3700");
    let mut set = vec![
        format!("layout.*.devices={}", list(&devices)),
        format!("layout.card.devices={}", list(&devices[..1])),
        format!("layout.card.mount_point={}", at.display()),
        format!("layout.cards.mount_point={}", at.display()),
        format!("layout.xvm.mount_point={}", at.join("xvm").display()),
        "layout.xvm.title=one btrfs over twelve cards".to_owned(),
        format!(
            "layout.xvm.create=[\"mkfs.btrfs -q -f -K -d raid0 -m raid0 {{devices}}\", \
             \"mount -t btrfs -o noatime,nodatacow{members} {{device0}} {{mount}}\"]"
        ),
        "layout.xvm.verify=[\"mountpoint -q {mount}\"]".to_owned(),
        "layout.xvm.destroy=[\"umount {mount}\"]".to_owned(),
        "workload.baseline.transfer=1MiB".to_owned(),
        "workload.baseline.tasks=4".to_owned(),
        "workload.layouts.transfer=1MiB".to_owned(),
        "workload.layouts.tasks=48".to_owned(),
        "workload.layouts.target=[\"cards\", \"xvm\"]".to_owned(),
        "protocol.rounds=1".to_owned(),
        "protocol.repetitions=1".to_owned(),
    ];
    set.extend(more.iter().map(|one| (*one).to_owned()));
    let program = desk.program().args(["run", "--yes"]).arg(root.join("studies/cuny-uv300.toml"));
    let program = program.arg("--state").arg(desk.path("state")).arg("--out").arg(desk.record());
    set.iter().fold(program.limit(LIMIT), |program, one| program.args(["--set", one]))
}

/// Everything that a layout could leave behind: mounts, ledgers, directories, and signatures on devices.
fn left(desk: &Desk, cards: &[LoopDevice]) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let here = desk.path("p3700");
    let is_own = |line: &&str| {
        let names = |device: &LoopDevice| line.starts_with(&format!("{} ", device.device().display()));
        line.contains(&*here.to_string_lossy()) || cards.iter().any(names)
    };
    let mut left: Vec<String> = mounts.lines().filter(is_own).map(str::to_owned).collect();
    let ledgers = fs::read_dir(desk.path("state/layouts")).into_iter().flatten().flatten();
    left.extend(
        ledgers
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .map(|path| path.display().to_string()),
    );
    left.extend(here.exists().then(|| here.display().to_string()));
    for device in cards {
        let looked =
            run(&Program::new("blkid").args(["-p", "-o", "value", "-s", "TYPE"]).arg(device.device()));
        left.extend(looked.stdout.lines().map(|kind| format!("{kind} on {}", device.device().display())));
    }
    left
}

/// The figures of a report.
struct Figures(Vec<Value>);

impl Figures {
    fn find(&self, target: &str, phase: &str) -> &Value {
        let found = self.0.iter().find(|figure| figure["target"] == target && figure["phase"] == phase);
        found.unwrap_or_else(|| panic!("no {phase} on {target}"))
    }

    fn rate(&self, target: &str, phase: &str) -> f64 {
        number(&self.find(target, phase)["bytes_per_second"]["median"])
    }

    /// Bytes per second of each device.
    fn devices(&self, target: &str, phase: &str) -> Vec<f64> {
        let devices = self.find(target, phase)["devices"].as_array().expect("a list");
        let key = format!("{phase}_bytes_per_second");
        devices.iter().map(|one| number(&one[key.as_str()])).collect()
    }

    /// The target of the figure that a statement is about.
    fn target_of(&self, statement: &Value) -> &Value {
        let found = self.0.iter().find(|figure| figure["number"] == statement["figure"]);
        &found.unwrap_or_else(|| panic!("no figure of {statement}"))["target"]
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// The entry, in a list of findings, for the figure with this `number` in the report's order.
fn about<'v>(findings: &'v Value, list: &str, figure: &Value) -> &'v Value {
    let all = findings[list].as_array().expect("a list");
    all.iter().find(|one| one["figure"] == figure["number"]).unwrap_or_else(|| panic!("{list}: {figure}"))
}

#[test]
fn measured_twelve_cards_scale_as_their_limits_imply_and_are_as_before_afterwards() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(|times| scales_as_limits_imply(&format!("{}s", 5 * times)));
}

/// Requests that a throttle holds back have not been issued to the device yet. The device's share of busy time is
/// therefore that of a device with capacity to spare (docs/journal/2026-11-22-layouts-in-studies.md). That each
/// device is at its limit shows only in its own rate.
fn scales_as_limits_imply(duration: &str) {
    let limits = Limits { read_bytes: Some(READ), write_bytes: Some(WRITE), ..Limits::default() };
    let rig = Rig::of(CARDS, &LoopDevice::builder().bytes(1 << 30).limits(limits)).expect("twelve devices");
    let cards = rig.devices();
    let desk = Desk::new();
    let duration = format!("workload.*.duration={duration}");
    // mkfs.xfs writes the whole log. 64 MB, the least that it makes for users, takes each of these devices seconds.
    let [make_one, make_all] = ["card", "cards"]
        .map(|name| format!("layout.{name}.make_options=[\"-l\", \"size=12m\", \"-d\", \"su=128k,sw=1\"]"));
    let study = study(&desk, cards, &["workload.*.size=16MiB", &duration, &make_one, &make_all]);
    // With these, which xfstests sets, it makes a smaller one.
    let study =
        ["TEST_DIR", "TEST_DEV", "QA_CHECK_FS"].iter().fold(study, |study, name| study.env(name, "1"));
    let finished = run(&allow_commands(&study)).expect_code(0);
    assert_eq!(left(&desk, cards), [""; 0]);
    assert_says(&finished.stdout, &["all data on 12 devices will be lost", "stands for XVM"]);
    let journal = fs::read_to_string(desk.record().join("journal.jsonl")).expect("a journal");
    let wiped: Vec<Value> = journal.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let is_discard =
        |event: &&Value| event["wiped"]["kind"] == "space" && number(&event["wiped"]["bytes"]) > 0.0;
    let discards = wiped.iter().filter(is_discard).count();
    assert_eq!(discards, 1 + CARDS + 1, "each file system, before the one point of each layout");
    let report = desk.report().0;
    let figures = Figures(report["figures"].as_array().expect("a list").clone());
    for (phase, limit) in [("write", WRITE), ("read", READ)] {
        let one = figures.rate("card", phase);
        assert_near(&format!("one card, {phase}"), one, limit as f64, SHARE);
        for target in ["cards", "xvm"] {
            let figure = figures.find(target, phase);
            let scaling = about(&report["statements"], "scaling", figure);
            assert_eq!(scaling["devices"], CARDS, "as many as the layout has members");
            assert_near(&format!("scalability of {target}, {phase}"), number(&scaling["share"]), 1.0, SHARE);
            let rates = figures.devices(target, phase);
            assert_eq!(rates.len(), CARDS, "{target}");
            let all_at_limit = rates.iter().all(|rate| *rate > FULL * limit as f64);
            assert!(all_at_limit, "{target}, {phase}: {rates:?}");
        }
        let tax = about(&report["statements"], "tax", figures.find("xvm", phase));
        assert_eq!(tax["outcome"], "marked", "one repetition shows no difference: {tax}");
        assert_near(&format!("tax of xvm, {phase}"), 1.0 - number(&tax["share"]), 1.0, SHARE);
    }
    let beside = report["statements"]["published"].as_array().expect("a list");
    let best = beside.iter().find(|one| one["id"] == "a-t2-read-best").expect("published");
    assert_near("a hundredth of the published rate", number(&best["ratio"]), 0.01, 0.05);
    let layouts = report["layouts"].as_array().expect("a list");
    let names: Vec<_> = layouts.iter().map(|one| (one["name"].as_str(), one["state"].as_str())).collect();
    assert_eq!(names, ["card", "cards", "xvm"].map(|name| (Some(name), Some("dismantled"))));
}

/// What study A states of its layouts: one volume over all cards takes 9 % of the reads of the cards themselves, and
/// rates on one layout vary more with the number of tasks than on others.
const TAXED: &str = r#"
[protocol]
repetitions = 5

[[layout]]
name = "cards"
recipe = "per-device"
file_system = "ext4"
devices = DEVICES
mount_point = "MOUNT/cards"

[[layout]]
name = "taxed"
recipe = "btrfs"
devices = DEVICES
mount_point = "MOUNT/taxed"

[[layout]]
name = "unsteady"
recipe = "btrfs"
devices = DEVICES
mount_point = "MOUNT/unsteady"

[[target]]
name = "cards"
layout = "cards"

[[target]]
name = "taxed"
layout = "taxed"
above = "cards"

[[target]]
name = "unsteady"
layout = "unsteady"
above = "cards"

[[workload]]
name = "layouts"
target = ["cards", "taxed", "unsteady"]
tasks = [24, 48]
phases = ["read"]
fill = true
transfer = "256KiB"
size = "4MiB"
sharing = "per-task"
direct = true

[[claim]]
id = "tax"
text = "One volume over all cards is slower than the cards."
left = { workload = "layouts", target = "taxed", phase = "read" }
relation = "less"
right = { workload = "layouts", target = "cards", phase = "read" }

[[claim]]
id = "unsteady"
text = "The cards are more consistent than the unsteady layout."
quantity = "variation"
left = { workload = "layouts", target = "cards", phase = "read" }
relation = "less"
right = { workload = "layouts", target = "unsteady", phase = "read" }
"#;

/// What the volume takes of the reads.
const TAX: f64 = 0.091;

/// The thousandths that are left of the reads of a card under a layout, in the pass of this number: under the unsteady
/// one less where few tasks run, and in each pass another share.
fn left_by(target: &str, tasks: u32, pass: usize) -> u64 {
    match (target, tasks) {
        ("taxed", _) => 909,
        ("unsteady", 24) => [500, 550, 450, 500, 400][pass.min(4)],
        _ => 1000,
    }
}

/// The case that the journal says is running, by target and tasks, and how many of its passes have ended.
fn running_case(journal: &str) -> Option<(String, u32, usize)> {
    let events: Vec<Value> = journal.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let started = events.iter().rposition(|event| event["event"] == "case-started")?;
    let setting =
        |key: &str| events[started]["case"].as_str()?.split(':').find_map(|one| one.strip_prefix(key));
    let passes = events[started..].iter().filter(|event| event["phase"] == "read").count();
    Some((setting("target=")?.to_owned(), setting("tasks=")?.parse().ok()?, passes))
}

/// Throttles the reads of the cards as the layout does that is measured, until the run has ended.
fn throttle(rig: &mut Rig, mut running: Running, journal: &Path) {
    let mut seen = 0;
    while !running.has_ended().expect("its state is known") {
        let bytes = fs::metadata(journal).map_or(0, |journal| journal.len());
        if bytes != seen {
            seen = bytes;
            let case = running_case(&fs::read_to_string(journal).expect("a journal"));
            let left = case.map_or(1000, |(target, tasks, pass)| left_by(&target, tasks, pass));
            let read_bytes = Some(READ * left / 1000);
            rig.limit(Limits { read_bytes, ..Limits::default() }).expect("limits");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = running.wait().expect("it ends").expect_code(0);
}

#[test]
fn measured_a_tax_of_nine_percent_and_an_unsteady_layout_are_told_of_twelve_cards() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(tax_and_consistency_are_told);
}

fn tax_and_consistency_are_told(times: u32) {
    let mut rig = Rig::of(CARDS, &LoopDevice::builder().bytes(256 << 20)).expect("twelve devices");
    let devices: Vec<PathBuf> = rig.devices().iter().map(|one| one.device().to_owned()).collect();
    let desk = Desk::new();
    let mount = desk.path("p3700").display().to_string();
    let study = desk.study(&TAXED.replace("DEVICES", &list(&devices)).replace("MOUNT", &mount)).limit(LIMIT);
    // Just longer than a pass that counts has to be.
    let duration = format!("workload.layouts.duration={}ms", 2100 * times);
    let study = study.arg("--state").arg(desk.path("state")).args(["--set", &duration]);
    let running = allow_commands(&study).spawn().expect("it starts");
    throttle(&mut rig, running, &desk.record().join("journal.jsonl"));

    let report = desk.report().0;
    let figures = Figures(report["figures"].as_array().expect("a list").clone());
    let statements = &report["statements"];
    let taxes = statements["tax"].as_array().expect("a list");
    let is_taxed = |one: &&Value| one["reference"] == "cards" && figures.target_of(one) == "taxed";
    let tax = taxes.iter().find(is_taxed).expect("a tax");
    assert_ne!(tax["outcome"], "withheld", "{tax}");
    assert!((number(&tax["share"]) - TAX).abs() < 0.03, "{tax}");
    let interval = [0, 1].map(|end| number(&tax["interval"][end]));
    assert!(0.0 < interval[0] && interval[0] < TAX && TAX < interval[1], "{tax}");

    // Pair by pair: the unsteady layout is apart from both others, which may be alike.
    let consistency = statements["consistency"].as_array().expect("a list");
    assert_eq!(consistency.len(), 3);
    for one in consistency {
        let because = one["because"].as_array().expect("a list");
        let alike = because.iter().find(|one| one["reason"] == "within the scatter");
        let is_unsteady = figures.target_of(one) == "unsteady";
        let is_right =
            alike.is_none_or(|one| !is_unsteady && one["evidence"] == "not told apart from 1 other");
        assert!(is_right && one["outcome"] != "withheld", "{one}");
        assert_eq!(number(&one["variation"]) > 0.2, is_unsteady, "{one}");
    }
    let claims = statements["claim"].as_array().expect("a list");
    let claims: Vec<_> = claims.iter().map(|one| (one["id"].as_str(), one["standing"].as_str())).collect();
    let wanted = ["tax", "unsteady"].map(|id| (Some(id), Some("holds")));
    assert_eq!(claims, wanted, "{}", statements["claim"]);
}

/// Each request takes these devices 10 ms, and one is always pending. This imitates cards that are the bottleneck
/// themselves.
#[test]
fn measured_devices_that_are_slow_themselves_are_busy_all_the_time() {
    if skipped(Testbed::available()) || skipped(ProgrammedFs::available()) {
        return;
    }
    let delay = Duration::from_millis(10);
    let programme = Programme { read_latency: delay, write_latency: delay, ..Programme::default() };
    let fs = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
    let card = |number: u32| {
        let path = fs.path().join(format!("card{number}"));
        File::create_new(&path).and_then(|file| file.set_len(16 << 20)).expect("a file");
        LoopDevice::builder().over(path).build().expect("a device")
    };
    let cards: Vec<LoopDevice> = (0..3).map(card).collect();
    let devices: Vec<PathBuf> = cards.iter().map(|one| one.device().to_owned()).collect();
    measured(|times| {
        let desk = Desk::new();
        let study = format!(
            "[protocol]\nrepetitions = 1\nphase_min = \"1ms\"\n\n[[target]]\nname = \"cards\"\ndisks = {}\n\n\
             [[workload]]\nname = \"streams\"\nphases = [\"write\", \"read\"]\ntransfer = \"64KiB\"\n\
             size = \"{}MiB\"\ntasks = 3\nsharing = \"own\"\ndirect = true\n",
            list(&devices),
            4 * times.min(4)
        );
        let consents = devices.iter().map(|one| format!("--destroy-data-on={}", one.display()));
        let _ = run(&desk.study(&study).args(consents)).expect_code(0);
        let report = desk.report();
        for phase in ["write", "read"] {
            let devices = report.figure(phase)["devices"].as_array().expect("a list");
            let own = |one: &&Value| cards.iter().any(|card| one["device"] == card.name());
            let shares: Vec<f64> = devices.iter().filter(own).map(|one| number(&one["busy_share"])).collect();
            assert_eq!(shares.len(), cards.len());
            assert!(shares.iter().all(|share| *share > 0.9), "{phase}: {shares:?}");
        }
    });
}

/// Starts the study on two devices without throttles and waits until a layout has been made. Also returns the hash of
/// its commands.
fn started(desk: &Desk, cards: &[LoopDevice]) -> (Running, String) {
    let more = ["workload.*.size=4MiB", "workload.*.duration=1s", "workload.layouts.tasks=4"];
    let study = study(desk, cards, &more);
    let hash = hash_in(&run(&study).expect_code(3).stderr);
    let mut running = study.args(["--allow-commands", &hash]).spawn().expect("it starts");
    wait_for(&mut running, "a layout", || events(desk, "layout") >= 2);
    (running, hash)
}

fn two_cards() -> Vec<LoopDevice> {
    let card = || LoopDevice::builder().bytes(1 << 30).build().expect("a device");
    vec![card(), card()]
}

fn resume(desk: &Desk, hash: &str) -> Program {
    let resume = desk.ioproof("run --yes --allow-commands").arg(hash).arg("--resume").arg(desk.record());
    resume.arg("--state").arg(desk.path("state")).limit(LIMIT)
}

#[test]
fn a_study_that_is_interrupted_dismantles_its_layout_and_is_taken_up_again() {
    if skipped(Testbed::available()) {
        return;
    }
    let (desk, cards) = (Desk::new(), two_cards());
    let (running, hash) = started(&desk, &cards);
    running.signal(Signal::INT).expect("sent");
    let _ = running.wait().expect("it ends").expect_code(130);
    assert_eq!(left(&desk, &cards), [""; 0]);
    let _ = run(&resume(&desk, &hash)).expect_code(0);
    assert_eq!(left(&desk, &cards), [""; 0]);
    assert_eq!(desk.report().state(), "complete");
}

#[test]
fn what_a_killed_study_leaves_is_dismantled_by_clean_or_by_its_resumption() {
    if skipped(Testbed::available()) {
        return;
    }
    let (desk, cards) = (Desk::new(), two_cards());
    let (running, hash) = started(&desk, &cards);
    running.signal(Signal::KILL).expect("sent");
    assert_eq!(running.wait().expect("it ends").signal, Some(9));
    assert!(!left(&desk, &cards).is_empty(), "it stands");
    let resumed = run(&resume(&desk, &hash)).expect_code(0);
    assert_says(&resumed.stdout, &["layout card was left by an earlier start of this run"]);
    assert_eq!(left(&desk, &cards), [""; 0]);
    assert_eq!(desk.report().state(), "complete");

    let desk = Desk::new();
    let (running, _) = started(&desk, &cards);
    running.signal(Signal::KILL).expect("sent");
    assert_eq!(running.wait().expect("it ends").signal, Some(9));
    let clean = desk.ioproof("layout clean --yes --state").arg(desk.path("state"));
    let _ = run(&clean).expect_code(0);
    assert_eq!(left(&desk, &cards), [""; 0]);
}

/// A host without GPFS: the program shows every command and what is missing, and makes nothing.
#[test]
fn the_published_study_is_explained_with_its_commands_and_what_is_missing() {
    let desk = Desk::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let explain =
        desk.program().args(["run", "--explain", "--full"]).arg(root.join("studies/cuny-uv300.toml"));
    let explained = run(&explain.arg("--state").arg(desk.path("state"))).expect_code(0);
    let words = [
        "# mkfs.xfs -f -K -d su=128k,sw=1 /dev/nvme0n1 as printed (a-cmd-mkfs-t1)",
        "# mount -t xfs /dev/nvme11n1 /p3700/11 corrected",
        "# mmcrfs p3700 -F p3700.lst -B 1M -v no -n 32 -j scatter -T/global/p3700 -A no as printed",
        "mmcrfs not found",
        "# mdadm --create /dev/md0 --chunk=128 --level=0 --raid-devices=12 /dev/nvme0n1",
        "reconstructed, not as printed (a-cmd-md-t5b)",
        "stands for XVM",
    ];
    assert_says(&explained.stdout, &words);
    assert!(!desk.path("state").exists(), "nothing was written");
}
