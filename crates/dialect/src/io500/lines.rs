//! The command line of each phase, which is one of IOR, mdtest, md-workbench or of the parallel search.
//!
//! Source: the command lines that the benchmark prints as `exe`.

use super::config::Config;
use super::hash::signature;
use super::phases::Phase;
use crate::ToolError;

/// Duration in seconds for which objects of md-workbench are configured, at the rate of
/// `mdtest-easy-write`.
const OBJECTS_SECONDS: i64 = 60;
/// Rate used if `mdtest-easy-write` has measured none, in 1,000 files per second.
const RATE_DEFAULT: f64 = 10.0;

/// A configuration that is resolved for one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    pub(super) config: Config,
    /// The time in the names of directories, from which the signatures of the data are derived.
    pub timestamp: String,
    /// The directory for the data.
    pub datadir: String,
    /// The directory for the results.
    pub resultdir: String,
    pub(super) tasks: u32,
}

/// Number of objects in each set of md-workbench, and number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Objects {
    pub precreated: u64,
    pub steps: u64,
}

impl Setup {
    /// Number of sets of objects of each task.
    pub(super) const SETS: u64 = 10;

    /// Sets up the run of `config` that starts at `timestamp`, for example `2026.11.27-12.00.00`.
    #[must_use]
    pub fn new(config: Config, timestamp: &str, tasks: u32) -> Self {
        let directory = |name: &str, flag: &str| {
            let written = config.text("global", name).unwrap_or(".");
            match config.flag("global", flag) {
                Some(false) => written.to_owned(),
                _ => format!("{written}/{timestamp}"),
            }
        };
        let datadir = directory("datadir", "timestamp-datadir");
        let resultdir = directory("resultdir", "timestamp-resultdir");
        Self { config, timestamp: timestamp.to_owned(), datadir, resultdir, tasks }
    }

    /// Minimum duration of a write phase in seconds.
    pub(super) fn stonewall(&self) -> i64 {
        self.config.number("debug", "stonewall-time").unwrap_or_default()
    }

    /// Minimum duration required by the rules, in seconds.
    pub(super) fn stonewall_of_rules(&self) -> i64 {
        if self.config.flag("global", "scc") == Some(true) { 30 } else { 300 }
    }

    /// The verbosity, from 0 to 10.
    pub(super) fn verbosity(&self) -> i64 {
        self.config
            .verbosity
            .map_or_else(|| self.config.number("global", "verbosity").unwrap_or(1), i64::from)
    }

    /// The section with the options that `phase` shares with related phases: that of its directory,
    /// except for searches.
    const fn family(phase: Phase) -> &'static str {
        match phase {
            Phase::Timestamp | Phase::FindEasy | Phase::Find | Phase::FindHard => phase.name(),
            _ => phase.directory(),
        }
    }

    /// Whether the configuration enables `phase`. As in the benchmark, the individual flags of
    /// md-workbench's phases are ignored.
    #[must_use]
    pub fn runs(&self, phase: Phase) -> bool {
        let runs = |section: &str| self.config.flag(section, "run") != Some(false);
        let family = Self::family(phase);
        runs(family) && (family == "mdworkbench" || runs(phase.name()))
    }

    /// The words of the command line of `phase`, beginning with the program; empty for the timestamp. The
    /// number of md-workbench's objects depends on `rate`, in 1,000 files per second.
    #[must_use]
    pub fn line(&self, phase: Phase, rate: f64) -> Vec<String> {
        match Self::family(phase) {
            "ior-easy" => self.ior_easy(phase),
            "ior-hard" => self.ior_hard(phase),
            "mdtest-easy" => self.mdtest_easy(phase),
            "mdtest-hard" => self.mdtest_hard(phase),
            "mdworkbench" => self.mdworkbench(phase, self.objects(rate)),
            _ if phase == Phase::Timestamp => Vec::new(),
            _ => self.find(phase),
        }
    }

    /// The number of tasks that search in `phase`.
    #[must_use]
    pub fn search_tasks(&self, phase: Phase) -> u32 {
        let asked = self.config.number(phase.name(), "nproc").and_then(|tasks| u32::try_from(tasks).ok());
        asked.map_or(self.tasks, |tasks| tasks.clamp(1, self.tasks))
    }

    /// The objects of md-workbench, either as configured or for about a minute at `rate`.
    pub(super) fn objects(&self, rate: f64) -> Objects {
        let configured = |option: &str| {
            self.config.number("mdworkbench", option).and_then(|count| u64::try_from(count).ok())
        };
        if let (Some(precreated), Some(steps)) = (configured("precreatePerSet"), configured("filesPerProc")) {
            return Objects { precreated, steps };
        }
        let rate = if rate > 0.0 { rate } else { RATE_DEFAULT };
        let seconds = self.stonewall().min(OBJECTS_SECONDS) as f64;
        let each = floor(rate * seconds * 1000.0 / f64::from(self.tasks)) / Self::SETS;
        Objects { precreated: each, steps: each }
    }

    /// Checks for options that the benchmark rejects or that this program does not support.
    ///
    /// # Errors
    /// Returns the option, and what to do instead.
    pub fn check(&self) -> Result<(), ToolError> {
        let refused = |section: &str, option: &str, reason: &str| {
            let value = self.config.text(section, option).unwrap_or_default();
            let written = format!("[{section}] {option} = {value}");
            Err(ToolError { tool: "io500", written, reason: reason.to_owned() })
        };
        if let Some(value) = self.config.text("global", "datadir")
            && value.contains(' ')
        {
            let reason = "a path with spaces cannot be used in the command lines of phases; give one without";
            return refused("global", "datadir", reason);
        }
        let both = ["precreatePerSet", "filesPerProc"].map(|option| self.config.text("mdworkbench", option));
        if both[0].is_some() != both[1].is_some() {
            let option = if both[0].is_some() { "precreatePerSet" } else { "filesPerProc" };
            return refused("mdworkbench", option, "set both precreatePerSet and filesPerProc, or neither");
        }
        if self.config.flag("global", "io-buffers-on-gpu") == Some(true) {
            return refused("global", "io-buffers-on-gpu", "buffers are in main memory; set it to FALSE");
        }
        let default = Config::default();
        let command = "drop-caches-cmd";
        if self.config.flag("global", "drop-caches") == Some(true)
            && self.config.text("global", command) != default.text("global", command)
        {
            let reason = "commands from a configuration file are not run; leave it out to drop caches without a \
                 command";
            return refused("global", command, reason);
        }
        for phase in [Phase::FindEasy, Phase::Find, Phase::FindHard] {
            if self.config.text(phase.name(), "external-script").is_some() {
                let reason = "commands from a configuration file are not run; leave it out to use the parallel search \
                     of ioproof";
                return refused(phase.name(), "external-script", reason);
            }
        }
        Ok(())
    }

    /// Whether the caches are dropped before each phase.
    #[must_use]
    pub fn drops_caches(&self) -> bool {
        self.config.flag("global", "drop-caches") == Some(true)
    }

    /// The directory in which a file with the name of a phase delays that phase.
    #[must_use]
    pub fn pause_directory(&self) -> Option<&str> {
        self.config.text("debug", "pause-dir")
    }

    fn packet(&self) -> String {
        format!("--dataPacketType={}", self.config.text("global", "dataPacketType").unwrap_or("timestamp"))
    }

    fn result(&self, name: &str) -> String {
        format!("{}/{name}", self.resultdir)
    }

    fn data(&self, name: &str) -> String {
        format!("{}/{name}", self.datadir)
    }

    /// `-a` with the interface and its options. The options of the family take precedence over those of the
    /// phase, and these over the general ones.
    fn interface(&self, phase: Phase) -> Vec<String> {
        let own = self.config.text(phase.name(), "API");
        let shared = self.config.text(Self::family(phase), "API");
        let api = own.or(shared).or_else(|| self.config.text("global", "api")).unwrap_or("POSIX");
        let words = api.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
        [String::from("-a")].into_iter().chain(words).collect()
    }

    fn ior_easy(&self, phase: Phase) -> Vec<String> {
        let family = "ior-easy";
        let text = |option| self.config.text(family, option).unwrap_or_default().to_owned();
        let flag = |option| self.config.flag(family, option) == Some(true);
        let mut line = Words::of(&["./ior", &self.packet()]);
        line.verbose(self.config.number(family, "verbosity"));
        line.add(&["-g", "-G", &signature(family, &self.timestamp).to_string(), "-k", "-e", "-o"]);
        line.add(&[&self.data("ior-easy/ior_file_easy")]);
        let is_random = phase == Phase::IorRnd4kEasyRead;
        if !is_random {
            let status = format!("stoneWallingStatusFile={}", self.result("ior-easy.stonewall"));
            line.add(&[
                "-C",
                "-Q",
                "1",
                "-O",
                &status,
                "-t",
                &text("transferSize"),
                "-b",
                &text("blockSize"),
            ]);
        }
        line.add_if(flag("uniqueDir"), &["-u"]);
        line.add_if(flag("filePerProc"), &["-F"]);
        let deadline = self.stonewall().to_string();
        let details =
            format!("saveRankPerformanceDetailsCSV={}", self.result(&format!("{}.csv", phase.name())));
        match phase {
            Phase::IorEasyWrite => line.add(&["-w", "-D", &deadline, "-O", "stoneWallingWearOut=1"]),
            Phase::IorEasyRead => line.add(&["-r", "-R"]),
            _ => line.add(&["-r", "-D", &deadline, "-z", "-z"]),
        }
        line.0.extend(self.interface(phase));
        line.add(&["-O", &details]);
        if is_random {
            line.add(&["-t=4096", "-b=4096", "-s=10000000", "-O", "stoneWallingWearOut=1"]);
            line.add_if(flag("filePerProc"), &["-C", "-Q", "2"]);
        }
        line.0
    }

    fn ior_hard(&self, phase: Phase) -> Vec<String> {
        let family = "ior-hard";
        let mut line = Words::of(&["./ior", &self.packet()]);
        line.verbose(self.config.number(family, "verbosity"));
        line.add(&["-C", "-Q", "1", "-g", &format!("-G={}", signature(family, &self.timestamp)), "-k", "-e"]);
        let status = format!("stoneWallingStatusFile={}", self.result("ior-hard.stonewall"));
        line.add(&["-o", &self.data("ior-hard/file"), "-O", &status, "-t", "47008", "-b", "47008", "-s"]);
        line.add(&[self.config.text(family, "segmentCount").unwrap_or_default()]);
        let own = self.config.flag(phase.name(), "collective");
        let is_collective = own.or_else(|| self.config.flag(family, "collective")) == Some(true);
        let is_write = phase == Phase::IorHardWrite;
        line.add(if is_write { &["-w"] } else { &["-r", "-R"] });
        line.add_if(is_collective, &["-c"]);
        line.add_if(is_write, &["-D", &self.stonewall().to_string()]);
        line.0.extend(self.interface(phase));
        let details =
            format!("saveRankPerformanceDetailsCSV={}", self.result(&format!("{}.csv", phase.name())));
        line.add(&["-O", &details]);
        line.add_if(is_write, &["-O", "stoneWallingWearOut=1"]);
        line.0
    }

    fn mdtest_easy(&self, phase: Phase) -> Vec<String> {
        let family = "mdtest-easy";
        let mut line = Words::of(&["./mdtest", &self.packet(), "-n"]);
        line.add(&[self.config.text(family, "n").unwrap_or_default(), "-u", "-L", "-F", "-P", "-G"]);
        line.add(&[&signature(family, &self.timestamp).to_string(), "-N", "1", "-d", &self.data(family)]);
        line.add(&["-x", &self.result("mdtest-easy.stonewall")]);
        self.end_of_mdtest(phase, true, line)
    }

    fn mdtest_hard(&self, phase: Phase) -> Vec<String> {
        let family = "mdtest-hard";
        let mut line = Words::of(&["./mdtest", &self.packet(), "-n"]);
        line.add(&[self.config.text(family, "n").unwrap_or_default()]);
        if let Some(files) = self.files_per_directory() {
            line.add(&[&format!("-I={files}")]);
        }
        line.add(&["-t", "-w", "3901", "-e", "3901", "-P"]);
        line.add(&[&format!("-G={}", signature(family, &self.timestamp)), "-N", "1", "-F", "-d"]);
        line.add(&[&self.data(family), "-x", &self.result("mdtest-hard.stonewall")]);
        self.end_of_mdtest(phase, self.files_per_directory().is_none(), line)
    }

    fn end_of_mdtest(&self, phase: Phase, has_deadline: bool, mut line: Words) -> Vec<String> {
        match phase {
            Phase::MdtestEasyWrite | Phase::MdtestHardWrite => {
                line.add(&["-C", "-Y"]);
                line.add_if(has_deadline, &["-W", &self.stonewall().to_string()]);
            }
            Phase::MdtestEasyStat | Phase::MdtestHardStat => line.add(&["-T"]),
            Phase::MdtestHardRead => line.add(&["-E", "-X"]),
            _ => line.add(&["-r"]),
        }
        let details = self.result(&format!("{}.csv", phase.name()));
        line.add(&[&format!("--saveRankPerformanceDetails={details}")]);
        line.0.extend(self.interface(phase));
        line.0
    }

    /// Number of files in each directory of `mdtest-hard`. If set, the phase has no deadline.
    pub(super) fn files_per_directory(&self) -> Option<i64> {
        self.config.number("mdtest-hard", "files-per-dir").filter(|files| *files > 0)
    }

    fn mdworkbench(&self, phase: Phase, objects: Objects) -> Vec<String> {
        let family = "mdworkbench";
        let mut line = Words::of(&["./md-workbench", &self.packet()]);
        line.verbose(self.config.number(family, "verbosity"));
        line.add(&["--process-reports"]);
        line.0.extend(self.interface(phase));
        let waiting: f32 =
            self.config.text(family, "waitingTime").and_then(|text| text.parse().ok()).unwrap_or(0.0);
        line.add(&[&format!("-o={}", self.data(family)), &format!("-t={waiting:.6}"), "-O=1"]);
        line.add(&[
            &format!("--run-info-file={}", self.result("mdworkbench.status")),
            &format!("-D={}", Self::SETS),
        ]);
        line.add(&[&format!("-G={}", signature("md-workbench", &self.timestamp))]);
        line.add(&[&format!("-P={}", objects.precreated), &format!("-I={}", objects.steps)]);
        line.add(match phase {
            Phase::MdworkbenchCreate => &["-1"],
            Phase::MdworkbenchBench => &["-2", "-R=2", "-X"],
            _ => &["-3"],
        });
        line.0
    }

    fn find(&self, phase: Phase) -> Vec<String> {
        let flag = |option| self.config.flag(phase.name(), option) == Some(true);
        let mut line = Words::of(&["./pfind"]);
        line.add(&[&match phase {
            Phase::FindEasy => self.data("mdtest-easy/"),
            Phase::FindHard => self.data("mdtest-hard/"),
            _ => self.datadir.clone(),
        }]);
        if phase != Phase::FindEasy {
            line.add(&["-newer", &self.result("timestampfile"), "-size", "3901c"]);
        }
        line.add(&["-name", "*01*", "-C"]);
        line.add_if(flag("pfind-steal-next"), &["-N"]);
        line.add_if(flag("pfind-parallelize-single-dir-access-using-hashing"), &["-H", "1"]);
        line.add(&["-q", self.config.text(phase.name(), "pfind-queue-length").unwrap_or_default()]);
        line.0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of files is not negative"
)]
const fn floor(files: f64) -> u64 {
    files as u64
}

/// The words of a command line.
struct Words(Vec<String>);

impl Words {
    fn of(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|word| (*word).to_owned()));
    }

    fn add_if(&mut self, is_wanted: bool, words: &[&str]) {
        if is_wanted {
            self.add(words);
        }
    }

    fn verbose(&mut self, times: Option<i64>) {
        for _ in 0..times.unwrap_or(0) {
            self.add(&["-v"]);
        }
    }
}
