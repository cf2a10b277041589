//! Pure functions on records: statistics, rates, bounds. Nothing here reads a file or a clock.
//!
//! | what | for |
//! |---|---|
//! | [`figures`] | what tables, charts and pages show, with all that must stand beside it |
//! | [`Rates`], [`RateName`] | named rates of a phase, each with its definition |
//! | [`RateOf`] | which rate of a phase comes first: of bytes, or of operations |
//! | [`LATENCY_STATISTICS`] | the list of statistics of latencies, of which every form is made |
//! | [`Latency`] | percentiles from the histogram of every transfer, merged exactly |
//! | [`Summary`] | median, spread and a confidence interval that assumes no distribution |
//! | [`seconds`], [`device_lines`], [`task_rates`] | what happened over time, by device and by task |
//! | [`DeviceShare`], [`phase_warnings`] | what the page cache did, and other doubts, as warnings |
//! | [`findings`] | what the figures of a study say together |
//! | [`Gate`], [`Stated`], [`POLICY`] | the only way to a statement, and what each kind needs |
//! | [`Table`], [`Statement`] | statements as typed columns, for every form of a report |
//! | [`curves`], [`shape`], [`dips`] | rates against a swept key, and what the curve looks like |
//! | [`Overlay`], [`coincident`], [`Peaks`] | curves laid over each other |
//! | [`Best`], [`iops_table`] | the best point of each sweep; transfers per second by definition |
//! | [`Scaling`], [`Tax`], [`slowest_member`] | what devices bring together, and what a layout costs |
//! | [`Consistency`], [`dispersion`] | how much rates vary over a sweep, and repetitions over sizes |
//! | [`published_beside`] | published figures of the same command line |
//! | [`beside`], [`claims`] | own figures beside published ones; published statements, tested |
//! | [`audit`], [`audit_published`] | what is doubtful in own figures and in published ones, with evidence |
//! | [`PrintedCheck`], [`Reconciled`], [`RoundTrip`] | whether what another tool printed together agrees |
//! | [`imported_checks`], [`round_trips`] | those of an imported run |
//! | [`run_time`] | where the time of an own run went |
//! | [`check_statistics`] | whether printed statistics can belong together |
//! | [`settled`], [`steady`] | whether the values so far are enough to end a case |
//! | [`lack_of_fit`], [`bends_at`] | whether repetitions show that a curve is not flat, or no straight line |
//! | [`Regression`], [`crossover`] | a line with its uncertainty; where it meets a plateau |
//! | [`Bootstrap`] | an interval of any statistic, the same for the same seed |
//! | [`mann_whitney`], [`shift`] | whether and how far two samples differ |
//! | [`robust_z`], [`standing_apart`] | values that stand apart |
//! | [`paired`] | the figures that two runs have in common, also those of two tools under different names |
//! | [`difference`] | whether two samples of repetitions differ: the one test of differences |
//! | [`compare_spread`] | which of two gives the same rate more reliably |
//! | [`Little`], [`little`] | transfers under way = rate × latency |
//! | [`Job`] | the job table with its three named rates |
//! | [`drives`], [`bytes_behind_creates`] | what a goal needs |
//! | [`RateUnits`], [`whole_mebibytes`] | one rate in every unit; units that were mixed up |
//! | [`node_rates`] | rates of single nodes, for averages over nodes |
//! | [`node_comparisons`], [`slow_nodes`], [`node_grids`] | nodes beside each other: slow ones, blanks, what the slowest lets all reach |
//! | [`heat_map`] | the rate of each node in each second |
//! | [`weak_scaling`], [`layer_crossovers`] | rates over nodes: slope, efficiency, saturation, where layers meet |
//! | [`member_sets`] | the devices of a target beside each other: slow ones, models and their grades |
//! | [`seek_fits`], [`SeekTime`], [`StripPoint`] | positioning time and transfer rate of a device; what a block size makes of them |
//! | [`Layer`] | what each layer costs; whether a single queue is why |
//! | [`DiskView`] | how sequential a phase was at the application and at the devices |
//! | [`ProcessLimit`] | whether more devices bring nothing to so many tasks |
//! | [`Cost`], [`Placement`], [`fits`] | time × devices and rack units; which data a target is for; whether it fits |
//! | [`timelines`], [`Timeline`] | jobs over time: launches and steps, concurrency, lengths, profile, spaces |
//! | [`JobPlacing`], [`JobCost`] | which space is for what reads fast; run time of jobs × devices |
//! | [`coverage`] | which nodes were measured when, and how often |
//! | [`matrices`] | jobs: sums over all launches, ratios of CPU to real time, and how systems compare |
//! | [`rank_map`] | which task read whose data |
//! | [`expected`], [`weakest_links`] | figures against data sheets and limits; the lowest limit |
//! | [`verdicts`] | commitments, judged, with margin and confidence |
//! | [`limits`] | whether the processors or the storage set the rate |
//! | [`overhead`] | what the instrument costs, from paired runs |
//!
//! ```no_run
//! use analysis::RateName;
//! let run = record::Run::open(std::path::Path::new("run"))?;
//! for figure in analysis::figures(&run, RateName::ByWall) {
//!     let rate = figure.bytes_per_second;
//!     println!("{}: {:.0} bytes/s ({})", figure.conditions, rate.median, figure.rate.name());
//! }
//! # Ok::<(), record::RecordError>(())
//! ```

mod agreement;
mod amount;
mod audit;
mod beside;
mod best;
mod bootstrap;
mod bound_by;
mod claims;
mod compare;
mod consistency;
mod cost;
mod coverage;
mod curve;
mod curve_shape;
mod curves;
mod difference;
mod dips;
mod disk_view;
mod dispersion;
mod expected;
mod figure;
mod figures;
mod findings;
mod gate;
mod headline;
mod heat;
mod histogram;
mod history;
mod imported;
mod iops;
mod jobs;
mod lack_of_fit;
mod latency;
mod layers;
mod little;
mod matrix;
mod member_figures;
mod members;
mod names;
mod needs;
mod node_comparison;
mod node_grid;
mod nodes;
mod observed;
mod outlier;
mod overhead;
mod overlay;
mod plausible;
mod printed_checks;
mod process_limit;
mod published;
mod quantities;
mod rank_map;
mod ranks;
mod rates;
mod reconciled;
mod regression;
mod scaling;
mod seek;
mod settled;
mod shape;
mod slowest;
mod spread;
mod strips;
mod study;
mod subject;
mod summary;
mod table;
mod timeline;
mod units;
mod verdict;
mod verdicts;
mod weak_scaling;
mod weakest;

pub use agreement::{Paired, RunFigures, paired};
pub use audit::{
    CEILING_SLACK, CHECKS, Check, CheckPolicy, DEVICE_LATENCY_MIN_NS, Doubt, LITTLE_SLACK,
    NETWORK_LATENCY_MIN_NS, RATIO_SLACK, SCALING_SLACK, Severity, Use, audit, audit_published, doubted,
};
pub use beside::{Beside, UnknownId, beside, own_value, unknown_ids};
pub use best::Best;
pub use bootstrap::{
    BOOTSTRAP_SAMPLES, Bootstrap, BootstrapInterval, BootstrapMethod, bootstrap_mean, bootstrap_median,
};
pub use bound_by::{BoundBy, Limit, WAIT_SHARE_MIN, limits};
pub use claims::{ClaimVerdict, claims};
pub use compare::largest_gap;
pub use consistency::Consistency;
pub use cost::{Cost, Fit, Placement, READ_FAVOURED_RATIO, fits};
pub use coverage::{CoverageJob, NodeCoverage, coverage, hour_utc, known_nodes};
pub use curve::{Curve, CurvePoint, Dips, Sample, Shape};
pub use curve_shape::CurveShape;
pub use curves::{SECOND_AXIS_VALUES_MIN, curves};
pub use difference::{Contrast, DIFFERENCE_LEAST, DIFFERENCE_LEVEL, Difference, bounds, difference};
pub use dips::{DIP_DEPTH_MIN, DIP_POINTS_MIN, DIPS_MIN, PERIOD_STEPS_MAX, dips};
pub use disk_view::{DevicesView, DiskView};
pub use dispersion::{Dispersion, DispersionPoint, ONSET_FACTOR, dispersion, onset};
pub use expected::{Expected, expected, mix};
pub use figure::{Figure, RepetitionFigure};
pub use figures::figures;
pub use findings::{Comparison, Findings};
pub use gate::{
    Because, Doubts, Gate, Kind, Outcome, POLICY, Policy, Reason, Stated, policy_table, refusals,
};
pub use headline::{RateOf, operation_of, operations_of};
pub use heat::{HEAT_COLUMNS_MAX, HEAT_ROWS_MAX, HeatCell, HeatMap, heat_map};
pub use histogram::Histogram;
pub use history::{DevicePart, HistorySplit};
pub use imported::{HistoryTrip, ImportedCheck, imported_checks, round_trips};
pub use iops::{DefinedIops, Definition, iops_table};
pub use jobs::{Job, job_rate};
pub use lack_of_fit::{FIT_POINTS_LEAST, FIT_REPETITIONS_LEAST, Model, ModelTest, bends_at, lack_of_fit};
pub use latency::{CdfPoint, LATENCY_STATISTICS, Latency, LatencyStatistic, LatencySummary, ShownIn, Take};
pub use layers::{Layer, LayerStack};
pub use little::{Little, little};
pub use matrix::{
    Amounts, JobContrast, JobRatios, JobSums, JobTest, LaunchMean, Matrices, Matrix, MatrixComparison,
    MatrixPass, MatrixTables, RatioStatistics, compare_matrices, matrices, published_matrix, same_jobs,
};
pub use member_figures::MemberFigure;
pub use members::{Grade, Member, MemberSet, ModelVerdict, UNEVEN_SHARE, member_sets};
pub use names::by_name;
pub use needs::{Drives, Stripe, bytes_behind_creates, drives};
pub use node_comparison::{
    CollectiveBound, NODE_UNIT_SHARE_MIN, NodeComparison, NodeScore, NodeStanding, SCORED_NODES_MIN,
    SLOW_NODE_SHARE, SLOW_NODE_SHARE_OF_FEW, node_comparisons, slow_node_warnings, slow_nodes,
};
pub use node_grid::{NodeCell, NodeGrid, node_grids};
pub use nodes::{NodeFigure, NodePass, NodeRate, node_rates};
pub use observed::{
    DeviceLine, DeviceMean, DeviceSecond, DeviceShare, Second, SecondsLine, TaskRate, device_lines,
    device_means, seconds, task_rates,
};
pub use outlier::{ROBUST_Z_MAX, robust_z, standing_apart};
pub use overhead::{Overhead, overhead};
pub use overlay::{CHARTED_MAX, OVERLAID_MAX, Overlay, Peaks, coincident};
pub use plan::RateName;
pub use plausible::{
    Implausible, PrintedStatistics, check_statistics, deviation_max, deviation_min, values_needed,
};
pub use printed_checks::{
    Printed, PrintedCheck, RoundTrip, average_between, kbyte, latency_agrees, one_iteration, rate_of_records,
    throughput_block, total_of_averages,
};
pub use process_limit::ProcessLimit;
pub use published::{published_beside, published_near, published_similar};
pub use rank_map::{RankMap, ReadOf, rank_map};
pub use ranks::{EXACT_VALUES_MAX, PAIRS_MAX, RankTest, Shift, mann_whitney, shift};
pub use rates::{OperationRates, Rate, Rates, SUSTAINED_PERCENTILE, SUSTAINED_SECONDS_MIN, TaskRates};
pub use reconciled::{Reconciled, paused_ns, run_time};
pub use regression::{Prediction, Regression, Uncertainty, crossover};
pub use scaling::{Scaling, TAXED_TARGETS_MAX, Tax, scalability, tax};
pub use seek::{FIT_ERROR_MAX, FIT_SIZES_MIN, FIT_SPAN_MIN, SeekFit, SeekPoint, SeekTime, seek_fits};
pub use settled::{
    Settled, SteadyState, all_settled, counted, interval_share, settled, steady, steady_state,
};
pub use shape::{
    ALIKE_SHARE, ALIKE_SHARE_UNREPEATED, KNEE_DISTANCE_MIN, KNEE_RISE_MIN, PLATEAU_SHARE, geometric, knee,
    noise_share, plateau, reaches, shape, spread_beyond, sweet_spot,
};
pub use slowest::{SlowestMember, slowest_member};
pub use spread::{SPREAD_VALUES_MIN, SpreadTest, Steadier, compare_spread};
pub use strips::StripPoint;
pub use study::{findings, findings_of, usable_cpus};
pub use subject::grouped;
pub use summary::{CONFIDENCE, INTERVAL_LEAST, Interval, Summary, bound_least, median_bounds};
pub use table::{Column, Head, Of, Quantity, Row, Standing, Statement, Table, Value};
pub use timeline::{
    ActionUse, CLIMB_SECONDS_MIN, CPU_AGREES_NS, CPU_AGREES_SHARE, Concurrency, FullTimer, JobCost,
    JobPlacing, JobsBeside, KindMoved, LaunchTimer, Level, Levels, PEAK_SHARE, ProfileSecond, START_SHARE,
    SpaceUse, Timeline, concurrency, edge, first_passes, lengths, levels, profile, published_costs,
    timelines,
};
pub use units::{MEBI_EXCESS, RateUnits, whole_mebibytes};
pub use verdict::{Verdict, judged_by, selected, side, verdicts};
pub use verdicts::{
    CLOCK_ERROR_MAX, CPU_SHARE_MAX, DEVICE_SHARE_MAX, DEVICE_SHARE_MIN, cache_verdict, harness_bound,
    incomplete, not_quiet, outliers, phase_warnings, too_short, uncertain_clocks,
};
pub use weak_scaling::{
    Extrapolation, LayerCrossover, PEAK_SHARES, Reach, SATURATION_SPAN_MIN, Saturation, ScalingPoint,
    WeakScaling, layer_crossovers, saturation, weak_scaling,
};
pub use weakest::{WeakestLink, weakest_links};
