//! What IOR prints about the run and the host.

use std::path::{Path, PathBuf};

use plan::{Phase, Placement};
use record::Manifest;

use super::parameters::TestHost;
use crate::Compat;
use crate::ior_family::space::{Space, file_system};

/// The facts about the whole run.
#[derive(Debug, Clone, Default)]
pub(super) struct RunFacts {
    pub version: String,
    pub command_line: String,
    pub started_unix_ns: i64,
    node: String,
    kernel: Option<String>,
    tests: Vec<TestFacts>,
}

/// The facts about the target of one test.
#[derive(Debug, Clone, Default)]
struct TestFacts {
    /// The first task's file.
    path: PathBuf,
    held_bytes: u64,
    space: Option<Space>,
}

/// The release of IOR whose output format is used and the version of this program, for example
/// `4.1.0+ioproof-0.1.0`.
#[must_use]
pub fn version(compat: Compat, program_version: &str) -> String {
    let release = match compat {
        Compat::V3_0 => "3.0.1",
        Compat::V3_3 => "3.3.0",
        Compat::V4_0 => "4.1.0",
    };
    format!("{release}+ioproof-{program_version}")
}

impl RunFacts {
    pub(super) fn of(manifest: &Manifest, compat: Compat) -> Self {
        let host = &manifest.host;
        let test = |case: &plan::Case| {
            let path = first_file(case);
            let space = file_system(&path, &host.file_systems).map(Space::of);
            TestFacts { path, held_bytes: case.workload.memory_hog.0, space }
        };
        Self {
            version: version(compat, &manifest.program_version),
            command_line: manifest.command_line.join(" "),
            started_unix_ns: manifest.started_unix_ns,
            node: host.node.clone(),
            kernel: host.kernel.known().cloned(),
            tests: manifest.plan.cases.iter().map(test).collect(),
        }
    }

    /// `Linux node`, with the kernel if `long` is set.
    pub(super) fn machine(&self, long: bool) -> String {
        match &self.kernel {
            Some(kernel) if long => format!("Linux {} {kernel}", self.node),
            _ => format!("Linux {}", self.node),
        }
    }

    pub(super) fn host(&self, test: usize) -> TestHost<'_> {
        let held_bytes = self.tests.get(test).map_or(0, |test| test.held_bytes);
        TestHost { node: &self.node, held_bytes }
    }

    /// The first task's file, or its directory before 4.0.
    pub(super) fn path(&self, test: usize, compat: Compat) -> String {
        let Some(test) = self.tests.get(test) else { return String::new() };
        if compat == Compat::V4_0 {
            return test.path.display().to_string();
        }
        match test.path.parent() {
            Some(parent) if parent != Path::new("") => parent.display().to_string(),
            _ => ".".to_owned(),
        }
    }

    pub(super) fn space(&self, test: usize) -> Option<&Space> {
        self.tests.get(test)?.space.as_ref()
    }
}

/// The first task's file, without the number of the repetition, which IOR does not print.
fn first_file(case: &plan::Case) -> PathBuf {
    let path = Placement::new(&case.workload).file(0, Phase::Write, 0).path;
    match path.to_str().and_then(|path| path.strip_suffix(".0")) {
        Some(path) if case.workload.files.file_per_repetition => PathBuf::from(path),
        _ => path,
    }
}
