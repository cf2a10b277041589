//! All targets.

mod command_lines;
mod hosts;
mod imports;
mod models;
mod plans;
mod processes;
mod records;

use crate::Target;

/// All targets, in the order in which `scripts/fuzz.sh` runs them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "study",
        about: "a study file, and `--set` behind it, each after a NUL",
        seeds: &["studies", "crates/plan/tests/plan/all-keys.toml"],
        run: plans::study,
    },
    Target { name: "defaults", about: "a file of defaults", seeds: &[], run: plans::defaults },
    Target { name: "topology", about: "a description of a site", seeds: &[], run: plans::topology },
    Target {
        name: "model",
        about: "a model of a storage system",
        seeds: &["studies/models"],
        run: models::model,
    },
    Target { name: "ior", about: "a command line of IOR", seeds: &[], run: command_lines::ior },
    Target {
        name: "io500",
        about: "a configuration of IO500, or its results",
        seeds: &["crates/dialect/tests/dialect/io500"],
        run: command_lines::io500,
    },
    Target {
        name: "tools",
        about: "a command line of another tool, its name first",
        seeds: &[],
        run: command_lines::tools,
    },
    Target {
        name: "import",
        about: "what a tool has printed",
        seeds: &["crates/dialect/tests/dialect/fixtures/import"],
        run: imports::import,
    },
    Target {
        name: "manifest",
        about: "the manifest of a record",
        seeds: &[
            "crates/record/tests/fixtures/version-1/manifest.json",
            "crates/record/tests/fixtures/version-4/manifest.json",
        ],
        run: records::manifest,
    },
    Target {
        name: "journal",
        about: "the journal of a record",
        seeds: &[
            "crates/record/tests/fixtures/version-1/journal.jsonl",
            "crates/record/tests/fixtures/version-4/journal.jsonl",
        ],
        run: records::journal,
    },
    Target {
        name: "table",
        about: "a Parquet table of a record",
        seeds: &[
            "crates/record/tests/fixtures/version-4/devices",
            "crates/record/tests/fixtures/version-4/history",
            "crates/record/tests/fixtures/version-4/latency",
            "crates/record/tests/fixtures/version-4/phases",
            "crates/record/tests/fixtures/version-4/printed",
            "crates/record/tests/fixtures/version-4/series",
            "crates/record/tests/fixtures/version-4/tasks",
            "crates/record/tests/fixtures/version-4/warnings",
        ],
        run: records::table,
    },
    Target {
        name: "beside-record",
        about: "what stands beside a record: its parts, checksums, and a claim on a target",
        seeds: &[],
        run: records::beside,
    },
    Target {
        name: "report",
        about: "the journal of a record, shown in all forms",
        seeds: &["crates/fuzz/corpus/journal/short"],
        run: records::report,
    },
    Target {
        name: "import-report",
        about: "what a tool has printed, shown in all forms",
        seeds: &[
            "crates/dialect/tests/dialect/fixtures/import/fio-3.33.json",
            "crates/dialect/tests/dialect/fixtures/import/ior-4.1.txt",
            "crates/dialect/tests/dialect/fixtures/import/iozone-3.508.txt",
            "crates/dialect/tests/dialect/fixtures/import/published-page.txt",
        ],
        run: imports::report,
    },
    Target {
        name: "frame",
        about: "a frame between the processes of a run",
        seeds: &[],
        run: processes::frame,
    },
    Target { name: "job", about: "the order and the events of a job", seeds: &[], run: processes::job },
    Target { name: "job-table", about: "a table of rows of a job", seeds: &[], run: processes::table },
    Target {
        name: "host",
        about: "files of /proc, /sys and /etc: `== PATH`, then the content",
        seeds: &[],
        run: hosts::tree,
    },
    Target {
        name: "ledger",
        about: "the ledger of tuning or of a layout",
        seeds: &["crates/host/tests/data"],
        run: hosts::ledger,
    },
    Target { name: "counters", about: "counters of storage servers", seeds: &[], run: hosts::counters },
];
