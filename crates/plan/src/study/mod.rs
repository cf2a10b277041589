//! The study file, which describes a measurement in TOML.
//!
//! [`read`] turns the text into a [`Plan`], or into [`StudyErrors`], which point at every mistake and state what is
//! allowed there. Every key is defined once, in a table that is shared by the reader, its errors and [`reference()`]
//! (the text of `docs/STUDY.md`).
//!
//! ```
//! let text = r#"
//!     [[target]]
//!     name = "disk"
//!     directory = "/mnt/disk"
//!
//!     [[workload]]
//!     name = "stream"
//!     transfer = "1MiB"
//!     size = "4GiB"
//!     direct = true
//! "#;
//! let plan = plan::study::read("disk.toml".as_ref(), text)?;
//! assert_eq!(plan.cases[0].workload.bytes(), plan::Bytes::gib(4));
//!
//! let misspelt = text.replace("transfer", "transfre");
//! let errors = plan::study::read("disk.toml".as_ref(), &misspelt).unwrap_err();
//! assert_eq!(errors.errors()[0].help_text(), "did you mean `transfer`?");
//! # Ok::<(), plan::study::StudyErrors>(())
//! ```

mod as_written;
mod build;
mod error;
mod keys;
mod names;
mod on_directory;
mod options;
mod overrides;
mod reference;
mod schema;
mod table;
mod words;
mod written;

use std::path::Path;

pub use error::{StudyError, StudyErrors};
pub use on_directory::{on_directory, placed_elsewhere};
pub use options::{CASES_LIMIT, CASES_MAX, Options};
pub use overrides::{Override, OverrideError, overrides_of};
pub use reference::reference;
pub use schema::schema;
pub(crate) use written::{WrittenWorkload, workloads};

use crate::{Criteria, Plan};
use table::values::Values as _;

/// Reads the study in `text`, the contents of the file `path`. No file is accessed.
///
/// # Errors
/// All independent mistakes, in the order of the file.
pub fn read(path: &Path, text: &str) -> Result<Plan, StudyErrors> {
    read_with(path, text, &Options::default())
}

/// The table of a study that has the key `key`: workload keys come first, then those of protocol and target.
#[must_use]
pub fn table_of(key: &str) -> Option<&'static str> {
    let tables = [&keys::WORKLOAD, &keys::PROTOCOL, &keys::TARGET];
    tables.into_iter().find(|table| table.find(key).is_some()).map(|table| table.name)
}

/// An id in a study that the library of published studies does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownId {
    /// `published` or `claim`.
    pub table: &'static str,
    /// The index among these tables, in the order of the file.
    pub index: usize,
    /// The id as written.
    pub id: String,
    /// The id that was probably meant.
    pub nearest: Option<String>,
}

/// The mistakes of the otherwise valid study in `text` that has `unknown` ids.
#[must_use]
pub fn unknown_ids(path: &Path, text: &str, options: &Options, unknown: &[UnknownId]) -> StudyErrors {
    let mut errors = Vec::new();
    let document = table::document::Document::parse(text, &options.overrides, &mut errors);
    let error = |one: &UnknownId| {
        let key = if one.table == "published" { "figure" } else { "id" };
        let fields = document.as_ref().and_then(|document| document.many(one.table).get(one.index));
        let span = fields.map_or(0..0, |fields| fields.span(key));
        let message = format!("`{}` is not in the library of published studies", one.id);
        let meant = one.nearest.as_ref().map_or_else(String::new, |id| format!("did you mean `{id}`? "));
        let help = format!("{meant}`ioproof reference list` and `ioproof reference claims` show all ids");
        StudyError::new(span, "not known", message, help)
    };
    errors.extend(unknown.iter().map(error));
    StudyErrors::new(path, &overrides::shown_text(text, &options.overrides), errors)
}

/// Reads the study in `text` with [`Options`].
///
/// ```
/// use plan::study::{Options, Override, read_with};
/// let text = r#"
///     [[target]]
///     name = "disk"
///     directory = "/mnt/disk"
///
///     [[workload]]
///     name = "scale"
///     tasks = "1..16 times 2"
///     transfer = ["64KiB", "1MiB"]
///     size = "4GiB"
/// "#;
/// let overrides = vec![Override::parse("workload.scale.size=64MiB")?];
/// let plan = read_with("scale.toml".as_ref(), text, &Options { overrides, ..Options::default() })?;
/// assert_eq!(plan.cases.len(), 10);
/// assert_eq!(plan.cases[9].id, "scale:tasks=16:transfer=1MiB");
/// assert_eq!(plan.cases[9].workload.bytes(), plan::Bytes::mib(64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// All independent mistakes, in the order of the file; those of overrides come last.
pub fn read_with(path: &Path, text: &str, options: &Options) -> Result<Plan, StudyErrors> {
    let mut errors = Vec::new();
    let plan = table::document::Document::parse(text, &options.overrides, &mut errors)
        .and_then(|document| build::plan(path, text, &document, options, &mut errors));
    match plan {
        Some(mut plan) if errors.is_empty() => {
            // A file that needs its overrides to be valid promises what it says with them.
            let has_promises = !options.overrides.is_empty() && !plan.criteria.commitments.is_empty();
            let without = || read_with(path, text, &Options { overrides: Vec::new(), ..options.clone() });
            if let Some(written) = has_promises.then(without).and_then(Result::ok) {
                as_written::keep_terms(&mut plan, &written, &options.overrides);
            }
            Ok(plan)
        }
        _ => Err(StudyErrors::new(path, &overrides::shown_text(text, &options.overrides), errors)),
    }
}

/// Reads the criteria in `text` (`[[commitment]]`, `[[claim]]`, `[[published]]`, `[[expectation]]`, and what
/// `[study]` states about the site) for the figures of `plan`, which was not read from a study. The targets are those
/// of `plan`. If it has none, `[[target]]` in `text` may describe the target of the figures. Workloads and a protocol
/// in `text` are ignored.
///
/// # Errors
/// All independent mistakes, in the order of the file, including selections that match no figure.
pub fn read_criteria(path: &Path, text: &str, plan: &Plan) -> Result<Criteria, StudyErrors> {
    let mut errors = Vec::new();
    let document = table::document::Document::parse_criteria(text, &[], &mut errors);
    let read = document.map(|document| build::criteria_about(plan, &document, &mut errors));
    match read {
        Some(criteria) if errors.is_empty() => Ok(criteria),
        _ => Err(StudyErrors::new(path, text, errors)),
    }
}
