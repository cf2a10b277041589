//! `ioproof host check`, `tune` and `restore`, on trees of plain files that imitate a host, and on loop devices of
//! this host.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testbed::{LoopDevice, Program, Strace, Testbed};

use crate::desk::{Desk, assert_says, run};

/// A desk with a host in `root`: processors with gaps in their numbering, NVMe interrupts, MSRs, huge pages.
fn desk() -> Desk {
    let desk = Desk::new();
    host(&desk.path("root"));
    desk
}

/// The files of a host below `root`.
pub(crate) fn host(root: &Path) {
    let file = |path: &str, bytes: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    };
    file("etc/machine-id", b"5f2c\n");
    file("proc/sys/kernel/hostname", b"appel\n");
    file("proc/sys/kernel/random/boot_id", b"b00t-1\n");
    file("proc/sys/vm/swappiness", b"60\n");
    file("sys/kernel/mm/transparent_hugepage/enabled", b"always [madvise] never\n");
    file("sys/devices/system/cpu/online", b"0,2-3\n");
    for cpu in [0, 2, 3] {
        let mut registers = vec![0; 0x1fc];
        registers.extend(0x3504_0043_u64.to_ne_bytes());
        file(&format!("dev/cpu/{cpu}/msr"), &registers);
    }
    for (irq, hint) in [(24, "01"), (31, "04"), (32, "08")] {
        fs::create_dir_all(root.join(format!("proc/irq/{irq}/nvme0q{irq}"))).expect("a directory");
        file(&format!("proc/irq/{irq}/affinity_hint"), format!("00,000000{hint}\n").as_bytes());
        file(&format!("proc/irq/{irq}/smp_affinity"), b"00,0000000d\n");
    }
}

fn at(desk: &Desk, path: &str) -> PathBuf {
    desk.path("root").join(path)
}

fn text(desk: &Desk, path: &str) -> String {
    fs::read_to_string(at(desk, path)).expect("it can be read").trim().to_owned()
}

fn registers(desk: &Desk) -> [u64; 3] {
    [0, 2, 3].map(|cpu| {
        let bytes = fs::read(at(desk, &format!("dev/cpu/{cpu}/msr"))).expect("it can be read");
        u64::from_ne_bytes(bytes[0x1fc..].try_into().expect("eight bytes"))
    })
}

fn ledger(desk: &Desk) -> PathBuf {
    at(desk, "var/lib/ioproof/tuning.jsonl")
}

#[test]
fn interrupts_go_where_their_hints_say_and_come_back() {
    let desk = desk();
    let plan = run(&desk.ioproof("host tune irq-affinity --root root --plan")).expect_code(0).stdout;
    assert_says(&plan, &["3 writes", "affinity_hint > /proc/irq/{}/smp_affinity", "CUNY", "reverted by"]);
    assert_says(&plan, &["/proc/irq/31/smp_affinity: 00,0000000d -> 00,00000004"]);
    assert!(!ledger(&desk).exists(), "a plan leaves nothing");
    let _ = run(&desk.ioproof("host tune irq-affinity --root root --yes")).expect_code(0);
    for irq in [24, 31, 32] {
        let of = |file: &str| text(&desk, &format!("proc/irq/{irq}/{file}"));
        assert_eq!(of("smp_affinity"), of("affinity_hint"));
    }
    let check = run(&desk.ioproof("host check irq-affinity --root root")).expect_code(0).stdout;
    assert_says(&check, &["ok IRQ 31 (nvme0q31): 00,00000004", "0 warnings"]);
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    for irq in [24, 31, 32] {
        assert_eq!(text(&desk, &format!("proc/irq/{irq}/smp_affinity")), "00,0000000d");
    }
    assert!(!ledger(&desk).exists());
}

#[test]
fn an_interrupt_that_the_kernel_refuses_is_named_and_the_others_are_set() {
    if testbed::skipped(Strace::available()) {
        return;
    }
    let desk = desk();
    let refused = at(&desk, "proc/irq/31/smp_affinity");
    let trace = Strace::new()
        .calls("write")
        .only_path(&refused)
        .inject("write", "error=EIO")
        .run(&desk.ioproof("host tune irq-affinity --root root --yes"))
        .expect("it is traced");
    let finished = trace.finished.expect_code(0);
    assert_says(
        &finished.stdout,
        &["! /proc/irq/31/smp_affinity: refused: the kernel manages this interrupt"],
    );
    assert_says(&finished.stdout, &["2 set and read back, 1 refused by the kernel"]);
}

#[test]
fn a_kill_in_the_middle_is_restored() {
    if testbed::skipped(Strace::available()) {
        return;
    }
    let desk = desk();
    let trace = Strace::new()
        .calls("write")
        .only_path(at(&desk, "proc/irq/31/smp_affinity"))
        .inject("write", "signal=KILL")
        .run(&desk.ioproof("host tune irq-affinity c1e-off --root root --yes"))
        .expect("it is traced");
    assert_ne!(trace.finished.code, Some(0));
    assert_eq!(text(&desk, "proc/irq/24/smp_affinity"), "00,00000001", "the first one was set");
    assert_eq!(registers(&desk), [0x3504_0043; 3], "what comes after was not");
    let plan = run(&desk.ioproof("host restore --root root --plan")).expect_code(0).stdout;
    assert_says(
        &plan,
        &["ended before it was complete", "/proc/irq/24/smp_affinity: 00,00000001 -> 00,0000000d"],
    );
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    for irq in [24, 32] {
        assert_eq!(text(&desk, &format!("proc/irq/{irq}/smp_affinity")), "00,0000000d");
    }
    assert!(!ledger(&desk).exists());
}

#[test]
fn a_ledger_of_which_nothing_was_set_is_only_removed() {
    let desk = desk();
    let _ = run(&desk.ioproof("host tune irq-affinity --root root --yes")).expect_code(0);
    let path = ledger(&desk);
    let opened = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    fs::write(&path, opened + "\n").unwrap();
    let plan = run(&desk.ioproof("host restore --root root --plan")).expect_code(0).stdout;
    assert_says(&plan, &["ended before it had set anything"]);
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    assert!(!path.exists());
}

#[test]
fn c1e_is_cleared_on_every_processor_that_is_online() {
    let desk = desk();
    let plan = run(&desk.ioproof("host tune c1e-off --root root --plan")).expect_code(0).stdout;
    assert_says(&plan, &["wrmsr -p $p 0x1fc 0x35040041", "/dev/cpu/2/msr 0x1fc: 0x35040043 -> 0x35040041"]);
    let _ = run(&desk.ioproof("host tune c1e-off --root root --yes")).expect_code(0);
    assert_eq!(registers(&desk), [0x3504_0041; 3], "the whole value that the slide writes, by one bit");
    let check = run(&desk.ioproof("host check c1e-off --root root")).expect_code(0).stdout;
    assert_says(&check, &["C1E of CPU 3: bit 1 is 0, off"]);
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    assert_eq!(registers(&desk), [0x3504_0043; 3]);
    fs::remove_dir_all(at(&desk, "dev/cpu")).expect("it goes");
    let none = run(&desk.ioproof("host tune c1e-off --root root --yes")).expect_code(4);
    assert_says(&none.stdout, &["not here: no /dev/cpu/*/msr", "nothing to write"]);
    assert_says(&none.stderr, &["not applied: c1e-off"]);
}

#[test]
fn a_profile_of_tuned_without_its_daemon_is_not_applied() {
    let desk = desk();
    let tune = "host tune tuned-enterprise-storage --root root";
    let missing = run(&desk.ioproof(&format!("{tune} --yes"))).expect_code(4);
    assert_says(&missing.stderr, &["not applied: tuned-enterprise-storage (profile of TuneD: no tuned-adm"]);
    for (path, text) in [
        ("usr/sbin/tuned-adm", "#!/bin/sh\n"),
        ("usr/lib/tuned/throughput-performance/tuned.conf", "[sysctl]\nvm.swappiness=10\n"),
    ] {
        let path = at(&desk, path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let stopped = run(&desk.ioproof(&format!("{tune} --yes"))).expect_code(4);
    assert_says(&stopped.stderr, &["not applied: tuned-enterprise-storage", "TuneD is not running"]);
    let _ = run(&desk.ioproof(&format!("{tune} --plan"))).expect_code(0);
    assert!(!ledger(&desk).exists(), "nothing was written");
}

/// Sets the read-ahead of a loop device and restores the old value: the setting persists after the device is
/// detached.
struct ReadAhead(PathBuf, String);

impl ReadAhead {
    fn of(device: &LoopDevice) -> Self {
        let path = Path::new("/sys/block").join(device.name()).join("queue/read_ahead_kb");
        let found = fs::read_to_string(&path).expect("it can be read");
        fs::write(&path, "124").expect("it can be set");
        Self(path, found)
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        let _ = fs::write(&self.0, self.1.trim());
    }
}

#[test]
fn read_ahead_of_three_devices_is_what_blockdev_says() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let desk = Desk::new();
    let devices = [(); 3].map(|()| LoopDevice::builder().bytes(1 << 20).build().expect("a device"));
    let _as_found = [0, 1, 2].map(|index: usize| ReadAhead::of(&devices[index]));
    let sectors = || -> Vec<String> {
        let ask = |device: &LoopDevice| Command::new("blockdev").arg("--getra").arg(device.device()).output();
        let text = |device| String::from_utf8(ask(device).expect("it runs").stdout).expect("a number");
        devices.iter().map(|device| text(device).trim().to_owned()).collect()
    };
    let before = sectors();
    assert_eq!(before, ["248"; 3]);
    let named = |words: &str| {
        let program = desk.ioproof(words).arg("--state").arg(desk.path("state"));
        devices.iter().fold(program, |program, device| program.arg("--device").arg(device.device()))
    };
    let _ = run(&named("host tune read-ahead --yes")).expect_code(0);
    assert_eq!(sectors(), ["16384"; 3]);
    recorded(&desk);
    let _ = run(&desk.ioproof("host restore --yes --state state")).expect_code(0);
    assert_eq!(sectors(), before);
    assert!(!desk.path("state/tuning.jsonl").exists());
}

/// A run states in its record and its HTML page which settings were in effect.
fn recorded(desk: &Desk) {
    let run_with = |state: &str, record: &str| {
        let study = "[[target]]\nname = \"data\"\ndirectory = \"data\"\n[[workload]]\nname = \"short\"\n\
                     phases = [\"write\"]\ntransfer = \"64k\"\nsize = \"1m\"\n";
        let _ = fs::create_dir(desk.path("data"));
        fs::write(desk.path("study.toml"), study).expect("a study");
        let words = format!("run study.toml --yes --out {record}");
        let _ = run(&desk.ioproof(&words).env("IOPROOF_STATE", desk.path(state))).expect_code(0);
        fs::read_to_string(desk.path(record).join("manifest.json")).expect("a manifest")
    };
    assert_says(&run_with("state", "tuned"), &["in-force", "\"read-ahead\"", "\"8192\""]);
    assert_says(&run_with("nowhere", "alone"), &["left-alone"]);
}

#[test]
fn huge_pages_read_never_and_then_as_before() {
    let desk = desk();
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    let set = run(&desk.ioproof("host tune thp-never --root root --yes")).expect_code(0).stdout;
    assert_says(
        &set,
        &["redhat_transparent_hugepage", "transparent_hugepage/enabled: reads always madvise [never]"],
    );
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    assert_eq!(text(&desk, path), "always [madvise] never");
}

#[test]
fn read_caches_of_lustre_servers_are_judged_from_what_they_printed() {
    let desk = desk();
    let plan =
        run(&desk.ioproof("host check lustre-server-caches --root root --strict")).expect_code(0).stdout;
    assert_says(&plan, &["lctl get_param obdfilter.*.read_cache_enable", "--lustre-params FILE"]);
    let line = |server: u32, on: u32| {
        format!("oss{server}: obdfilter.highiops-OST000{server}.read_cache_enable={on}\n")
    };
    fs::write(desk.path("off"), (1..7).map(|server| line(server, 0)).collect::<String>()).expect("a file");
    fs::write(desk.path("on"), line(1, 0) + &line(2, 1)).expect("a file");
    let off = desk.ioproof("host check lustre-server-caches --root root --strict --lustre-params off");
    let _ = run(&off).expect_code(0);
    let on = run(&desk.ioproof("host check lustre-server-caches --root root --strict --lustre-params on"));
    let on = on.expect_code(3);
    assert_says(
        &on.stdout,
        &["warning oss2: obdfilter.highiops-OST0002.read_cache_enable: 1, advised 0", "Ictl get param"],
    );
    assert_says(&on.stderr, &["findings that are warnings: 1"]);
}

#[test]
fn findings_are_json_too() {
    let desk = desk();
    let text = run(&desk.ioproof("host check thp-never c1e-off --root root --json")).expect_code(0).stdout;
    let json: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(json["node"], "appel");
    let findings = json["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 4);
    let thp = findings.iter().find(|finding| finding["step"] == "thp-never").expect("it is there");
    assert_eq!(
        (&thp["state"], &thp["advised"], &thp["severity"]),
        (&"differs".into(), &"never".into(), &"advice".into())
    );
    assert_eq!(thp["apply"], "ioproof host tune thp-never");
}

#[test]
fn what_cannot_be_asked_for_is_told_with_the_next_step() {
    let desk = desk();
    let unknown = run(&desk.ioproof("host tune thp-nevr --root root")).expect_code(2).stderr;
    assert_says(&unknown, &["did you mean thp-never?"]);
    let unnamed = run(&desk.ioproof("host tune read-ahead --root root")).expect_code(2).stderr;
    assert_says(&unnamed, &["--device all"]);
    let device =
        run(&desk.ioproof("host tune read-ahead --root root --device nvme7n1")).expect_code(2).stderr;
    assert_says(&device, &["nvme7n1", "no such device"]);
    let unattended = run(&desk.ioproof("host tune thp-never --root root")).expect_code(3);
    assert_says(&unattended.stderr, &["no terminal to ask on", "--yes"]);
    assert_eq!(text(&desk, "sys/kernel/mm/transparent_hugepage/enabled"), "always [madvise] never");
    let nothing = run(&desk.ioproof("host restore --root root --yes")).expect_code(0).stdout;
    assert_says(&nothing, &["nothing to restore"]);
}

#[test]
fn a_ledger_of_another_host_or_a_damaged_one_is_refused() {
    let desk = desk();
    let _ = run(&desk.ioproof("host tune swappiness --root root --yes")).expect_code(0);
    fs::write(at(&desk, "etc/machine-id"), "other\n").expect("a file");
    for words in ["host restore --root root --yes", "host tune thp-never --root root --yes"] {
        assert_says(&run(&desk.ioproof(words)).expect_code(3).stderr, &["appel", "belong to this host"]);
    }
    fs::write(at(&desk, "etc/machine-id"), "5f2c\n").expect("a file");
    let whole = fs::read_to_string(ledger(&desk)).expect("it can be read");
    fs::write(ledger(&desk), whole.replace("planned", "plan")).expect("a file");
    let damaged = run(&desk.ioproof("host restore --root root --yes")).expect_code(3).stderr;
    assert_says(&damaged, &["line 2 is damaged", "by hand"]);
    assert_eq!(text(&desk, "proc/sys/vm/swappiness"), "10");
}

#[test]
fn a_ledger_that_is_cut_off_is_told_and_the_rest_of_it_is_used() {
    let desk = desk();
    let _ = run(&desk.ioproof("host tune irq-affinity --root root --yes")).expect_code(0);
    let whole = fs::read_to_string(ledger(&desk)).expect("it can be read");
    let lines: Vec<&str> = whole.lines().collect();
    let plan = || run(&desk.ioproof("host restore --root root --plan")).expect_code(0).stdout;
    fs::write(ledger(&desk), format!("{}\n{}\n{}\n", lines[0], lines[1], lines[4])).expect("a file");
    assert_says(&plan(), &["! root/var/lib/ioproof/tuning.jsonl is damaged: 2 of its lines are missing"]);
    let cut = &whole[..whole.len() - 9];
    fs::write(ledger(&desk), cut).expect("a file");
    assert_says(&plan(), &["its last line is cut off", "the other lines are used"]);
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    for irq in [24, 31, 32] {
        assert_eq!(text(&desk, &format!("proc/irq/{irq}/smp_affinity")), "00,0000000d");
    }
}

#[test]
fn a_place_in_which_somebody_else_could_write_is_not_trusted_with_old_values() {
    let desk = desk();
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(at(&desk, path), fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    let refused = |name: &str| {
        for words in ["host tune thp-never", "host restore"] {
            let failed = run(&desk.ioproof(&format!("{words} --root root --yes"))).expect_code(7);
            assert_says(&failed.stderr, &[name, "another user could", "chmod"]);
        }
        assert_eq!(text(&desk, "proc/sys/vm/swappiness"), "10");
        assert_eq!(text(&desk, "sys/kernel/mm/transparent_hugepage/enabled"), "always [madvise] never");
    };
    let _ = run(&desk.ioproof("host tune swappiness --root root --yes")).expect_code(0);
    let mut places = vec![("var/lib/ioproof", 0o755), ("var/lib/ioproof/tuning.jsonl", 0o644)];
    // For users other than root, the path may start in a directory that is open to everybody, so `var` is tested as
    // root only.
    places.extend(rustix::process::geteuid().is_root().then_some(("var", 0o755)));
    for (path, right) in places {
        mode(path, right | 0o020);
        refused(path);
        mode(path, right);
    }
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    assert_eq!(text(&desk, "proc/sys/vm/swappiness"), "60");
}

#[test]
fn what_somebody_else_has_set_stays_unless_forced() {
    let desk = desk();
    let _ = run(&desk.ioproof("host tune swappiness thp-never --root root --yes")).expect_code(0);
    fs::write(at(&desk, "proc/sys/vm/swappiness"), "1\n").expect("a file");
    let left = run(&desk.ioproof("host restore --root root --yes")).expect_code(3);
    assert_says(&left.stderr, &["swappiness: somebody else has set it to 1", "stay in the ledger"]);
    assert_eq!(text(&desk, "sys/kernel/mm/transparent_hugepage/enabled"), "always [madvise] never");
    let _ = run(&desk.ioproof("host restore --root root --yes --force")).expect_code(0);
    assert_eq!(text(&desk, "proc/sys/vm/swappiness"), "60");
}

#[test]
fn what_outlives_a_boot_is_shown_first_and_removed() {
    let desk = desk();
    fs::create_dir_all(at(&desk, "etc/systemd/system")).expect("a directory");
    let words = "host tune thp-never --root root --persist";
    let plan = run(&desk.ioproof(words).arg("--plan")).expect_code(0).stdout;
    assert_says(
        &plan,
        &["/etc/systemd/system/ioproof-tuning.service", "| ExecStart=/bin/sh", "| echo never >"],
    );
    assert!(!at(&desk, "etc/ioproof-tuning.sh").exists());
    let _ = run(&desk.ioproof(words).arg("--yes")).expect_code(0);
    assert!(text(&desk, "etc/ioproof-tuning.sh").contains("echo never"));
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    for path in ["etc/ioproof-tuning.sh", "etc/systemd/system/ioproof-tuning.service"] {
        assert!(!at(&desk, path).exists(), "{path}");
    }
}

/// A desk that was tuned permanently and rebooted since: the script has set the values again.
fn booted_desk() -> Desk {
    let desk = desk();
    fs::create_dir_all(at(&desk, "etc/systemd/system")).expect("a directory");
    let _ = run(&desk.ioproof("host tune thp-never swappiness --root root --persist --yes")).expect_code(0);
    fs::write(at(&desk, "proc/sys/kernel/random/boot_id"), "b00t-2\n").expect("a file");
    desk
}

const KEPT: [&str; 3] = [
    "etc/ioproof-tuning.sh",
    "etc/systemd/system/ioproof-tuning.service",
    "etc/systemd/system/multi-user.target.wants/ioproof-tuning.service",
];

fn assert_as_before(desk: &Desk) {
    assert_eq!(text(desk, "proc/sys/vm/swappiness"), "60");
    assert_eq!(text(desk, "sys/kernel/mm/transparent_hugepage/enabled"), "always [madvise] never");
    for path in KEPT {
        assert!(fs::symlink_metadata(at(desk, path)).is_err(), "{path}");
    }
    assert!(!ledger(desk).exists());
}

#[test]
fn what_each_boot_sets_again_is_put_back_after_a_boot() {
    let desk = booted_desk();
    let tune = run(&desk.ioproof("host tune swappiness thp-never --root root --yes"));
    assert_says(&tune.expect_code(0).stdout, &["nothing to write"]);
    let plan = run(&desk.ioproof("host restore --root root --plan")).expect_code(0).stdout;
    assert_says(
        &plan,
        &["the host was rebooted since", "swappiness: 10 -> 60", "removed once the values are restored"],
    );
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    assert_as_before(&desk);
}

#[test]
fn script_and_ledger_stay_where_a_value_does_not_come_back() {
    if testbed::skipped(Strace::available()) {
        return;
    }
    let desk = booted_desk();
    let trace = Strace::new()
        .calls("write")
        .only_path(at(&desk, "proc/sys/vm/swappiness"))
        .inject("write", "error=EPERM")
        .run(&desk.ioproof("host restore --root root --yes"))
        .expect("it is traced");
    let failed = trace.finished.expect_code(4);
    assert_says(&failed.stderr, &["swappiness: not restored", "it is kept until every value is restored"]);
    for path in KEPT {
        assert!(fs::symlink_metadata(at(&desk, path)).is_ok(), "{path}");
    }
    assert!(ledger(&desk).exists());
    let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
    assert_as_before(&desk);
}

#[test]
fn a_restore_that_is_killed_between_any_two_steps_is_done_again() {
    if testbed::skipped(Strace::available()) {
        return;
    }
    // The calls that change something: values, lines of the ledger, removed files.
    for (call, times) in [("write", 24), ("unlink", 5)] {
        let mut killed = 0;
        for at in 1..=times {
            let desk = booted_desk();
            let trace = Strace::new()
                .calls(call)
                .inject(call, &format!("signal=KILL:when={at}"))
                .run(&desk.ioproof("host restore --root root --yes"))
                .expect("it is traced");
            killed += u32::from(trace.finished.code != Some(0));
            let _ = run(&desk.ioproof("host restore --root root --yes")).expect_code(0);
            assert_as_before(&desk);
        }
        assert!(killed > 3, "{call}: it was killed {killed} times");
    }
}

#[test]
fn a_user_without_rights_is_shown_the_plan_and_told_what_is_missing() {
    let root = rustix::process::geteuid().is_root();
    if testbed::skipped(if root { Ok(()) } else { Err("root is needed to become somebody else".to_owned()) })
    {
        return;
    }
    let desk = desk();
    fs::set_permissions(desk.path(""), fs::Permissions::from_mode(0o755)).expect("it is ours");
    // The program itself may be in a directory that no other user can enter.
    let program = desk.path("program");
    fs::copy(env!("CARGO_BIN_EXE_ioproof"), &program).expect("a copy");
    let as_nobody = |words: &str| {
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let program = Program::new("setpriv").args(user).arg(&program).args(words.split_whitespace());
        run(&program.current_dir(desk.path("")))
    };
    let plan = as_nobody("host tune thp-never --root root --plan").expect_code(0);
    assert_says(&plan.stdout, &["always [madvise] never -> never"]);
    assert_says(&plan.stderr, &["this user may not write", "this needs root"]);
    let refused = as_nobody("host tune thp-never --root root --yes").expect_code(4);
    assert_says(&refused.stdout, &["always [madvise] never -> never"]);
    assert_says(&refused.stderr, &["this needs root", "nothing was changed"]);
    let _ = run(&desk.ioproof("host tune thp-never --root root --yes")).expect_code(0);
    let plan = as_nobody("host restore --root root --plan").expect_code(0);
    assert_says(&plan.stdout, &["-> always [madvise] never"]);
    let refused = as_nobody("host restore --root root --yes").expect_code(4);
    assert_says(&refused.stderr, &["tuning.jsonl", "run as root"]);
    let study = "[protocol]\ndrop_caches = true\n[[target]]\nname = \"t\"\npath = \"f\"\n\
                 [[workload]]\nname = \"w\"\ntransfer = \"4k\"\nsize = \"64k\"\n";
    fs::write(desk.path("study.toml"), study).expect("a study");
    let shown = as_nobody("run study.toml --explain").expect_code(0).stdout;
    assert_says(&shown, &["! emptying the page cache (/proc/sys/vm/drop_caches) needs root"]);
    assert_says(&text(&desk, "sys/kernel/mm/transparent_hugepage/enabled"), &["[never]"]);
}

#[test]
fn a_full_disk_under_the_ledger_changes_nothing() {
    struct Mounted<'a>(&'a Path);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0).status();
        }
    }
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let desk = desk();
    let state = desk.path("state");
    fs::create_dir(&state).expect("a directory");
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=8k,mode=755", "tmpfs"]).arg(&state).status();
    assert!(mounted.expect("it runs").success());
    let _mounted = Mounted(&state);
    fs::write(state.join("fill"), vec![0; 4096]).expect("it fits");
    // One page is left: enough for the first line, but not for the old values of a thousand interrupts.
    for irq in 1000..1100 {
        let directory = at(&desk, &format!("proc/irq/{irq}"));
        fs::create_dir_all(directory.join("nvme1q1")).expect("a directory");
        fs::write(directory.join("affinity_hint"), "01\n").expect("a file");
        fs::write(directory.join("smp_affinity"), "0d\n").expect("a file");
    }
    let full = run(&desk.ioproof("host tune irq-affinity --root root --state state --yes")).expect_code(4);
    assert_says(&full.stderr, &["state/tuning.jsonl", "No space left", "nothing was changed"]);
    assert_eq!(text(&desk, "proc/irq/24/smp_affinity"), "00,0000000d");
    let after = run(&desk.ioproof("host restore --root root --state state --yes")).expect_code(0).stdout;
    assert_says(&after, &["nothing to restore"]);
}
