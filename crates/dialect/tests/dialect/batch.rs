//! Job scripts: what stands in them, that a shell takes them, and that nothing hostile gets in.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use dialect::batch::{BatchError, BatchRequest, Jobs, Script, System, scripts};
use plan::study::{Options, Override, read_with};
use plan::{Nanos, Plan, RunEnvironment};

const SYSTEMS: [System; 3] = [System::Slurm, System::Pbs, System::Flux];

const WEAK: &str = r#"
[study]
title = "Weak scaling"
seed = 7

[[target]]
name = "scratch"
directory = "/scratch/me"
layer = "shared"

[[workload]]
name = "weak"
nodes = [1, 2, 4]
tasks_per_node = 8
transfer = "1MiB"
size = "4GiB"
duration = "60s"
"#;

fn study(path: &str, text: &str, set: &[&str]) -> Plan {
    let overrides = set.iter().map(|one| Override::parse(one).expect("an override")).collect();
    read_with(path.as_ref(), text, &Options { overrides, ..Options::default() }).expect("a study")
}

fn environment() -> RunEnvironment {
    RunEnvironment::default()
}

/// All scripts as one text.
fn shown(scripts: &[Script]) -> String {
    scripts.iter().map(|script| format!("=== {}\n{}", script.name, script.text)).collect()
}

#[test]
fn one_job_runs_the_whole_study_on_the_most_nodes_that_a_case_asks_for() {
    let (plan, environment) = (study("/home/me/weak.toml", WEAK, &[]), environment());
    for system in SYSTEMS {
        let made = scripts(&BatchRequest::new(&plan, &environment, system)).expect("scripts");
        insta::assert_snapshot!(format!("one job {system}"), shown(&made));
    }
}

#[test]
fn each_point_has_a_job_with_the_allocation_that_fits() {
    let plan = study("/home/me/weak.toml", WEAK, &["target.scratch.directory=/scratch/it's me"]);
    let environment = environment();
    for system in SYSTEMS {
        let asked = BatchRequest {
            jobs: Jobs::PerNodes,
            ranks_per_node: 4,
            time: Some(Nanos::millis(7_200_000)),
            account: Some("proj-1".to_owned()),
            partition: Some("large".to_owned()),
            directives: vec!["--constraint=nvme".to_owned()],
            setup: vec!["module load openmpi".to_owned()],
            directory: Some("/home/me/runs of may".into()),
            mpi: Some("/opt/mpi/libmpi.so".into()),
            program: "/opt/io proof/ioproof".into(),
            out: "/home/me/out".into(),
            ..BatchRequest::new(&plan, &environment, system)
        };
        insta::assert_snapshot!(format!("per point {system}"), shown(&scripts(&asked).expect("scripts")));
    }
}

#[expect(clippy::print_stdout, reason = "the line is for the log of the test run")]
fn skipped(reason: &str) {
    println!("skipped: {reason}");
}

/// Runs `sh -n` and, where it is installed, shellcheck on all of `scripts`.
fn assert_sound(scripts: &[Script]) {
    let place = tempfile::tempdir().expect("a directory");
    for script in scripts {
        let path = place.path().join(&script.name);
        fs::write(&path, &script.text).expect("written");
        let said = |output: Output| {
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
        };
        let parsed = Command::new("sh").arg("-n").arg(&path).output().expect("a shell");
        assert!(parsed.status.success(), "{}\n{}", script.text, said(parsed));
        match Command::new("shellcheck").arg("--severity=warning").arg(&path).output() {
            Ok(checked) => assert!(checked.status.success(), "{}\n{}", script.text, said(checked)),
            Err(_) => skipped("needs the program shellcheck"),
        }
    }
}

#[test]
fn shells_take_all_scripts_also_with_hostile_names() {
    let environment = environment();
    for name in
        ["/home/me/weak.toml", "/a b/'\"$(touch x)`id`\n#SBATCH --nodes=99\n# flux: -N9.toml", "-rf", "*"]
    {
        let plan = study(name, WEAK, &["target.scratch.directory=/it's\t\"$HOME\";"]);
        for system in SYSTEMS {
            for jobs in [Jobs::One, Jobs::PerNodes] {
                let asked = BatchRequest {
                    jobs,
                    setup: vec!["umask 022".to_owned()],
                    launcher: Some("mpirun -np 4".to_owned()),
                    directory: Some(name.into()),
                    program: name.into(),
                    out: name.into(),
                    ..BatchRequest::new(&plan, &environment, system)
                };
                let made = scripts(&asked).expect("scripts");
                assert_sound(&made);
                assert_sound(
                    &scripts(&BatchRequest { jobs, ..BatchRequest::new(&plan, &environment, system) })
                        .expect("scripts"),
                );
            }
        }
    }
}

#[test]
fn no_name_becomes_a_directive() {
    let title = "x\\nflux: --nodes=98\\n#PBS -l select=98";
    let text = WEAK.replace("Weak scaling", title);
    let name = "flux: -N98\n#SBATCH --nodes=98\n# flux: -N98";
    let plan = study(name, &text, &[]);
    let mut environment = environment();
    environment.assumed.class = "told. flux: -N98\n# flux: -N98".to_owned();
    for system in SYSTEMS {
        let asked = BatchRequest { jobs: Jobs::PerNodes, ..BatchRequest::new(&plan, &environment, system) };
        for script in scripts(&asked).expect("scripts") {
            let head = script.text.split("set -eu").next().expect("a head");
            let directives = head.lines().filter(|line| {
                let told = line.trim_start_matches('#').trim_start();
                line.starts_with("#SBATCH")
                    || line.starts_with("#PBS")
                    || told.to_lowercase().starts_with("flux:")
            });
            let hostile: Vec<_> = directives
                .filter(|line| line.contains("98"))
                .filter(|line| !line.contains("ioproof-flux"))
                .collect();
            assert_eq!(hostile, [""; 0], "{}", script.text);
        }
    }
}

/// Runs a script in which the launcher and the program are doubles: each prints its arguments, one
/// on a line in brackets, and the program ends with `code`.
fn run_with_doubles(script: &Script, place: &Path, code: i32) -> Output {
    let doubles = place.join("doubles");
    fs::create_dir_all(&doubles).expect("a directory");
    let launcher = "#!/bin/sh\nwhile :; do case $1 in -*) shift;; *) break;; esac; done\nexec \"$@\"\n";
    let program = format!("#!/bin/sh\nprintf '[%s]\\n' \"$@\"\nexit {code}\n");
    for (name, text) in [("srun", launcher), ("ioproof", &program)] {
        let path = doubles.join(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    }
    let path = format!("{}:{}", doubles.display(), std::env::var("PATH").unwrap_or_default());
    fs::write(place.join(&script.name), &script.text).expect("written");
    let mut command = Command::new("sh");
    command.arg(place.join(&script.name)).env("PATH", path).current_dir(place);
    command.output().expect("a shell")
}

#[test]
fn the_program_gets_every_word_as_it_was_and_its_status_is_kept() {
    let place = tempfile::tempdir().expect("a directory");
    let name = "/a b/'\"$(touch x)\n.toml";
    let (plan, environment) = (study(name, WEAK, &["workload.weak.size=1GiB"]), environment());
    let asked = BatchRequest {
        jobs: Jobs::PerNodes,
        out: "it's out".into(),
        ..BatchRequest::new(&plan, &environment, System::Slurm)
    };
    let made = scripts(&asked).expect("scripts");
    let ran = run_with_doubles(&made[1], place.path(), 8);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let words = [
        "run",
        name,
        "--set",
        "workload.weak.size=1GiB",
        "--on-nodes",
        "2",
        "--out",
        "it's out/nodes-2",
        "--yes",
    ];
    assert_eq!(said, words.map(|word| format!("[{word}]\n")).concat());
    assert_eq!(ran.status.code(), Some(8));
    let status = fs::read_to_string(place.path().join("it's out/nodes-2.status"));
    assert_eq!(status.expect("recorded"), "8\n");
    // Submitted again, it goes on with the record that is there.
    let record = place.path().join("it's out/nodes-2");
    fs::create_dir(&record).expect("a directory");
    fs::write(record.join("manifest.json"), "{}").expect("written");
    let again = run_with_doubles(&made[1], place.path(), 0);
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert_eq!(
        said,
        ["run", "--resume", "it's out/nodes-2", "--yes"].map(|word| format!("[{word}]\n")).concat()
    );
    // The merge takes what there is, and says what is missing by its status.
    let merged = run_with_doubles(&made[3], place.path(), 0);
    let said = String::from_utf8_lossy(&merged.stdout).into_owned();
    let words = ["merge", "it's out/all", "it's out/nodes-2", "report", "it's out/all"];
    assert_eq!(said, words.map(|word| format!("[{word}]\n")).concat());
    assert_eq!(merged.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&merged.stderr).contains("no record it's out/nodes-1"));
}

/// All scripts of all systems, submitted and run with doubles from directories with a hostile name.
#[test]
fn nothing_in_a_name_is_executed() {
    const HOSTILE: &str = "a $(touch PWNED) ;'\"` b/`touch PWNED`\n#SBATCH -N9\n& touch PWNED;-";
    let place = tempfile::tempdir().expect("a directory");
    let environment = environment();
    let text = WEAK.replace("Weak scaling", "$(touch PWNED)\\ntouch PWNED");
    for system in SYSTEMS {
        let doubles = place.path().join(format!("doubles of {system}"));
        fs::create_dir_all(&doubles).expect("a directory");
        // Submitting runs the script at once; starting ranks runs one.
        let submit = "#!/bin/sh\n[ \"$1\" != batch ] || shift\nwhile :; do case $1 in -W) shift 2;; -*) shift;; \
                      *) break;; esac; done\nsh \"$1\" >>\"$LOG\" || exit 1\necho 7\n";
        let launch = "#!/bin/sh\n[ \"$1\" != run ] || shift\nwhile :; do case $1 in -n) shift 2;; -*) shift;; \
                      *) break;; esac; done\nexec \"$@\"\n";
        let flux = "#!/bin/sh\ncase $1 in batch) exec sbatch \"$@\";; *) exec srun \"$@\";; esac\n";
        let work = place.path().join(HOSTILE).join(system.to_string());
        fs::create_dir_all(&work).expect("a directory");
        let program = work.join("ioproof");
        let echo = "#!/bin/sh\nprintf '[%s]\\0' \"$@\"\n";
        for (path, text) in [
            (doubles.join("sbatch"), submit),
            (doubles.join("qsub"), submit),
            (doubles.join("srun"), launch),
            (doubles.join("mpiexec"), launch),
            (doubles.join("flux"), flux),
            (program.clone(), echo),
        ] {
            fs::write(&path, text).expect("written");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&path, mode).expect("executable");
        }
        let study_path = work.join("$(touch PWNED).toml");
        let value = "target.scratch.directory=/it's $(touch PWNED)\n`touch PWNED`";
        let plan = study(study_path.to_str().expect("a text"), &text, &[value]);
        let asked =
            BatchRequest { program, out: work.clone(), ..BatchRequest::new(&plan, &environment, system) };
        for script in scripts(&asked).expect("scripts") {
            fs::write(work.join(&script.name), &script.text).expect("written");
        }
        let log = place.path().join("log");
        let _ = fs::remove_file(&log);
        let mut command = Command::new("sh");
        let path = format!("{}:{}", doubles.display(), std::env::var("PATH").unwrap_or_default());
        command.arg("submit.sh").env("PATH", path).env("LOG", &log).env("PBS_O_WORKDIR", &work);
        let ran = command.env("CDPATH", place.path()).current_dir(&work).output().expect("a shell");
        assert!(ran.status.success(), "{system}: {}", String::from_utf8_lossy(&ran.stderr));
        let record = work.join("run");
        let words = ["run", plan_path(&study_path), "--set", value, "--out", plan_path(&record), "--yes"];
        let expected: String = words.iter().map(|word| format!("[{word}]\0")).collect();
        assert_eq!(fs::read_to_string(&log).expect("it ran"), expected, "{system}");
    }
    let mut directories = vec![place.path().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).expect("it can be read").flatten() {
            assert_ne!(entry.file_name(), "PWNED", "{}", entry.path().display());
            if entry.path().is_dir() {
                directories.push(entry.path());
            }
        }
    }
}

fn plan_path(path: &Path) -> &str {
    path.to_str().expect("a text")
}

#[test]
fn what_is_impossible_is_refused_with_the_next_step() {
    let environment = environment();
    let plan = study("/s.toml", WEAK, &[]);
    let asked = || BatchRequest::new(&plan, &environment, System::Slurm);
    let points = BatchRequest { jobs: Jobs::PerNodes, ..asked() };
    let refused = |asked: &BatchRequest<'_>| scripts(asked).expect_err("refused").to_string();
    assert_eq!(
        refused(&BatchRequest { ranks_per_node: 0, ..asked() }),
        "the number of ranks per node is 0; give at least 1"
    );
    for (account, said) in [("a b", "account"), ("a\nb", "account"), ("", "account")] {
        assert!(refused(&BatchRequest { account: Some(account.to_owned()), ..asked() }).contains(said));
    }
    for directive in ["--x\n#SBATCH --nodes=9", "nodes=9", ""] {
        assert!(
            refused(&BatchRequest { directives: vec![directive.to_owned()], ..asked() })
                .contains("a directive")
        );
    }
    assert!(refused(&BatchRequest { setup: vec!["a\nb".to_owned()], ..asked() }).contains("a setup line"));
    assert!(refused(&BatchRequest { launcher: Some(" ".to_owned()), ..asked() }).contains("the launcher"));

    let fixed = study("/s.toml", WEAK, &["workload.weak.nodes=2"]);
    let error = scripts(&BatchRequest { plan: &fixed, ..points.clone() }).expect_err("no points");
    assert_eq!(error, BatchError::NoPoints { nodes: 2 });
    let free = WEAK.to_owned()
        + "[[workload]]\nname = \"free\"\ntasks_per_node = 2\ntransfer = \"1MiB\"\nsize = \"1GiB\"\n";
    let free = study("/s.toml", &free, &[]);
    let error = scripts(&BatchRequest { plan: &free, ..points }).expect_err("no nodes");
    assert_eq!(error, BatchError::NoNodes { workload: "free".to_owned() });
    let quick = plan::PlanSource::Quick { directory: "/x".into(), others: Vec::new() };
    let quick = Plan::new("quick", quick, 1, fixed.cases.clone());
    assert_eq!(
        scripts(&BatchRequest { plan: &quick, ..asked() }).expect_err("no study"),
        BatchError::NoStudy
    );
}

#[test]
fn options_of_the_run_are_passed_on_as_words() {
    let (plan, environment) = (study("/s.toml", WEAK, &[]), environment());
    let options = ["--time", "10min", "--like", "a b"].map(str::to_owned).to_vec();
    let made = scripts(&BatchRequest { options, ..BatchRequest::new(&plan, &environment, System::Slurm) });
    let text = made.expect("scripts").remove(0).text;
    assert!(text.contains("--time 10min \\\n        --like 'a b'"), "{text}");
}

#[test]
fn a_study_that_executes_commands_needs_their_hash() {
    let layout = "[[layout]]\nname = \"cards\"\nrecipe = \"raw\"\ndevices = [\"/dev/nvme0n1\"]\n\
                  [[target]]\nname = \"t\"\nlayout = \"cards\"\n";
    let servers = "[[target]]\nname = \"t\"\npath = \"/x\"\nserver_collect = [\"cat /y\"]\n";
    let environment = environment();
    for (target, system) in SYSTEMS.into_iter().flat_map(|system| [(layout, system), (servers, system)]) {
        let text = format!("{target}[[workload]]\nname = \"w\"\ntransfer = \"1MiB\"\nsize = \"1GiB\"\n");
        let plan = read_with(Path::new("/home/me/cards.toml"), &text, &Options::default()).expect("a plan");
        let asked = BatchRequest::new(&plan, &environment, system);
        assert_eq!(scripts(&asked), Err(BatchError::NoConsent));
        let asked = BatchRequest { allow_commands: Some("a b; touch x".to_owned()), ..asked };
        let made = scripts(&asked).expect("scripts");
        assert!(made[0].text.contains(" --yes --allow-commands 'a b; touch x' "), "{}", made[0].text);
    }
}
