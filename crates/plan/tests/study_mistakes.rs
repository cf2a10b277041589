//! What is shown of each kind of mistake in a study file, as a terminal shows it.
#![expect(clippy::unwrap_used, reason = "a study that is not refused fails the test")]

mod common;

use common::{RIGHT, shown, study};

/// Replaces a part of the right study and gives what is shown then.
fn spoilt(part: &str, by: &str) -> String {
    assert!(RIGHT.contains(part), "{part}");
    shown(&study(&RIGHT.replace(part, by)).unwrap_err())
}

#[test]
fn mistakes_in_the_text() {
    let (transfer, tasks) = ("transfer = \"1MiB\"", "tasks = 4");
    let wrong = [
        ("misspelt_key", spoilt(transfer, "transfr = \"1MiB\"")),
        ("unknown_key", spoilt(tasks, "colour = \"red\"")),
        ("misspelt_table", spoilt("[[workload]]", "[[worklaod]]")),
        ("key_outside_its_table", spoilt("[study]", "transfer = \"1MiB\"\n[study]")),
        ("single_table", spoilt("[[workload]]", "[workload]")),
        ("repeated_table", spoilt("[study]", "[[study]]")),
        ("not_toml", spoilt(transfer, "transfer = 1MiB")),
        ("key_given_twice", spoilt(tasks, "tasks = 4\ntasks = 5")),
        ("empty_file", shown(&study("").unwrap_err())),
    ];
    for (name, shown) in wrong {
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn values_that_are_none() {
    let (transfer, tasks) = ("transfer = \"1MiB\"", "tasks = 4");
    let wrong = [
        ("ambiguous_unit", spoilt(transfer, "transfer = \"1mb\"")),
        ("no_size", spoilt(transfer, "transfer = \"one\"")),
        ("negative", spoilt(transfer, "transfer = -4096")),
        ("no_tasks", spoilt(tasks, "tasks = 0")),
        ("wrong_type", spoilt(tasks, "tasks = \"4\"")),
        ("list_for_one_value", spoilt(tasks, "tasks = [1, 2, 4]")),
        ("misspelt_word", spoilt(tasks, "order = \"randon\"")),
        ("empty_phases", spoilt(tasks, "phases = []")),
        ("unknown_phase", spoilt(tasks, "phases = [\"write\", \"reed\"]")),
        ("bad_name", spoilt("name = \"stream\"", "name = \"my stream\"")),
        ("time_without_unit", spoilt(tasks, "duration = 10")),
        ("share_above_hundred", spoilt(tasks, "phases = [\"write\", \"mixed\"]\nread_percent = 101")),
        ("infinite_rate", spoilt(tasks, "rate = inf")),
    ];
    for (name, shown) in wrong {
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn values_that_do_not_go_together() {
    let (block, tasks) = ("block = \"64MiB\"", "tasks = 4");
    let wrong = [
        ("transfer_of_nothing", spoilt("transfer = \"1MiB\"", "transfer = 0")),
        ("block_no_multiple", spoilt(block, "block = \"1500k\"")),
        ("size_no_multiple", spoilt(block, "size = \"1MiB\"")),
        ("size_and_block", spoilt(block, "block = \"64MiB\"\nsize = \"1GiB\"")),
        ("no_volume", spoilt(block, "")),
        ("too_much", spoilt(tasks, "segments = 1000000000000")),
        ("check_before_write", spoilt(tasks, "phases = [\"check-write\", \"write\"]\nfill = true")),
        ("read_of_nothing", spoilt(tasks, "phases = [\"read\"]")),
        ("duration_and_stonewall", spoilt(tasks, "duration = \"10s\"\nstonewall = \"5s\"")),
        ("stonewall_of_nothing", spoilt(tasks, "stonewall = \"0s\"")),
        ("wear_out_alone", spoilt(tasks, "wear_out = true")),
        ("mixed_without_share", spoilt(tasks, "phases = [\"write\", \"mixed\"]")),
        ("depth_without_uring", spoilt(tasks, "backend = \"psync\"\ndepth = 8")),
        ("direct_mapping", spoilt(tasks, "backend = \"mmap\"\ndirect = true")),
    ];
    for (name, shown) in wrong {
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn tables_that_do_not_go_together() {
    let second = |keys: &str| format!("{RIGHT}\n[[workload]]\n{keys}\ntransfer = \"4k\"\n");
    let place = "path = \"/mnt/scratch/data\"";
    let wrong = [
        ("unknown_target", RIGHT.replace("target = \"scratch\"", "target = \"scrach\"")),
        ("no_target", RIGHT.replace(&format!("[[target]]\nname = \"scratch\"\n{place}"), "")),
        ("no_place", RIGHT.replace(place, "")),
        ("two_places", RIGHT.replace(place, &format!("{place}\ndevice = \"/dev/sdz\""))),
        ("duplicated_workload", second("name = \"stream\"\nblock = \"1m\"")),
        ("duplicated_target", format!("{RIGHT}\n[[target]]\nname = \"scratch\"\ndirectory = \"/mnt\"\n")),
        (
            "files_kept_and_not_kept",
            second("name = \"again\"\nblock = \"1m\"\nkeep = \"always\"")
                .replace("tasks = 4", "keep = \"never\""),
        ),
        ("reads_more_than_was_written", second("name = \"big\"\nsize = \"1g\"\nphases = [\"read\"]")),
        (
            "reads_other_files_than_were_written",
            second("name = \"own\"\nblock = \"4k\"\nphases = [\"read\"]\nsharing = \"per-task\""),
        ),
        ("shared_file_in_two_places", RIGHT.replace(place, "paths = [\"/mnt/0/data\", \"/mnt/1/data\"]")),
        ("files_of_a_device", RIGHT.replace(place, "device = \"/dev/sdz\"") + "keep = \"never\"\n"),
        ("device_for_each_task", RIGHT.replace(place, "device = \"/dev/sdz\"") + "sharing = \"per-task\"\n"),
    ];
    for (name, text) in wrong {
        insta::assert_snapshot!(name, shown(&study(&text).unwrap_err()));
    }
}
