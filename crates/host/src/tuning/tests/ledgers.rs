//! The ledger: its owner, truncation and damage, concurrent use.

use std::fs::{self, OpenOptions};
use std::io::Write;

use super::fake_kernel::{FakeKernel, contents, host, open, open_soon, put_back, state, text, tune};
use crate::LedgerError;
use crate::fake::Tree;
use crate::tuning::{EntryState, LEDGER, Ledger, in_force};

/// Why the ledger cannot be opened, apart from a lock that a process being started by another test still holds.
fn refused(tree: &Tree) -> LedgerError {
    loop {
        match open(tree).unwrap_err() {
            LedgerError::Busy { .. } => std::thread::yield_now(),
            error => return error,
        }
    }
}

#[test]
fn a_ledger_of_another_host_is_refused() {
    let tree = host();
    tune(&tree, &FakeKernel::of(&tree), &["swappiness"]);
    tree.root().write_setting("/etc/machine-id", "another").unwrap();
    let error = refused(&tree);
    assert!(matches!(error, LedgerError::OtherHost { .. }) && error.is_refusal());
    assert!(error.to_string().contains("5f2c") && error.to_string().contains("another"), "{error}");
    assert_eq!(text(&tree, "/proc/sys/vm/swappiness"), "10");
}

#[test]
fn a_renamed_host_is_the_same_host() {
    let tree = host();
    let before = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["swappiness"]);
    tree.root().write_setting("/proc/sys/kernel/hostname", "renamed").unwrap();
    assert!(!put_back(&tree, &kernel, false).is_partial());
    tree.root().write_setting("/proc/sys/kernel/hostname", "appel").unwrap();
    assert_eq!(contents(&tree), before);
}

#[test]
fn a_line_that_a_crash_cut_off_is_nothing_and_a_damaged_one_is_told_with_its_number() {
    let tree = host();
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["swappiness"]);
    let path = state(&tree).join(LEDGER);
    let whole = fs::read_to_string(&path).unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"event\":\"rest").unwrap();
    assert_eq!(Ledger::read(&state(&tree)).unwrap().unwrap().entries.len(), 1);

    let damaged = whole.replacen("\"written\"", "\"wri\"", 1);
    fs::write(&path, &damaged).unwrap();
    let error = refused(&tree);
    assert!(error.to_string().contains("line 3 is damaged"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged, "nothing of it is lost");
    for text in [
        "",
        "null\n",
        "{\"event\":\"opened\",\"version\":99,\"host\":{\"machine_id\":\"\",\"node\":\"\",\"boot_id\":\"\"}}\n",
    ] {
        fs::write(&path, text).unwrap();
        assert!(matches!(refused(&tree), LedgerError::Damaged { line: 1, .. }), "{text:?}");
    }

    fs::write(&path, format!("{whole}{{\"event\":\"rest")).unwrap();
    assert!(!put_back(&tree, &kernel, false).is_partial(), "the torn line is cut off first");
    assert_eq!(text(&tree, "/proc/sys/vm/swappiness"), "60");
}

#[test]
fn a_ledger_of_the_first_version_is_restored() {
    let tree = host();
    fs::create_dir_all(state(&tree)).unwrap();
    fs::write(state(&tree).join(LEDGER), include_str!("../../../tests/data/tuning-ledger-1.jsonl")).unwrap();
    tree.root().write_setting("/proc/sys/vm/swappiness", "10").unwrap();
    assert!(!put_back(&tree, &FakeKernel::of(&tree), false).is_partial());
    assert_eq!(text(&tree, "/proc/sys/vm/swappiness"), "60");
    assert!(!state(&tree).join(LEDGER).exists(), "nothing is left to restore");
}

#[test]
fn one_process_at_a_time_changes_a_host() {
    let tree = host();
    let first = open_soon(&tree);
    assert!(matches!(open(&tree).unwrap_err(), LedgerError::Busy { .. }));
    drop(first);
    open_soon(&tree);
}

#[test]
fn all_old_values_are_in_the_ledger_with_what_the_kernel_changes_along() {
    let tree = host();
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["scheduler"]);
    let ledger = Ledger::read(&state(&tree)).unwrap().unwrap();
    let entry = |path: &str| ledger.entries.iter().find(|entry| entry.setting.to_string() == path).unwrap();
    let moved = entry("/sys/block/nvme0n1/queue/nr_requests");
    assert_eq!((moved.old.as_str(), &moved.new), ("64", &None));
    assert_eq!(moved.state, EntryState::Moved("128".to_owned()));
    assert_eq!(moved.device_number, Some(7));
    let parameter = entry("/sys/block/sda/queue/iosched/front_merges");
    assert_eq!((parameter.old.as_str(), &parameter.state), ("0", &EntryState::Moved("1".to_owned())));
}

#[test]
fn the_record_of_a_run_tells_what_is_in_force() {
    let tree = host();
    let kernel = FakeKernel::of(&tree);
    let now = || in_force(tree.root(), &state(&tree));
    assert_eq!(now(), record::Tuning::LeftAlone);
    tune(&tree, &kernel, &["governor", "thp-never"]);
    let record::Tuning::InForce(tuning) = now() else { panic!("{:?}", now()) };
    assert_eq!(
        tuning.profiles.iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>(),
        ["governor", "thp-never"]
    );
    assert!(!tuning.unfinished);
    let governor = &tuning.settings[0];
    assert_eq!(
        (governor.count, governor.before.as_str(), governor.after.as_str()),
        (5, "powersave", "performance")
    );
    assert!(now().to_string().starts_with("tuned by profile governor, thp-never at 1970-01-01 00:00:01"));
    put_back(&tree, &kernel, false);
    assert_eq!(now(), record::Tuning::LeftAlone);
    assert!(now().to_string().starts_with("left at default"));
    fs::create_dir_all(state(&tree)).unwrap();
    fs::write(state(&tree).join(LEDGER), "x\n").unwrap();
    assert!(matches!(now(), record::Tuning::Unknown(reason) if reason.contains("damaged")));
}
