//! The layouts of a run, as every form of a report tells them.

use record::{BlockDeviceFacts, CommandRun, FileSystemFacts, LayoutFinding};
use schemars::JsonSchema;
use serde::Serialize;

/// One time that a layout was made for the cases on it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LayoutInfo {
    pub(crate) name: String,
    pub(crate) title: String,
    /// What it stands for; empty where it stands for nothing else.
    pub(crate) stands_for: String,
    /// As in `md`.
    pub(crate) recipe: &'static str,
    /// The devices as the plan names them, in the order of the members.
    pub(crate) members: Vec<String>,
    #[schemars(extend("enum" = ["dismantled", "not made", "left", "standing"]))]
    pub(crate) state: &'static str,
    /// Why it was not made, or why something is left; empty where all went well.
    pub(crate) error: String,
    /// What was run to make it.
    pub(crate) created: Vec<CommandRun>,
    /// What was read back.
    pub(crate) findings: Vec<LayoutFinding>,
    pub(crate) file_systems: Vec<FileSystemFacts>,
    /// The block devices under it.
    pub(crate) devices: Vec<BlockDeviceFacts>,
    /// What was run to dismantle it.
    pub(crate) destroyed: Vec<CommandRun>,
}
