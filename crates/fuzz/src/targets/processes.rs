//! Messages between the processes of a run, and to and from jobs.

use std::fs;
use std::sync::Arc;

use jobs::{Io, JobEvent, Meter, TableReader};
use plan::{Bytes, JobSpace};
use twox_hash::XxHash64;

/// A frame as received from another rank.
pub(super) fn frame(input: &[u8]) {
    comm::fuzzing::read_frame(input);
}

/// A line that starts a job, or a line that a job reports.
pub(super) fn job(input: &[u8]) {
    if let Ok(order) = jobs::read_order(input) {
        let text = serde_json::to_vec(&order).expect("an order is JSON");
        assert_eq!(jobs::read_order(&*text).expect("an order"), order);
    }
    if let Ok(event) = serde_json::from_slice::<JobEvent>(input) {
        let text = serde_json::to_vec(&event).expect("an event is JSON");
        assert_eq!(serde_json::from_slice::<JobEvent>(&text).expect("an event"), event);
    }
}

const PAGE: usize = 4096;

/// Sets the checksums of a page to match its content, because a mutation almost never does.
fn seal(page: &mut [u8]) {
    let word = |at: usize| u32::from_le_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]]) as usize;
    let end = word(12).saturating_mul(word(68)).saturating_add(128).clamp(128, PAGE);
    let records = XxHash64::oneshot(0, &page[128..end]);
    page[32..40].copy_from_slice(&records.to_le_bytes());
    let header = XxHash64::oneshot(0, &page[..120]);
    page[120..128].copy_from_slice(&header.to_le_bytes());
}

/// A table of a job, with the smallest page size.
pub(super) fn table(input: &[u8]) {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("table");
    let mut pages = input.to_vec();
    pages.resize(input.len().next_multiple_of(PAGE), 0);
    pages.chunks_exact_mut(PAGE).for_each(seal);
    fs::write(&path, &pages).expect("written");
    let io =
        Io { page_bytes: Bytes(PAGE as u64), direct: false, sync: false, meter: Arc::new(Meter::default()) };
    let Ok(reader) = TableReader::open(&io, JobSpace::Permanent, &path) else { return };
    let mut bytes = 0;
    let rows = reader.for_each_page(|page| {
        bytes += page.len();
        Ok(())
    });
    let _ = reader.origin(&mut reader.buffer());
    assert!(bytes <= pages.len(), "its rows have more bytes than the table");
    assert!(rows.map_or(true, |rows| rows <= reader.rows_at_most()), "it has more rows than it can");
}
