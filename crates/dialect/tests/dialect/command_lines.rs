//! Published command lines of IOR are accepted, or refused with a reason that is right.
//!
//! `ior/command_lines.tsv` holds them as they were published, with their sources. The launcher in
//! front of IOR and the variables of its shell are taken away as a shell would do it.

use dialect::ToolError;
use dialect::ior::{Launcher, ParsedCommand, parse};
use plan::{Backend, Bytes, Existing, Keep, Nanos, Order, Phase, Placement, ReadFrom, Sharing, Stonewall};

/// What the shells of the publications would have put in place of their variables.
const VARIABLES: [(&str, &str); 26] = [
    ("$(date +\"%Y-%m-%d_%H-%M-%S\")", "2020-01-01_00-00-00"),
    ("$((SLURM_NNODES * threads))", "4"),
    ("$SLURM_NNODES", "2"),
    ("$SCRATCH", "scratch"),
    ("$DW_JOB_STRIPED", "striped"),
    ("$OUTPUT_DIR", "output"),
    ("\"$IOR\"", "ior"),
    ("${IOR}", "ior"),
    ("$IOR_BIN", "bin"),
    ("$taskspernode", "4"),
    ("$nodes", "2"),
    ("$LSB_DJOB_HOSTFILE", "hosts"),
    ("${FILESYSTEM}", "fs"),
    ("$IO_API_ARG", ""),
    ("$IO_API", "POSIX"),
    ("${IO_API}", "POSIX"),
    ("$TYPE_IO_ARG", "-F"),
    ("${TYPE_IO}", "fpp"),
    ("$TRANSFER_SIZE", "1m"),
    ("${TRANSFER_SIZE}", "1m"),
    ("$SIZE", "1g"),
    ("${SIZE}", "1g"),
    ("$SUMMARY_FORMAT", "JSON"),
    ("${B}", "16"),
    ("${STONE}", "30"),
    ("${LOGJ}", "log.json"),
];

/// The words from IOR's own name on.
fn words(line: &str) -> Vec<String> {
    let mut line = line.to_owned();
    for (variable, value) in VARIABLES {
        line = line.replace(variable, value);
    }
    let words: Vec<String> = line.split_whitespace().map(|word| word.replace('"', "")).collect();
    let is_ior = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or_default();
        ["ior", "iob"].iter().any(|known| name.eq_ignore_ascii_case(known))
    };
    let start = words.iter().position(is_ior).unwrap_or_else(|| panic!("no IOR in {line}"));
    words[start..].to_vec()
}

fn ask(line: &str) -> Result<ParsedCommand, ToolError> {
    parse(&words(line), Launcher { tasks: Some(4), ..Launcher::default() })
}

struct Published {
    line: &'static str,
    source: &'static str,
    expected: &'static str,
}

fn published() -> Vec<Published> {
    let table = include_str!("ior/command_lines.tsv");
    table
        .lines()
        .skip(1)
        .map(|row| {
            let mut columns = row.split('\t');
            let mut next = || columns.next().expect("three columns");
            Published { line: next(), source: next(), expected: next() }
        })
        .collect()
}

#[test]
fn every_published_line_is_accepted_or_refused_for_the_right_reason() {
    let all = published();
    assert!(all.len() >= 26, "only {} lines", all.len());
    for Published { line, source, expected } in all {
        match (ask(line), expected.strip_prefix("refused: ")) {
            (Ok(_), None) => {}
            (Err(error), Some(reason)) => {
                assert!(error.to_string().contains(reason), "{source}: {line}: {error}");
            }
            (Ok(_), Some(reason)) => panic!("{source}: {line} should be refused: {reason}"),
            (Err(error), None) => panic!("{source}: {line} should be accepted: {error}"),
        }
    }
}

#[test]
fn every_option_of_a_published_line_has_a_meaning() {
    for Published { line, source, .. } in published() {
        let Ok(asked) = ask(line) else { continue };
        let options = words(line).iter().filter(|word| word.starts_with('-')).count();
        assert!(asked.notes.len() >= options, "{source}: {line}: {:?}", asked.notes);
        for note in &asked.notes {
            assert!(!note.meaning.is_empty() && !note.name.is_empty(), "{source}: {note:?}");
        }
    }
}

#[test]
fn one_card_with_six_tasks() {
    let asked = ask("IOR -a POSIX -B -e -t 1m -b 1m -s 10000 -N 6 -C -F").expect("accepted");
    let case = &asked.plan.cases[0];
    let workload = &case.workload;
    assert_eq!(case.phases, [Phase::Write, Phase::Read]);
    assert_eq!((workload.tasks, workload.bytes()), (6, Bytes(62_914_560_000)));
    assert_eq!(workload.backend, Backend::Psync);
    assert!(workload.direct && workload.sync.at_close && !workload.sync.per_write);
    assert_eq!(workload.read_from, ReadFrom::Shift { tasks: 1 });
    assert_eq!((workload.files.sharing, workload.files.keep), (Sharing::PerTask, Keep::Never));
    let placement = Placement::new(workload);
    assert_eq!(placement.file(5, Phase::Write, 0).path.to_str(), Some("testFile.00000005"));
    assert_eq!(placement.file(5, Phase::Read, 0).path.to_str(), Some("testFile.00000000"));
}

#[test]
fn twelve_cards_take_eleven_files_each() {
    let all = published();
    let line = all.iter().find(|published| published.line.contains("11/11")).expect("study A, test 2");
    let asked = ask(line.line).expect("accepted");
    let workload = &asked.plan.cases[0].workload;
    let files = Placement::new(workload).files(0);
    for card in 0..12 {
        let here = files.iter().filter(|slot| slot.path.starts_with(card.to_string())).count();
        assert_eq!(here, 11, "card {card}");
    }
    assert_eq!(files[13].path.to_str(), Some("1/1.00000013"));
}

#[test]
fn io500_hard_write_and_the_read_that_follows() {
    let directory = tempfile::tempdir().expect("a directory");
    let status = directory.path().join("stonewall");
    let write = format!(
        "ior --dataPacketType=timestamp -C -Q 1 -g -G=-312779194 -k -e -o d/file -t 47008 -b 47008 -s 10000000 \
         -w -D 300 -a POSIX -O stoneWallingStatusFile={0} -O saveRankPerformanceDetailsCSV=ranks.csv \
         -O stoneWallingWearOut=1",
        status.display()
    );
    let asked = ask(&write).expect("accepted");
    let case = &asked.plan.cases[0];
    let workload = &case.workload;
    assert_eq!(workload.stonewall, Some(Stonewall { deadline: Nanos::secs(300), wear_out: true }));
    assert_eq!(workload.signature, (-312_779_194_i64).cast_unsigned());
    assert_eq!(workload.transfer_limit, None);
    assert!(workload.barriers);
    assert_eq!(asked.side_files[0].status.as_ref(), Some(&status));
    assert_eq!(asked.side_files[0].case, case.id);
    assert!(asked.side_files[0].rank_csv.is_some());

    std::fs::write(&status, "4711").expect("written");
    let asked = ask(&write.replace(" -w ", " -r ")).expect("accepted");
    assert_eq!(asked.plan.cases[0].workload.transfer_limit, Some(4711));
    assert_eq!(asked.plan.cases[0].phases, [Phase::Read]);
    assert_eq!(asked.side_files[0].status, None);
}

#[test]
fn a_file_that_is_kept_is_checked_again_and_again() {
    let asked = ask("IOR -k -E -W -i 5 -o file").expect("accepted");
    let case = &asked.plan.cases[0];
    assert_eq!((case.phases.as_slice(), case.repetitions), ([Phase::CheckWrite].as_slice(), 5));
    assert_eq!(case.workload.files.existing, Existing::Reuse);
    assert_eq!(case.workload.files.keep, Keep::Always);
}

#[test]
fn a_random_order_has_a_seed_that_can_be_asked_for() {
    let seed = |line: &str| match ask(line).expect("accepted").plan.cases[0].workload.order {
        Order::Random { seed } => seed,
        order => panic!("{line} is {order:?}"),
    };
    assert_eq!(seed("ior -z"), 0);
    assert_eq!(seed("ior -z --random-offset-seed=5"), 5);
    assert_eq!(seed("ior -z -O random-offset-seed=7"), 7);
}
