//! What a reader and a program rely on in every form of a report.

mod answer;
mod browser;
mod common;
mod forms;
mod golden;
mod layouts;
mod matrix;
mod nodes;
mod openmetrics;
mod operations;
mod page;
mod preflight;
mod reference;
mod schema;
mod simulated;
mod strangers;
mod study;
mod timeline;
mod validated;
mod validation;
