//! The program as its users meet it: command lines in; output, exit code, record and files out.
//!
//! Each module is one thing that users rely on; [`desk`] has what all of them need.

mod answers;
mod audit;
mod calc;
mod clean;
mod comparisons;
mod depth;
mod desk;
mod expectations;
mod explain;
mod faults;
mod formats;
mod frameworks;
mod hosts;
mod import;
mod instrument;
mod io_uring;
mod jobs;
mod launcher;
mod layout;
mod limits;
mod mdtest;
mod mixes;
mod node_local;
mod nodes;
mod nodes_compared;
mod open_loop;
mod page_cache;
mod places;
mod quick;
mod randomops;
mod rates;
mod raw_devices;
mod ready_studies;
mod record;
mod regression;
mod repeats;
mod resume;
mod rpc;
mod studies;
mod sweeps;
mod verdicts;
mod weak_scaling;
mod who_reads_what;
