//! What a killed run left is found, and only that is removed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use plan::Keep;
use record::{Claim, Holder, RecordError, leftovers};

/// A claim of a process that has ended.
fn claim_of_the_dead(run_id: &str) -> Claim {
    let mut child = Command::new("true").spawn().expect("a process");
    let pid = child.id();
    child.wait().expect("ended");
    Claim { pid, ..claim(run_id) }
}

fn claim(run_id: &str) -> Claim {
    Claim::new(run_id, Path::new("/runs/1"), 1_700_000_000_000_000_000, Keep::Never).expect("a claim")
}

fn write(path: &Path, text: &str) -> PathBuf {
    fs::write(path, text).expect("written");
    path.to_path_buf()
}

#[test]
fn what_a_killed_run_made_is_found_and_removed_and_nothing_else() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let before = write(&target.join("file.00000000"), "mine");
    let (made, inner) = (target.join("file.00000001"), target.join("2/file.00000002"));
    let never_made = target.join("file.00000003");
    let files = [before.clone(), made.clone(), inner.clone(), never_made];
    let placed = claim_of_the_dead("r1")
        .place(std::slice::from_ref(&target), &files, &[target.join("2"), target.join("3")])
        .expect("placed");
    drop(placed);
    write(&made, "12345678");
    fs::create_dir(target.join("2")).expect("made");
    fs::create_dir(target.join("3")).expect("made");
    write(&inner, "1234");
    let foreign = write(&target.join("3/notes.txt"), "of someone else");

    let found = leftovers(&target).expect("readable");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].holder, Holder::Gone);
    assert_eq!(found[0].claim.run_id, "r1");
    let paths: Vec<_> = found[0].files.iter().map(|file| (file.path.clone(), file.bytes)).collect();
    assert_eq!(paths, [(made.clone(), 8), (inner.clone(), 4)]);
    assert_eq!(found[0].bytes(), 12);

    found[0].remove().expect("removed");
    assert!(before.exists(), "it was there before the run");
    assert!(foreign.exists(), "a directory that is not empty stays");
    assert!(!made.exists() && !target.join("2").exists());
    assert_eq!(leftovers(&target).expect("readable"), []);
}

#[test]
fn files_of_a_run_that_goes_on_are_left_alone() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let file = target.join("f");
    let placed =
        claim("r1").place(std::slice::from_ref(&target), std::slice::from_ref(&file), &[]).expect("placed");
    // A run before it had claimed the same name and was killed.
    drop(claim_of_the_dead("r0").place(std::slice::from_ref(&target), std::slice::from_ref(&file), &[]));
    write(&file, "in use");
    let found = leftovers(&target).expect("readable");
    let alive = found.iter().find(|left| left.claim.run_id == "r1").expect("found");
    assert_eq!(alive.holder, Holder::Alive);
    let error = alive.remove().expect_err("refused");
    assert!(matches!(error, RecordError::StillRunning { .. }), "{error}");
    let gone = found.iter().find(|left| left.claim.run_id == "r0").expect("found");
    assert_eq!(gone.files, [], "the file belongs to the run that goes on");
    gone.remove().expect("removed");
    assert!(file.exists());
    placed.withdraw().expect("withdrawn");
    assert_eq!(leftovers(&target).expect("readable"), []);
}

#[test]
fn a_process_number_that_was_given_away_again_is_not_the_run() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let own = claim("r1");
    let earlier = Claim { process_start_ticks: own.process_start_ticks.wrapping_sub(1), ..own.clone() };
    let rebooted = Claim { boot_id: "another".to_owned(), run_id: "r2".to_owned(), ..own.clone() };
    let elsewhere = Claim { node: "another".to_owned(), run_id: "r3".to_owned(), ..own };
    for claim in [earlier, rebooted, elsewhere] {
        drop(claim.place(std::slice::from_ref(&target), &[], &[]).expect("placed"));
    }
    let holders: Vec<_> = leftovers(&target).expect("readable").iter().map(|left| left.holder).collect();
    assert_eq!(holders, [Holder::Gone, Holder::Gone, Holder::Elsewhere]);
}

/// A claim is a file that anyone can write where anyone may: it must not lead anywhere.
#[test]
fn a_forged_claim_leads_nowhere() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().join("target");
    fs::create_dir(&target).expect("made");
    let outside = write(&place.path().join("precious"), "data");
    fs::create_dir(place.path().join("other")).expect("made");
    let other = write(&place.path().join("other/precious"), "data");
    symlink(place.path().join("other"), target.join("link")).expect("linked");
    symlink(&outside, target.join("alias")).expect("linked");
    let placed = claim_of_the_dead("r1").place(std::slice::from_ref(&target), &[], &[]).expect("placed");
    drop(placed);
    let path = target.join(".ioproof-claim-r1.json");
    let mut forged: Claim = serde_json::from_slice(&fs::read(&path).expect("there")).expect("a claim");
    let at = |path: PathBuf| record::Claimed { path, existed: false };
    forged.files =
        vec![at(outside.clone()), at("../precious".into()), at("link/precious".into()), at("alias".into())];
    forged.directories = vec![at("../other".into()), at("link".into()), at(place.path().join("other"))];
    fs::write(&path, serde_json::to_vec(&forged).expect("JSON")).expect("forged");
    for left in leftovers(&target).expect("readable") {
        assert_eq!(left.files, []);
        left.remove().expect("the claim is removed");
    }
    assert!(
        outside.exists()
            && other.exists()
            && target.join("alias").is_symlink()
            && target.join("link").is_symlink()
    );
}

#[test]
fn a_target_that_cannot_be_written_is_named_and_no_claim_stays() {
    let place = tempfile::tempdir().expect("a directory");
    let good = place.path().join("a");
    fs::create_dir(&good).expect("made");
    let missing = place.path().join("missing");
    let error = claim("r1").place(&[good.clone(), missing.clone()], &[], &[]).expect_err("refused");
    assert!(error.to_string().contains(&missing.display().to_string()), "{error}");
    assert_eq!(fs::read_dir(&good).expect("readable").count(), 0);
}

/// A file may look like a claim by its name alone.
#[test]
fn what_is_no_claim_is_left_alone() {
    let place = tempfile::tempdir().expect("a directory");
    let path = write(&place.path().join(".ioproof-claim-x.json"), "not one");
    assert_eq!(leftovers(place.path()).expect("readable"), []);
    assert!(path.exists());
}

/// Where nobody reaps, a process that was killed stays in the list for ever.
#[test]
fn a_process_that_only_waits_to_be_reaped_holds_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let mut child = Command::new("sleep").arg("600").spawn().expect("a process");
    let stat = || fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("there");
    let field = |index: usize| {
        let stat = stat();
        let (_, rest) = stat.rsplit_once(')').expect("a name");
        rest.split_whitespace().nth(index).expect("a field").to_owned()
    };
    let process_start_ticks = field(19).parse().expect("a number");
    let claim = Claim { pid: child.id(), process_start_ticks, ..claim("r1") };
    drop(claim.place(std::slice::from_ref(&target), &[], &[]).expect("placed"));
    let holder = || leftovers(&target).expect("readable")[0].holder;
    assert_eq!(holder(), Holder::Alive);
    let kill = Command::new("kill").args(["-9", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    while field(0) != "Z" {
        std::thread::yield_now();
    }
    assert_eq!(holder(), Holder::Gone);
    child.wait().expect("reaped");
}
