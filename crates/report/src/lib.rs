//! Tables, charts and pages, made from records and analysis; and previews of a plan. Nothing is computed
//! here: numbers are selected, ordered and formatted.
//!
//! | what | for |
//! |---|---|
//! | [`Study`] | a [`record::Run`] with what its figures say together, for all forms at once |
//! | [`text`], [`html`], [`markdown`], [`csv`], [`json`], [`openmetrics`] | a run in one form; `docs/REPORT.md` describes CSV and JSON |
//! | [`mod@reference`] | the library of published figures |
//! | [`History`] | the last operations of a run, one by one |
//! | [`compare`] | two runs beside each other |
//! | [`preflight`], [`explain`] | a [`plan::Plan`] before it runs |
//! | [`inventory`] | a host with all its devices and slots |
//! | [`Progress`] | what is shown while it runs |
//!
//! A run that was interrupted, killed or damaged is shown as far as it is intact, with a note on what is
//! missing. No figure is shown without its conditions, and no warning without its figure.
//!
//! ```no_run
//! let run = record::Run::open(std::path::Path::new("runs/quick"))?;
//! println!("{}", report::text(&run));
//! report::html(&run, &mut std::fs::File::create("report.html")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod calc;
mod compare;
mod format;
mod history;
mod inventory;
mod preflight;
mod progress;
pub mod reference;
mod render;
mod report;
mod section;
mod study;
mod summary;
mod topology;

use std::io::{self, Write};

use record::Run;

pub use compare::{Pair, compare};
pub use format::counted;
pub use format::escape::json_text;
pub use format::screen::{Screen, terminal_columns};
pub use history::{History, Wanted};
pub use inventory::{inventory, inventory_json, inventory_schema};
pub use preflight::{Commands, LayoutOutlook, explain, layouts, outline, preflight};
pub use progress::{Progress, Shown, Steps};
pub use report::schema::schema;
pub use study::Study;
pub use summary::excerpt::{check_published, check_published_json};
pub use topology::topology;

/// The short report of `run` for a terminal, without escape codes: its card, its figures and their doubts.
#[must_use]
pub fn text(run: &Run) -> String {
    Study::of(run).text(Screen::PLAIN)
}

/// All tables of `run` for a terminal, without escape codes.
#[must_use]
pub fn text_in_full(run: &Run) -> String {
    Study::of(run).text_in_full(Screen::PLAIN)
}

/// The report of `run` in Markdown, with pipe tables.
#[must_use]
pub fn markdown(run: &Run) -> String {
    Study::of(run).markdown()
}

/// One row for each figure of `run`, as comma-separated values.
#[must_use]
pub fn csv(run: &Run) -> String {
    Study::of(run).csv()
}

/// The report of `run` as JSON, in the schema `ioproof-report/3`.
#[must_use]
pub fn json(run: &Run) -> String {
    Study::of(run).json()
}

/// The figures of `run` as OpenMetrics 1.0 text, for monitoring; `docs/INTEGRATIONS.md` lists the
/// metrics.
#[must_use]
pub fn openmetrics(run: &Run) -> String {
    Study::of(run).openmetrics()
}

/// The report page of `run`: one file with interactive charts that needs no network.
///
/// # Errors
/// Writing to `out` failed.
pub fn html(run: &Run, out: &mut impl Write) -> io::Result<()> {
    Study::of(run).html(out)
}
