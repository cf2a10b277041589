//! Steps, ledger, way there and way back, on a tree of files with a kernel that behaves like one.

mod applied;
mod booted;
mod fake_kernel;
mod found;
mod kept;
mod ledgers;
mod mounted;
mod on_this_kernel;
