//! The keys of `[[concurrent]]`.

use crate::study::table::definition::{Key, Table, ValueKind};

/// `[[concurrent]]`.
pub(crate) const CONCURRENT: Table = Table {
    name: "concurrent",
    named_by: Some("name"),
    meaning: "Workloads that run at the same time. Each is also measured alone, before, so that the report has \
                what each gets beside the others, what it loses to them, and what all of them get together \
                while all run. Each has one phase, is not swept, and has files of its own if one of them writes: \
                [CONCURRENT.md](CONCURRENT.md).",
    keys: &[
        Key::new("name", ValueKind::Name).means(
            "Its name, unique in the study. The cases are called `NAME:WORKLOAD`. The key `workload` of other \
                tables selects one of them by that, or all of them by `NAME`.",
        ),
        Key::new("title", ValueKind::Text).left_out("its name").means("Its title in the report."),
        Key::new("workloads", ValueKind::Texts("[\"checkpoint\", \"restart\"]"))
            .means(
                "The names of two workloads or more. One that is named again is a further one of the same kind with files \
                 of its own: `\"job\"`, `\"job\"` are the cases `NAME:job` and `NAME:job-2`.",
            ),
        Key::new("starts", ValueKind::Texts("[\"0s\", \"5s\"]"))
            .left_out("all at once")
            .means("For each of the workloads: how long after the start of the first one it begins."),
    ],
    ..Table::PLAIN
};
