//! Published figures: what studies printed, with the conditions that they printed beside it.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::Operation;

/// A figure of a publication. Values are copied facts, in the unit of [`Published::unit`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// A name that no other figure has.
    pub id: String,
    /// Title and year of the study.
    pub study: String,
    /// The test in the study's own words.
    pub test: String,
    /// What the figure is of.
    pub metric: Metric,
    /// Reads or writes.
    pub operation: Operation,
    /// The figure.
    pub value: f64,
    /// `bytes/s` or `fraction` (of the sum of all targets).
    pub unit: String,
    /// The figure as it was printed, as in `2.05 GB/s`.
    pub as_published: String,
    /// How the study chose it: `best`, `mean`, `single` or `stated`.
    pub statistic: String,
    /// The command line's values. What the study does not say is absent.
    pub parameters: PublishedParameters,
    /// What a reader must know beside it.
    pub note: Option<String>,
}

/// What a published figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Bytes per second of all tasks together.
    Bandwidth,
    /// Bandwidth, divided by that of one target times their number.
    Scalability,
}

/// The values of IOR's command line that a published figure was measured with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedParameters {
    /// `-B`.
    pub direct: bool,
    /// `-e`.
    pub fsync: bool,
    /// `-F`.
    pub file_per_process: bool,
    /// `-C`.
    pub reorder_tasks: Option<bool>,
    /// `-z`.
    pub random: bool,
    /// `-t`.
    pub transfer_bytes: u64,
    /// `-b`.
    pub block_bytes: Option<u64>,
    /// `-s`.
    pub segments: Option<u64>,
    /// `-N`, on all nodes together.
    pub tasks: u32,
    /// Names in `-o`.
    pub targets: u32,
    /// Devices under them.
    pub devices: u32,
    /// What the files stood on.
    pub layout: String,
}

#[derive(Deserialize)]
struct Library {
    figure: Vec<Published>,
}

/// The figures that are built in: those of the IOR runs of two studies.
///
/// # Panics
/// Never: the text is part of the program and a test reads it.
#[must_use]
pub fn published() -> &'static [Published] {
    static LIBRARY: OnceLock<Vec<Published>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let library: Library =
            toml::from_str(include_str!("../data/published.toml")).expect("a test reads the same text");
        library.figure
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Metric, published};

    #[test]
    fn every_figure_has_a_name_of_its_own_and_a_value_in_a_known_unit() {
        let names: HashSet<_> = published().iter().map(|figure| &figure.id).collect();
        assert_eq!(names.len(), published().len());
        for figure in published() {
            let unit = match figure.metric {
                Metric::Bandwidth => "bytes/s",
                Metric::Scalability => "fraction",
            };
            assert_eq!(figure.unit, unit, "{}", figure.id);
            assert!(figure.value > 0.0, "{}", figure.id);
        }
    }

    #[test]
    fn the_single_card_baseline_is_as_printed() {
        let value = |id: &str| published().iter().find(|figure| figure.id == id).map(|figure| figure.value);
        assert_eq!(value("a-t1-write-best"), Some(2.05e9));
        assert_eq!(value("a-t1-read-best"), Some(2.78e9));
    }
}
