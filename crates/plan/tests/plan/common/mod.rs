//! What the tests of study files share.

use std::path::Path;

use miette::{GraphicalReportHandler, GraphicalTheme};
use plan::Plan;
use plan::study::{StudyErrors, read};

/// A study in which nothing is wrong, to be spoilt.
pub(crate) const RIGHT: &str = r#"[study]
title = "Scratch"
seed = 7

[protocol]
repetitions = 3

[[target]]
name = "scratch"
path = "/mnt/scratch/data"

[[workload]]
name = "stream"
target = "scratch"
transfer = "1MiB"
block = "64MiB"
tasks = 4
"#;

/// Reads a study.
pub(crate) fn study(text: &str) -> Result<Plan, StudyErrors> {
    read(Path::new("study.toml"), text)
}

/// What a terminal without colours shows.
pub(crate) fn shown(errors: &StudyErrors) -> String {
    let mut text = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_links(false)
        .with_width(100)
        .render_report(&mut text, errors)
        .expect("writing to a String cannot fail");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
