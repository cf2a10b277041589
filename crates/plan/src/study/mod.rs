//! The study file: what is to be measured, written down in TOML.
//!
//! [`read`] turns the text into a [`Plan`], or into [`StudyErrors`], which point at every place
//! that is wrong and say what is allowed there. Every key is defined once, in a table that the
//! reader, its errors and [`reference()`] (the text of `docs/STUDY.md`) share.
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

mod build;
mod data;
mod document;
mod error;
mod fields;
mod keys;
mod kind;
mod nearest;
mod reference;
mod target;
mod workload;

use std::path::Path;

pub use error::{StudyError, StudyErrors};
pub use reference::reference;

use crate::Plan;

/// Reads the study in `text`, which stands in the file `path`. No file is touched.
///
/// # Errors
/// All mistakes that can be told apart, in the order of the file.
pub fn read(path: &Path, text: &str) -> Result<Plan, StudyErrors> {
    let mut errors = Vec::new();
    let plan = document::Document::parse(text, &mut errors)
        .and_then(|document| build::plan(path, text, &document, &mut errors));
    match plan {
        Some(plan) if errors.is_empty() => Ok(plan),
        _ => Err(StudyErrors::new(path, text, errors)),
    }
}
