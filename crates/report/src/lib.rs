//! Tables, charts and pages from records and their analysis, and previews of a plan. Nothing is computed here:
//! numbers are selected, ordered and formatted.
//!
//! | item | purpose |
//! |---|---|
//! | [`Study`] | a [`record::Run`] with its analysis, in every format: terminal text, HTML, Markdown, CSV, JSON, OpenMetrics; `docs/REPORT.md` describes CSV and JSON |
//! | [`mod@reference`] | the library of published figures |
//! | [`History`] | the last operations of a run, one by one |
//! | [`compare`], [`against_itself`] | comparison of two runs; the false alarms of such comparisons |
//! | [`RunsList`], [`OverTime`] | the records of a directory; one figure of them over time |
//! | [`preflight`], [`explain`] | previews of a [`plan::Plan`] before it runs |
//! | [`inventory`] | a host with all its devices and slots |
//! | [`model()`] | a model with its bounds |
//! | [`Progress`] | progress output during a run |
//!
//! A run that was interrupted, killed or damaged is shown as far as it is intact, with a note on what is missing. No
//! figure is shown without its conditions, and no warning without its figure.
//!
//! ```no_run
//! let run = record::Run::open(std::path::Path::new("runs/quick"))?;
//! let study = report::Study::of(&run);
//! println!("{}", study.text(report::Screen::PLAIN));
//! study.html(&mut std::fs::File::create("report.html")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod calc;
mod compare;
mod excerpt;
mod format;
mod history;
mod inventory;
mod model;
mod preflight;
mod progress;
pub mod reference;
mod render;
mod report;
mod runs;
mod section;
mod studies;
mod study;
mod summary;
mod topology;

pub use analysis::comparisons::LimitResult;
pub use analysis::figures::percentiles;
pub use compare::{Itself, Pair, against_itself, compare};
pub use excerpt::{check_published, check_published_json};
pub use format::counted;
pub use format::escape::json_text;
pub use format::names::mark;
pub use format::screen::{Screen, terminal_columns};
pub use history::{History, HistorySelection};
pub use inventory::{inventory, inventory_json, inventory_schema};
pub use model::{BoundView, LayoutView, ModelView, model};
pub use preflight::{Commands, LayoutOutlook, explain, layouts, outline, prediction, preflight};
pub use progress::{Progress, Shown, Steps, of_computing};
pub use report::schema::schema;
pub use runs::{OverTime, RunsList};
pub use studies::{ListedStudy, studies};
pub use study::Study;
pub use topology::topology;
