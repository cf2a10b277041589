//! The files, trees and data that a run makes on its targets.

pub(crate) mod cleanup;
pub(crate) mod data;
pub(crate) mod trees;
