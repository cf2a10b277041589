//! Tables 1 and 2 of the study that published such a matrix, with values derived from its own numbers.

use record::Library;

use super::launches::{Amounts, COLUMNS, ratio_of, value_of};
use super::systems::JobContrast;
use super::tables::{JobRatios, JobSums, MatrixTables};
use crate::audit::audit_published;
use crate::gate::Stated;

/// The systems, by the word in the ids of their figures and by their name in the tables; the baseline comes first.
const SYSTEMS: [(&str, &str); 2] = [
    ("spinning", "published: High-Performance Spinning Storage"),
    ("flash", "published: Intel PCIe Solid State DC P3700 Series flash storage"),
];
/// The words for the columns of Table 1 in ids, in the order of [`Amounts`], and the units of the printed values.
const SUMS: [(&str, f64, &str); 4] =
    [("real", 60.0, "min"), ("mem", 1e9, "GB"), ("user", 60.0, "min"), ("system", 60.0, "min")];
/// The words for the columns of Table 2 in ids.
const RATIOS: [&str; 3] = ["mean", "sdev", "range"];

/// The published results of one matrix on two systems, baseline first. Returns `None` if `library` lacks one of the
/// figures. Values are as printed, including misprints.
#[must_use]
pub fn published_matrix(library: &Library) -> Option<MatrixTables> {
    let audit = audit_published(library);
    // The values with the given `ids` in seconds, bytes or as ratios; the printed text with the doubts of the audit;
    // and whether there are no doubts.
    let cells = |ids: &[String]| -> Option<(Vec<f64>, String, bool)> {
        let figures = ids.iter().map(|id| library.figure(id)).collect::<Option<Vec<_>>>()?;
        let value = |slip: record::MisprintText| slip.printed_value;
        let values = figures.iter().map(|one| one.misprint.and_then(value).unwrap_or(one.value));
        let words = figures.iter().map(|one| {
            let doubts = audit.iter().filter(|doubt| doubt.concerns == one.id);
            let doubts = doubts.map(|doubt| format!(" (! {}: {})", doubt.check.name(), doubt.evidence));
            std::iter::once(one.printed.clone()).chain(doubts).collect::<String>()
        });
        let words = format!("printed {}", words.collect::<Vec<_>>().join(", "));
        Some((values.collect(), words, !audit.iter().any(|doubt| ids.contains(&doubt.concerns))))
    };
    let cited = &library.figure("c-tab1-spinning-real")?.cited;
    let (mut found, mut all) = (MatrixTables::default(), Vec::new());
    for (word, title) in SYSTEMS {
        let (sums, printed, _) = cells(&SUMS.map(|(column, ..)| format!("c-tab1-{word}-{column}")))?;
        let (ratios, more, _) = cells(&RATIOS.map(|column| format!("c-tab2-{word}-{column}")))?;
        let means: Amounts = sums.try_into().ok()?;
        let printed = format!("{printed}, in minutes and GB: {cited}");
        let (system, passes) = (title.to_owned(), Vec::new());
        let sums = JobSums { system: system.clone(), launches: None, means, passes, printed };
        let (distribution, of_sums) = (ratios.try_into().ok()?, ratio_of(means)?);
        let ratios = JobRatios { system, distribution, of_sums, own: None, more };
        all.push(means);
        found.sums.push(Stated::of_plan(sums));
        found.ratios.push(Stated::of_plan(ratios));
    }
    for (column, (word, unit, name)) in SUMS.into_iter().enumerate() {
        let (_, printed, agrees) = cells(&[format!("c-tab1-delta-{word}")])?;
        let [first, second] = [0, 1].map(|system: usize| all[system][column]);
        let share = (second - first) / first;
        // Removes the digits that binary arithmetic adds to differences of printed numbers.
        let again = ((second - first) / unit * 1e6).round() / 1e6;
        let contrast = JobContrast {
            systems: [1, 0].map(|system| SYSTEMS[system].1.to_owned()),
            what: COLUMNS[column],
            of: "sums of 101 launches".to_owned(),
            values: [first, second].map(|amount| value_of(column, amount)),
            change: Some(share),
            interval: None,
            verdict: if agrees { "as printed" } else { "misprint" }.to_owned(),
            how: format!("{printed}; computed again {again:+} {name}, {:+.2} %", share * 100.0),
        };
        found.contrasts.push(Stated::of_plan(contrast));
    }
    Some(found)
}
