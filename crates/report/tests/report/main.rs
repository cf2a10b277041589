//! The guarantees for readers and programs in every output format of a report.

mod answer;
mod browser;
mod common;
mod concurrent;
mod first_screen;
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
