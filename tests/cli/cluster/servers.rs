//! Counters that servers report before and after phases: they replace the device counters where the devices are
//! remote.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use testbed::{Finished, Program, Programme, ProgrammedFs, Testbed, skipped};

use crate::desk::{Desk, allow_commands, assert_says, at_terminal, events, hash_in, measured, run};

/// A file system whose devices are not visible from here, and a command that acts as its servers.
struct Storage {
    desk: Desk,
    mount: ProgrammedFs,
}

impl Storage {
    /// Each time it is queried, the server has read and written `moved` more bytes.
    fn new(moved: u64, read_cache: u32) -> Self {
        Self::of(moved, read_cache, Programme::default())
    }

    fn of(moved: u64, read_cache: u32, programme: Programme) -> Self {
        let mount = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
        let storage = Self { desk: Desk::new(), mount };
        storage.script(&format!(
            "n=$(cat calls 2>/dev/null || echo 0); n=$((n+1)); echo $n >calls\n\
             echo obdfilter.lustre-OST0000.stats=\n\
             echo snapshot_time 1589909588.$n secs.nsecs\n\
             echo read_bytes $n samples [bytes] 4096 4096 $((n*{moved}))\n\
             echo write_bytes $n samples [bytes] 4096 4096 $((n*{moved}))\n\
             echo osd-ldiskfs.lustre-OST0000.read_cache_enable={read_cache}\n\
             echo osd-ldiskfs.lustre-OST0000.writethrough_cache_enable=0\n"
        ));
        storage
    }

    fn script(&self, text: &str) {
        fs::write(self.desk.path("ask.sh"), text).expect("a script");
    }

    /// A commitment about this storage that any reads meet.
    fn program(&self) -> Program {
        self.desk.study(&format!(
            "[protocol]\nrepetitions = 5\nphase_min = \"1ms\"\n[[target]]\nname = \"store\"\ndirectory = \"{}\"\n\
             caches = \"0\"\nserver_collect = [\"sh ./ask.sh\"]\nserver_time_limit = \"2s\"\n\
             [[workload]]\nname = \"reads\"\ntransfer = \"4KiB\"\nsize = \"1MiB\"\ndirect = true\n\
             phases = [\"write\", \"read\"]\n\
             [[commitment]]\nname = \"promise\"\nworkload = \"reads\"\nphase = \"read\"\n\
             statistic = \"median\"\niops_at_least = 1\n",
            self.mount.path().display()
        ))
    }

    fn judged(&self, code: i32) -> Finished {
        run(&allow_commands(&self.program().arg("--verdict"))).expect_code(code)
    }

    fn audit(&self) -> String {
        run(&self.desk.ioproof("check --json").arg(self.desk.record())).stdout
    }

    /// The row of a phase in the table of server counters.
    fn row(&self, phase: &str) -> serde_json::Value {
        let report = self.desk.report().0;
        let rows = report["statements"]["server_side"].as_array().expect("a table").clone();
        let place =
            report["figures"].as_array().and_then(|all| all.iter().position(|one| one["phase"] == phase));
        let number = &report["figures"][place.expect("the phase")]["number"];
        let is_of = |row: &serde_json::Value| row["figures"].as_array().is_some_and(|of| of.contains(number));
        rows.into_iter().find(is_of).unwrap_or_else(|| panic!("no row of {phase}"))
    }
}

/// The server counters are the only evidence that the reads were cold. Without them, the same commitment is doubtful,
/// as tested by `memory::direct_reads_of_a_file_system_in_user_space_are_no_better`.
#[test]
fn measured_servers_whose_disks_moved_all_bytes_keep_a_promise() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(|_| disks_moved_all_bytes());
}

fn disks_moved_all_bytes() {
    // A pass of 256 reads takes more than 2 s.
    let slow = Programme { read_latency: Duration::from_millis(10), ..Programme::default() };
    let storage = Storage::of(1 << 20, 0, slow);
    let said = storage.judged(0).stdout;
    assert_says(&said, &["PASS"]);
    assert_says(&storage.desk.tables(), &["At the servers"]);
    let row = storage.row("read");
    assert_eq!((row["from_disks"].as_f64(), row["osts_used"].as_u64()), (Some(1.0), Some(1)), "{row}");
    let page = fs::read_to_string(storage.desk.record().join("report.html")).expect("a page");
    assert_says(&page, &["At the servers"]);
    for table in ["servers", "server_texts"] {
        assert!(storage.desk.record().join(table).join("000001.parquet").is_file(), "{table}");
    }
}

#[test]
fn a_cache_of_a_server_that_is_on_makes_reads_doubtful() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let storage = Storage::new(1 << 20, 1);
    let said = storage.judged(8).stdout;
    assert_says(&said, &["DOUBTFUL"]);
    let audit = storage.audit();
    assert_says(&audit, &["server caches", "memory not excluded", "lustre-OST0000.read_cache_enable"]);
    assert_eq!(storage.row("read")["from_disks"], serde_json::Value::Null);
}

#[test]
fn servers_that_moved_nothing_show_that_a_cache_answered() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let storage = Storage::new(0, 0);
    assert_says(&storage.judged(8).stdout, &["DOUBTFUL"]);
    assert_says(&storage.audit(), &["cached", "the servers handed out 0.0 % of the bytes that tasks read"]);
}

#[test]
fn a_command_that_fails_hangs_or_says_nothing_is_named_and_the_run_goes_on() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let commands = [
        ("echo no such host >&2; exit 3", "no such host"),
        ("sleep 1000", "took longer than 2 s"),
        ("echo hello", "printed nothing that ioproof can parse"),
    ];
    for (script, reason) in commands {
        let storage = Storage::new(0, 0);
        storage.script(script);
        // A command that hangs costs its timeout before each phase.
        let program = storage.program();
        let study = fs::read_to_string(storage.desk.path("study.toml")).expect("a study");
        let shorter = study
            .replace("repetitions = 5", "repetitions = 1")
            .replace("phases = [\"write\", \"read\"]", "phases = [\"read\"]\nfill = true");
        fs::write(storage.desk.path("study.toml"), shorter).expect("a study");
        let said = run(&allow_commands(&program)).expect_code(0);
        assert_says(&said.stdout, &[reason, "servers not queried: `sh ./ask.sh`"]);
        assert_eq!(events(&storage.desk, "case-finished"), 1, "{script}");
        assert!(storage.desk.report().warnings("read").contains(&"server-untold".to_owned()), "{script}");
        assert_says(&storage.audit(), &["memory not excluded"]);
    }
}

#[test]
fn nobody_is_asked_by_a_strangers_study_without_consent() {
    let desk = Desk::new();
    let study = format!(
        "[[target]]\nname = \"t\"\ndirectory = \"{}\"\nserver_collect = [\"touch asked\", \"sh ./ask.sh\"]\n\
         [[workload]]\nname = \"w\"\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n",
        desk.path(".").canonicalize().expect("it is there").display()
    );
    fs::write(desk.path("ask.sh"), "exit 0\n").expect("a script");
    let program = desk.study(&study);
    let is_asked = || desk.path("asked").exists();
    let refused = run(&program).expect_code(3);
    assert_says(&refused.stdout, &["# touch asked", "# sh ./ask.sh", "servers of t are queried"]);
    assert_says(&refused.stderr, &["would execute 2 commands", "no terminal to ask on", "--allow-commands"]);
    let explained = run(&desk.ioproof("run study.toml --explain")).expect_code(0).stdout;
    assert_eq!(hash_in(&explained), hash_in(&refused.stderr));
    for typed in ["n\\n", "\\n"] {
        let _ = at_terminal(&program, typed).expect_code(3);
    }
    assert!(!is_asked() && !desk.record().exists());
    // With a different script, the hash covers different commands.
    let agreed = program.clone().args(["--allow-commands", &hash_in(&refused.stderr)]);
    fs::write(desk.path("ask.sh"), "exit 1\n").expect("a script");
    let _ = run(&agreed).expect_code(3);
    assert!(!is_asked());
    fs::write(desk.path("ask.sh"), "exit 0\n").expect("a script");
    let _ = run(&agreed).expect_code(0);
    assert!(is_asked());
    // A study that queries no servers needs no consent.
    fs::remove_dir_all(desk.record()).expect("no longer needed");
    let quiet = desk.study(&study.replace("server_collect", "# server_collect"));
    let _ = run(&quiet.args(["--allow-commands", "0"])).expect_code(2);
}

#[test]
fn a_resumed_run_asks_before_it_executes_what_its_record_says() {
    let desk = Desk::new();
    let study = format!(
        "[[target]]\nname = \"t\"\ndirectory = \"{}\"\nserver_collect = [\"touch asked\"]\n\
         [[workload]]\nname = \"w\"\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n\
         [[workload]]\nname = \"v\"\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n",
        desk.path(".").canonicalize().expect("it is there").display()
    );
    let _ = run(&allow_commands(&desk.study(&study))).expect_code(0);
    fs::remove_file(desk.path("asked")).expect("it was asked");
    // Edits the journal to look as if the run had been killed before its second case.
    let journal = desk.record().join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    let (kept, _) = text.split_once("{\"event\":\"case-started\",\"case\":\"v\"").expect("a second case");
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o644)).expect("it is ours");
    fs::write(&journal, kept).expect("cut");
    for table in fs::read_dir(desk.record()).expect("a record").flatten() {
        if table.path().is_dir() {
            fs::remove_dir_all(table.path()).expect("it is ours");
        }
    }
    let resume = desk.ioproof("run --yes --resume record");
    let refused = run(&resume).expect_code(3);
    assert_says(&refused.stdout, &["# touch asked"]);
    assert!(!desk.path("asked").exists());
    let _ = run(&resume.args(["--allow-commands", &hash_in(&refused.stderr)])).expect_code(0);
    assert!(desk.path("asked").exists());
}

/// With a layout there is a single consent question for all commands.
#[test]
fn commands_of_layouts_and_servers_are_agreed_to_together() {
    if skipped(Testbed::available()) {
        return;
    }
    let desk = Desk::new();
    let study = format!(
        "[[layout]]\nname = \"theirs\"\nrecipe = \"own\"\nmount_point = \"{0}/mnt\"\n\
         create = [\"mkdir -p {{mount}}\"]\ndestroy = [\"rm -rf {{mount}}\"]\n\
         [[target]]\nname = \"t\"\nlayout = \"theirs\"\nserver_collect = [\"touch asked\"]\n\
         [[workload]]\nname = \"w\"\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n",
        desk.path(".").canonicalize().expect("it is there").display()
    );
    let program = desk.study(&study).args(["--state", "state"]);
    let refused = run(&program).expect_code(3);
    assert_says(&refused.stdout, &["# mkdir -p", "# touch asked"]);
    let _ = run(&allow_commands(&program)).expect_code(0);
    assert!(desk.path("asked").exists());
}
