//! What every operation on layouts needs, and the operations that only read or change a ledger.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use record::LayoutFinding;

use super::ledger::{self, MadeLayout};
use super::{LayoutError, verify};
use crate::ledger::STATE_DIRECTORY;
use crate::{Guard, Root};

/// Directory of ledgers for users other than root, relative to the home directory.
const USER_STATE: &str = ".local/state/ioproof";

/// The default directory for ledgers: `/var/lib/ioproof` for root, and for others `$XDG_STATE_HOME/ioproof`
/// or `~/.local/state/ioproof`.
#[must_use]
pub fn default_state() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from(STATE_DIRECTORY);
    }
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    match variable("XDG_STATE_HOME") {
        Some(state) => state.join("ioproof"),
        None => variable("HOME").map_or_else(|| PathBuf::from(STATE_DIRECTORY), |home| home.join(USER_STATE)),
    }
}

/// The host of the layouts, the directory of their ledgers, and the guard of their devices.
#[derive(Clone)]
pub struct Layouts {
    pub(super) root: Root,
    pub(super) state: PathBuf,
    pub(super) guard: Guard,
    pub(super) stop: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The directory of the study that defines the layouts.
    pub(super) study: Option<PathBuf>,
}

impl fmt::Debug for Layouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layouts")
            .field("root", &self.root)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Layouts {
    /// Creates layouts with ledgers below `state`, on devices that `guard` permits.
    #[must_use]
    pub fn new(root: Root, state: PathBuf, guard: Guard) -> Self {
        Self { root, state, guard, stop: Arc::new(|| false), study: None }
    }

    /// Sets a check that is made between steps. If `stop` returns true, all steps are undone.
    #[must_use]
    pub fn with_stop(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { stop: Arc::new(stop), ..self }
    }

    /// Sets the directory of the study. Files in it that are named in commands are covered by their hash.
    #[must_use]
    pub fn with_study(self, directory: Option<PathBuf>) -> Self {
        Self { study: directory, ..self }
    }

    /// Keeps the layout after this program ends, so that it does not count as a leftover.
    ///
    /// # Errors
    /// Errors if the ledger cannot be written.
    pub fn keep(&self, standing: &mut MadeLayout) -> Result<(), LayoutError> {
        standing.note(ledger::Event::Kept)
    }

    /// Reads back the properties of the layout.
    #[must_use]
    pub fn verify(&self, standing: &MadeLayout) -> Vec<LayoutFinding> {
        verify::findings(&self.root, standing)
    }

    /// All layouts with a ledger, including partial ones, ordered by name.
    ///
    /// # Errors
    /// Errors if a ledger cannot be read.
    pub fn standing(&self) -> Result<Vec<MadeLayout>, LayoutError> {
        ledger::all(&self.root, &self.state)
    }

    /// Removes a layout's ledger without undoing anything. Meant for a layout that is gone for good, for
    /// example because a device was pulled.
    ///
    /// # Errors
    /// Errors if the ledger cannot be removed.
    pub fn forget(&self, standing: MadeLayout) -> Result<(), LayoutError> {
        standing.remove()
    }
}
