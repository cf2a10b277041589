//! Jobs over time: launches and their steps, how many at a time, how much of what, and where.

use schemars::JsonSchema;
use serde::Serialize;

/// One pass of a phase of jobs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Timeline {
    pub(crate) figure: usize,
    /// From 0.
    pub(crate) repetition: u32,
    /// The figure is made of it.
    pub(crate) counts: bool,
    pub(crate) launches: usize,
    pub(crate) complete: usize,
    /// First start to last end.
    pub(crate) elapsed_ns: u64,
    /// Sum over all launches.
    pub(crate) real_ns: u64,
    /// Real ÷ elapsed.
    pub(crate) mean_running: f64,
    pub(crate) most_running: u32,
    /// How many run from each moment on at which that changes.
    pub(crate) running: Vec<Running>,
    /// Of complete launches; absent where there are none.
    pub(crate) lengths: Option<Lengths>,
    /// What was moved second by second.
    pub(crate) profile: Vec<ProfileSecond>,
    /// Absent where nothing was moved.
    pub(crate) levels: Option<Levels>,
    pub(crate) spaces: Vec<SpaceUse>,
    pub(crate) actions: Vec<ActionUse>,
    pub(crate) moved: Moved,
    /// Device bytes ÷ application bytes.
    pub(crate) device_share: Option<f64>,
    pub(crate) harness: Harness,
    pub(crate) published_values: Vec<JobsBeside>,
    /// FULLSTIMER of every launch.
    pub(crate) timers: Vec<LaunchTimer>,
}

/// Launches of jobs that had ended in a pass that counts for nothing: the run was ended in it, or its case was started
/// again since.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct InterruptedPass {
    pub(crate) case: String,
    #[schemars(extend("enum" = ["load", "jobs"]))]
    pub(crate) phase: &'static str,
    /// From 0.
    pub(crate) repetition: u32,
    /// Which start of the case it belongs to, from 1.
    pub(crate) attempt: u32,
    /// Launches of a whole pass, by the plan.
    pub(crate) planned: u64,
    pub(crate) complete: usize,
    pub(crate) launches: Vec<LaunchTimer>,
}

/// How many launches run from a moment on.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Running {
    pub(crate) at_ns: u64,
    pub(crate) running: u32,
}

/// Real times of complete launches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Lengths {
    pub(crate) n: usize,
    pub(crate) shortest_seconds: f64,
    pub(crate) median_seconds: f64,
    pub(crate) mean_seconds: f64,
    pub(crate) longest_seconds: f64,
    pub(crate) bins: Vec<LengthBin>,
}

/// Launches of about the same length.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct LengthBin {
    pub(crate) from_seconds: f64,
    /// Not in it.
    pub(crate) to_seconds: f64,
    pub(crate) count: usize,
}

/// A number for each space.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub(crate) struct BySpace {
    pub(crate) permanent: u64,
    pub(crate) work: u64,
    pub(crate) utility: u64,
}

impl BySpace {
    /// In the order of [`plan::JobSpace::ALL`].
    pub(crate) const fn of([permanent, work, utility]: [u64; 3]) -> Self {
        Self { permanent, work, utility }
    }

    /// The same the other way round.
    pub(crate) const fn all(&self) -> [u64; 3] {
        [self.permanent, self.work, self.utility]
    }
}

/// What all jobs moved in one interval.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct ProfileSecond {
    pub(crate) start_ns: u64,
    pub(crate) length_ns: u64,
    pub(crate) read_bytes: BySpace,
    pub(crate) write_bytes: BySpace,
}

/// Named levels of a profile, of reads and writes of all spaces together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Levels {
    /// Intervals in which anything was moved.
    pub(crate) active: usize,
    pub(crate) start: Level,
    /// Absent where the peak follows on the start.
    pub(crate) climb: Option<Climb>,
    pub(crate) peak: Level,
    pub(crate) end: Level,
    pub(crate) highest_bytes_per_second: f64,
    pub(crate) mean_bytes_per_second: f64,
}

/// A rate that was kept for some time.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Level {
    pub(crate) from_seconds: f64,
    pub(crate) to_seconds: f64,
    pub(crate) bytes_per_second: f64,
}

/// The line between start and peak.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Climb {
    pub(crate) from_seconds: f64,
    pub(crate) to_seconds: f64,
    pub(crate) from_bytes_per_second: f64,
    /// What it climbs to.
    pub(crate) bytes_per_second: f64,
    pub(crate) slope_bytes_per_second: f64,
    pub(crate) r_squared: f64,
}

/// What was done in one space.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SpaceUse {
    #[schemars(extend("enum" = plan::JobSpace::ALL.map(plan::JobSpace::name)))]
    pub(crate) space: &'static str,
    pub(crate) directory: String,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) read_share: Option<f64>,
    /// Of one launch; absent in permanent space.
    pub(crate) peak_bytes: Option<u64>,
    /// Of all launches that ran at one time.
    pub(crate) held_at_most_bytes: Option<u64>,
    pub(crate) size_bytes: Option<u64>,
    pub(crate) free_first_bytes: Option<u64>,
    pub(crate) free_least_bytes: Option<u64>,
    pub(crate) free_last_bytes: Option<u64>,
    pub(crate) free_limit_bytes: Option<u64>,
    /// Fewer were free than the limit.
    pub(crate) low: bool,
}

/// What steps of one kind did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ActionUse {
    pub(crate) action: String,
    pub(crate) steps: usize,
    pub(crate) real_ns: u64,
    pub(crate) cpu_ns: u64,
    /// Of the rows that they read.
    pub(crate) input_bytes: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    /// Written ÷ input.
    pub(crate) copies: Option<f64>,
    pub(crate) bytes_per_second: f64,
}

/// All bytes of a pass.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Moved {
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    /// Of the loaded tables, by the plan.
    pub(crate) input_bytes: u64,
    pub(crate) read_multiple: Option<f64>,
    pub(crate) write_multiple: Option<f64>,
    pub(crate) kinds: Vec<KindMoved>,
}

/// What the tests of one kind are given and move.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct KindMoved {
    #[schemars(extend("enum" = plan::TestKind::ALL.map(plan::TestKind::name)))]
    pub(crate) kind: &'static str,
    pub(crate) tests: usize,
    pub(crate) launches: usize,
    /// Of the loaded tables that one instance of each test reads, by the plan.
    pub(crate) instance_input_bytes: u64,
    pub(crate) full_scale_input_bytes: f64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
}

/// What launching and watching cost.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Harness {
    pub(crate) cpu_ns: Option<u64>,
    /// CPU time ÷ wall time.
    pub(crate) core_share: Option<f64>,
    pub(crate) start_median_ns: u64,
    pub(crate) start_longest_ns: u64,
}

/// A published figure of the workload and the own one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct JobsBeside {
    pub(crate) what: &'static str,
    pub(crate) id: String,
    /// `bytes/s`, `bytes`, `s`, or empty of counts.
    pub(crate) unit: &'static str,
    pub(crate) own: f64,
    pub(crate) value: f64,
    pub(crate) as_published: String,
    /// Own ÷ published.
    pub(crate) ratio: f64,
}

/// A row of FULLSTIMER.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Timer {
    pub(crate) start_ns: u64,
    pub(crate) real_ns: u64,
    pub(crate) user_cpu_ns: u64,
    pub(crate) system_cpu_ns: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) block_input_bytes: u64,
    pub(crate) block_output_bytes: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    pub(crate) read_bytes: BySpace,
    pub(crate) write_bytes: BySpace,
}

/// FULLSTIMER of one launch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LaunchTimer {
    pub(crate) launch: u32,
    pub(crate) test: String,
    pub(crate) kind: String,
    pub(crate) stream: u32,
    pub(crate) round: u32,
    pub(crate) outcome: String,
    pub(crate) message: String,
    pub(crate) start_cost_ns: u64,
    pub(crate) timer: Timer,
    pub(crate) peak_bytes: BySpace,
    pub(crate) steps: Vec<StepTimer>,
    /// Sum over its steps.
    pub(crate) steps_cpu_ns: u64,
    /// Of its control group.
    pub(crate) group_cpu_ns: Option<u64>,
    /// Absent where the launch is not complete.
    pub(crate) cpu_agrees: Option<bool>,
}

/// FULLSTIMER of one step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct StepTimer {
    pub(crate) step: u32,
    pub(crate) action: String,
    pub(crate) threads: u32,
    pub(crate) rows_in: u64,
    pub(crate) rows_out: u64,
    pub(crate) timer: Timer,
}

/// Which space is for what reads fast.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct JobPlacing {
    pub(crate) figure: usize,
    pub(crate) target: String,
    pub(crate) read_bytes_per_second: Option<f64>,
    pub(crate) write_bytes_per_second: Option<f64>,
    /// What the rates are of.
    pub(crate) rates_of: String,
    /// Read ÷ write.
    pub(crate) ratio: Option<f64>,
    pub(crate) for_reads: bool,
    /// Why the rates are not told, where they were measured.
    pub(crate) withheld: Option<String>,
    /// That with the highest share of reads first.
    pub(crate) shares: Vec<SpaceShare>,
}

/// How much of what a space moves is read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SpaceShare {
    #[schemars(extend("enum" = plan::JobSpace::ALL.map(plan::JobSpace::name)))]
    pub(crate) space: &'static str,
    pub(crate) read_share: f64,
    pub(crate) bytes: u64,
    /// Medians of `scan` steps and of `generate` steps.
    pub(crate) scan_bytes_per_second: Option<f64>,
    pub(crate) generate_bytes_per_second: Option<f64>,
}
