//! The JSON Schema of a report, generated from its types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use crate::report::Report;

/// The schema (draft 2020-12) of the output of [`crate::Study::json`], as in `docs/report.schema.json`.
///
/// Every field is required, because every report has it, and its contents are specified exactly; fields that
/// a later program adds within the same version are allowed.
#[must_use]
pub fn schema() -> String {
    schema_of::<Report>("Report of an ioproof run")
}

/// The schema of `T` with a title, as text.
pub(crate) fn schema_of<T: JsonSchema>(title: &str) -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    let mut out = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    out.push('\n');
    out
}
