//! Counters of storage servers and clients around a phase, and the texts from which they were read.

use serde::{Deserialize, Serialize};

use crate::table::{Value, row};
use crate::{PhaseKey, SharedText};

row! {
    /// One counter or setting of a server or client, before and after a phase. Texts that repeat are shared.
    #[derive(Eq)]
    ServerRow in "servers" {
        /// The node on which ioproof itself read it; empty if it was printed by a command of the study.
        node: SharedText,
        /// Its source: a command, or a file of the kernel.
        source: SharedText,
        /// `lustre-server`, `lustre-client`, `lustre-layout`, `gpfs-client` or `nfs-client`.
        system: SharedText,
        /// The object it belongs to: a storage target or a mount.
        device: SharedText,
        /// Its name, which ends with the unit.
        counter: SharedText,
        /// Value before the phase, or `None` if it was not reported.
        before: Option<u64>,
        /// Value after the phase.
        after: Option<u64>,
    }
}

row! {
    /// A text from which counters were read, as printed.
    #[derive(Eq)]
    ServerTextRow in "server_texts" {
        /// As in [`ServerRow`].
        node: SharedText,
        /// As in [`ServerRow`].
        source: SharedText,
        /// `before` or `after`.
        moment: SharedText,
        /// Length of the whole text in bytes.
        bytes: u64,
        /// Its beginning.
        text: SharedText,
    }
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
