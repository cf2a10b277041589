//! Settings of a host, recommended settings, and their restoration.
//!
//! | type | what it is |
//! |---|---|
//! | [`Step`], [`Profile`] | the settings examined, the advice, its reason and source |
//! | [`TuningContext`] | the host being examined, with the named devices |
//! | [`Finding`] | a setting compared with the advice |
//! | [`TuningPlan`] | everything that a profile would write, with the old values |
//! | [`Ledger`] | the old values on stable storage, from before the first write until all are restored |
//! | [`apply`], [`restore`] | set and restore values, and read each of them back |
//!
//! Settings are read and written through [`Settings`], below a [`Root`](crate::Root): a tree of plain files
//! can represent another host.
//!
//! ```
//! use host::{Root, tuning};
//! let root = Root::default();
//! let settings = tuning::HostSettings::new(&root);
//! let context = tuning::TuningContext::new(&root, &settings, &[])?;
//! let profile = tuning::profile("thp-never").expect("it is one");
//! for finding in profile.steps[0].findings(&context) {
//!     assert_eq!(finding.step, "thp-never");
//! }
//! # Ok::<(), tuning::UnknownDevice>(())
//! ```

mod apply;
mod context;
mod ledger;
mod persist;
mod planned;
mod profiles;
mod recorded;
mod restore;
mod settings;
mod step;
mod steps;
mod unapplied;

pub use apply::{Applied, Outcome, apply, forbidden};
pub use context::{ALL_DEVICES, Device, TuningContext, UnknownDevice};
pub use ledger::entry::{Entry, EntryState};
pub use ledger::owner::Owner;
pub use ledger::{Application, LEDGER, Ledger, PersistentFile, PersistentForm};
pub use persist::{PersistenceOutcome, files as persistent_files, write as write_persistent_files};
pub use planned::{TuningPlan, Write, needs_devices};
pub use profiles::{Profile, STORAGE_BENCHMARK, UnknownProfile, profile, profiles, steps_of};
pub use recorded::{STATE_VARIABLE, in_force, state_directory};
pub use restore::{PlannedRestore, RestoreAction, RestoreOutcome, RestoreResult, restore, survey};
pub use settings::host::HostSettings;
pub use settings::setting::{Setting, Settings};
pub use step::{Compliance, Finding, Scope, SettingState, Severity, Step, as_json};
pub use steps::{LUSTRE_COMMAND, ReadCache, read_caches};
pub use unapplied::Unapplied;

#[cfg(test)]
mod tests;
