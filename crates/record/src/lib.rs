//! The record of a run: the request, the environment, the observations, and how to read them.
//!
//! | type | what it holds or does |
//! |---|---|
//! | [`Manifest`] | format version, plan, host facts, provenance: one per run |
//! | [`ModelSource`] | the model of a simulated run |
//! | [`PhaseRow`], [`TaskRow`], [`LatencyRow`], [`SeriesRow`], [`NodeSeriesRow`], [`DeviceRow`], [`LoadRow`] | one observation each, in columns named with their units |
//! | [`HistoryRow`] | one of the last operations, if these were requested |
//! | [`PrintedRow`] | one value printed by another tool or by `ioproof io500` |
//! | [`LaunchRow`], [`StepRow`], [`SpaceRow`] | jobs: each launch, its steps, and the bytes moved in each space |
//! | [`EndRow`] | one process that exchanged messages: interface, placement, CPU time |
//! | [`Clocks`] | differences between the clocks of the nodes |
//! | [`Warning`] | what a reader of a figure must know about it |
//! | [`Recorder`] | writes a run: the journal as events occur, tables when cases end; resumes an interrupted run |
//! | [`RunDirectory`] | the directory of a run, held open while it is written |
//! | [`Replacement`] | a file that replaces another one when it is complete, and follows no link |
//! | [`Run`] | reads a run, whether complete or damaged, finished or killed |
//! | [`Sums`] | SHA-256 of each file, to be signed |
//! | [`merge`], [`Part`], [`Pass`] | several runs combined into one; which pass ran where and when |
//! | [`Collection`], [`RunEntry`], [`RunFilter`], [`Tags`] | the records in a directory: which there are, their tags, their removal |
//! | [`TargetClaim`], [`leftovers`] | what a run makes on a target, so that a later one can clean up after it |
//! | [`sweep_tree`], [`SweepResult`] | removes the trees that a run created, by their names |
//! | [`Row`] | the columns of a table, for writers of other formats |
//! | [`CommandRun`], [`LayoutFinding`] | commands that created a layout, and properties read back from it |
//! | [`LayoutLifetime`], [`LayoutEvent`] | the layouts that were created for the cases of a run |
//! | [`published`], [`Library`] | what studies printed: figures with their conditions, statements, command lines |
//!
//! The format on disk is described in `docs/RECORD.md`.
//!
//! ```no_run
//! use std::path::Path;
//! let run = record::Run::open(Path::new("runs/2025-11-03-quick"))?;
//! for phase in run.all_phases() {
//!     println!("{} {}: {} bytes in {} ns", phase.key.case, phase.key.phase, phase.bytes(), phase.wall_ns);
//! }
//! for damage in &run.damage {
//!     println!("could not be read: {damage}");
//! }
//! # Ok::<(), record::RecordError>(())
//! ```

mod cleanup;
mod collection;
mod damage;
mod environment;
mod error;
mod events;
mod files;
mod format;
mod manifest;
mod published;
mod rows;
mod run;
mod table;

pub use cleanup::claim::{
    ClaimTurn, ClaimedFile, ClaimedTree, FileFates, FileIdentity, Holder, PlacedClaim, TargetClaim,
};
pub use cleanup::leftover::{
    Leftover, LeftoverFile, LeftoverTree, claimed_directories, leftovers, unreadable_claims,
};
pub use cleanup::names::{remove_temporary_files, trial_name};
pub use cleanup::sweep::{SweepResult, first_named, named_files, sweep_names, sweep_tree};
pub use collection::entry::{EntryState, RunEntry, RunStart};
pub use collection::filter::{RunFilter, TaggedRun};
pub use collection::prune::{Removable, finish_removal};
pub use collection::tags::Tags;
pub use collection::{Collection, in_parallel, plan_key};
pub use damage::Damage;
pub use environment::clocks::{Clocks, NodeClock};
pub use environment::fact::{Fact, NOT_LOOKED_FOR};
pub use environment::facts::{
    BlockDeviceFacts, Cluster, FileSystemFacts, HostFacts, NodeFacts, TargetDevices, option_against_fsync,
};
pub use environment::layout::{CommandEnd, CommandRun, LayoutFinding};
pub use environment::machine::{
    BatchJobFacts, CacheFacts, CountedValue, IdleFacts, IdleState, LinkFacts, MachineFacts, NetworkFacts,
    NumaNodeFacts, PcieFacts, ProcessorFacts, SoftwareFacts, SwitchedOn, VolumeFacts,
};
pub use environment::slots::{
    Card, INVENTORY_SCHEMA, Inventory, Slot, SlotCount, SlotMap, SlotUsage, SlotWarning,
};
pub use environment::tuning::{AppliedProfile, TunedSetting, Tuning, TuningInForce};
pub use error::{NowAt, RecordError};
pub use events::interrupted::InterruptedPass;
pub use events::layout_history::{LayoutEvent, LayoutLifetime};
pub use events::pause::Pause;
pub use events::recorder::{Outcome, Recorder, Resumed};
pub use events::wipe_log::Wiped;
pub use files::directory::{RunDirectory, is_in_record};
pub use files::replacement::Replacement;
pub use files::sums::{FileDifference, SIGNATURE, SUMS, Sums, plan_sha256, sha256};
pub use files::text::read_text;
pub use format::FORMAT_VERSION;
pub use manifest::{Manifest, ModelSource, Provenance, TakenDefault};
pub use published::{
    Detail, Details, JudgedBy, Library, Metric, Misprint, MisprintSort, MisprintText, Published,
    PublishedChart, PublishedClaim, PublishedCommand, PublishedKind, PublishedOperation, PublishedParameters,
    PublishedStatistic, PublishedUnit, Qualifier, Study, published,
};
pub use rows::io500;
pub use rows::job_rows::{LaunchRow, SpaceRow, StepRow};
pub use rows::key::{CaseId, PhaseKey};
pub use rows::phase_record::PhaseRecord;
pub use rows::server_rows::{ServerRow, ServerTextRow};
pub use rows::shared_text::SharedText;
pub use rows::warning::{CacheLocation, ReportedError, Warning, WarningRow};
pub use rows::{
    DeviceRow, EndRow, HistoryRow, LatencyRow, LoadRow, NodeSeriesRow, PhaseRow, PrintedRow, SeriesRow,
    TaskRow,
};
pub use run::merge::{merge, write_merged};
pub use run::parts::{Part, PartPasses, PartStudy};
pub use run::passes::Pass;
pub use run::state::{FailedCase, RunState};
pub use run::{Reference, Run};
pub use table::contained::is_contained;
pub use table::store::Rows;
pub use table::{Cell, Column, ColumnType, Columns, Row};
