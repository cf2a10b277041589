//! History of layouts during a run: how each was created, what was read back, how it was destroyed.

use serde::{Deserialize, Serialize};

use crate::{BlockDeviceFacts, CommandRun, FileSystemFacts, LayoutFinding};

/// An event of a layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LayoutEvent {
    /// It was created, or creating it failed.
    Created {
        /// The executed commands, in order. If creating it failed, these include the commands that undid
        /// it.
        commands: Vec<CommandRun>,
        /// Why it could not be created.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// It was inspected.
    Verified {
        /// What was read back.
        findings: Vec<LayoutFinding>,
        /// The file systems available for measurement.
        file_systems: Vec<FileSystemFacts>,
        /// The block devices under them.
        devices: Vec<BlockDeviceFacts>,
    },
    /// It was destroyed, or destroying it failed.
    Destroyed {
        /// The executed commands, in order.
        commands: Vec<CommandRun>,
        /// Why parts of it are left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// One creation of a layout for its cases. A resumed run may have created it twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayoutLifetime {
    /// [`plan::Layout::name`].
    pub layout: String,
    /// Wall clock when it had been created or creating it had failed, nanoseconds since 1970-01-01 UTC.
    pub created_unix_ns: i64,
    /// The commands executed to create it.
    pub created: Vec<CommandRun>,
    /// Why it could not be created.
    pub not_created: Option<String>,
    /// What was read back.
    pub findings: Vec<LayoutFinding>,
    /// The file systems that were measured.
    pub file_systems: Vec<FileSystemFacts>,
    /// The block devices under them.
    pub devices: Vec<BlockDeviceFacts>,
    /// Wall clock when it had been destroyed, or `None` if the run was killed before that.
    pub destroyed_unix_ns: Option<i64>,
    /// The commands executed to destroy it.
    pub destroyed: Vec<CommandRun>,
    /// Why parts of it were left.
    pub not_destroyed: Option<String>,
}

impl LayoutLifetime {
    /// The events of its history, in order, each with its wall clock.
    pub(crate) fn news(&self) -> Vec<(i64, LayoutEvent)> {
        let (commands, error) = (self.created.clone(), self.not_created.clone());
        let mut news = vec![(self.created_unix_ns, LayoutEvent::Created { commands, error })];
        if !(self.findings.is_empty() && self.file_systems.is_empty() && self.devices.is_empty()) {
            let (findings, devices) = (self.findings.clone(), self.devices.clone());
            let file_systems = self.file_systems.clone();
            news.push((self.created_unix_ns, LayoutEvent::Verified { findings, file_systems, devices }));
        }
        if let Some(at_unix_ns) = self.destroyed_unix_ns {
            let (commands, error) = (self.destroyed.clone(), self.not_destroyed.clone());
            news.push((at_unix_ns, LayoutEvent::Destroyed { commands, error }));
        }
        news
    }
}

/// Adds an event of `layout` to the known history.
pub(crate) fn note(all: &mut Vec<LayoutLifetime>, layout: String, at_unix_ns: i64, news: LayoutEvent) {
    let is_new = matches!(news, LayoutEvent::Created { .. }) || !all.iter().any(|one| one.layout == layout);
    if is_new {
        all.push(LayoutLifetime {
            layout: layout.clone(),
            created_unix_ns: at_unix_ns,
            ..LayoutLifetime::default()
        });
    }
    let Some(lifetime) = all.iter_mut().rev().find(|one| one.layout == layout) else { return };
    match news {
        LayoutEvent::Created { commands, error } => {
            (lifetime.created, lifetime.not_created) = (commands, error);
        }
        LayoutEvent::Verified { findings, file_systems, devices } => {
            (lifetime.findings, lifetime.file_systems, lifetime.devices) = (findings, file_systems, devices);
        }
        LayoutEvent::Destroyed { commands, error } => {
            lifetime.destroyed_unix_ns = Some(at_unix_ns);
            (lifetime.destroyed, lifetime.not_destroyed) = (commands, error);
        }
    }
}
