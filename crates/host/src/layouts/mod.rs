//! Layouts on this host: surveyed, made, read back, taken down.
//!
//! | step | what it does |
//! |---|---|
//! | [`Layouts::survey`] | says what would be done and all that stands against it; writes nothing |
//! | [`Layouts::create`] | does it, step by step, and undoes it all where one fails |
//! | [`Layouts::verify`] | reads back what stands |
//! | [`Layouts::destroy`] | undoes the steps in reverse, and wipes what the layout owned |
//! | [`Layouts::standing`] | all that stands, also what a killed program left half-built |
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

use crate::{Guard, Root};

/// Where the ledgers of a user without the rights of root stand, below the home directory.
const USER_STATE: &str = ".local/state/ioproof";
/// Where those of root stand.
const SYSTEM_STATE: &str = "/var/lib/ioproof";

/// The directory for ledgers where none is given: `/var/lib/ioproof` for root, and for others
/// `$XDG_STATE_HOME/ioproof` or `~/.local/state/ioproof`.
#[must_use]
pub fn default_state() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from(SYSTEM_STATE);
    }
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    match variable("XDG_STATE_HOME") {
        Some(state) => state.join("ioproof"),
        None => variable("HOME").map_or_else(|| PathBuf::from(SYSTEM_STATE), |home| home.join(USER_STATE)),
    }
}

/// Makes layouts and takes them down.
#[derive(Clone)]
pub struct Layouts {
    root: Root,
    state: PathBuf,
    guard: Guard,
    stop: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Where the study stands whose layouts they are.
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
    /// Layouts whose ledgers stand below `state`, on devices that `guard` permits.
    #[must_use]
    pub fn new(root: Root, state: PathBuf, guard: Guard) -> Self {
        Self { root, state, guard, stop: Arc::new(|| false), study: None }
    }

    /// The same, which undoes what it has made when `stop` says so between two steps.
    #[must_use]
    pub fn with_stop(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { stop: Arc::new(stop), ..self }
    }

    /// The same, for layouts of a study in this directory: files there that commands name count for their hash.
    #[must_use]
    pub fn with_study(self, directory: Option<PathBuf>) -> Self {
        Self { study: directory, ..self }
    }

    /// What would be done and all that stands against it. Nothing is written, and no rights are needed: what
    /// cannot be seen without them is among the obstacles. `consents` are the values of `--destroy-data-on`
    /// beside the devices that the layout names.
    #[must_use]
    pub fn survey(&self, layout: &Layout, consents: &[String]) -> Survey {
        self.inspect(layout, consents).survey
    }

    /// Makes the layout, by the commands that were agreed to ([`Survey::commands`]). `tell` hears of each command when
    /// it has ended.
    ///
    /// # Errors
    /// The commands are others than agreed to, or something stands against it, and nothing was done; or a step failed, and all was undone. What could
    /// not be undone is named and stays in the ledger.
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

    /// Leaves the layout standing when this program ends: it is no leftover then.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn keep(&self, standing: &mut Standing) -> Result<(), LayoutError> {
        standing.ledger.kept = true;
        standing.save()
    }

    /// Reads back what stands.
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

    /// All layouts that are in a ledger, half-built ones too, by name.
    ///
    /// # Errors
    /// A ledger cannot be read.
    pub fn standing(&self) -> Result<Vec<Standing>, LayoutError> {
        ledger::all(&self.root, &self.state)
    }

    /// Takes a layout out of the ledger without undoing anything: for what is gone for good, such as a device
    /// that was pulled.
    ///
    /// # Errors
    /// The ledger cannot be removed.
    pub fn forget(&self, standing: Standing) -> Result<(), LayoutError> {
        standing.remove()
    }
}
