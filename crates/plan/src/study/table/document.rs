//! The tables of a study file, before they are combined.

use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::definition::Table;
use super::read::{absent, table_fields};
use super::values::Fields;
use crate::limits::{STUDY_BYTES, STUDY_TABLES};
use crate::study::error::StudyError;
use crate::study::keys::{PROTOCOL, STUDY, TABLES, TARGET, WORKLOAD};
use crate::study::overrides::{self, Override};
use crate::text::nearest::nearest;
use crate::text::visible::shown;

/// The tables of a study file.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) study: Fields,
    pub(crate) protocol: Fields,
    /// Tables that may occur several times, by their name.
    many: HashMap<&'static str, Vec<Fields>>,
    /// Whether some top-level entry could not be read, so that what appears to be missing may exist.
    pub(crate) partial: bool,
}

impl Document {
    /// Reads `text` once and collects all mistakes in `errors`. Returns nothing if the text is not valid
    /// TOML, because its remains would only cause follow-on mistakes.
    pub(crate) fn parse(text: &str, overrides: &[Override], errors: &mut Vec<StudyError>) -> Option<Self> {
        let document = Self::parse_criteria(text, overrides, errors)?;
        if document.many("workload").is_empty() && !document.partial {
            let end = text.trim_end().len();
            let help = "add one, with at least `name`, `transfer` and `size` (or `block`)";
            errors.push(StudyError::new(end..end, "end of the file", "the study has no [[workload]]", help));
        }
        Some(document)
    }

    /// Like [`Document::parse`], for a text that needs no workloads.
    pub(crate) fn parse_criteria(
        text: &str,
        overrides: &[Override],
        errors: &mut Vec<StudyError>,
    ) -> Option<Self> {
        if text.len() > STUDY_BYTES {
            let message = format!("the file has {} bytes, too many for a study", text.len());
            errors.push(StudyError::new(0..0, "starts here", message, "is it the right file?"));
            return None;
        }
        let (mut content, mistakes) = DeTable::parse_recoverable(text);
        if !mistakes.is_empty() {
            errors.extend(mistakes.iter().map(syntax));
            return None;
        }
        let mut document =
            Self { study: absent(&STUDY), protocol: absent(&PROTOCOL), many: HashMap::new(), partial: false };
        overrides::apply(content.get_mut(), text, overrides, errors);
        for (name, value) in content.get_ref() {
            document.table(name.get_ref(), &name.span(), value, errors);
        }
        Some(document)
    }

    /// The tables called `name`, in the order of the file.
    pub(crate) fn many(&self, name: &str) -> &[Fields] {
        self.many.get(name).map_or(&[], Vec::as_slice)
    }

    /// Reads the top-level entry `name` of the file.
    fn table(
        &mut self,
        name: &str,
        span: &Range<usize>,
        value: &Spanned<DeValue<'_>>,
        errors: &mut Vec<StudyError>,
    ) {
        let Some(table) = TABLES.into_iter().find(|table| table.name == name) else {
            self.partial = true;
            errors.push(unknown_table(name, span.clone()));
            return;
        };
        match value.get_ref() {
            DeValue::Table(content) if !table.many() => {
                let fields = table_fields(table, content, value.span(), errors);
                if table.name == STUDY.name {
                    self.study = fields;
                } else {
                    self.protocol = fields;
                }
            }
            DeValue::Array(items) if table.many() && items.len() <= STUDY_TABLES => {
                for item in items {
                    let DeValue::Table(content) = item.get_ref() else {
                        self.partial = true;
                        errors.push(not_a_table(table, item.span()));
                        continue;
                    };
                    let fields = table_fields(table, content, item.span(), errors);
                    self.many.entry(table.name).or_default().push(fields);
                }
            }
            DeValue::Array(items) if table.many() => {
                self.partial = true;
                let message = format!("{} {} tables are too many", items.len(), table.header());
                let help = format!("a study has at most {STUDY_TABLES} of them");
                errors.push(StudyError::new(span.clone(), "the first of them", message, help));
            }
            _ => {
                self.partial = true;
                errors.push(not_a_table(table, span.clone()));
            }
        }
    }
}

/// A mistake that the TOML parser found.
fn syntax(mistake: &toml::de::Error) -> StudyError {
    let span = mistake.span().unwrap_or_default();
    let message = format!("this is not TOML: {}", mistake.message());
    let help = "a line is `key = value` or a [table]; strings are in quotes, lists in brackets";
    StudyError::new(span, "here", message, help)
}

fn unknown_table(name: &str, span: Range<usize>) -> StudyError {
    let tables = || TABLES.into_iter().map(|table| table.name);
    let likely = [&WORKLOAD, &TARGET, &PROTOCOL, &STUDY];
    let owner = likely.into_iter().chain(TABLES).find(|table| table.find(name).is_some());
    let named = TABLES.into_iter().find(|table| Some(table.name) == nearest(name, tables()));
    let help = match (owner, named) {
        (Some(owner), _) => format!("`{name}` is a key of {}: write it below that header", owner.header()),
        (None, Some(named)) => format!("did you mean {}?", named.header()),
        (None, None) => {
            let headers: Vec<String> = TABLES.into_iter().map(Table::header).collect();
            format!("the tables are {}", headers.join(", "))
        }
    };
    StudyError::new(span, "unknown table", format!("a study has no `{}`", shown(name)), help)
}

fn not_a_table(table: &Table, span: Range<usize>) -> StudyError {
    let often = if table.many() { "a table that can occur several times" } else { "a single table" };
    let message = format!("`{}` is {often}", table.name);
    StudyError::new(span, "written another way", message, format!("write {} as its header", table.header()))
}
