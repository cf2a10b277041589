//! The program called as other tools, imports of their output, and other software that parses output or writes in the
//! same way.

mod cross_check;
mod forges;
mod formats;
mod frameworks;
mod gpfsperf;
pub(crate) mod import;
mod io500;
mod ioping;
mod ior_lines;
mod iozone;
mod md_workbench;
mod mdtest;
mod randomops;
mod readers;
mod round_trip;
