//! The files, trees and data that a run creates on its targets.

pub(crate) mod cleanup;
pub(crate) mod data;
pub(crate) mod file_sets;
pub(crate) mod paths;
pub(crate) mod sequence;
pub(crate) mod targets;
pub(crate) mod trees;
