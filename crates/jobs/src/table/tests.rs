//! Tests of written, read and damaged tables.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use plan::jobs::TableOrder;
use plan::{Bytes, JobSpace};
use proptest::prelude::{ProptestConfig, any, proptest};

use super::{Io, TableReader, TableWriter};
use crate::page::hash;
use crate::row::{Origin, ROW_BYTES};
use crate::tests::{Bench, rows};

const ORIGIN: Origin = Origin { seed: 9, rows: 5000, groups: 100, order: TableOrder::Number };
const PAGE: u64 = 64 << 10;

fn bytes_of(count: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(count).expect("few") * ROW_BYTES];
    ORIGIN.fill(0, &mut bytes);
    bytes
}

fn write(io: &Io, path: &Path, count: u64) {
    let mut writer = TableWriter::create(io, JobSpace::Work, path, ORIGIN).expect("created");
    writer.push_all(&bytes_of(count)).expect("written");
    writer.finish().expect("closed");
}

fn error(io: &Io, path: &Path) -> String {
    let table = TableReader::open(io, JobSpace::Work, path);
    table.and_then(|table| table.for_each_page(|_| Ok(()))).expect_err("damaged").to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_written_is_read(count in 0..3000_u64, whole in any::<bool>(), kib in 6..9_u32) {
        let bench = Bench::new(Bytes::kib(1 << kib));
        let path = bench.path(JobSpace::Work, "t");
        let bytes = bytes_of(count);
        let mut writer = TableWriter::create(&bench.io, JobSpace::Work, &path, ORIGIN).expect("created");
        if whole {
            writer.push_all(&bytes).expect("written");
        } else {
            bytes.chunks_exact(ROW_BYTES).for_each(|row| writer.push(row).expect("written"));
        }
        let written = writer.finish().expect("closed");
        let sum = bytes.chunks_exact(ROW_BYTES).map(hash).fold(0, u64::wrapping_add);
        assert_eq!((written.rows, written.checksum), (count, sum));
        assert_eq!(written.bytes, plan::Jobs::new(bench.io.page_bytes).table_bytes(count).0);
        assert_eq!(std::fs::metadata(&path).expect("a file").len(), written.bytes);
        let expected: Vec<_> = (0..count).map(|id| ORIGIN.row(id)).collect();
        assert_eq!(rows(&bench.io, JobSpace::Work, &path), expected);
        let counters = bench.counters();
        assert_eq!((counters.read_bytes[1], counters.write_bytes[1]), (written.bytes, written.bytes));
        assert_eq!(counters.reads[1] * bench.io.page_bytes.0, written.bytes);
        assert_eq!(counters.held_bytes, [0, written.bytes, 0]);
    }
}

#[test]
fn a_page_is_read_at_random_and_knows_its_origin() {
    let bench = Bench::new(Bytes(PAGE));
    let path = bench.path(JobSpace::Work, "t");
    write(&bench.io, &path, 1200);
    let table = TableReader::open(&bench.io, JobSpace::Work, &path).expect("a table");
    assert_eq!((table.pages(), table.rows_per_page(), table.rows_at_most()), (3, 511, 1533));
    let mut buffer = table.buffer();
    assert_eq!(table.origin(&mut buffer).expect("whole"), ORIGIN);
    let page = table.read(1, &mut buffer).expect("whole");
    assert_eq!(crate::Row::decode(page), ORIGIN.row(511));
    assert!(table.read(3, &mut buffer).is_err());
}

#[test]
fn a_damaged_page_is_told_with_file_and_page() {
    let bench = Bench::new(Bytes(PAGE));
    let path = bench.path(JobSpace::Work, "t");
    write(&bench.io, &path, 1200);
    let file = OpenOptions::new().write(true).open(&path).expect("a file");
    file.write_all_at(&[0xff], PAGE + 70_000 - 65_536).expect("damaged");
    let told = error(&bench.io, &path);
    assert!(
        told.contains("work/t, page 1: the checksum of its rows is wrong; create the table again"),
        "{told}"
    );
    file.write_all_at(b"NOTATBLE", 0).expect("damaged");
    assert!(
        error(&bench.io, &path).contains("page 0: it begins with NOTATBLE"),
        "{}",
        error(&bench.io, &path)
    );
}

#[test]
fn a_file_that_is_cut_short_is_told_wherever_it_is_cut() {
    let bench = Bench::new(Bytes(PAGE));
    let path = bench.path(JobSpace::Work, "t");
    for (length, expected) in [
        (0, "page 0: the file has 0 bytes"),
        (PAGE - 1, "page 0: the file has 65535 bytes"),
        (2 * PAGE + 5, "page 2: the file has 131077 bytes"),
        (2 * PAGE, "page 1: its last page is missing"),
        (4 * PAGE, "page 2: more pages follow the last one"),
    ] {
        write(&bench.io, &path, 1200);
        OpenOptions::new().write(true).open(&path).expect("a file").set_len(length).expect("cut");
        let told = error(&bench.io, &path);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_table_that_is_not_there_is_told_with_the_next_step() {
    let bench = Bench::new(Bytes(PAGE));
    let told = error(&bench.io, &bench.path(JobSpace::Work, "none"));
    assert!(told.contains("cannot open") && told.contains("in work space"), "{told}");
    assert!(told.contains("create the tables first"), "{told}");
}

#[test]
fn direct_tables_are_those_of_the_page_cache() {
    let Ok(scratch) = testbed::Scratch::on_disk() else { return };
    let mut bench = Bench::new(Bytes(PAGE));
    let (cached, direct) = (scratch.path().join("cached"), scratch.path().join("direct"));
    write(&bench.io, &cached, 1200);
    (bench.io.direct, bench.io.sync) = (true, true);
    write(&bench.io, &direct, 1200);
    assert_eq!(std::fs::read(cached).expect("a file"), std::fs::read(&direct).expect("a file"));
    assert_eq!(rows(&bench.io, JobSpace::Work, &direct).len(), 1200);
}
