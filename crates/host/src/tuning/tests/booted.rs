//! A reboot between `--persist` and the restore: the script sets the values again, fails, or does not run.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::io::Errno;

use super::fake_kernel::{
    C1E_ON, Death, FakeKernel, contents, host, open_soon, plan, plan_for, put_back, state, text,
};
use crate::fake::Tree;
use crate::tuning::{
    LEDGER, Ledger, RestoreOutcome, RestoreResult, Setting, apply, in_force, persistent_files,
    write_persistent_files,
};

const SCRIPT: &str = "/etc/ioproof-tuning.sh";
const SWAPPINESS: &str = "/proc/sys/vm/swappiness";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Tunes all devices of the tree and writes what sets it at boot.
fn tune_for_good(tree: &Tree, kernel: &FakeKernel<'_>, names: &[&str]) {
    tune_named(tree, kernel, names, "all");
}

fn tune_named(tree: &Tree, kernel: &FakeKernel<'_>, names: &[&str], device: &str) {
    let mut plan = plan_for(tree, kernel, names, device);
    plan.persist = true;
    let files = persistent_files(&plan, Ledger::read(&state(tree)).unwrap().as_ref(), tree.root());
    let mut ledger = open_soon(tree);
    apply(&plan, tree.root(), kernel, &mut ledger, 0, &mut |_| {}).unwrap();
    let written = write_persistent_files(&files, &mut ledger, tree.root()).unwrap();
    assert!(written.iter().all(|(_, written)| written.is_ok()), "{written:?}");
}

/// The kernel's files as a boot makes them, which are those of `fresh`.
fn boot(tree: &Tree, fresh: &BTreeMap<PathBuf, Vec<u8>>) {
    let root = tree.root().path("/");
    for (path, bytes) in fresh {
        let below = path.strip_prefix(&root).unwrap();
        if ["proc", "sys", "dev"].iter().any(|top| below.starts_with(top)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
    let id = tree.root().path("/proc/sys/kernel/random/boot_id");
    let count = fs::read_to_string(&id).unwrap().len();
    fs::write(id, format!("another boot {count}\n")).unwrap();
}

/// Runs the script as the boot does, on the tree; whether it ended well.
fn run_script(tree: &Tree, directory: &Path) -> bool {
    let script = fs::read_to_string(tree.root().path(SCRIPT)).unwrap();
    let below = |top: &str| format!("{}", tree.root().path(top).display());
    let mut mended = String::new();
    for (index, part) in script.split("/sys/").enumerate() {
        // `/proc/sys/` is one place.
        match index {
            0 => {}
            _ if mended.ends_with("/proc") => mended.push_str("/sys/"),
            _ => mended.push_str(&(below("/sys") + "/")),
        }
        mended.push_str(&part.replace("/dev/", &(below("/dev") + "/")).replace("/proc", &below("/proc")));
    }
    // Of the two faces of a setting the kernel sets the other to 0.
    if script.contains("dirty_background_ratio") {
        tree.root().write_setting("/proc/sys/vm/dirty_background_bytes", "0").unwrap();
    }
    let output = Command::new("sh").args(["-c", &mended]).current_dir(directory).output().unwrap();
    output.status.success()
}

fn boot_with_script(tree: &Tree, fresh: &BTreeMap<PathBuf, Vec<u8>>) -> bool {
    boot(tree, fresh);
    run_script(tree, &tree.root().path("/"))
}

/// What the settings read as, where a shell leaves out the choices that a kernel shows.
fn values(tree: &Tree) -> BTreeMap<PathBuf, String> {
    let value = |(path, bytes): (PathBuf, Vec<u8>)| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (path, Setting::file("/sys/x").value(&text))
    };
    contents(tree).into_iter().map(value).filter(|(path, _)| !path.ends_with("boot_id")).collect()
}

fn assert_gone(tree: &Tree, restored: &RestoreResult) {
    assert!(!restored.is_partial(), "{restored:?}");
    assert!(!tree.root().path(SCRIPT).exists() && !state(tree).exists());
}

#[test]
fn what_a_boot_has_set_again_is_put_back_before_script_and_ledger_go() {
    for directories in [&[][..], &["/etc/systemd/system"]] {
        let tree = host().directories(directories);
        let (before, fresh) = (values(&tree), contents(&tree));
        let kernel = FakeKernel::of(&tree);
        tune_for_good(&tree, &kernel, &["storage-benchmark", "dirty-ratios"]);
        assert!(boot_with_script(&tree, &fresh));
        assert_eq!((text(&tree, SWAPPINESS), text(&tree, THP)), ("10".to_owned(), "never".to_owned()));
        let record::Tuning::InForce(tuning) = in_force(tree.root(), &state(&tree)) else { panic!("it is") };
        assert!(tuning.settings.iter().any(|one| one.step == "swappiness"));
        assert_gone(&tree, &put_back(&tree, &kernel, false));
        let mut after = values(&tree);
        after.retain(|path, _| before.contains_key(path));
        assert_eq!(after, before);
    }
}

#[test]
fn where_the_script_did_not_run_the_values_of_the_boot_stay() {
    let tree = host();
    let mut fresh = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune_for_good(&tree, &kernel, &["storage-benchmark"]);
    fresh.insert(tree.root().path(SWAPPINESS), b"33\n".to_vec());
    boot(&tree, &fresh);
    assert_eq!(in_force(tree.root(), &state(&tree)), record::Tuning::LeftAlone);
    let writes = kernel.writes.get();
    let restored = put_back(&tree, &kernel, false);
    let swappiness = restored.settings.iter().find(|(setting, _)| setting.to_string() == SWAPPINESS);
    assert_eq!(swappiness.unwrap().1, RestoreOutcome::Nothing("a reboot has undone it"));
    assert_gone(&tree, &restored);
    assert_eq!((kernel.writes.get(), text(&tree, SWAPPINESS).as_str()), (writes, "33"));
}

#[test]
fn what_is_not_set_at_boot_is_left_as_the_boot_has_made_it() {
    let tree = host();
    let fresh = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    super::fake_kernel::tune(&tree, &kernel, &["swappiness"]);
    tune_for_good(&tree, &kernel, &["thp-never"]);
    assert!(boot_with_script(&tree, &fresh));
    tree.root().write_setting(SWAPPINESS, "10").unwrap();
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    assert_eq!((text(&tree, SWAPPINESS).as_str(), text(&tree, THP).as_str()), ("10", "madvise"));
}

#[test]
fn a_second_profile_is_set_at_boot_beside_the_first() {
    let tree = host();
    let fresh = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune_for_good(&tree, &kernel, &["thp-never"]);
    tune_for_good(&tree, &kernel, &["swappiness"]);
    assert!(boot_with_script(&tree, &fresh));
    assert_eq!((text(&tree, SWAPPINESS).as_str(), text(&tree, THP).as_str()), ("10", "never"));
    let again = plan(&tree, &kernel, &["governor"]);
    let refused = apply(&again, tree.root(), &kernel, &mut open_soon(&tree), 0, &mut |_| {});
    assert!(refused.unwrap_err().to_string().contains("ioproof host restore"));
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    assert_eq!((text(&tree, SWAPPINESS).as_str(), text(&tree, THP).as_str()), ("60", "madvise"));
}

#[test]
fn script_and_ledger_stay_until_every_value_is_back() {
    let tree = host().directories(&["/etc/systemd/system"]);
    let fresh = contents(&tree);
    let kernel = FakeKernel::of(&tree).refusing(THP, Errno::PERM);
    kernel.takes_again(THP);
    tune_for_good(&tree, &kernel, &["swappiness", "thp-never"]);
    assert!(boot_with_script(&tree, &fresh));
    let stubborn = FakeKernel::of(&tree).refusing(THP, Errno::PERM);
    for _ in 0..2 {
        let restored = put_back(&tree, &stubborn, false);
        assert!(restored.is_partial() && !restored.is_only_foreign(), "{restored:?}");
        assert!(restored.kept.iter().all(|(_, removed)| removed.is_err()), "{restored:?}");
        assert_eq!(text(&tree, SWAPPINESS), "60", "the other one is back");
        assert!(state(&tree).join(LEDGER).exists() && tree.root().path(SCRIPT).exists());
        // The script that is still there sets again what was back already.
        assert!(boot_with_script(&tree, &fresh));
        assert_eq!(text(&tree, SWAPPINESS), "10");
    }
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    assert_eq!((text(&tree, SWAPPINESS).as_str(), text(&tree, THP).as_str()), ("60", "madvise"));
}

#[test]
fn a_script_that_stayed_is_known_after_another_profile_and_a_boot() {
    let tree = host();
    let fresh = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune_for_good(&tree, &kernel, &["swappiness", "thp-never"]);
    let stubborn = FakeKernel::of(&tree).refusing(THP, Errno::PERM);
    assert!(put_back(&tree, &stubborn, false).is_partial());
    super::fake_kernel::tune(&tree, &kernel, &["swappiness"]);
    assert!(boot_with_script(&tree, &fresh));
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    assert_eq!((text(&tree, SWAPPINESS).as_str(), text(&tree, THP).as_str()), ("60", "madvise"));
}

#[test]
fn a_restore_after_a_boot_that_is_killed_is_done_again() {
    let names = ["storage-benchmark", "dirty-ratios"];
    for at in 0..10 {
        let tree = host();
        let (before, fresh) = (values(&tree), contents(&tree));
        tune_for_good(&tree, &FakeKernel::of(&tree), &names);
        assert!(boot_with_script(&tree, &fresh));
        let dying = FakeKernel::of(&tree).dying(Death { at, after: at % 2 == 0 });
        assert!(catch_unwind(AssertUnwindSafe(|| put_back(&tree, &dying, false))).is_err(), "{at}");
        assert!(tree.root().path(SCRIPT).exists(), "nothing is removed before the values are back: {at}");
        assert_gone(&tree, &put_back(&tree, &FakeKernel::of(&tree), false));
        let mut after = values(&tree);
        after.retain(|path, _| before.contains_key(path));
        assert_eq!(after, before, "{at}");
    }
}

/// Two disks whose names a boot exchanges.
fn two_disks(first: (&str, &str), second: (&str, &str)) -> Vec<(String, String)> {
    [("sda", first), ("sdb", second)]
        .into_iter()
        .flat_map(|(name, (wwid, read_ahead))| {
            let directory = format!("/sys/devices/pci0000:00/{name}");
            [
                (format!("{directory}/device/wwid"), format!("{wwid}\n")),
                (format!("{directory}/queue/read_ahead_kb"), format!("{read_ahead}\n")),
            ]
        })
        .collect()
}

fn write_all(tree: &Tree, files: &[(String, String)]) {
    for (path, text) in files {
        let place = tree.root().path(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
}

#[test]
fn a_disk_is_found_under_the_name_that_a_boot_gave_it() {
    let hostile = "t10.ATA  $(touch PWNED) `touch PWNED` '\"; touch PWNED;  7";
    let tree = host().device("pci0000:00/sdb", "8:16", &[("queue/rotational", "0")]);
    write_all(&tree, &two_disks((hostile, "128"), ("naa.b", "256")));
    let kernel = FakeKernel::of(&tree);
    tune_named(&tree, &kernel, &["read-ahead"], "/dev/sda");
    let fresh = contents(&tree);
    boot(&tree, &fresh);
    write_all(&tree, &two_disks(("naa.b", "256"), (hostile, "128")));
    assert!(run_script(&tree, &tree.root().path("/")));
    let read_ahead = |name: &str| text(&tree, &format!("/sys/block/{name}/queue/read_ahead_kb"));
    assert_eq!((read_ahead("sda").as_str(), read_ahead("sdb").as_str()), ("256", "8192"));
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    assert_eq!((read_ahead("sda").as_str(), read_ahead("sdb").as_str()), ("256", "128"));
    assert!(!tree.root().path("/PWNED").exists());
}

#[test]
fn a_disk_that_took_the_name_of_another_is_left_alone() {
    let tree = host().device("pci0000:00/sdb", "8:16", &[("queue/rotational", "0")]);
    write_all(&tree, &two_disks(("naa.a", "128"), ("naa.b", "256")));
    let kernel = FakeKernel::of(&tree);
    tune_named(&tree, &kernel, &["read-ahead"], "/dev/sda");
    boot(&tree, &contents(&tree));
    write_all(&tree, &two_disks(("naa.c", "8192"), ("naa.b", "256")));
    assert!(!run_script(&tree, &tree.root().path("/")), "the script says that a device is missing");
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    assert_eq!(text(&tree, "/sys/block/sda/queue/read_ahead_kb"), "8192", "it is the new disk's own value");
}

#[test]
fn a_path_of_the_user_reaches_the_script_as_one_word() {
    let path = "/dev/disk/a $(touch PWNED) ;'\"` b";
    let tree = host().link(path, "/dev/sda");
    let fresh = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune_named(&tree, &kernel, &["read-ahead"], path);
    boot(&tree, &fresh);
    assert!(run_script(&tree, &tree.root().path("/")));
    assert_eq!(text(&tree, "/sys/block/sda/queue/read_ahead_kb"), "8192");
    assert!(!tree.root().path("/PWNED").exists());
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    assert_eq!(text(&tree, "/sys/block/sda/queue/read_ahead_kb"), "128");
}

#[test]
fn an_interrupt_is_found_under_its_new_number() {
    let tree = host()
        .files(&[("/sys/class/nvme/nvme0/serial", "SN-0\n"), ("/sys/class/nvme/nvme1/serial", "SN-1\n")]);
    let kernel = FakeKernel::of(&tree);
    tree.root().write_setting("/proc/irq/31/smp_affinity", "00,0000000f").unwrap();
    let fresh = contents(&tree);
    tune_for_good(&tree, &kernel, &["irq-affinity"]);
    boot(&tree, &fresh);
    let irq = |number: u32| tree.root().path(format!("/proc/irq/{number}"));
    fs::rename(irq(31), irq(55)).unwrap();
    fs::rename(irq(107), irq(31)).unwrap();
    assert!(run_script(&tree, &tree.root().path("/")));
    assert_eq!(text(&tree, "/proc/irq/55/smp_affinity"), "00,00000010");
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    assert_eq!(text(&tree, "/proc/irq/55/smp_affinity"), "00,0000000f");
    assert_eq!(text(&tree, "/proc/irq/31/smp_affinity"), "00,000000d3");
}

#[test]
fn of_a_register_the_bit_that_was_changed_comes_back_and_no_other() {
    let tree = host();
    let fresh = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune_for_good(&tree, &kernel, &["c1e-off"]);
    boot(&tree, &fresh);
    // Another firmware sets another bit; the script clears ours.
    let register = |value: u64| {
        let mut bytes = vec![0; 0x1fc];
        bytes.extend(value.to_ne_bytes());
        fs::write(tree.root().path("/dev/cpu/4/msr"), bytes).unwrap();
    };
    register((C1E_ON | 1 << 40) & !2);
    assert_gone(&tree, &put_back(&tree, &kernel, false));
    let bytes = fs::read(tree.root().path("/dev/cpu/4/msr")).unwrap();
    let now = u64::from_ne_bytes(bytes[0x1fc..].try_into().unwrap());
    assert_eq!(now, C1E_ON | 1 << 40);
}
