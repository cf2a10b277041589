//! What command lines of other tools mean, what is printed as they print it, and what is read of their output.

mod batch;
mod command_lines;
mod common;
mod gpfsperf;
mod import_any_text;
mod import_fio;
mod import_published;
mod import_rules;
mod import_tools;
mod io500;
mod ioping;
mod ior_options;
mod ior_output;
mod ior_placement;
mod iozone;
mod md_workbench;
mod mdtest_lines;
mod mdtest_options;
mod mdtest_output;
mod page;
