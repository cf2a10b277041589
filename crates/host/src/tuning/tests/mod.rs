//! Steps, ledger, apply and restore, on a tree of files with a fake kernel.

mod applied;
mod booted;
mod fake_kernel;
mod found;
mod ledgers;
mod mounted;
mod on_this_kernel;
mod persisted;
