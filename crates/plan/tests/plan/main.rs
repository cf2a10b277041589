//! What a study file means, and what is refused.

mod common;
mod fit;
mod limits;
mod study;
mod study_any_text;
mod study_concurrent;
mod study_jobs;
mod study_layers;
mod study_layouts;
mod study_members;
mod study_mistakes;
mod study_nodes;
mod study_sas;
mod study_schema;
mod study_sweeps;
mod study_terms;
mod study_works;
