//! Counters of storage servers and clients around a phase, and the texts that they were read from.

use std::sync::Arc;

use crate::PhaseKey;

/// One counter or setting of a server or client, before and after a phase. Texts that repeat are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRow {
    /// Which phase.
    pub key: PhaseKey,
    /// The node that ioproof read it on by itself; empty where a command of the study printed it.
    pub node: Arc<str>,
    /// Its source: a command, or a file of the kernel.
    pub source: Arc<str>,
    /// `lustre-server`, `lustre-client`, `lustre-layout`, `gpfs-client` or `nfs-client`.
    pub system: Arc<str>,
    /// Its object: a storage target, a mount.
    pub device: Arc<str>,
    /// Its name, unit last.
    pub counter: Arc<str>,
    /// Value before the phase; none if not reported.
    pub before: Option<u64>,
    /// After it.
    pub after: Option<u64>,
}

/// A text that counters were read from, as it was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTextRow {
    /// Which phase.
    pub key: PhaseKey,
    /// As in [`ServerRow`].
    pub node: Arc<str>,
    /// As in [`ServerRow`].
    pub source: Arc<str>,
    /// `before` or `after`.
    pub moment: Arc<str>,
    /// How long the whole text is.
    pub bytes: u64,
    /// Its beginning.
    pub text: Arc<str>,
}

impl ServerTextRow {
    /// Maximum length of the stored text. Counters are read from all of it.
    pub const KEPT_BYTES: usize = 64 << 10;
    /// A batch that is full of rows has at most so many bytes of texts for each of them.
    const BYTES_OF_ROW: usize = 512;

    /// As how many rows more than one it counts where a batch is measured by its rows.
    pub(crate) fn further_rows(&self) -> usize {
        self.text.len() / Self::BYTES_OF_ROW
    }
}
