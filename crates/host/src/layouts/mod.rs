//! Layouts on this host: survey, creation, verification, destruction.
//!
//! | step | what it does |
//! |---|---|
//! | [`Layouts::survey`] | lists the steps and all obstacles; writes nothing |
//! | [`Layouts::create`] | executes the steps, and undoes all of them if one fails |
//! | [`Layouts::verify`] | reads back the properties of the layout |
//! | [`Layouts::destroy`] | undoes the steps in reverse, and wipes what the layout owned |
//! | [`Layouts::standing`] | all existing layouts, also partial ones of a killed program |
//!
//! Before a step and after it a ledger is written to stable storage. Only what a ledger names is ever undone:
//! a device is wiped if it is still the same one, nothing uses it, and it carries no signature that the layout
//! did not make.
//!
//! ```no_run
//! use host::{Guard, Layouts, Root};
//! let root = Root::default();
//! let layouts = Layouts::new(root.clone(), host::layouts::default_state(), Guard::new(root));
//! let layout = plan::Layout {
//!     name: "one".into(),
//!     title: String::new(),
//!     stands_for: String::new(),
//!     devices: vec!["S3Z8NB0K123456".into(), "/dev/nvme1n1".into()],
//!     mount_point: "/mnt/one".into(),
//!     recipe: plan::Recipe::Btrfs { mount_options: "noatime".into() },
//! };
//! let mut tell = |run: &record::CommandRun| println!("{}: {}", run.command, run.status);
//! let agreed = layouts.survey(&layout, &[]).commands;
//! let standing = layouts.create(&layout, &[], agreed, "by-hand", &mut tell)?;
//! println!("measure {:?}", standing.places());
//! layouts.destroy(standing, &mut tell)?;
//! # Ok::<(), host::LayoutError>(())
//! ```

mod command_hash;
mod commands;
mod devices;
mod error;
mod kernel;
mod ledger;
mod log;
mod make;
mod place;
mod survey;
mod undo;
mod verify;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use plan::Layout;
use record::{CommandRun, LayoutFinding};

pub use command_hash::CommandHash;
pub use error::{LayoutError, Obstacle};
pub use ledger::Standing;
pub use survey::Survey;

use crate::ledger::STATE_DIRECTORY;
use crate::{Guard, Root};

/// Ledger directory of users other than root, below the home directory.
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

/// Creates and destroys layouts.
#[derive(Clone)]
pub struct Layouts {
    root: Root,
    state: PathBuf,
    guard: Guard,
    stop: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The directory of the study that defines the layouts.
    study: Option<PathBuf>,
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
    /// Layouts with ledgers below `state`, on devices that `guard` permits.
    #[must_use]
    pub fn new(root: Root, state: PathBuf, guard: Guard) -> Self {
        Self { root, state, guard, stop: Arc::new(|| false), study: None }
    }

    /// Sets a check between steps: if `stop` returns true, all steps are undone.
    #[must_use]
    pub fn with_stop(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { stop: Arc::new(stop), ..self }
    }

    /// Sets the directory of the study: files there that commands name are covered by their hash.
    #[must_use]
    pub fn with_study(self, directory: Option<PathBuf>) -> Self {
        Self { study: directory, ..self }
    }

    /// The steps and all obstacles. Nothing is written, and no rights are needed: facts that need rights are
    /// listed as obstacles. `consents` are the values of `--destroy-data-on` besides the devices that the
    /// layout names.
    #[must_use]
    pub fn survey(&self, layout: &Layout, consents: &[String]) -> Survey {
        self.inspect(layout, consents).survey
    }

    /// Creates the layout with the agreed commands ([`Survey::commands`]). `tell` gets each finished command.
    ///
    /// # Errors
    /// The commands differ from the agreed ones or there is an obstacle, and nothing was done; or a step
    /// failed, and all were undone. What could not be undone is named and stays in the ledger.
    pub fn create(
        &self,
        layout: &Layout,
        consents: &[String],
        agreed: CommandHash,
        run_id: &str,
        tell: &mut dyn FnMut(&CommandRun),
    ) -> Result<Standing, LayoutError> {
        make::create(
            self,
            layout,
            consents,
            agreed,
            run_id,
            &mut log::logged(&self.state, &layout.name, tell),
        )
    }

    /// Keeps the layout after this program ends: it is no leftover then.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn keep(&self, standing: &mut Standing) -> Result<(), LayoutError> {
        standing.note(ledger::Event::Kept)
    }

    /// Reads back the properties of the layout.
    #[must_use]
    pub fn verify(&self, standing: &Standing) -> Vec<LayoutFinding> {
        verify::findings(&self.root, standing)
    }

    /// Undoes all steps in reverse, and wipes the devices.
    ///
    /// # Errors
    /// What could not be undone is named and stays in the ledger.
    pub fn destroy(&self, standing: Standing, tell: &mut dyn FnMut(&CommandRun)) -> Result<(), LayoutError> {
        let name = standing.name().to_owned();
        undo::destroy(self, standing, &mut log::logged(&self.state, &name, tell))
    }

    /// All layouts with a ledger, partial ones too, by name.
    ///
    /// # Errors
    /// A ledger cannot be read.
    pub fn standing(&self) -> Result<Vec<Standing>, LayoutError> {
        ledger::all(&self.root, &self.state)
    }

    /// Removes a layout's ledger without undoing anything: for one that is gone for good, for example a
    /// pulled device.
    ///
    /// # Errors
    /// The ledger cannot be removed.
    pub fn forget(&self, standing: Standing) -> Result<(), LayoutError> {
        standing.remove()
    }
}
