//! The domain model of a measurement: what is measured, on what, and how.
//!
//! Every request to ioproof, from a study file, a foreign command line or `--quick`, becomes a [`Plan`]. A plan
//! is valid by construction: [`WorkloadSpec::validate`] is the only way to create a [`Workload`].
//!
//! | item | purpose |
//! |---|---|
//! | [`Bytes`], [`Nanos`] | sizes and times; no bare numbers |
//! | [`Geometry`] | transfers, blocks and segments, in IOR's sense |
//! | [`Workload`] | one pattern of transfers by a number of tasks on a set of files |
//! | [`Case`] | a workload, the phases it goes through and how often |
//! | [`Condition`] | what an imported case may not know of its workload |
//! | [`Plan`] | all cases of a run, and the request it was made from |
//! | [`Protocol`], [`Setting`] | what is done before and between the phases, and the position of a case in a sweep |
//! | [`Criteria`] | what a study states in addition to its cases: targets, expectations, commitments, claims |
//! | [`Work`]: [`Tree`], [`Objects`], [`Rpc`], [`Find`] | the work of tasks other than transfers |
//! | [`TreePlacement`], [`ObjectsPlacement`], [`entry_type`] | which task touches which name in which directory |
//! | [`Placement`] | which task touches which file at which offset |
//! | [`assign`] | which process of a run has which tasks |
//! | [`cross_node_reads`] | which node reads the data of which other node |
//! | [`layout`], [`Layout`] | how devices are combined, as commands with their undo commands |
//! | [`defaults`] | reads files of defaults for options |
//! | [`study`] | reads study files into plans, and reports every mistake with its position |
//! | [`shell_word`] | a word quoted for a shell |
//! | [`visible`], [`cut_words`] | foreign text with hidden characters escaped, and with long words cut |
//! | [`probe`] | the plan of a probe from which the duration of a study is predicted |
//! | [`quick`] | the plan of a quick characterisation of a directory |
//! | [`randomops`] | the plan of small random transfers by many tasks |
//! | [`jobs`], [`Jobs`] | jobs of an analytics server: tables, tests, their steps, and the matrix of launches |
//! | [`exchanges`] | the plan of requests and responses between the processes of a run |
//! | [`Forecast`] | files, bytes, bounds and seconds, before anything is written |
//! | [`CaseEstimate`] | a forecast compared with free space, memory and expected rates |
//!
//! ```
//! use plan::{Bytes, Geometry};
//! let geometry = Geometry { transfer: Bytes::kib(64), block: Bytes::mib(1), segments: 2 };
//! assert_eq!(geometry.bytes_per_task(), Bytes::mib(2));
//! assert_eq!(geometry.transfers_per_task(), 32);
//! ```

mod builtin;
mod cases;
pub mod defaults;
mod error;
mod fit;
pub mod jobs;
pub mod layout;
pub mod limits;
mod placement;
mod preflight;
mod seeds;
pub mod study;
mod text;
pub mod topology;
mod work;
mod workload;

pub use builtin::{cross_check, exchanges, probe, quick, randomops};
pub use cases::case::{Case, Concurrent, PrintedBy};
pub use cases::condition::Condition;
pub use cases::criteria::{
    Amount, Asked, Bound, CACHE_MULTIPLE, Claim, Client, Commitment, Criteria, Expectation, Layer,
    NodeDescription, Over, Per, PublishedReference, Quantity, RateName, Relation, SERVER_MEMORY_MULTIPLE,
    Selector, Side, Statistic, TargetDescription, share_words, state_caches,
};
pub use cases::limit::{Direction, FigureName, FigureQuantity, Limit, LimitError, figure_name};
pub use cases::phase::{Phase, PhaseSubject};
pub use cases::plan::{OptionNote, Plan, PlanSource, Rival};
pub use cases::protocol::{INTERVAL_REPETITIONS_MIN, PassRole, Protocol, Stopping};
pub use cases::rules::{node_local_rule, server_memory_rule};
pub use cases::scaling::{Budget, Range, Scaling, Untold, UntoldKind};
pub use cases::setting::{Setting, SettingValue};
pub use cases::terms::Terms;
pub use error::PlanError;
pub use fit::{Cost, FOOTPRINT_MIN, FitError, PASS_SECONDS_MIN, TRANSFERS_MIN, fit};
pub use jobs::{JobProblem, JobSpace, JobTable, JobTest, Jobs, Launch, TestKind};
pub use layout::{FileSystem, FileSystemKind, Layout, MdMetadata, Recipe, Volume};
pub use placement::cross_node_reads::{CrossNodeReads, NodeReads, cross_node_reads};
pub use placement::geometry::{Geometry, Permutation};
pub use placement::region::{RandomBlocks, Region, Steps};
pub use placement::spread::{Assigned, assign};
pub use placement::{FileSlot, Placement};
pub use preflight::forecast::{Forecast, balance_bound};
pub use preflight::{
    AssumedDevice, CaseEstimate, Concern, FileSystemSpace, Interval, MEMORY_MULTIPLE_MIN,
    PHASE_SECONDS_ADVISED, PHASE_SECONDS_MAX, PHASE_SECONDS_MIN, PhaseEstimate, PredictedRate, Prediction,
    Predictions, RateUnit, RunEnvironment, SHORT_PASSES_MIN, SHORT_SECONDS_MIN, SHORT_TURNS_MIN,
    SPACE_SHARE_MAX, Source, SpaceEstimate, estimates, short_of,
};
pub use text::hex::hex;
pub use text::node_list::{NodeList, NodeListError};
pub use text::parse::UnitError;
pub use text::shell::shell_word;
pub use text::units::{Bytes, Nanos};
pub use text::visible::{cut_words, is_hidden, visible, visible_lines};
pub use work::Work;
pub use work::find::{Find, fits};
pub use work::kind::{NamesMade, WorkKind};
pub use work::names::{
    EntryType, JobsPlacement, ObjectsPlacement, RENAMED, TreePlacement, entry_type, table_name,
};
pub use work::operation::{Measure, Operation};
pub use work::rpc::{Binding, Pattern, Rpc};
pub use work::tree::{Objects, PPM_OF_PERCENT, TREE_DEPTH_MAX, Tree};
pub use workload::backend::{BACKENDS, Backend, Capabilities};
pub use workload::limits::HISTORY_MAX;
pub use workload::stonewall::Stonewall;
pub use workload::{
    Advice, Existing, FileSet, Keep, Order, PRIMED_MAX, Pace, ReadFrom, Sharing, Spread, SyncRule, Workload,
    WorkloadSpec,
};
