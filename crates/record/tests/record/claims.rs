//! Leftovers of a killed run are found, and nothing else is removed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use plan::Keep;
use record::{FileFates, Holder, Outcome, RecordError, Recorder, TargetClaim, leftovers};

/// A claim of a process that has exited.
fn claim_of_the_dead(run_id: &str) -> TargetClaim {
    let mut child = Command::new("true").spawn().expect("a process");
    let pid = child.id();
    child.wait().expect("ended");
    TargetClaim { pid, ..claim(run_id) }
}

fn claim(run_id: &str) -> TargetClaim {
    TargetClaim::new(run_id, Path::new("/runs/1"), 1_700_000_000_000_000_000, Keep::Never, "n1")
        .expect("a claim")
}

fn write(path: &Path, text: &str) -> PathBuf {
    fs::write(path, text).expect("written");
    path.to_path_buf()
}

/// The directory of a claim, and those above it that were created for it, go with it; not more of them, and none that
/// has something in it.
#[test]
fn directories_that_were_created_for_a_claim_are_removed_with_it() {
    for (levels_made, foreign, left) in
        [(2, None, "out"), (2, Some("out/notes"), "out"), (0, None, "out/data/run")]
    {
        let place = tempfile::tempdir().expect("a directory");
        let target = place.path().join("out/data/run");
        fs::create_dir_all(&target).expect("made");
        let claim = TargetClaim { levels_made, ..claim_of_the_dead("r1") };
        drop(claim.place(std::slice::from_ref(&target), &[], &[]).expect("placed"));
        foreign.iter().for_each(|name| drop(write(&place.path().join(name), "mine")));
        leftovers(&target).expect("readable")[0].remove().expect("removed");
        let innermost = target.ancestors().find(|path| path.exists()).expect("one is left");
        assert_eq!(innermost, place.path().join(left), "{levels_made} {foreign:?}");
    }
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

    let swept = found[0].remove().expect("removed");
    assert!(before.exists(), "it was there before the run");
    assert!(foreign.exists(), "a directory that is not empty stays");
    assert!(!made.exists() && !target.join("2").exists());
    assert_eq!(swept.held, [target.join("3")]);
    // The claim stays until the directory can be removed.
    fs::remove_file(&foreign).expect("moved away");
    leftovers(&target).expect("readable")[0].remove().expect("removed");
    assert!(!target.join("3").exists());
    assert_eq!(leftovers(&target).expect("readable"), []);
}

#[test]
fn what_a_killed_run_was_to_keep_stays() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let (file, inner, root) = (target.join("f"), target.join("2/f"), target.join("test-dir.0-0"));
    let claim = claim_of_the_dead("r1").with_trees(&[(root.clone(), false)]);
    let kept = [file.clone(), inner.clone(), root.clone()].into();
    let claim = TargetClaim { fates: Arc::new(FileFates { kept, ..FileFates::default() }), ..claim };
    let (targets, files) = (std::slice::from_ref(&target), [file.clone(), inner.clone()]);
    drop(claim.place(targets, &files, &[target.join("2")]).expect("placed"));
    fs::create_dir(target.join("2")).expect("made");
    fs::create_dir(&root).expect("made");
    write(&file, "kept");
    write(&inner, "kept");
    write(&root.join("file.mdtest.0.0"), "kept");
    let found = leftovers(&target).expect("readable");
    assert_eq!((found[0].files.len(), found[0].trees.len()), (0, 0));
    assert_eq!(found[0].kept, [file.clone(), inner.clone(), root.clone()]);
    let swept = found[0].remove().expect("removed");
    assert_eq!((swept.removed, swept.held.len()), (0, 0));
    assert!(file.exists() && inner.exists() && root.join("file.mdtest.0.0").exists());
    assert_eq!(leftovers(&target).expect("readable"), [], "nothing is left to be done: the claim is gone");
}

#[test]
fn what_two_killed_runs_have_claimed_counts_once() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let (file, targets) = (target.join("f"), std::slice::from_ref(&target));
    for run in ["r1", "r2"] {
        drop(claim_of_the_dead(run).place(targets, std::slice::from_ref(&file), &[]).expect("placed"));
    }
    write(&file, "1234");
    let found = leftovers(&target).expect("readable");
    let bytes: Vec<_> = found.iter().map(|left| (left.claim.run_id.as_str(), left.bytes())).collect();
    assert_eq!(bytes, [("r1", 0), ("r2", 4)], "the last one made it");
    found[0].remove().expect("removed");
    assert!(file.exists());
    leftovers(&target).expect("readable")[0].remove().expect("removed");
    assert!(!file.exists());
}

/// The previous file is gone. The file of the run does not count as the user's, although its name existed before.
#[test]
fn the_file_that_a_killed_run_put_in_the_place_of_another_is_its_own() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let targets = std::slice::from_ref(&target);
    let (replaced, reused) = (write(&target.join("replaced"), "old"), write(&target.join("reused"), "old"));
    if fs::metadata(&replaced).expect("there").created().is_err() {
        println!("skipped: this file system does not tell when a file was made");
        return;
    }
    let fates = FileFates { replaced: [replaced.clone()].into(), ..FileFates::default() };
    let claim = TargetClaim { fates: Arc::new(fates), ..claim_of_the_dead("r1") };
    drop(claim.place(targets, &[replaced.clone(), reused.clone()], &[]).expect("placed"));
    assert_eq!(leftovers(&target).expect("readable")[0].files, [], "it was killed before it began");
    for file in [&replaced, &reused] {
        fs::remove_file(file).expect("removed");
        write(file, "new");
    }
    let found = leftovers(&target).expect("readable");
    let files: Vec<_> = found[0].files.iter().map(|file| &file.path).collect();
    assert_eq!(files, [&replaced]);
}

#[test]
fn a_tree_that_a_killed_run_made_is_removed_by_its_names() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let (root, before) = (target.join("test-dir.0-0"), target.join("test-dir.1-0"));
    fs::create_dir(&before).expect("made");
    let trees = [(root.clone(), false), (before.clone(), false)];
    let claim = claim_of_the_dead("r1").with_trees(&trees);
    drop(claim.place(std::slice::from_ref(&target), &[], &[]).expect("placed"));
    for root in [&root, &before] {
        fs::create_dir_all(root.join("mdtest_tree.0")).expect("made");
        write(&root.join("mdtest_tree.0/file.mdtest.0.7"), "1");
    }
    let found = leftovers(&target).expect("readable");
    let roots: Vec<_> = found[0].trees.iter().map(|tree| tree.root.clone()).collect();
    assert_eq!(roots, std::slice::from_ref(&root));
    let sweep = found[0].remove().expect("removed");
    assert_eq!((sweep.removed, sweep.foreign_count), (3, 0));
    assert!(!root.exists() && before.join("mdtest_tree.0/file.mdtest.0.7").exists());
    assert_eq!(leftovers(&target).expect("readable"), []);
}

#[test]
fn what_others_put_into_a_tree_stays_and_is_named() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let root = target.join("test-dir.0-0");
    let claim = claim_of_the_dead("r1").with_trees(&[(root.clone(), false), (target.clone(), true)]);
    drop(claim.place(std::slice::from_ref(&target), &[], &[]).expect("placed"));
    fs::create_dir(&root).expect("made");
    let notes = write(&root.join("notes.txt"), "mine");
    let item = write(&target.join("file.mdtest.0.1"), "");
    let beside = write(&target.join("beside"), "");
    let sweep = leftovers(&target).expect("readable")[0].remove().expect("removed");
    assert_eq!(sweep.foreign, std::slice::from_ref(&notes));
    assert!(notes.exists() && beside.exists() && !item.exists());
    assert_eq!(sweep.held, std::slice::from_ref(&root));
    let found = leftovers(&target).expect("readable");
    assert_eq!(found[0].trees.len(), 1, "the claim stays with what is left of the tree");
    fs::remove_file(&notes).expect("moved away");
    assert_eq!(found[0].remove().expect("removed").held, [] as [PathBuf; 0]);
    assert!(!root.exists());
    assert_eq!(leftovers(&target).expect("readable"), []);
}

#[test]
fn files_of_a_run_that_goes_on_are_left_alone() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let file = target.join("f");
    let placed =
        claim("r1").place(std::slice::from_ref(&target), std::slice::from_ref(&file), &[]).expect("placed");
    // An earlier run claimed the same name and was killed.
    drop(claim_of_the_dead("r0").place(std::slice::from_ref(&target), std::slice::from_ref(&file), &[]));
    write(&file, "in use");
    let found = leftovers(&target).expect("readable");
    let alive = found.iter().find(|left| left.claim.run_id == "r1").expect("found");
    assert_eq!(alive.holder, Holder::Alive);
    let error = alive.remove().expect_err("refused");
    assert!(matches!(error, RecordError::StillRunning { .. }), "{error}");
    let gone = found.iter().find(|left| left.claim.run_id == "r0").expect("found");
    assert_eq!(gone.files, [], "the run that goes on uses the file");
    assert_eq!(gone.in_use, std::slice::from_ref(&file));
    gone.remove().expect("nothing to do");
    assert!(file.exists());
    placed.withdraw().expect("withdrawn");
    let found = leftovers(&target).expect("readable");
    assert_eq!(found[0].bytes(), 6, "its claim has stayed, so that the file is still known");
    found[0].remove().expect("removed");
    assert_eq!(leftovers(&target).expect("readable"), []);
}

#[test]
fn a_process_number_that_was_given_away_again_is_not_the_run() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let own = claim("r1");
    let earlier = TargetClaim { process_start_ticks: own.process_start_ticks.wrapping_sub(1), ..own.clone() };
    let rebooted = TargetClaim { boot_id: "another".to_owned(), run_id: "r2".to_owned(), ..own.clone() };
    let on_another = TargetClaim { host: "another".to_owned(), run_id: "r3".to_owned(), ..rebooted.clone() };
    let in_a_container =
        TargetClaim { pid_namespace: Some("pid:[1]".into()), run_id: "r4".to_owned(), ..earlier.clone() };
    // Earlier versions recorded neither. Their node name was the hostname from the kernel.
    let host = own.host.clone();
    let old =
        TargetClaim { host: String::new(), pid_namespace: None, placed_unix_ns: None, ..rebooted.clone() };
    let old_here = TargetClaim { node: host, run_id: "r5".to_owned(), ..old.clone() };
    let old_elsewhere = TargetClaim { node: "another".to_owned(), run_id: "r6".to_owned(), ..old };
    for claim in [earlier, rebooted, on_another, in_a_container, old_here, old_elsewhere] {
        drop(claim.place(std::slice::from_ref(&target), &[], &[]).expect("placed"));
    }
    let holders: Vec<_> = leftovers(&target).expect("readable").iter().map(|left| left.holder).collect();
    use Holder::{Elsewhere, Gone};
    assert_eq!(holders, [Gone, Gone, Elsewhere, Elsewhere, Gone, Elsewhere]);
}

/// A claim by another node, for a run that is recorded in `record`.
fn claim_of_another(run_id: &str, record: &Path) -> TargetClaim {
    let boot_id = "another".to_owned();
    TargetClaim {
        boot_id,
        host: "n7".to_owned(),
        node: "n7".to_owned(),
        run_directory: record.into(),
        ..claim(run_id)
    }
}

#[test]
fn what_another_node_left_is_removed_on_request_only() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let file = target.join("f");
    let targets = std::slice::from_ref(&target);
    drop(claim_of_another("r1", place.path()).place(targets, std::slice::from_ref(&file), &[]));
    write(&file, "1234");
    let found = leftovers(&target).expect("readable");
    assert_eq!((found[0].holder, found[0].bytes()), (Holder::Elsewhere, 4));
    assert!(found[0].age().as_secs() > 1_000_000, "it began in 2023");
    let error = found[0].remove().expect_err("refused").to_string();
    assert!(error.contains("may still be running") && error.contains("on n7"), "{error}");
    assert!(file.exists());
    found[0].remove_unseen().expect("removed");
    assert!(!file.exists());
    assert_eq!(leftovers(&target).expect("readable"), []);
}

/// A node that cannot be checked directly: the record of its run may show whether the run has ended.
#[test]
fn the_record_of_a_run_on_another_node_tells_that_it_goes_on_or_has_ended() {
    let place = tempfile::tempdir().expect("a directory");
    let (target, directory) = (place.path().join("target"), place.path().join("run"));
    fs::create_dir(&target).expect("made");
    let id = crate::sample::manifest().run_id;
    let recorder = Recorder::create(&directory, &crate::sample::manifest()).expect("created");
    let claim = claim_of_another(&id, &directory);
    let place_claim = || drop(claim.place(std::slice::from_ref(&target), &[], &[]).expect("placed"));
    let holder = || leftovers(&target).expect("readable")[0].holder;
    place_claim();
    assert_eq!(holder(), Holder::Alive);
    let error = leftovers(&target).expect("readable")[0].remove_unseen().expect_err("refused").to_string();
    assert!(error.contains("is still running"), "{error}");
    recorder.finish(&Outcome::Failed("files could not be removed".to_owned())).expect("finished");
    // If another test starts a program at this moment, the child holds a copy of the lock until it calls exec.
    let gone = (0..100).any(|_| {
        let gone = holder() == Holder::Gone;
        if !gone {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        gone
    });
    assert!(gone, "{:?}", holder());
    // An end from before the claim belongs to an earlier start.
    place_claim();
    assert_eq!(holder(), Holder::Elsewhere);
}

#[test]
fn claims_of_several_nodes_stand_side_by_side() {
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().to_path_buf();
    let of = |node: &str, file: &str| {
        let claim = TargetClaim { node: node.to_owned(), ..claim("r1") };
        claim.place(std::slice::from_ref(&target), &[target.join(file)], &[]).expect("placed")
    };
    let (one, two) = (of("n1", "a"), of("n2", "b"));
    let found = leftovers(&target).expect("readable");
    let nodes: Vec<_> = found.iter().map(|left| left.claim.node.as_str()).collect();
    assert_eq!(nodes, ["n1", "n2"]);
    one.withdraw().expect("withdrawn");
    assert_eq!(leftovers(&target).expect("readable").len(), 1, "that of the other node stays");
    two.withdraw().expect("withdrawn");
}

/// A claim is a file that anyone with write access can create, so it must not point anywhere else.
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
    let path = target.join(".ioproof-claim-r1@n1.json");
    let mut forged: TargetClaim = serde_json::from_slice(&fs::read(&path).expect("there")).expect("a claim");
    let at = |path: PathBuf| record::ClaimedFile { path, ..record::ClaimedFile::default() };
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

/// A file may look like a claim only because of its name.
#[test]
fn what_is_no_claim_is_left_alone() {
    let place = tempfile::tempdir().expect("a directory");
    let path = write(&place.path().join(".ioproof-claim-x.json"), "not one");
    assert_eq!(leftovers(place.path()).expect("readable"), []);
    assert!(path.exists());
}

/// If nobody reaps it, a killed process stays in the process list forever.
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
    let claim = TargetClaim { pid: child.id(), process_start_ticks, ..claim("r1") };
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

#[test]
fn temporary_files_of_a_killed_process_are_found_in_each_directory_and_removed() {
    let place = tempfile::tempdir().unwrap();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let below = place.path().join("first/second");
    std::fs::create_dir_all(&below).unwrap();
    let name = |node: &str, process: u32| {
        below.join(format!("..ioproof-claim-run@{node}.json.{process}.unfinished"))
    };
    let own_trial = record::trial_name("direct");
    let of_dead = own_trial.replace(&format!(".{}.", std::process::id()), &format!(".{}.", u32::MAX));
    assert_ne!(own_trial, of_dead);
    // No process has this PID: the maximum on Linux is 2^22.
    let dead = [name(host.trim(), u32::MAX), below.join(of_dead)];
    let others = [
        name(host.trim(), std::process::id()),
        name("elsewhere", u32::MAX),
        below.join(own_trial),
        below.join(format!(".report.html.{}.unfinished", u32::MAX)),
        below.join(".ioproof-trial-direct"),
    ];
    for path in others.iter().chain(&dead) {
        std::fs::write(path, "{").unwrap();
    }
    let places = record::claimed_directories(place.path(), |_| false).unwrap();
    assert_eq!(places, [place.path(), &below]);
    assert_eq!(record::remove_temporary_files(&below), 2);
    assert!(dead.iter().all(|path| !path.exists()) && others.iter().all(|path| path.exists()));
}

/// Someone else replaces a directory with a link between the check and the removal.
#[test]
fn what_is_found_is_not_removed_by_way_of_a_link_that_came_later() {
    let place = tempfile::tempdir().expect("a directory");
    let (target, victim) = (place.path().join("target"), place.path().join("victim"));
    for directory in [&target, &target.join("sub"), &victim, &victim.join("test-dir.0-0")] {
        fs::create_dir(directory).expect("made");
    }
    let precious = write(&victim.join("file"), "precious");
    let items = write(&victim.join("test-dir.0-0/file.mdtest.0.0"), "precious");
    let claim = claim_of_the_dead("r1").with_trees(&[(target.join("sub/test-dir.0-0"), false)]);
    drop(claim.place(std::slice::from_ref(&target), &[target.join("sub/file")], &[]).expect("placed"));
    write(&target.join("sub/file"), "1234");
    fs::create_dir(target.join("sub/test-dir.0-0")).expect("made");
    let found = leftovers(&target).expect("readable");
    assert_eq!((found[0].files.len(), found[0].trees.len()), (1, 1));

    fs::rename(target.join("sub"), target.join("moved")).expect("renamed");
    symlink(&victim, target.join("sub")).expect("a link");
    assert!(found[0].remove().is_err() && found[0].remove_trees().is_err());
    assert!(precious.exists() && items.exists());
    // Nor is a different file removed that has replaced the one found earlier.
    fs::remove_file(target.join("sub")).expect("removed");
    fs::rename(target.join("moved"), target.join("sub")).expect("renamed");
    fs::rename(target.join("sub/file"), target.join("sub/old")).expect("renamed");
    let new = write(&target.join("sub/file"), "of the user");
    assert!(found[0].remove().is_err() && new.exists());
}
