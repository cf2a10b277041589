//! A published study: what it is, what it claims, its command lines and its charts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::detail::Details;
use super::words::MisprintSort;

/// A published study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// A name that no other study has.
    pub id: String,
    /// The letter that the ids of its figures start with, in capitals.
    pub letter: String,
    /// Its title.
    pub title: String,
    /// What stands below the title.
    pub subtitle: Option<String>,
    /// Where the title comes from, if it is not printed.
    pub title_note: Option<String>,
    /// Who published it.
    pub organisation: String,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// In which sense they are authors.
    pub authors_note: Option<String>,
    /// Where it was shown; none where it does not say.
    pub venue: Option<String>,
    /// The year.
    pub year: u16,
    /// The date, as exactly as it is known.
    pub date: String,
    /// Its version.
    pub content_version: Option<String>,
    /// Where it can be read; none where it does not say.
    pub url: Option<String>,
    /// What it refers its readers to.
    pub url_related: Option<String>,
    /// What it was made for.
    pub purpose: Option<String>,
    /// What it measured, in a sentence.
    pub summary: String,
    /// File systems.
    pub file_systems: Vec<String>,
    /// Programs with their versions.
    pub software: Vec<String>,
    /// How it was measured, point by point.
    pub methodology: Vec<String>,
    /// How its units are to be read.
    pub unit_remark: Option<String>,
    /// Its words for known things.
    pub terminology: Option<String>,
    /// How its tests are numbered.
    pub test_numbering: Option<String>,
    /// The machines.
    pub hardware: Details,
    /// The machine, by the names that reports give the facts of a host: what the study prints of each.
    pub machine: BTreeMap<String, String>,
    /// Numbers of the method.
    pub protocol: Details,
}

impl Study {
    /// Title and year, as a source is named beside a figure.
    #[must_use]
    pub fn cited(&self) -> String {
        format!("{} ({})", self.title, self.year)
    }
}

/// A statement of a study that own data can confirm or refute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedClaim {
    /// A name that no other claim has.
    pub id: String,
    /// The [`Study::id`]; filled in when the library is read.
    #[serde(default)]
    pub study: String,
    /// Word for word.
    pub text: String,
    /// What is to be compared.
    pub check: String,
    /// What the study's own figures say of it.
    pub on_published: String,
}

/// A command line of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCommand {
    /// A name that no other command has.
    pub id: String,
    /// The [`Study::id`]; filled in when the library is read.
    #[serde(default)]
    pub study: String,
    /// What it is for.
    pub purpose: String,
    /// Word for word, line breaks included; none where the study prints no whole line.
    pub verbatim: Option<String>,
    /// The parts that [`PublishedCommand::intended`] was put together from in that case.
    pub assembled_from: Option<String>,
    /// With its misprints mended.
    pub intended: String,
    /// What must be known beside it.
    pub note: Option<String>,
}

/// A chart of a study. The points are lost; axes and series are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedChart {
    /// A name that no other chart has.
    pub id: String,
    /// The [`Study::id`]; filled in when the library is read.
    #[serde(default)]
    pub study: String,
    /// What stands below it.
    pub caption: String,
    /// What it is, if no chart.
    pub kind: Option<String>,
    /// The test that it belongs to.
    pub test: Option<String>,
    /// The layout that was measured.
    pub layout: Option<String>,
    /// What is left of its points.
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
    /// What is not said of its parts.
    pub panels_not_stated: Option<String>,
    /// What can be read of it all the same.
    pub readable: Option<String>,
}

/// Something printed that is wrong, damaged or contradicts itself, and how it is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misprint {
    /// The [`Study::letter`].
    pub study: String,
    /// Where in the study.
    pub place: String,
    /// What is wrong with it.
    pub sort: MisprintSort,
    /// What is printed.
    pub printed: String,
    /// How it is to be read.
    pub reading: String,
    /// Why.
    pub because: String,
    /// Ids of the figures, commands and charts that it is about.
    pub concerns: Vec<String>,
}
