//! What is shown of each kind of mistake in a study file, as a terminal shows it.
#![expect(clippy::unwrap_used, reason = "a study that is not refused fails the test")]

use crate::common::{RIGHT, shown, study};

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
        ("list_for_one_value", spoilt("repetitions = 3", "repetitions = [1, 2, 4]")),
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

#[test]
fn sweeps_that_cannot_be() {
    let tasks = "tasks = 4";
    let wrong = [
        ("sweep_over_nothing", spoilt(tasks, "tasks = []")),
        ("sweep_with_a_wrong_value", spoilt(tasks, "tasks = [1, 0, 4]")),
        ("sweep_with_a_value_twice", spoilt("transfer = \"1MiB\"", "transfer = [\"4k\", \"1MiB\", 4096]")),
        ("sweep_with_a_range_over_a_value", spoilt(tasks, "tasks = [4, \"1..8 times 2\"]")),
        ("range_without_step", spoilt("transfer = \"1MiB\"", "transfer = \"4KiB..1MiB\"")),
        ("range_with_a_step_of_nothing", spoilt(tasks, "tasks = \"1..8 step 0\"")),
        ("range_that_falls", spoilt(tasks, "tasks = \"8..1 step 1\"")),
        ("range_of_one_value", spoilt(tasks, "tasks = \"8..8 step 1\"")),
        ("range_by_one", spoilt(tasks, "tasks = \"1..8 times 1\"")),
        ("range_by_a_fraction", spoilt(tasks, "segments = \"1..8 times 1.5\"")),
        ("range_from_zero_by_a_factor", spoilt(tasks, "memory_hog = \"0..1m times 2\"")),
        ("range_past_its_end", spoilt(tasks, "tasks = \"33..265 step 33\"")),
        ("range_past_its_end_by_a_factor", spoilt(tasks, "segments = \"1..100 times 3\"")),
        ("range_past_its_end_of_numbers", spoilt(tasks, "rate = \"0.5..2 step 0.4\"")),
        ("range_without_an_end", spoilt(tasks, "tasks = \"1.. step 2\"")),
        ("range_of_no_numbers", spoilt(tasks, "tasks = \"one..ten step 1\"")),
        ("range_beyond_what_is_allowed", spoilt(tasks, "depth = \"1..65536 times 2\"")),
        ("range_of_words", spoilt(tasks, "order = \"random..sequential step 1\"")),
        ("sweep_of_a_name", spoilt("name = \"stream\"", "name = [\"a\", \"b\"]")),
        ("sweep_of_what_files_are", spoilt(tasks, "keep = [\"never\", \"always\"]")),
        ("point_that_cannot_be", spoilt(tasks, "tasks = 4\nsegments = [1, 1000000000000]")),
        (
            "points_that_cannot_be",
            spoilt("transfer = \"1MiB\"", "transfer = [\"3k\", \"1MiB\", \"5k\", \"7k\"]"),
        ),
        ("size_that_some_tasks_cannot_share", shared_size()),
        ("point_with_an_unknown_target", spoilt("target = \"scratch\"", "target = [\"scratch\", \"flash\"]")),
        (
            "together_of_different_lengths",
            spoilt(tasks, "tasks = [1, 2]\ndepth = [1, 2, 4]\ntogether = [\"tasks\", \"depth\"]"),
        ),
        ("together_without_a_sweep", spoilt(tasks, "tasks = [1, 2]\ntogether = [\"tasks\", \"depth\"]")),
        ("together_alone", spoilt(tasks, "tasks = [1, 2]\ntogether = [\"tasks\"]")),
        ("too_many_cases", spoilt(tasks, "tasks = \"1..200 step 1\"\nsegments = \"1..51 step 1\"")),
        ("far_too_many_cases", spoilt(tasks, "segments = \"1..9000000000000 step 1\"")),
    ];
    for (name, shown) in wrong {
        insta::assert_snapshot!(name, shown);
    }
}

/// A size that one of seven task counts cannot share evenly.
fn shared_size() -> String {
    let text = RIGHT.replace("block = \"64MiB\"", "size = \"60MiB\"");
    shown(&study(&text.replace("tasks = 4", "tasks = \"1..7 step 1\"")).unwrap_err())
}

/// The right study with a workload that reads what the other has written.
fn reader() -> String {
    format!("{RIGHT}\n[[workload]]\nname = \"r\"\ntransfer = \"4k\"\nblock = \"1m\"\nphases = [\"read\"]\n")
}

#[test]
fn protocols_that_cannot_be() {
    let repetitions = "repetitions = 3";
    let wrong = [
        ("rule_without_repetitions", spoilt(repetitions, "until = \"steady\"")),
        ("rule_with_too_few_repetitions", spoilt(repetitions, "repetitions = 3\nuntil = \"interval 5 %\"")),
        ("rule_that_is_none", spoilt(repetitions, "repetitions = 30\nuntil = \"stedy\"")),
        ("interval_without_percent", spoilt(repetitions, "repetitions = 30\nuntil = \"interval 5\"")),
        ("interval_of_nothing", spoilt(repetitions, "repetitions = 30\nuntil = \"interval 0 %\"")),
        ("window_without_a_rule", spoilt(repetitions, "steady_window = 3")),
        (
            "window_with_another_rule",
            spoilt(repetitions, "repetitions = 9\nuntil = \"interval 9 %\"\nsteady_window = 3"),
        ),
        (
            "share_without_percent",
            spoilt(repetitions, "repetitions = 9\nuntil = \"steady\"\nsteady_slope = \"0.1\""),
        ),
        ("wiped_before_it_is_read", shown(&study(&format!("{}wipe = true\n", reader())).unwrap_err())),
        ("caches_dropped_for_nothing", spoilt("tasks = 4", "phases = [\"write\"]\ndrop_caches = true")),
        (
            "shuffled_before_it_is_written",
            shown(&study(&reader().replace(repetitions, "shuffle = true")).unwrap_err()),
        ),
        (
            "interleaved_with_what_it_reads",
            shown(&study(&reader().replace(repetitions, "interleaved = true")).unwrap_err()),
        ),
        ("interleaved_and_wiped", spoilt(repetitions, "interleaved = true\nwipe = true")),
        ("shuffle_of_one_workload", spoilt("tasks = 4", "shuffle = true")),
    ];
    for (name, shown) in wrong {
        insta::assert_snapshot!(name, shown);
    }
}
