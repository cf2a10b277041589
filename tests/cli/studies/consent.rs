//! The program shows the commands that a study would execute, and runs them only after the user agreed to exactly
//! those commands.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use testbed::{Finished, LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, allow_commands, assert_says, at_terminal, events, hash_in, run, wait_for};

/// An untrusted study: its layout needs no device, and each of its commands leaves a trace file.
struct Stranger {
    desk: Desk,
}

impl Stranger {
    fn new() -> Self {
        let stranger = Self { desk: Desk::new() };
        stranger.write("touch undone", "1MiB");
        stranger
    }

    /// Writes the study with this last command and this many bytes to write.
    fn write(&self, destroy: &str, size: &str) {
        let study = format!(
            "[[layout]]\nname = \"theirs\"\nrecipe = \"own\"\nmount_point = \"{0}/mnt\"\n\
             create = [\"touch made; mkdir -p {{mount}}\"]\nverify = [\"touch checked\"]\n\
             destroy = [\"{destroy}\", \"rm -rf {{mount}}\"]\n\
             [[target]]\nname = \"t\"\nlayout = \"theirs\"\n\
             [[workload]]\nname = \"w\"\ntransfer = \"64KiB\"\nsize = \"{size}\"\n",
            self.desk.path(".").canonicalize().expect("it is there").display()
        );
        fs::write(self.desk.path("study.toml"), study).expect("a study");
    }

    fn run(&self) -> Program {
        self.desk.ioproof("run study.toml --yes --state state --out record")
    }

    fn hash(&self) -> String {
        let shown = run(&self.desk.ioproof("run study.toml --explain --state state")).expect_code(0).stdout;
        assert_says(&shown, &["# touch made; mkdir -p ", "# touch checked", "# touch undone", "# rmdir "]);
        hash_in(&shown)
    }

    /// The commands that were executed.
    fn traces(&self) -> Vec<&'static str> {
        let traces = ["made", "checked", "undone", "changed"];
        traces.into_iter().filter(|name| self.desk.path(name).exists()).collect()
    }

    /// Fails unless the run was refused with a list of all commands and their hash, and nothing was executed or left
    /// behind.
    fn assert_refused(&self, finished: Finished) {
        let finished = finished.expect_code(3);
        assert_says(&finished.stdout, &["# touch made", "# touch checked", "# rmdir "]);
        assert_says(&finished.stderr, &["no terminal to ask on", "--allow-commands"]);
        assert_eq!(self.traces(), [""; 0]);
        assert!(!self.desk.path("state").exists(), "a ledger was written");
    }
}

#[test]
fn without_an_answer_or_the_hash_nothing_is_executed() {
    let stranger = Stranger::new();
    stranger.assert_refused(run(&stranger.run()));
    let hash = stranger.hash();
    assert_eq!(hash.len(), 64);
    assert_eq!(stranger.traces(), [""; 0], "explaining executes nothing");
    stranger.assert_refused(run(&stranger.run().args(["--allow-commands", &"0".repeat(64)])));
    assert!(!stranger.desk.record().exists());
    let _ = run(&stranger.run().args(["--allow-commands", &hash])).expect_code(0);
    assert_eq!(stranger.traces(), ["made", "checked", "undone"]);
}

#[test]
fn an_answer_at_a_terminal_is_needed_even_with_yes() {
    let stranger = Stranger::new();
    for typed in ["n\\n", "\\n", "\\004"] {
        let refused = at_terminal(&stranger.run(), typed).expect_code(3);
        assert_says(&refused.stdout, &["touch made", "touch checked", "touch undone", "Execute 6 commands"]);
        assert_eq!(stranger.traces(), [""; 0], "{typed}");
    }
    let _ = at_terminal(&stranger.run(), "y\\n").expect_code(0);
    assert_eq!(stranger.traces(), ["made", "checked", "undone"]);
}

#[test]
fn any_change_asks_again() {
    let stranger = Stranger::new();
    let script = stranger.desk.path("take-down.sh");
    fs::write(&script, "touch undone\n").expect("a script");
    stranger.write("sh ./take-down.sh", "1MiB");
    let explained = run(&stranger.desk.ioproof("run study.toml --explain --state state")).expect_code(0);
    let hash = hash_in(&explained.stdout);
    let agreed = stranger.run().args(["--allow-commands", &hash]);
    // The content of a script that a command names.
    fs::write(&script, "touch changed\n").expect("a script");
    stranger.assert_refused(run(&agreed));
    fs::write(&script, "touch undone\n").expect("a script");
    // A command itself.
    stranger.write("sh ./take-down.sh; touch changed", "1MiB");
    stranger.assert_refused(run(&agreed));
    // The directory in which the commands run.
    stranger.write("sh ./take-down.sh", "1MiB");
    let elsewhere = stranger.desk.path("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
    let other = stranger.desk.program().current_dir(&elsewhere);
    let other =
        other.args(["run", "../study.toml", "--yes", "--state", "../state", "--allow-commands", &hash]);
    stranger.assert_refused(run(&other));
    let _ = run(&agreed).expect_code(0);
}

#[test]
fn a_resumed_run_executes_nothing_that_only_its_record_says() {
    let stranger = Stranger::new();
    // So large that the run can be killed in the middle.
    stranger.write("touch undone", "1GiB");
    let hash = stranger.hash();
    let mut running = stranger.run().args(["--allow-commands", &hash]).spawn().expect("it starts");
    wait_for(&mut running, "the layout", || events(&stranger.desk, "layout") >= 2);
    running.signal(Signal::KILL).expect("it lives");
    assert_eq!(running.wait().expect("it ends").signal, Some(9));
    // The ledger belongs to the user, so the layout that was made is taken down. Nothing new is made.
    let resume = stranger.desk.ioproof("run --yes --resume record --state state");
    let _ = fs::remove_file(stranger.desk.path("made"));
    let refused = run(&resume).expect_code(3);
    assert_says(&refused.stderr, &["no terminal to ask on"]);
    assert!(!stranger.desk.path("made").exists());
    // In the meantime, somebody else has changed the record.
    for name in ["manifest.json", "journal.jsonl"] {
        let path = stranger.desk.record().join(name);
        let text = fs::read_to_string(&path).expect("it is there");
        fs::write(&path, text.replace("touch checked", "touch changed")).expect("doctored");
    }
    let refused = run(&resume.clone().args(["--allow-commands", &hash])).expect_code(3);
    assert_says(&refused.stdout, &["# touch changed"]);
    assert!(!stranger.desk.path("made").exists() && !stranger.desk.path("changed").exists());
    let _ = run(&resume.args(["--allow-commands", &hash_in(&refused.stderr)])).expect_code(0);
    assert!(stranger.desk.path("changed").exists());
}

#[test]
fn a_layout_of_a_study_is_made_by_hand_only_with_its_hash() {
    let stranger = Stranger::new();
    let create = stranger.desk.ioproof("layout create theirs --study study.toml --state state --yes");
    let refused = run(&create).expect_code(3);
    assert_says(&refused.stdout, &["touch made", "touch checked", "touch undone", "nothing was done"]);
    assert_eq!(stranger.traces(), [""; 0]);
    let plan = run(&stranger.desk.ioproof("layout plan theirs --study study.toml --state state"));
    let _ = run(&create.args(["--allow-commands", &hash_in(&plan.stdout)])).expect_code(0);
    assert_eq!(stranger.traces(), ["made", "checked"]);
    // What is about to be executed is shown first.
    let asked = run(&stranger.desk.ioproof("layout destroy theirs --state state")).expect_code(3);
    assert_says(&asked.stdout, &["touch undone", "nothing was done"]);
    let _ = run(&stranger.desk.ioproof("layout destroy theirs --state state --yes")).expect_code(0);
    assert_eq!(stranger.traces(), ["made", "checked", "undone"]);
}

#[test]
fn a_ledger_that_others_may_have_written_is_not_executed() {
    let stranger = Stranger::new();
    let plan = run(&stranger.desk.ioproof("layout plan theirs --study study.toml --state state"));
    let create = stranger.desk.ioproof("layout create theirs --study study.toml --state state");
    let _ = run(&create.args(["--allow-commands", &hash_in(&plan.stdout)])).expect_code(0);
    let ledger = stranger.desk.path("state/layouts/theirs.json");
    let destroy = stranger.desk.ioproof("layout destroy theirs --state state --yes");
    let mode = |mode: u32| fs::set_permissions(&ledger, fs::Permissions::from_mode(mode)).expect("its mode");
    mode(0o666);
    let refused = run(&destroy).expect_code(7);
    assert_says(&refused.stderr, &["theirs.json", "another user could have written it", "chmod"]);
    assert_eq!(stranger.traces(), ["made", "checked"]);
    mode(0o600);
    let kept = stranger.desk.path("kept.json");
    fs::rename(&ledger, &kept).expect("moved");
    symlink(&kept, &ledger).expect("a link");
    assert!(run(&destroy).code != Some(0), "a link is followed");
    assert_eq!(stranger.traces(), ["made", "checked"]);
    fs::rename(&kept, &ledger).expect("moved back");
    let _ = run(&destroy).expect_code(0);
}

/// A record may claim the identity of any run, including the one used for layouts that are made by hand.
#[test]
fn a_record_takes_down_no_layout_that_was_left_standing_on_purpose() {
    let stranger = Stranger::new();
    let plan = run(&stranger.desk.ioproof("layout plan theirs --study study.toml --state state"));
    let hash = hash_in(&plan.stdout);
    let mut running = stranger.run().args(["--allow-commands", &hash]).spawn().expect("it starts");
    wait_for(&mut running, "the record", || events(&stranger.desk, "layout") >= 1);
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let _ = run(&stranger.desk.ioproof("layout clean --yes --state state")).expect_code(0);
    // A file named in a command is part of the hash; here its existence alone matters.
    stranger.traces().iter().for_each(|name| fs::remove_file(stranger.desk.path(name)).expect("removed"));
    let create = stranger.desk.ioproof("layout create theirs --study study.toml --state state");
    let _ = run(&create.args(["--allow-commands", &hash])).expect_code(0);
    for name in ["manifest.json", "journal.jsonl"] {
        let path = stranger.desk.record().join(name);
        let text = fs::read_to_string(&path).expect("it is there");
        let (_, after) = text.split_once("\"run_id\":").expect("its run");
        let own = after.trim_start().split('"').nth(1).expect("its name").to_owned();
        fs::write(&path, text.replace(&own, "by hand")).expect("doctored");
    }
    assert!(run(&stranger.desk.ioproof("run --yes --resume record --state state")).code != Some(0));
    assert_eq!(stranger.traces(), ["made", "checked"], "it stands");
    let _ = run(&stranger.desk.ioproof("layout destroy theirs --state state --yes")).expect_code(0);
}

#[test]
fn a_lock_or_log_that_is_no_file_is_refused_and_not_waited_for() {
    for name in [".lock", "commands.jsonl"] {
        let stranger = Stranger::new();
        let state = stranger.desk.path("state/layouts");
        fs::create_dir_all(&state).expect("a directory");
        let victim = stranger.desk.path("victim");
        fs::write(&victim, "mine").expect("a file");
        symlink(&victim, state.join(name)).expect("a link");
        let create = "layout create own --mount";
        let create = stranger.desk.ioproof(create).arg(stranger.desk.path("mnt"));
        let create = create.args(["--create", "true", "--destroy", "true", "--state", "state", "--yes"]);
        let _ = run(&create);
        assert_eq!(fs::read_to_string(&victim).expect("it is there"), "mine", "{name}");
        fs::remove_file(state.join(name)).expect("removed");
        mknodat(CWD, state.join(name), FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
        let _ = run(&create);
    }
}

#[test]
fn a_study_without_commands_takes_no_hash() {
    let (desk, data) = Desk::with_data();
    let study = format!(
        "[[target]]\nname = \"t\"\ndirectory = \"{}\"\n[[workload]]\nname = \"w\"\ntransfer = \"4KiB\"\nsize = \"64KiB\"\n",
        data.display()
    );
    let refused = run(&desk.study(&study).args(["--allow-commands", "abc"])).expect_code(2);
    assert_says(&refused.stderr, &["executes no commands"]);
}

/// `--destroy-data-on` at the first start is not consent by the user who resumes the record.
#[test]
fn a_raw_device_is_named_again_when_its_run_is_taken_up() {
    if skipped(Testbed::available()) {
        return;
    }
    let desk = Desk::new();
    let device = LoopDevice::builder().bytes(64 << 20).build().expect("a device");
    let path: PathBuf = device.device().to_owned();
    let study = format!(
        "[[target]]\nname = \"t\"\ndevice = \"{}\"\n[[workload]]\nname = \"w\"\ntransfer = \"64KiB\"\nsize = \"32MiB\"\n\
         duration = \"20s\"\n",
        path.display()
    );
    let mut running = desk.study(&study).arg("--destroy-data-on").arg(&path).spawn().expect("it starts");
    wait_for(&mut running, "the run", || events(&desk, "case-started") >= 1);
    running.signal(Signal::INT).expect("it lives");
    let _ = running.wait().expect("it ends").expect_code(130);
    let resume = desk.ioproof("run --yes --resume record");
    let refused = run(&resume).expect_code(3);
    assert_says(&refused.stderr, &["--destroy-data-on"]);
    let mut resumed = resume.arg("--destroy-data-on").arg(&path).spawn().expect("it starts");
    wait_for(&mut resumed, "the run", || events(&desk, "case-started") >= 2);
    resumed.signal(Signal::INT).expect("it lives");
    let _ = resumed.wait().expect("it ends").expect_code(130);
}

/// The hash covers the devices themselves, not only the words of the commands.
#[test]
fn another_disk_under_the_same_commands_asks_again() {
    if skipped(Testbed::available()) {
        return;
    }
    let desk = Desk::new();
    let study = |device: &LoopDevice| {
        format!(
            "[[layout]]\nname = \"raw\"\nrecipe = \"raw\"\ndevices = [\"{}\"]\n[[target]]\nname = \"t\"\n\
             layout = \"raw\"\n[[workload]]\nname = \"w\"\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n",
            device.device().display()
        )
    };
    let program = |device: &LoopDevice| desk.study(&study(device)).args(["--state", "state"]);
    let hash_of = |device: &LoopDevice| {
        let refused = run(&program(device)).expect_code(3);
        assert_says(&refused.stdout, &["all data on 1 device will be lost", "# blkdiscard -f "]);
        hash_in(&refused.stderr)
    };
    let small = LoopDevice::builder().bytes(64 << 20).build().expect("a device");
    let (path, hash) = (small.device().to_owned(), hash_of(&small));
    drop(small);
    let large = LoopDevice::builder().bytes(128 << 20).build().expect("a device");
    if large.device() == path {
        assert_ne!(hash, hash_of(&large));
    }
    let _ = run(&allow_commands(&program(&large))).expect_code(0);
}
