//! `ioproof run --sign` and `ioproof verify`.

use std::fs;

use testbed::Program;

use crate::desk::{Desk, assert_says, names, run};

const STUDY: &str = "[protocol]\nphase_min = \"1ms\"\n[[target]]\nname = \"d\"\ndirectory = \".\"\n\
    [[workload]]\nname = \"w\"\nsize = \"1MiB\"\ntransfer = \"64KiB\"\nphases = [\"write\", \"read\"]\n";

fn has_no_ssh_keygen() -> bool {
    let found = Program::new("sh").args(["-c", "command -v ssh-keygen"]).run();
    let is_there = found.is_ok_and(|found| found.stdout.contains("ssh-keygen"));
    testbed::skipped(if is_there { Ok(()) } else { Err("ssh-keygen is not installed".to_owned()) })
}

/// Makes a key named after its owner, and a signers file that maps the key to the owner.
fn make_key(desk: &Desk, owner: &str) {
    let make = Program::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(desk.path(owner));
    let _ = run(&make).expect_code(0);
    let public = fs::read_to_string(desk.path(&format!("{owner}.pub"))).expect("a key");
    fs::write(desk.path(&format!("{owner}.signers")), format!("{owner} {public}")).expect("a file");
}

/// A desk with a signed record and somebody else's key.
fn signed() -> Desk {
    let desk = Desk::new();
    make_key(&desk, "alice");
    make_key(&desk, "bob");
    let _ = run(&desk.study(STUDY).args(["--sign", "alice", "--nonce", "offer-7"])).expect_code(0);
    desk
}

/// Recomputes the checksums of the record's files, as a forger would.
fn sum_again(desk: &Desk) {
    let script = "rm SHA256SUMS; { echo '# nonce offer-7'; sha256sum *.json* */*.parquet | grep -v report | \
                  LC_ALL=C sort -k2; } >../sums; mv ../sums SHA256SUMS";
    let _ = run(&Program::new("sh").args(["-c", script]).current_dir(desk.record())).expect_code(0);
}

#[test]
fn a_signed_record_is_verified_and_one_that_was_edited_and_summed_again_is_not() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = signed();
    let verify = desk.ioproof("verify record --signers alice.signers --nonce offer-7");
    assert_says(
        &run(&verify).expect_code(0).stdout,
        &["for alice with ED25519 key SHA256:", "nonce offer-7"],
    );
    let sha256sum =
        Program::new("sha256sum").args(["-c", "--quiet", "SHA256SUMS"]).current_dir(desk.record());
    let _ = run(&sha256sum).expect_code(0);
    sum_again(&desk);
    let _ = run(&verify).expect_code(0);

    let journal = desk.record().join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, format!("{text} ")).expect("edited");
    fs::write(desk.record().join("phases/000002.parquet"), "").expect("added");
    fs::remove_file(desk.record().join("tasks/000001.parquet")).expect("removed");
    let edited = run(&verify).expect_code(8);
    let told = ["changed: journal.jsonl", "missing: tasks/000001.parquet", "added: phases/000002.parquet"];
    assert_says(&edited.stdout, &told);
    assert_says(&edited.stderr, &["3 of its files differ from what was signed"]);
    sum_again(&desk);
    let summed = run(&verify).expect_code(8);
    assert_says(&summed.stderr, &["the signature does not match SHA256SUMS"]);
    assert!(!summed.stdout.contains("offer-7"), "{}", summed.stdout);
}

#[test]
fn only_a_key_that_is_trusted_and_the_nonce_that_was_given_are_enough() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = signed();
    let refused = |words: &str| run(&desk.ioproof(&format!("verify record {words}"))).expect_code(8).stderr;
    assert_says(&refused(""), &["SHA256:", "the owner of that key was not checked", "--signers FILE"]);
    assert_says(&refused("--signers bob.signers"), &["bob.signers does not contain the key"]);
    assert_says(&refused("--signers alice.signers --nonce offer-8"), &["the nonce offer-8 was not signed"]);
    let nowhere = run(&desk.ioproof("verify record --signers none")).expect_code(2);
    assert_says(&nowhere.stderr, &["--signers none", "check the path"]);
    fs::remove_file(desk.record().join("SHA256SUMS.sig")).expect("removed");
    assert_says(&refused("--signers alice.signers"), &["the record is not signed", "run --sign KEY"]);
}

/// The signers file may also allow a key for other uses.
#[test]
fn each_name_of_a_key_is_tried() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = signed();
    let public = fs::read_to_string(desk.path("alice.pub")).expect("a key");
    let both = format!("git namespaces=\"git\" {public}alice namespaces=\"ioproof\" {public}");
    fs::write(desk.path("both.signers"), both).expect("a file");
    let _ = run(&desk.ioproof("verify record --signers both.signers")).expect_code(0);
    let git = format!("git namespaces=\"git\" {public}");
    fs::write(desk.path("git.signers"), git).expect("a file");
    let _ = run(&desk.ioproof("verify record --signers git.signers")).expect_code(8);
}

#[test]
fn a_complete_record_is_signed_afterwards() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = Desk::new();
    make_key(&desk, "alice");
    let _ = run(&desk.study(STUDY)).expect_code(0);
    let _ = run(&desk.ioproof("run --resume record --sign alice --nonce late")).expect_code(0);
    let _ = run(&desk.ioproof("verify record --signers alice.signers --nonce late")).expect_code(0);
}

#[test]
fn a_key_that_cannot_sign_is_told_before_anything_is_measured() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = Desk::new();
    let refused = run(&desk.study(STUDY).args(["--sign", "none"])).expect_code(4);
    assert_says(&refused.stderr, &["sign with none", "name an SSH private key"]);
    assert!(!desk.record().exists(), "nothing was begun");
    let missing = desk.study(STUDY).args(["--sign", "none"]).env("PATH", "/nowhere");
    assert_says(&run(&missing).expect_code(4).stderr, &["ssh-keygen", "install OpenSSH"]);
}

#[test]
fn a_record_that_goes_on_is_not_signed_any_more() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = signed();
    let has_sums = || names(&desk.record()).iter().any(|name| name.starts_with("SHA256SUMS"));
    assert!(has_sums());
    // Everything but its beginning is lost, so there is something to resume.
    for name in names(&desk.record()).into_iter().filter(|name| !name.contains(['.', 'S'])) {
        fs::remove_dir_all(desk.record().join(name)).expect("tables");
    }
    let journal = desk.record().join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    let start: String = text.split_inclusive('\n').take(2).collect();
    fs::write(&journal, start).expect("cut");
    let _ = run(&desk.ioproof("run --resume record --yes")).expect_code(0);
    assert!(!has_sums(), "the signature is of another record");
}

/// Hashing a journal with a hole of one terabyte would take an hour.
#[test]
fn a_crafted_file_is_not_hashed_without_end() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = signed();
    let journal = fs::OpenOptions::new().write(true).open(desk.record().join("journal.jsonl"));
    journal.expect("a journal").set_len(1 << 40).expect("a hole");
    let refused = run(&desk.ioproof("verify record --signers alice.signers")).expect_code(7);
    assert_says(&refused.stderr, &["journal.jsonl", "16 GiB"]);
}

/// A table that was edited, with the journal made to match it, says something else than what was signed.
#[test]
fn what_is_not_as_it_was_signed_states_nothing_in_any_command() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = signed();
    let commands = [
        "report record --format csv",
        "check record",
        "compare record record --format md",
        "verdict record",
        "merge merged record",
    ];
    let codes = |desk: &Desk| commands.map(|words| run(&desk.ioproof(words)));
    for intact in codes(&desk) {
        assert!(!intact.stderr.contains("what was signed"), "{}", intact.stderr);
    }
    let _ = fs::remove_dir_all(desk.path("merged"));
    let journal = desk.record().join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, text.replacen("\"bytes\":[", "\"bytes\":[9", 1)).expect("edited");
    for summed in [false, true] {
        if summed {
            sum_again(&desk);
        }
        for (words, told) in commands.into_iter().zip(codes(&desk)) {
            assert_eq!(told.code, Some(8), "{words}: {}", told.stderr);
            assert_says(&told.stderr, &["cannot be shown to be what was signed"]);
        }
        let _ = fs::remove_dir_all(desk.path("merged"));
    }
}

#[test]
fn what_a_signature_does_not_cover_is_listed() {
    if has_no_ssh_keygen() {
        return;
    }
    let desk = signed();
    fs::write(desk.record().join("notes.txt"), "mine").expect("added");
    let verified = run(&desk.ioproof("verify record --signers alice.signers")).expect_code(0).stdout;
    for name in ["notes.txt", "report.html"] {
        assert_says(&verified, &[&format!("not covered by the signature: {name}")]);
    }
}
