//! The formats of a report: terminal text, Markdown, a page, CSV and OpenMetrics. JSON is the serialized
//! [`Report`](crate::report::Report).

pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod openmetrics;
pub(crate) mod text;
