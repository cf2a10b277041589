//! Tables 1 and 2 of the study that published such a matrix, with what follows from its own numbers.

use record::{Library, Published};

use super::{Amounts, SumColumn};
use crate::{Doubt, audit_published};

/// The systems, by the word in the ids of their figures and as the tables print them; the baseline first.
const SYSTEMS: [(&str, &str); 2] = [
    ("spinning", "High-Performance Spinning Storage"),
    ("flash", "Intel PCIe Solid State DC P3700 Series flash storage"),
];
/// The words of the columns of Table 1 in ids, in the order of [`SumColumn::ALL`].
const SUMS: [&str; 4] = ["real", "mem", "user", "system"];
/// The words of the columns of Table 2 in ids.
const RATIOS: [&str; 3] = ["mean", "sdev", "range"];

/// What was published of one matrix on two systems.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedMatrix {
    /// Title and year.
    pub cited: String,
    /// The baseline first.
    pub systems: [PublishedSystem; 2],
    /// The row of differences of Table 1, in the order of [`SumColumn::ALL`].
    pub changes: [PublishedChange; 4],
}

/// One row of each table.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedSystem {
    /// As printed.
    pub title: String,
    /// Table 1, in the order of [`SumColumn::ALL`].
    pub sums: [PublishedCell; 4],
    /// Table 2: mean, standard deviation and range of the ratios.
    pub ratios: [PublishedCell; 3],
    /// (user + system) ÷ real of Table 1, which Table 2 does not print.
    pub ratio_of_sums: f64,
}

/// One printed number.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedCell {
    /// Its id in the library.
    pub id: String,
    /// In seconds or bytes, or a ratio; as printed, also where that is a misprint.
    pub value: f64,
    /// Word for word.
    pub printed: String,
    /// What the audit says of it.
    pub doubts: Vec<Doubt>,
}

/// A printed difference, and what it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedChange {
    /// As printed.
    pub cell: PublishedCell,
    /// From the rows above it.
    pub recomputed: f64,
    /// That ÷ the baseline.
    pub share: f64,
}

impl PublishedChange {
    /// The printed number is what it should be.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.cell.doubts.is_empty()
    }
}

/// The published tables; none where `library` lacks a figure of them.
///
/// ```
/// let tables = analysis::published_matrix(record::published()).expect("the study is in the library");
/// let real = &tables.changes[0];
/// assert!((real.recomputed / 60.0 - 61.0).abs() < 1e-9 && (real.share - 0.0505).abs() < 1e-4);
/// assert!(!tables.changes[1].agrees(), "+0.01 GB is printed, and 56.2 − 56.1 is +0.1");
/// ```
#[must_use]
pub fn published_matrix(library: &Library) -> Option<PublishedMatrix> {
    let doubts = audit_published(library);
    let cell = |id: String| {
        let figure = library.figure(&id)?;
        let doubts = doubts.iter().filter(|doubt| doubt.concerns == id).cloned().collect();
        Some(PublishedCell { id, value: as_printed(figure), printed: figure.printed.clone(), doubts })
    };
    let system = |(word, title): (&str, &str)| {
        let sums = all(SUMS.map(|column| cell(format!("c-tab1-{word}-{column}"))))?;
        let ratios = all(RATIOS.map(|column| cell(format!("c-tab2-{word}-{column}"))))?;
        let [real_seconds, memory_bytes, user_cpu_seconds, system_cpu_seconds] =
            sums.each_ref().map(|cell| cell.value);
        let amounts = Amounts { real_seconds, memory_bytes, user_cpu_seconds, system_cpu_seconds };
        Some(PublishedSystem { title: title.to_owned(), sums, ratios, ratio_of_sums: amounts.ratio()? })
    };
    let systems = all(SYSTEMS.map(system))?;
    let change = |column: SumColumn| {
        let place = column as usize;
        let [first, second] = systems.each_ref().map(|system| system.sums[place].value);
        Some(PublishedChange {
            cell: cell(format!("c-tab1-delta-{}", SUMS[place]))?,
            recomputed: second - first,
            share: (second - first) / first,
        })
    };
    let changes = all(SumColumn::ALL.map(change))?;
    let cited = library.figure(&systems[0].sums[0].id)?.cited.clone();
    Some(PublishedMatrix { cited, systems, changes })
}

fn as_printed(figure: &Published) -> f64 {
    figure.misprint.and_then(|slip| slip.printed_value).unwrap_or(figure.value)
}

/// All of them, or none.
fn all<T, const N: usize>(each: [Option<T>; N]) -> Option<[T; N]> {
    let found: Vec<T> = each.into_iter().flatten().collect();
    found.try_into().ok()
}
