//! Run directories from untrusted sources, passed to every command that takes one.

use std::fs;
use std::hash::Hasher;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use twox_hash::XxHash64;

use crate::desk::{Desk, assert_says, run};

const SCRIPT: &str = "IOR START\ntransferSize=4k\nblockSize=64k\ntestFile=f\nRUN\nIOR STOP\n";

fn recorded() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("script"), SCRIPT).expect("a script");
    let _ = run(&desk.ior("-f script")).expect_code(0);
    desk
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

/// Every command that reads a run.
const READERS: [&str; 8] = [
    "report record",
    "report record --format openmetrics",
    "verdict record",
    "check record",
    "compare record record",
    "history record",
    "merge whole record record",
    "run --yes --resume record",
];

#[test]
fn no_report_is_written_through_a_link() {
    for name in ["report.html", "report.md", "report.csv", "report.json"] {
        let desk = recorded();
        let path = desk.record().join(name);
        fs::write(desk.path("victim"), "mine").expect("written");
        symlink(desk.path("victim"), &path).expect("a link");
        let form = path.extension().and_then(|end| end.to_str()).expect("an end").to_owned();
        let named = format!("report record --format {form} --output record/{name}");
        for words in ["report record", &named] {
            let failed = run(&desk.ioproof(words)).expect_code(3);
            assert_says(&failed.stderr, &[name, "is a symbolic link"]);
        }
        assert_eq!(fs::read_to_string(desk.path("victim")).expect("readable"), "mine", "{name}");
        fs::remove_file(&path).expect("removed");
        pipe(&path);
        let failed = run(&desk.ioproof("report record")).expect_code(3);
        assert_says(&failed.stderr, &[name, "is a named pipe"]);
        fs::remove_file(&path).expect("removed");
        // A file that also has another name keeps its content under that name.
        fs::hard_link(desk.path("victim"), &path).expect("a link");
        let _ = run(&desk.ioproof("report record")).expect_code(0);
        assert_eq!(fs::read_to_string(desk.path("victim")).expect("readable"), "mine", "{name}");
    }
}

#[test]
fn no_metrics_or_comparison_is_written_through_a_link() {
    let desk = recorded();
    fs::write(desk.path("victim"), "mine").expect("written");
    symlink(desk.path("victim"), desk.record().join("metrics")).expect("a link");
    for words in ["report record --format openmetrics", "compare record record --format md"] {
        let failed = run(&desk.ioproof(words).args(["--output", "record/metrics"])).expect_code(3);
        assert_says(&failed.stderr, &["record/metrics", "is a symbolic link"]);
    }
    assert_eq!(fs::read_to_string(desk.path("victim")).expect("readable"), "mine");
}

#[test]
fn no_output_goes_to_a_link_a_pipe_or_a_device() {
    let desk = recorded();
    fs::write(desk.path("victim"), "mine").expect("written");
    symlink(desk.path("victim"), desk.path("link")).expect("a link");
    pipe(&desk.path("pipe"));
    let commands = [
        "report record --format md --output",
        "report record --json --output",
        "compare record record --format md --output",
    ];
    for words in commands {
        let places =
            [("link", "is a symbolic link"), ("pipe", "is a named pipe"), ("/dev/null", "is a device")];
        for (place, why) in places {
            let refused = run(&desk.ioproof(words).arg(place)).expect_code(3);
            assert_says(&refused.stderr, &[place, why, "choose another place"]);
        }
    }
    assert_eq!(fs::read_to_string(desk.path("victim")).expect("readable"), "mine");
}

#[test]
fn every_command_refuses_links_and_pipes_in_a_record() {
    for name in ["journal.jsonl", "manifest.json", "tasks/000001.parquet"] {
        let desk = recorded();
        let path = desk.record().join(name);
        for (is, put) in [("a symbolic link", "/dev/zero"), ("a named pipe", "")] {
            fs::remove_file(&path).expect("there");
            if put.is_empty() {
                pipe(&path);
            } else {
                symlink(put, &path).expect("a link");
            }
            for words in READERS {
                let failed = run(&desk.ioproof(words)).expect_code(7);
                assert_says(&failed.stderr, &[name, is]);
            }
        }
    }
}

/// A table of `groups` groups of 65,536 equal rows, with the columns of the record's own table: only a few bytes for
/// each column.
fn bomb(path: &Path, groups: usize) {
    const ROWS: usize = 1 << 16;
    let kind = |(name, is_text): &(&str, bool)| {
        let kind = if *is_text { PhysicalType::BYTE_ARRAY } else { PhysicalType::INT64 };
        let column = Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED);
        Arc::new(column.build().expect("a column"))
    };
    let columns = [
        ("case", true),
        ("repetition", false),
        ("phase", true),
        ("task", false),
        ("node", true),
        ("file", false),
        ("open_start_ns", false),
        ("open_end_ns", false),
        ("io_start_ns", false),
        ("io_end_ns", false),
        ("close_start_ns", false),
        ("close_end_ns", false),
        ("bytes", false),
        ("transfers", false),
    ];
    let schema = Type::group_type_builder("tasks").with_fields(columns.iter().map(kind).collect());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_data_page_row_count_limit(ROWS)
        .set_write_batch_size(ROWS)
        .build();
    let file = fs::File::create(path).expect("writable");
    let schema = Arc::new(schema.build().expect("a schema"));
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("begun");
    let (numbers, words) = (vec![0; ROWS], ["test0", "write", "a name of a node"]);
    for _ in 0..groups {
        let mut group = writer.next_row_group().expect("a group");
        let mut texts = words.iter();
        while let Some(mut column) = group.next_column().expect("a column") {
            match column.untyped() {
                ColumnWriter::Int64ColumnWriter(column) => {
                    column.write_batch(&numbers, None, None).expect("written")
                }
                ColumnWriter::ByteArrayColumnWriter(column) => {
                    let text = vec![ByteArray::from(*texts.next().expect("a word")); ROWS];
                    column.write_batch(&text, None, None).expect("written")
                }
                _ => 0,
            };
            column.close().expect("closed");
        }
        group.close().expect("closed");
    }
    writer.close().expect("closed");
}

/// Updates the journal to match the current table at `path`.
fn vouch(record: &Path, path: &Path) {
    let bytes = fs::read(path).expect("readable");
    let mut checksum = XxHash64::with_seed(0);
    checksum.write(&bytes);
    let journal = record.join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("readable");
    let known = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        for sealed in line["sealed"].as_array_mut().into_iter().flatten() {
            if sealed["table"] == "tasks" {
                sealed["bytes"] = bytes.len().into();
                sealed["checksum"] = format!("xxh64:{:016x}", checksum.finish()).into();
            }
        }
        format!("{line}\n")
    };
    fs::write(&journal, text.lines().map(known).collect::<String>()).expect("written");
}

/// The program, its stacks and its libraries also take a part of the 200 MB of address space.
const MEMORY: &str = "ulimit -v 204800";

#[test]
fn a_table_that_says_millions_of_rows_takes_no_memory() {
    let desk = recorded();
    let table = desk.record().join("tasks/000001.parquet");
    bomb(&table, 24);
    assert!(fs::metadata(&table).expect("there").len() < 2 << 20);
    vouch(&desk.record(), &table);
    for words in READERS {
        let failed = run(&desk.after(MEMORY, words)).expect_code(7);
        assert_says(&failed.stderr, &["000001.parquet", "ask for an undamaged copy"]);
    }
    // Without the journal, no table can be verified.
    fs::remove_file(desk.record().join("journal.jsonl")).expect("removed");
    let failed = run(&desk.after(MEMORY, "report record")).expect_code(7);
    assert_says(&failed.stderr, &["000001.parquet", "ask for an undamaged copy"]);
}

#[test]
fn an_import_of_what_has_no_end_is_refused() {
    let desk = Desk::new();
    for words in ["host topology /dev/zero", "run /dev/zero --explain", "calc statistics --file /dev/zero"] {
        let failed = run(&desk.after(MEMORY, words));
        assert_eq!(failed.code, Some(2), "{words}: {}", failed.stderr);
    }
}

/// The Parquet library panics on some bytes: that costs one table, and is not reported as a fault of the program.
#[test]
fn a_table_that_the_reader_panics_on_is_damage() {
    let inputs = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/fuzz/corpus/table");
    for input in fs::read_dir(inputs).expect("inputs").flatten() {
        let desk = recorded();
        fs::remove_file(desk.record().join("journal.jsonl")).expect("removed");
        for table in ["series", "node_series", "devices", "tasks", "latency"] {
            let directory = desk.record().join(table);
            fs::create_dir_all(&directory).expect("a directory");
            fs::copy(input.path(), directory.join("000001.parquet")).expect("written");
        }
        let shown = run(&desk.ioproof("report record")).expect_code(0);
        assert!(!shown.stderr.contains("ioproof: internal error"), "{}", shown.stderr);
        assert_says(&shown.stdout, &["damaged"]);
    }
}
