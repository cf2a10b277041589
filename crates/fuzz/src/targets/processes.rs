//! What processes of a run, and jobs, are told and tell.

use std::fs;
use std::sync::Arc;

use jobs::{Io, JobEvent, Meter, TableReader};
use plan::{Bytes, JobSpace};

/// A frame as it comes from another rank.
pub(super) fn frame(input: &[u8]) {
    comm::fuzzing::read_frame(input);
}

/// A line that starts a job, or that a job reports with.
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

/// A table of a job, with the smallest pages.
pub(super) fn table(input: &[u8]) {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("table");
    fs::write(&path, input).expect("written");
    let io = Io { page_bytes: Bytes::kib(4), direct: false, sync: false, meter: Arc::new(Meter::default()) };
    let Ok(reader) = TableReader::open(&io, JobSpace::Permanent, &path) else { return };
    let mut bytes = 0;
    let rows = reader.for_each_page(|page| {
        bytes += page.len();
        Ok(())
    });
    let _ = reader.origin(&mut reader.buffer());
    assert!(bytes <= input.len(), "its rows have more bytes than the table");
    assert!(rows.map_or(true, |rows| rows <= reader.rows_at_most()), "it has more rows than it can");
}
