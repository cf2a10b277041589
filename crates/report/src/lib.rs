//! Tables, charts and pages, made from records and analysis.
