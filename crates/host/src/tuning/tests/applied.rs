//! Apply and restore: every profile, refusals, crashes in between, changes by others.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::io::Errno;

use super::fake_kernel::{Death, FakeKernel, contents, host, open_soon, plan, put_back, state, text, tune};
use crate::tuning::{LEDGER, Ledger, Outcome, RestoreAction, RestoreOutcome, apply, profiles, survey};

const IRQ: &str = "/proc/irq/31/smp_affinity";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const SWAPPINESS: &str = "/proc/sys/vm/swappiness";

#[test]
fn every_profile_reads_back_and_leaves_no_trace() {
    for profile in profiles() {
        let tree = host();
        let before = contents(&tree);
        let kernel = FakeKernel::of(&tree);
        let applied = tune(&tree, &kernel, &[profile.name]);
        for one in &applied {
            assert!(matches!(one.outcome, Outcome::Set(_)), "{}: {one:?}", profile.name);
        }
        assert_eq!(contents(&tree) == before, applied.is_empty(), "{}", profile.name);
        let restored = put_back(&tree, &kernel, false);
        assert!(!restored.is_partial(), "{}: {restored:?}", profile.name);
        assert_eq!(contents(&tree), before, "{}", profile.name);
        assert!(!state(&tree).exists(), "{}: the ledger has gone with its directory", profile.name);
    }
}

#[test]
fn two_profiles_one_after_the_other_come_back_to_what_was_before_the_first() {
    let tree = host();
    let before = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["nr-requests", "thp-never"]);
    tune(&tree, &kernel, &["storage-benchmark", "dirty-ratios"]);
    assert_eq!(text(&tree, "/sys/block/sda/queue/nr_requests"), "1024");
    let ledger = Ledger::read(&state(&tree)).unwrap().unwrap();
    assert_eq!(ledger.applications.len(), 2);
    assert!(!put_back(&tree, &kernel, false).is_partial());
    assert_eq!(contents(&tree), before);
}

#[test]
fn a_refused_write_is_told_and_the_others_are_done() {
    let tree = host();
    let before = contents(&tree);
    let kernel = FakeKernel::of(&tree).refusing(IRQ, Errno::IO);
    let applied = tune(&tree, &kernel, &["irq-affinity"]);
    let outcomes: Vec<&Outcome> = applied.iter().map(|one| &one.outcome).collect();
    assert!(
        matches!(outcomes[1], Outcome::Refused(why) if why.contains("manages this interrupt")),
        "{outcomes:?}"
    );
    assert_eq!(
        (outcomes[0], outcomes[2]),
        (&Outcome::Set("00,00000001".to_owned()), &Outcome::Set("80".to_owned()))
    );
    assert!(!put_back(&tree, &kernel, false).is_partial());
    assert_eq!(contents(&tree), before);
}

#[test]
fn wherever_the_program_is_killed_all_comes_back() {
    let writes = {
        let tree = host();
        let kernel = FakeKernel::of(&tree);
        tune(&tree, &kernel, &["storage-benchmark", "c1e-off", "dirty-ratios"]);
        kernel.writes.get()
    };
    assert!(writes > 20, "{writes}");
    for death in (0..writes).flat_map(|at| [Death { at, after: false }, Death { at, after: true }]) {
        let tree = host();
        let before = contents(&tree);
        let dying = FakeKernel::of(&tree).dying(death);
        let tuned = catch_unwind(AssertUnwindSafe(|| {
            tune(&tree, &dying, &["storage-benchmark", "c1e-off", "dirty-ratios"])
        }));
        assert!(tuned.is_err(), "{death:?}");
        let restored = put_back(&tree, &FakeKernel::of(&tree), false);
        assert!(!restored.is_partial(), "{death:?}: {restored:?}");
        assert_eq!(contents(&tree), before, "{death:?}");
    }
}

#[test]
fn a_restore_that_is_killed_is_done_again() {
    let names = ["storage-benchmark", "dirty-ratios"];
    for at in 0..12 {
        let tree = host();
        let before = contents(&tree);
        tune(&tree, &FakeKernel::of(&tree), &names);
        let dying = FakeKernel::of(&tree).dying(Death { at, after: at % 2 == 0 });
        let first = catch_unwind(AssertUnwindSafe(|| put_back(&tree, &dying, false)));
        assert!(first.is_err(), "{at}");
        assert!(!put_back(&tree, &FakeKernel::of(&tree), false).is_partial(), "{at}");
        assert_eq!(contents(&tree), before, "{at}");
    }
}

#[test]
fn what_somebody_else_has_set_since_stays_unless_forced() {
    let tree = host();
    let before = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["storage-benchmark"]);
    tree.root().write_setting(SWAPPINESS, "1").unwrap();
    // Restoring the scheduler resets this one, although others had changed it.
    tree.root().write_setting("/sys/block/nvme0n1/queue/nr_requests", "77").unwrap();
    let restored = put_back(&tree, &kernel, false);
    let foreign: Vec<String> = restored
        .settings
        .iter()
        .filter(|(_, back)| matches!(back, RestoreOutcome::Foreign(_)))
        .map(|(setting, _)| setting.to_string())
        .collect();
    assert_eq!(foreign, [SWAPPINESS, "/sys/block/nvme0n1/queue/nr_requests"]);
    assert!(restored.is_only_foreign());
    assert_eq!(
        (text(&tree, SWAPPINESS).as_str(), text(&tree, THP).as_str()),
        ("1", "always [madvise] never")
    );
    assert_eq!(text(&tree, "/sys/block/nvme0n1/queue/nr_requests"), "77");

    assert!(!put_back(&tree, &kernel, true).is_partial(), "what was left is in the ledger still");
    assert_eq!(contents(&tree), before);
}

#[test]
fn what_cannot_be_put_back_stays_in_the_ledger() {
    let tree = host();
    let before = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["swappiness", "thp-never"]);
    let stubborn = FakeKernel::of(&tree).refusing(THP, Errno::PERM);
    let restored = put_back(&tree, &stubborn, false);
    assert!(restored.is_partial() && !restored.is_only_foreign());
    assert_eq!(text(&tree, SWAPPINESS), "60", "the other one is back");
    let left = Ledger::read(&state(&tree)).unwrap().unwrap();
    assert!(!left.is_settled());
    stubborn.takes_again(THP);
    assert!(!put_back(&tree, &stubborn, false).is_partial());
    assert_eq!(contents(&tree), before);
}

#[test]
fn a_profile_after_a_partial_restore_begins_with_what_is_then() {
    let tree = host();
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["swappiness", "thp-never"]);
    let stubborn = FakeKernel::of(&tree).refusing(THP, Errno::PERM);
    put_back(&tree, &stubborn, false);
    tree.root().write_setting(SWAPPINESS, "33").unwrap();
    tune(&tree, &kernel, &["swappiness"]);
    assert!(!put_back(&tree, &kernel, false).is_partial());
    assert_eq!(
        (text(&tree, SWAPPINESS).as_str(), text(&tree, THP).as_str()),
        ("33", "always [madvise] never")
    );
}

#[test]
fn settings_of_a_device_that_went_or_was_replaced_are_left_alone() {
    let tree = host();
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["read-ahead"]);
    let sys = tree.root().path("/sys/devices/pci0000:00/nvme0n1");
    fs::remove_dir_all(sys).unwrap();
    fs::remove_file(tree.root().path("/sys/block/nvme0n1")).unwrap();
    tree.root().write_setting("/sys/block/sda/diskseq", "13").unwrap();
    let restored = put_back(&tree, &kernel, false);
    assert!(!restored.is_partial(), "{restored:?}");
    assert_eq!(text(&tree, "/sys/block/sda/queue/read_ahead_kb"), "8192", "it is another disk's own value");
}

/// As on kernels before 5.15, which do not count devices.
#[test]
fn a_device_in_the_place_of_another_is_known_by_its_identifier_too() {
    let tree = host();
    let kernel = FakeKernel::of(&tree);
    let sys = |file: &str| tree.root().path(format!("/sys/block/sda/{file}"));
    fs::remove_file(sys("diskseq")).unwrap();
    fs::write(sys("wwid"), "naa.5000c500a1\n").unwrap();
    tune(&tree, &kernel, &["read-ahead"]);
    let ledger = Ledger::read(&state(&tree)).unwrap().unwrap();
    let action = |device: &str| {
        let found = survey(&ledger, tree.root(), &kernel);
        let planned = found.into_iter().find(|planned| planned.setting.to_string().contains(device));
        planned.expect("a setting of it").action
    };
    assert!(matches!(action("sda"), RestoreAction::PutBack { .. }));
    fs::write(sys("wwid"), "naa.5000c500b2\n").unwrap();
    assert_eq!(action("sda"), RestoreAction::Replaced);
    let restored = put_back(&tree, &kernel, false);
    assert!(!restored.is_partial(), "{restored:?}");
    assert_eq!(text(&tree, "/sys/block/sda/queue/read_ahead_kb"), "8192", "it is another disk's own value");
    assert_eq!(text(&tree, "/sys/block/nvme0n1/queue/read_ahead_kb"), "128", "the other disk is what it was");
    assert!(!state(&tree).join(LEDGER).exists(), "nothing is left to restore");
}

#[test]
fn a_boot_has_undone_the_settings_of_the_kernel_but_not_the_profile_of_tuned() {
    let tree = host();
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["swappiness"]);
    tree.root().write_setting("/proc/sys/kernel/random/boot_id", "b00t-2").unwrap();
    tree.root().write_setting(SWAPPINESS, "10").unwrap();
    let ledger = Ledger::read(&state(&tree)).unwrap().unwrap();
    assert_eq!(survey(&ledger, tree.root(), &kernel)[0].action, RestoreAction::Rebooted);
    let again = plan(&tree, &kernel, &["thp-never"]);
    let error = apply(&again, tree.root(), &kernel, &mut open_soon(&tree), 0, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("before the last boot") && error.is_refusal(), "{error}");
    let writes = kernel.writes.get();
    assert!(!put_back(&tree, &kernel, false).is_partial());
    assert_eq!(kernel.writes.get(), writes, "10 is what this boot has set itself");
    assert!(!state(&tree).join(LEDGER).exists());
}
