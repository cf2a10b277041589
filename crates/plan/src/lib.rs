//! The domain language of measurement: what is measured, on what, and how.
//!
//! Every request to ioproof, from a study file, a foreign command line or `--quick`, becomes a [`Plan`]. A
//! plan is valid by construction: [`WorkloadSpec::validate`] is the only way to a [`Workload`].
//!
//! | type | what it says |
//! |---|---|
//! | [`Bytes`], [`Nanos`] | sizes and times; no bare numbers |
//! | [`Geometry`] | transfers, blocks and segments, in IOR's sense |
//! | [`Workload`] | one pattern of transfers by a number of tasks on a set of files |
//! | [`Case`] | a workload, the phases it goes through and how often |
//! | [`Plan`] | all cases of a run, and the question that they answer |
//! | [`Protocol`], [`Setting`] | what is done around the phases, and where in a sweep a case stands |
//! | [`Terms`] | what a study says beside its cases: targets, expectations, commitments, claims |
//! | [`Work`]: [`Tree`], [`Objects`], [`Rpc`] | what tasks do where it is not transfers |
//! | [`TreePlacement`], [`ObjectsPlacement`], [`named`] | which task touches which name in which directory |
//! | [`Placement`] | which task touches which file at which offset |
//! | [`assign`] | which process of a run has which tasks |
//! | [`across`] | which node reads what which node has written |
//! | [`layout`], [`Layout`] | how devices are put together, as commands with their undoing |
//! | [`study`] | the study file, read into a plan with every mistake at its place |
//! | [`shell_word`] | a word quoted for a shell |
//! | [`visible`] | text from elsewhere, with nothing hidden in it |
//! | [`quick`] | the plan of a quick characterisation of a directory |
//! | [`randomops`] | the plan of many tasks with small random transfers |
//! | [`jobs`], [`Jobs`] | jobs of an analytics server: tables, tests, their steps, and the matrix of launches |
//! | [`exchanges`] | the plan of requests and responses between the processes of a run |
//! | [`Forecast`] | files, bytes, bounds and seconds, before anything is written |
//! | [`Outlook`] | a forecast set against free space, memory and expected rates |
//!
//! ```
//! use plan::{Bytes, Geometry};
//! let geometry = Geometry { transfer: Bytes::kib(64), block: Bytes::mib(1), segments: 2 };
//! assert_eq!(geometry.bytes_per_task(), Bytes::mib(2));
//! assert_eq!(geometry.transfers_per_task(), 32);
//! ```

mod across;
mod backend;
mod case;
pub mod cross_check;
mod error;
pub mod exchanges;
mod forecast;
mod geometry;
mod hex;
pub mod jobs;
pub mod layout;
mod names;
mod operation;
mod outlook;
mod parse;
mod placement;
mod protocol;
pub mod quick;
pub mod randomops;
mod region;
mod rpc;
mod rules;
mod seeds;
mod setting;
mod shell;
mod spread;
pub mod study;
mod terms;
pub mod topology;
mod tree;
mod units;
mod validate;
mod visible;
mod work;
mod workload;

pub use across::{Across, NodeReads, across};
pub use backend::{BACKENDS, Backend, Capabilities};
pub use case::{Case, OptionNote, Phase, Plan, Question, Rival};
pub use error::PlanError;
pub use forecast::{Forecast, balance_bound, seconds_per_case};
pub use geometry::{Geometry, Permutation};
pub use hex::hex;
pub use jobs::{JobProblem, JobTable, JobTest, Jobs, Launch, Space as JobSpace, TestKind};
pub use layout::{FileSystem, FileSystemKind, Layout, MdMetadata, Recipe, Volume};
pub use names::{JobsPlacement, Named, ObjectsPlacement, RENAMED, TreePlacement, named, table_name};
pub use operation::{Measure, Operation};
pub use outlook::{
    Concern, ExpectedRate, MEMORY_MULTIPLE_MIN, Outlook, PHASE_SECONDS_ADVISED, PHASE_SECONDS_MAX,
    PHASE_SECONDS_MIN, PhaseOutlook, SPACE_SHARE_MAX, Space, SpaceOutlook, Surroundings, Totals, outlooks,
};
pub use parse::UnitError;
pub use placement::{FileSlot, Placement};
pub use protocol::{Protocol, Role, Stopping};
pub use region::{Region, Steps};
pub use rpc::{Binding, Pattern, Rpc};
pub use rules::{node_local_rule, server_memory_rule};
pub use setting::{Setting, SettingValue};
pub use shell::shell_word;
pub use spread::{Assigned, assign};
pub use terms::{
    Amount, Bound, CACHE_MULTIPLE, Claim, Client, Commitment, Expectation, Layer, NodeTerms, Over, Per,
    PublishedPlace, Quantity, RateName, Relation, SERVER_MEMORY_MULTIPLE, Selector, Side, Statistic,
    TargetTerms, Terms,
};
pub use tree::{Objects, TREE_DEPTH_MAX, Tree};
pub use units::{Bytes, Nanos};
pub use visible::{is_hidden, visible, visible_lines};
pub use work::Work;
pub use workload::{
    Advice, Existing, FileSet, HISTORY_MAX, Keep, Order, Pace, ReadFrom, Sharing, Spread, Stonewall,
    SyncRule, Workload, WorkloadSpec,
};
