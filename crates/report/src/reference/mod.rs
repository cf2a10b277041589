//! The library of published figures, as text for a terminal and as JSON.
//!
//! ```
//! use report::Screen;
//! use report::reference::{Filter, list};
//! let filter = Filter { study: Some("A".to_owned()), text: Some("test 2".to_owned()), ..Filter::default() };
//! assert!(list(record::published(), &filter, Screen::PLAIN).contains("32.9 GB/s"));
//! ```

mod show;

use std::fmt::Write;

use record::{Library, Metric, Published, PublishedOperation, Study};
use serde_json::{Value, json};

use crate::Screen;
use crate::format::table::{Table, width};

pub use show::{show, show_json};

/// Marks a value whose printed form is wrong, damaged or contradicted.
const MARK: &str = "!";
/// End of a truncated text.
const CUT: char = '…';

/// Selection of a part of the library. An unset field selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The letter or id of a study.
    pub study: Option<String>,
    /// The quantity of the figures.
    pub metric: Option<Metric>,
    /// The operation of the figures.
    pub operation: Option<PublishedOperation>,
    /// Text to be found in the id, section, test, conditions, note or text, ignoring case.
    pub text: Option<String>,
}

impl Filter {
    fn takes_study(&self, library: &Library, id: &str) -> bool {
        let wanted = self.study.as_ref().map(|wanted| library.study(wanted));
        wanted.is_none_or(|study| study.is_some_and(|study| study.id == id))
    }

    fn takes_text(&self, parts: &[&str]) -> bool {
        let Some(text) = &self.text else { return true };
        parts.join(" ").to_lowercase().contains(&text.to_lowercase())
    }

    fn takes(&self, library: &Library, figure: &Published) -> bool {
        let conditions = show::conditions(figure);
        let note = figure.note.as_deref().unwrap_or_default();
        self.takes_study(library, &figure.study)
            && self.metric.is_none_or(|metric| metric == figure.metric)
            && self.operation.is_none_or(|operation| operation == figure.operation)
            && self.takes_text(&[
                &figure.id,
                &figure.section,
                &figure.test,
                &figure.printed,
                &conditions,
                note,
            ])
    }
}

/// The figures that match `filter`, by study, each converted to a common unit and as printed. Marked figures
/// are explained by [`show`].
#[must_use]
pub fn list(library: &Library, filter: &Filter, screen: Screen) -> String {
    let mut out = String::new();
    let mut marked = false;
    // Ids are for copying, so they are not shortened; `show` has the rest.
    let wide = |text: String| if screen.columns() < LIST_COLUMNS { String::new() } else { text };
    for study in &library.studies {
        let of_study = library.figures.iter().filter(|figure| figure.study == study.id);
        let figures: Vec<&Published> = of_study.filter(|figure| filter.takes(library, figure)).collect();
        if figures.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{}  {}", study.letter, cut(&study.cited(), screen.columns() - 3));
        let mark = |figure: &Published| is_marked(library, figure).then(|| MARK.to_owned());
        marked |= figures.iter().any(|figure| is_marked(library, figure));
        let table = Table::of(figures)
            .left("id", |figure| figure.id.clone())
            .left("what", |figure| cut(&format!("{} {}", figure.operation, figure.metric), WHAT_MAX))
            .right("value", |figure| figure.text())
            .left("", |figure| mark(figure))
            .left("statistic", |figure| wide(figure.statistic.to_string()))
            .left("printed", |figure| cut(&figure.as_published(), PRINTED_MAX))
            .left("conditions", |figure| wide(cut(&show::conditions(figure), CONDITIONS_MAX)))
            .done();
        out.push_str(&table.without_empty_columns().to_text("", screen));
        out.push('\n');
    }
    match (out.is_empty(), marked) {
        (true, _) => "no published figure matches; leave a filter out\n".to_owned(),
        (false, true) => {
            out + "! misprinted, damaged or contradicted as printed: show ID says how it is read\n"
        }
        (false, false) => out,
    }
}

/// Columns of a complete list.
const LIST_COLUMNS: usize = 110;
const WHAT_MAX: usize = 18;
const PRINTED_MAX: usize = 18;
const CONDITIONS_MAX: usize = 20;

fn is_marked(library: &Library, figure: &Published) -> bool {
    figure.misprint.is_some() || figure.damaged || library.misprints_of(&figure.id).next().is_some()
}

/// The studies, with a description and what the library has of them.
#[must_use]
pub fn studies(library: &Library, filter: &Filter, screen: Screen) -> String {
    let taken = library.studies.iter().filter(|study| {
        filter.takes_study(library, &study.id)
            && filter.takes_text(&[&study.id, &study.title, &study.summary])
    });
    screen.folded(&taken.map(|study| show::study(library, study)).collect::<Vec<_>>().join("\n"))
}

/// The statements, with how each is tested and what the study's own figures show about it.
#[must_use]
pub fn claims(library: &Library, filter: &Filter, screen: Screen) -> String {
    let taken = library.claims.iter().filter(|claim| {
        filter.takes_study(library, &claim.study)
            && filter.takes_text(&[&claim.id, &claim.text, &claim.check])
    });
    screen.folded(&taken.map(show::claim).collect::<Vec<_>>().join("\n"))
}

/// Misprints, with their corrected reading and the reason.
#[must_use]
pub fn misprints(library: &Library, filter: &Filter, screen: Screen) -> String {
    let mut out = String::new();
    let id = |letter: &str| library.study(letter).map_or("", |study: &Study| study.id.as_str());
    for one in &library.misprints {
        let words = [&one.place, &one.printed, &one.reading, &one.because].map(String::as_str);
        if !filter.takes_study(library, id(&one.study)) || !filter.takes_text(&words) {
            continue;
        }
        let _ = writeln!(out, "{} {} ({})", one.study, one.place, one.sort);
        for (name, text) in [("printed", &one.printed), ("read as", &one.reading), ("because", &one.because)]
        {
            let _ = writeln!(out, "  {name:<7}  {text}");
        }
        if !one.concerns.is_empty() {
            let _ = writeln!(out, "  ids      {}", one.concerns.join(", "));
        }
    }
    screen.folded(&out)
}

/// The figures that match `filter` and all other entries of their studies, as JSON.
#[must_use]
pub fn json(library: &Library, filter: &Filter) -> Value {
    let of = |study: &str| filter.takes_study(library, study);
    let letter = |letter: &str| library.study(letter).is_some_and(|study| of(&study.id));
    json!({
        "schema": "ioproof-reference/1",
        "studies": library.studies.iter().filter(|one| of(&one.id)).collect::<Vec<_>>(),
        "figures": library.figures.iter().filter(|one| filter.takes(library, one)).collect::<Vec<_>>(),
        "claims": library.claims.iter().filter(|one| of(&one.study)).collect::<Vec<_>>(),
        "commands": library.commands.iter().filter(|one| of(&one.study)).collect::<Vec<_>>(),
        "charts": library.charts.iter().filter(|one| of(&one.study)).collect::<Vec<_>>(),
        "misprints": library.misprints.iter().filter(|one| letter(&one.study)).collect::<Vec<_>>(),
    })
}

/// `text` in at most `columns`, on one line.
fn cut(text: &str, columns: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width(&text) <= columns {
        return text;
    }
    let mut short: String = text.chars().take(columns - 1).collect();
    short.truncate(short.trim_end().len());
    short.push(CUT);
    short
}
