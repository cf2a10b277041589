//! The plan of `ioproof rpc`: requests and responses between the processes of a run.
//!
//! Every value of [`Options`] that is a list is swept, with a case for each combination. Values that are a
//! single number in other tools default to one here, so that nothing is swept unless asked for: one thread
//! with one connection, or as many connections as threads if only threads are given.
//!
//! ```
//! use plan::exchanges::{Options, plan};
//! // 1k requests between one server and one client, threads swept.
//! let options = Options { ends: 2, nodes: 2, threads: vec![1, 2, 4, 8], ..Options::default() };
//! let plan = plan(options)?;
//! assert_eq!(plan.cases.len(), 4);
//! assert_eq!(plan.cases[2].id, "rpc:threads=4");
//! assert_eq!(plan.cases[2].workload.tasks, 4, "a connection for each thread");
//! # Ok::<(), plan::PlanError>(())
//! ```

use crate::{
    Backend, Binding, Bytes, Case, Existing, Geometry, Keep, Nanos, OptionNote, Pattern, Phase, Plan,
    PlanError, PlanSource, Rpc, Setting, SettingValue, WorkloadSpec,
};

/// The tool's name in [`PlanSource::Dialect`].
pub const TOOL: &str = "rpc";
/// Default message size: the published one.
pub const SIZE: Bytes = Bytes(1 << 10);
/// Default length of a phase.
pub const DURATION: Nanos = Nanos::secs(5);
/// Default warm-up, not counted: time for connections to reach a steady rate.
pub const WARM_UP: Nanos = Nanos::millis(500);
/// Size of the small message of a `write` or `read`.
pub const SMALL: Bytes = Bytes(1);
/// Limit on the number of cases; more are taken for a typing error.
const CASES_MAX: usize = 10_000;

/// Kind of traffic, in the terms of nsdperf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Request and response of equal size.
    Exchange,
    /// Data in the request, and a small response.
    Write,
    /// A small request, and data in the response.
    Read,
}

impl Test {
    /// Name used in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Write => "write",
            Self::Read => "read",
        }
    }
}

/// What ends a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The time has passed.
    Duration(Nanos),
    /// This many exchanges have been made on each connection.
    Exchanges(u64),
}

/// Options of the command.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Number of client and server processes.
    pub ends: u32,
    /// Number of nodes that they run on.
    pub nodes: u32,
    /// Kinds of traffic.
    pub tests: Vec<Test>,
    /// Bytes of the large message: the request of an exchange or write, the response of an exchange or read.
    pub sizes: Vec<Bytes>,
    /// Response sizes, if they differ from those of the test.
    pub responses: Vec<Bytes>,
    /// Which processes send requests to which.
    pub patterns: Vec<Pattern>,
    /// Threads of each side of a process.
    pub threads: Vec<u32>,
    /// Connections of each pair; empty means one per thread.
    pub connections: Vec<u32>,
    /// Requests in flight on each connection.
    pub depths: Vec<u32>,
    /// The interface that sockets are bound to.
    pub interface: Option<String>,
    /// Port of the first server process on a host.
    pub port: Option<u16>,
    /// CPU binding of the client threads.
    pub client_binding: Binding,
    /// CPU binding of the server threads.
    pub server_binding: Binding,
    /// What ends a phase.
    pub until: Until,
    /// Warm-up at the start of each phase, not counted.
    pub warm_up: Nanos,
    /// Time without progress after which a connection is an error.
    pub deadline: Nanos,
    /// How often each case is measured.
    pub repetitions: u32,
    /// Which calls carry the messages.
    pub calls: Calls,
    /// Compares every byte with what was sent.
    pub verify: bool,
    /// Seed of the message contents.
    pub seed: u64,
    /// The command line, the program's name first.
    pub arguments: Vec<String>,
    /// Meaning of each option.
    pub notes: Vec<OptionNote>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ends: 1,
            nodes: 1,
            tests: vec![Test::Exchange],
            sizes: vec![SIZE],
            responses: Vec::new(),
            patterns: vec![Pattern::OneToOne],
            threads: vec![1],
            connections: Vec::new(),
            depths: vec![1],
            interface: None,
            port: None,
            client_binding: Binding::None,
            server_binding: Binding::None,
            until: Until::Duration(DURATION),
            warm_up: WARM_UP,
            deadline: Nanos::secs(30),
            repetitions: 1,
            calls: Calls::Faster,
            verify: false,
            seed: 0,
            arguments: vec![TOOL.to_owned()],
            notes: Vec::new(),
        }
    }
}

/// The system calls that carry the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Calls {
    /// Plain calls with one request in flight per thread, else `io_uring`.
    #[default]
    Faster,
    /// Blocking calls with a thread for each connection.
    Plain,
    /// `io_uring` if the host supports it.
    Uring,
}

/// One combination of the lists.
#[derive(Debug, Clone, Copy)]
struct Point {
    test: Test,
    size: Bytes,
    response: Option<Bytes>,
    pattern: Pattern,
    threads: u32,
    connections: Option<u32>,
    depth: u32,
}

impl Options {
    fn check(&self) -> Result<(), PlanError> {
        if self.repetitions == 0 {
            return Err(PlanError::new(
                "repetitions",
                "0 repetitions measure nothing",
                "give a number of at least 1",
            ));
        }
        let empty = [
            ("test", self.tests.is_empty()),
            ("size", self.sizes.is_empty()),
            ("pattern", self.patterns.is_empty()),
            ("threads", self.threads.is_empty()),
            ("depth", self.depths.is_empty()),
        ];
        if let Some((field, _)) = empty.into_iter().find(|(_, empty)| *empty) {
            return Err(PlanError::new(field, "an empty list measures nothing", "give at least one value"));
        }
        if self.calls == Calls::Plain && self.depths.iter().any(|&depth| depth != 1) {
            return Err(PlanError::new(
                "depth",
                "plain calls keep one request in flight on each connection",
                "use more connections, or io_uring (without --blocking)",
            ));
        }
        let lists = [
            self.tests.len(),
            self.sizes.len(),
            self.responses.len().max(1),
            self.patterns.len(),
            self.threads.len(),
            self.connections.len().max(1),
            self.depths.len(),
        ];
        let cases = lists.into_iter().fold(1_usize, usize::saturating_mul);
        if cases > CASES_MAX {
            return Err(PlanError::new(
                "size",
                format!("these lists make {cases} cases"),
                format!("at most {CASES_MAX} can run; give fewer values"),
            ));
        }
        Ok(())
    }

    /// All combinations; threads vary fastest, so that a curve over them is measured without interruption.
    fn points(&self) -> Vec<Point> {
        let optional = |list: &[u32]| -> Vec<Option<u32>> {
            if list.is_empty() { vec![None] } else { list.iter().copied().map(Some).collect() }
        };
        let responses: Vec<Option<Bytes>> = match self.responses.is_empty() {
            true => vec![None],
            false => self.responses.iter().copied().map(Some).collect(),
        };
        let connections = optional(&self.connections);
        let mut points = Vec::new();
        for &test in &self.tests {
            for &pattern in &self.patterns {
                for &size in &self.sizes {
                    for &response in &responses {
                        for &depth in &self.depths {
                            for &connections in &connections {
                                for &threads in &self.threads {
                                    points.push(Point {
                                        test,
                                        size,
                                        response,
                                        pattern,
                                        threads,
                                        connections,
                                        depth,
                                    });
                                }
                            }
                        }
                    }
                }
            }
        }
        points
    }

    /// Coordinates of `point` in the lists that have several values.
    fn settings(&self, point: &Point) -> Vec<Setting> {
        let mut settings = Vec::new();
        let mut add = |count: usize, key: &str, value: SettingValue| {
            if count > 1 {
                settings.push(Setting { key: key.to_owned(), value });
            }
        };
        add(self.tests.len(), "test", SettingValue::Word(point.test.name().to_owned()));
        add(self.patterns.len(), "pattern", SettingValue::Word(point.pattern.name().to_owned()));
        add(self.sizes.len(), "size", SettingValue::Bytes(point.size));
        add(self.responses.len(), "response", SettingValue::Bytes(point.response.unwrap_or_default()));
        add(self.depths.len(), "depth", SettingValue::Count(point.depth.into()));
        add(
            self.connections.len(),
            "connections",
            SettingValue::Count(point.connections.unwrap_or(0).into()),
        );
        add(self.threads.len(), "threads", SettingValue::Count(point.threads.into()));
        settings
    }

    fn case(&self, point: &Point) -> Result<Case, PlanError> {
        let (request, response) = match point.test {
            Test::Exchange => (point.size, point.response.unwrap_or(point.size)),
            Test::Write => (point.size, point.response.unwrap_or(SMALL)),
            Test::Read => (SMALL, point.response.unwrap_or(point.size)),
        };
        let rpc = Rpc {
            pattern: point.pattern,
            ends: self.ends,
            connections: point.connections.unwrap_or(point.threads),
            threads: point.threads,
            interface: self.interface.clone(),
            port: self.port,
            client_binding: self.client_binding.clone(),
            server_binding: self.server_binding.clone(),
            warm_up: self.warm_up,
            deadline: self.deadline,
            ..Rpc::new(request, response)
        };
        // A thread with nothing else to do waits in the call itself: measured in pairs, see the journal on rpc.
        let one_to_one = self.ends <= 2 || point.pattern == Pattern::OneToOne;
        let one_request_a_thread = point.depth == 1 && rpc.connections <= rpc.threads && one_to_one;
        let moved = Bytes(request.0.saturating_add(response.0).max(1));
        let mut spec = WorkloadSpec::new(TOOL, "", Geometry { transfer: moved, block: moved, segments: 1 });
        spec.files.targets.clear();
        // There are no files to create, read back or remove.
        (spec.files.existing, spec.files.keep) = (Existing::Reuse, Keep::Always);
        (spec.tasks, spec.nodes) = (rpc.tasks(), self.nodes);
        spec.work = rpc.into();
        spec.backend = match self.calls {
            Calls::Plain => Backend::plain(),
            Calls::Faster if one_request_a_thread => Backend::plain(),
            Calls::Faster | Calls::Uring => Backend::queued(point.depth),
        };
        match self.until {
            Until::Duration(time) => spec.duration = Some(time),
            Until::Exchanges(count) => spec.operations = Some(count),
        }
        (spec.verify, spec.signature) = (self.verify, self.seed);
        let workload = spec.validate()?;
        let settings = self.settings(point);
        let id = settings.iter().fold(TOOL.to_owned(), |mut id, setting| {
            id.extend([":", &setting.key, "=", &setting.value.exact()]);
            id
        });
        let title = workload.conditions(Phase::Exchange);
        let case = Case::new(id, workload, vec![Phase::Exchange]);
        Ok(Case { group: TOOL.to_owned(), title, settings, repetitions: self.repetitions, ..case })
    }

    fn title(&self) -> String {
        let among = match (self.ends, self.nodes) {
            (1, _) => "within one process, over loopback".to_owned(),
            (ends, 1) => format!("among {ends} processes of one node"),
            (ends, nodes) => format!("among {ends} processes on {nodes} nodes"),
        };
        format!("Requests and responses {among}")
    }
}

/// The plan: a case for each combination of values.
///
/// # Errors
/// Errors if options cannot be measured; the field is that of the workload or of [`Options`].
pub fn plan(options: Options) -> Result<Plan, PlanError> {
    options.check()?;
    let cases = options.points().iter().map(|point| options.case(point)).collect::<Result<_, _>>()?;
    let title = options.title();
    let question = PlanSource::Dialect {
        tool: TOOL.to_owned(),
        arguments: options.arguments,
        notes: options.notes,
        memo: String::new(),
    };
    Ok(Plan::new(title, question, options.seed, cases))
}

#[cfg(test)]
mod tests {
    use super::{Calls, Options, Test, Until, plan};
    use crate::{Backend, Bytes, Case, Nanos, Pattern, Rpc};

    fn cases(change: impl FnOnce(&mut Options)) -> Vec<Case> {
        let mut options = Options { ends: 2, nodes: 2, ..Options::default() };
        change(&mut options);
        plan(options).expect("sound").cases
    }

    fn rpc(case: &Case) -> &Rpc {
        case.workload.work.rpc().expect("exchanges")
    }

    fn field(change: impl FnOnce(&mut Options)) -> &'static str {
        let mut options = Options::default();
        change(&mut options);
        plan(options).expect_err("not sound").field
    }

    #[test]
    fn the_tests_of_nsdperf_are_sizes() {
        let all = cases(|options| {
            options.tests = vec![Test::Exchange, Test::Write, Test::Read];
            options.sizes = vec![Bytes::kib(64)];
        });
        let sizes: Vec<(u64, u64)> =
            all.iter().map(|case| (rpc(case).request_bytes.0, rpc(case).response_bytes.0)).collect();
        assert_eq!(sizes, [(65_536, 65_536), (65_536, 1), (1, 65_536)]);
        assert_eq!(all[1].id, "rpc:test=write");
        let all = cases(|options| options.responses = vec![Bytes(8)]);
        assert_eq!((rpc(&all[0]).request_bytes, rpc(&all[0]).response_bytes), (Bytes::kib(1), Bytes(8)));
    }

    #[test]
    fn lists_are_swept_and_connections_follow_threads() {
        let all = cases(|options| (options.threads, options.depths) = (vec![1, 2], vec![1, 8]));
        let ids: Vec<&str> = all.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "rpc:depth=1:threads=1",
                "rpc:depth=1:threads=2",
                "rpc:depth=8:threads=1",
                "rpc:depth=8:threads=2"
            ]
        );
        assert_eq!(all[3].workload.tasks, 2);
        assert_eq!(all[3].workload.backend, Backend::Uring { depth: 8, required: false });
        assert!(
            all[..2].iter().all(|case| case.workload.backend == Backend::plain()),
            "one request on each thread"
        );
        let rings = cases(|options| options.calls = Calls::Uring);
        assert_eq!(rings[0].workload.backend, Backend::queued(1));
        let all = cases(|options| (options.threads, options.connections) = (vec![1, 2], vec![16]));
        assert!(all.iter().all(|case| case.workload.tasks == 16));
        assert!(all.iter().all(|case| case.workload.backend == Backend::queued(1)), "several on a thread");
        assert!(all.iter().all(|case| case.settings.len() == 1 && case.group == "rpc"));
        let one = cases(|_| ());
        assert_eq!((one[0].id.as_str(), one[0].settings.len()), ("rpc", 0));
    }

    #[test]
    fn a_time_or_a_number_ends_a_phase() {
        assert_eq!(cases(|_| ())[0].workload.duration, Some(Nanos::secs(5)));
        let counted = cases(|options| options.until = Until::Exchanges(7));
        assert_eq!((counted[0].workload.duration, counted[0].workload.operations), (None, Some(7)));
    }

    #[test]
    fn what_cannot_be_measured_names_its_option() {
        assert_eq!(field(|options| options.threads.clear()), "threads");
        assert_eq!(field(|options| options.sizes = vec![Bytes(0)]), "request_bytes");
        assert_eq!(field(|options| options.repetitions = 0), "repetitions");
        assert_eq!(field(|options| (options.calls, options.depths) = (Calls::Plain, vec![2])), "depth");
        assert_eq!(field(|options| options.ends = 3), "ends");
        assert_eq!(field(|options| options.until = Until::Exchanges(0)), "operations");
        assert_eq!(field(|options| options.threads = vec![1; 20_000]), "size");
        let many = |options: &mut Options| {
            (options.ends, options.patterns) = (3, vec![Pattern::ManyToOne]);
            options.connections = vec![u32::MAX];
        };
        assert_eq!(field(many), "connections");
    }
}
