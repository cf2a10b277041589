//! Layouts on this host: survey, creation, verification, destruction.
//!
//! | step | what it does |
//! |---|---|
//! | [`Layouts::survey`] | lists the steps and all obstacles; writes nothing |
//! | [`Layouts::create`] | executes the steps, and undoes all of them if one fails |
//! | [`Layouts::verify`] | reads back the properties of the layout |
//! | [`Layouts::destroy`] | undoes the steps in reverse, and wipes what the layout owned |
//! | [`Layouts::standing`] | lists all existing layouts, including partial ones of a killed program |
//!
//! Before and after each step a ledger is written to stable storage. Only what a ledger names is ever undone.
//! A device is only wiped if it is still the same one, nothing uses it, and it has no signature that the
//! layout did not create.
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
mod context;
mod devices;
mod error;
mod kernel;
mod ledger;
mod log;
mod make;
mod ownership;
mod survey;
mod undo;
mod verify;

pub use command_hash::CommandHash;
pub use context::{Layouts, default_state};
pub use error::{LayoutError, Obstacle};
pub use ledger::MadeLayout;
pub use survey::Survey;
