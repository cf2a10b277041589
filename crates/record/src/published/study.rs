//! A published study: its description, statements, command lines and charts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::detail::Details;
use super::words::MisprintSort;

/// A published study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// A unique name of the study.
    pub id: String,
    /// The capital letter with which the ids of its figures begin.
    pub letter: String,
    /// Its title.
    pub title: String,
    /// The text below the title.
    pub subtitle: Option<String>,
    /// Where the title comes from, if it is not printed.
    pub title_note: Option<String>,
    /// Who published it.
    pub organisation: String,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// In which sense they are the authors.
    pub authors_note: Option<String>,
    /// Where it was presented, or `None` if it does not say.
    pub venue: Option<String>,
    /// The year.
    pub year: u16,
    /// The date, as precisely as it is known.
    pub date: String,
    /// Its version.
    pub content_version: Option<String>,
    /// Where it can be read, or `None` if it does not say.
    pub url: Option<String>,
    /// The address to which it refers its readers.
    pub url_related: Option<String>,
    /// Its purpose.
    pub purpose: Option<String>,
    /// A one-sentence summary of what it measured.
    pub summary: String,
    /// The file systems it used.
    pub file_systems: Vec<String>,
    /// The programs it used, with versions.
    pub software: Vec<String>,
    /// The points of its method.
    pub methodology: Vec<String>,
    /// How its units are to be read.
    pub unit_remark: Option<String>,
    /// Its terms for known concepts.
    pub terminology: Option<String>,
    /// What it says against relying on its own figures.
    pub caution: Option<String>,
    /// How its tests are numbered.
    pub test_numbering: Option<String>,
    /// The machines.
    pub hardware: Details,
    /// What the study prints about its machine, by the names that reports use for facts about a host.
    pub machine: BTreeMap<String, String>,
    /// Numbers of the method.
    pub protocol: Details,
}

impl Study {
    /// Title and year, as the source of a figure is cited.
    #[must_use]
    pub fn cited(&self) -> String {
        format!("{} ({})", self.title, self.year)
    }
}

/// A statement of a study that a user's own data can confirm or refute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedClaim {
    /// A unique name of the claim.
    pub id: String,
    /// The [`Study::id`], which is set when the library is read.
    #[serde(default)]
    pub study: String,
    /// The statement, verbatim.
    pub text: String,
    /// What to compare in order to test it.
    pub check: String,
    /// Whether the study's own figures support it.
    pub on_published: String,
    /// The statements of a report that judge it without a rule of the study.
    #[serde(default)]
    pub judged_by: Option<JudgedBy>,
}

/// Statements of a report that judge a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedBy {
    /// Whether a single queue of a volume explains its loss.
    SingleQueue,
    /// The caution of each best point.
    Caution,
}

/// A command line of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCommand {
    /// A unique name of the command.
    pub id: String,
    /// The [`Study::id`], which is set when the library is read.
    #[serde(default)]
    pub study: String,
    /// The purpose of the command.
    pub purpose: String,
    /// The command verbatim, including line breaks, or `None` if the study does not print a complete
    /// line.
    pub verbatim: Option<String>,
    /// In that case, the parts from which [`PublishedCommand::intended`] was assembled.
    pub assembled_from: Option<String>,
    /// The command with its misprints corrected.
    pub intended: String,
    /// A remark about the command.
    pub note: Option<String>,
}

/// A chart of a study. Its points are lost, but its axes and series are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedChart {
    /// A unique name of the chart.
    pub id: String,
    /// The [`Study::id`], which is set when the library is read.
    #[serde(default)]
    pub study: String,
    /// The text below it.
    pub caption: String,
    /// What kind of illustration it is, if not a chart.
    pub kind: Option<String>,
    /// The test that it belongs to.
    pub test: Option<String>,
    /// The layout that was measured.
    pub layout: Option<String>,
    /// What is known about its points.
    pub data_points: String,
    /// What the x axis is.
    pub x_axis: Option<String>,
    /// What the y axis is.
    pub y_axis: Option<String>,
    /// Its lines.
    #[serde(default)]
    pub series: Vec<String>,
    /// Its parts.
    #[serde(default)]
    pub panels: Vec<String>,
    /// What is not known about its parts.
    pub panels_not_stated: Option<String>,
    /// What can still be read from it.
    pub readable: Option<String>,
}

/// A printed text that is wrong, damaged or contradictory, and how to read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misprint {
    /// The [`Study::letter`].
    pub study: String,
    /// The location in the study.
    pub place: String,
    /// The kind of problem.
    pub sort: MisprintSort,
    /// The printed text.
    pub printed: String,
    /// How to read it.
    pub reading: String,
    /// The reason for this reading.
    pub because: String,
    /// Ids of the figures, commands and charts that it affects.
    pub concerns: Vec<String>,
}
