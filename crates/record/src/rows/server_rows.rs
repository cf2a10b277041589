//! Counters of storage servers and clients around a phase, and the texts from which they were read.

use std::sync::Arc;

use crate::PhaseKey;

/// One counter or setting of a server or client, before and after a phase. Texts that repeat are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRow {
    /// The phase it belongs to.
    pub key: PhaseKey,
    /// The node on which ioproof itself read it; empty if it was printed by a command of the study.
    pub node: Arc<str>,
    /// Its source: a command, or a file of the kernel.
    pub source: Arc<str>,
    /// `lustre-server`, `lustre-client`, `lustre-layout`, `gpfs-client` or `nfs-client`.
    pub system: Arc<str>,
    /// The object it belongs to: a storage target or a mount.
    pub device: Arc<str>,
    /// Its name, which ends with the unit.
    pub counter: Arc<str>,
    /// Value before the phase, or `None` if it was not reported.
    pub before: Option<u64>,
    /// Value after the phase.
    pub after: Option<u64>,
}

/// A text from which counters were read, as printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTextRow {
    /// The phase it belongs to.
    pub key: PhaseKey,
    /// As in [`ServerRow`].
    pub node: Arc<str>,
    /// As in [`ServerRow`].
    pub source: Arc<str>,
    /// `before` or `after`.
    pub moment: Arc<str>,
    /// Length of the whole text in bytes.
    pub bytes: u64,
    /// Its beginning.
    pub text: Arc<str>,
}

impl ServerTextRow {
    /// Maximum length of the stored text. Counters are read from the whole text.
    pub const KEPT_BYTES: usize = 64 << 10;
    /// Maximum average number of bytes of text per row in a full batch.
    const BYTES_OF_ROW: usize = 512;

    /// The number of additional rows that it counts for when the size of a batch is determined.
    pub(crate) fn further_rows(&self) -> usize {
        self.text.len() / Self::BYTES_OF_ROW
    }
}
