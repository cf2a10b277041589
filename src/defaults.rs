//! Defaults from files and the environment, and `ioproof config`, which prints them.
//!
//! A default is the value of an option of the command line, which defines its meaning and its values; only
//! [`RECORDS`] has no option. Later sources win: [`SYSTEM`], the user's file, the environment, the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, parser::ValueSource};
use plan::defaults::{Rules, read};
use plan::limits::DEFAULTS_BYTES;
use plan::{Plan, visible};
use record::TakenDefault;

use crate::console::exit::{Exit, Failure};
use crate::console::print_folded;

/// The file of the site.
const SYSTEM: &str = "/etc/ioproof.toml";
/// The name of the user's file, in the directory of configurations.
const USER: &str = "ioproof.toml";
/// A variable that names the only file to be read; if it is empty, none is.
const ONLY: &str = "IOPROOF_CONFIG";
/// What variables of defaults begin with.
const PREFIX: &str = "IOPROOF_";
/// The key of the directory for records without `--out`.
const RECORDS: &str = "records";
/// Its value if nobody gives one.
const RECORDS_DEFAULT: &str = "ioproof-runs";

/// A key with the commands whose option of this name it is the default of.
struct Key {
    name: &'static str,
    commands: &'static [&'static str],
    about: &'static str,
}

/// All keys. [`RECORDS`] holds for every command that writes a record, those of other tools included.
const KEYS: [Key; 7] = [
    Key {
        name: RECORDS,
        commands: &["run", "randomops", "rpc", "cross-check", "import", "runs", "doctor"],
        about: "directory in which a run without --out gets a directory of its own, and that `runs` lists",
    },
    Key {
        name: "quiet",
        commands: &["run", "randomops", "rpc", "cross-check"],
        about: "whether the path of the record and the progress are left out",
    },
    Key { name: "mpi", commands: &["run", "randomops", "rpc", "batch", "doctor"], about: "the MPI library" },
    Key { name: "state", commands: &["run", "layout"], about: "directory for the ledgers of layouts" },
    Key { name: "account", commands: &["batch"], about: "the account that jobs are charged to" },
    Key { name: "partition", commands: &["batch"], about: "the partition or queue of jobs" },
    Key { name: "launcher", commands: &["batch"], about: "the command that starts the ranks of jobs" },
];

/// Options that agree to something or sign. They are given run by run.
const NEVER: [&str; 5] = ["yes", "destroy_data_on", "allow_commands", "sign", "nonce"];

/// A value that does not come from the program.
#[derive(Debug, Clone)]
struct Given {
    key: &'static str,
    value: String,
    from: String,
}

/// The defaults of a command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Defaults {
    /// One for each key that a file or the environment gives, the one that wins.
    given: Vec<Given>,
    /// Those that the command line left in effect.
    left: Vec<TakenDefault>,
}

impl Defaults {
    /// Reads the defaults of the command that `word` begins: of another tool, or of `definition`. A command without a
    /// key reads no file, so that `verify` and `verdict` depend on none.
    ///
    /// # Errors
    /// Errors if a file or a variable cannot be used.
    pub(crate) fn of(word: &str, is_tool: bool, definition: &Command) -> Result<Self, Failure> {
        let has = |key: &Key| if is_tool { key.name == RECORDS } else { key.commands.contains(&word) };
        let keys: Vec<&'static str> = KEYS.iter().filter(|key| has(key)).map(|key| key.name).collect();
        if keys.is_empty() {
            return Ok(Self::default());
        }
        let mut all = Self::all(definition)?;
        all.given.retain(|one| keys.contains(&one.key));
        Ok(all)
    }

    /// Reads the defaults of all commands.
    fn all(definition: &Command) -> Result<Self, Failure> {
        let mut defaults = Self::default();
        for path in files() {
            for given in of_file(&path, definition)? {
                defaults.add(given);
            }
        }
        for never in NEVER {
            let name = variable(never);
            if std::env::var_os(&name).is_some() {
                return Err(Failure::usage(format!(
                    "{name} is set, but consent and signatures are given run by run: unset it, and use --{}",
                    never.replace('_', "-")
                )));
            }
        }
        for key in &KEYS {
            let name = variable(key.name);
            let Some(value) = std::env::var_os(&name).filter(|value| !value.is_empty()) else { continue };
            let wrong = |why: String| Failure::usage(format!("{name}: {why}; correct or unset the variable"));
            let value = value.into_string().map_err(|_| wrong("the value is not valid UTF-8".to_owned()))?;
            check(key.name, &value, definition).map_err(wrong)?;
            defaults.add(Given { key: key.name, value, from: name });
        }
        Ok(defaults)
    }

    fn add(&mut self, given: Given) {
        self.given.retain(|one| one.key != given.key);
        self.given.push(given);
    }

    /// `definition` with these defaults in place of its own.
    pub(crate) fn apply(&self, definition: Command) -> Command {
        self.given.iter().fold(definition, |definition, given| {
            let commands = KEYS.iter().find(|key| key.name == given.key).map_or(&[][..], |key| key.commands);
            commands.iter().fold(definition, |definition, name| {
                definition.mut_subcommand(*name, |command| with_default(command, given))
            })
        })
    }

    /// The same with what the command line `matches` left in effect.
    pub(crate) fn left(self, matches: &ArgMatches) -> Self {
        let left = self.given.iter().filter(|given| is_left(given.key, matches)).map(Given::taken).collect();
        Self { left, ..self }
    }

    /// The same with what the command line of another tool left in effect: all, unless it has `--out`.
    pub(crate) fn left_by_tool(self, words: &[OsString]) -> Self {
        let is_out = |word: &OsString| word == "--out" || word.to_string_lossy().starts_with("--out=");
        let left =
            if words.iter().any(is_out) { Vec::new() } else { self.given.iter().map(Given::taken).collect() };
        Self { left, ..self }
    }

    /// Those that have an effect on a run of `plan`, which a launcher has or has not started.
    pub(crate) fn of_run(&self, plan: &Plan, is_launched: bool) -> Vec<TakenDefault> {
        let has_effect = |one: &&TakenDefault| match one.key.as_str() {
            "mpi" => is_launched,
            "state" => !plan.layouts.is_empty(),
            _ => true,
        };
        self.left.iter().filter(has_effect).cloned().collect()
    }

    /// The directory in which a run without `--out` gets a directory of its own.
    pub(crate) fn records(&self) -> &Path {
        Path::new(self.value(RECORDS).unwrap_or(RECORDS_DEFAULT))
    }

    /// The MPI library.
    pub(crate) fn mpi(&self) -> Option<PathBuf> {
        self.value("mpi").map(PathBuf::from)
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.given.iter().find(|one| one.key == key).map(|one| one.value.as_str())
    }
}

impl Given {
    fn taken(&self) -> TakenDefault {
        TakenDefault { key: self.key.to_owned(), value: self.value.clone(), from: self.from.clone() }
    }
}

/// Whether a default of `key` holds: its option, or `--out` for [`RECORDS`], was not given.
fn is_left(key: &str, matches: &ArgMatches) -> bool {
    let Some((_, own)) = matches.subcommand() else { return false };
    let mut own = own;
    while let Some((_, inner)) = own.subcommand() {
        own = inner;
    }
    let option = if key == RECORDS { "out" } else { key };
    // An option whose field has another name has no entry here; layouts keep no record.
    let source = own.try_contains_id(option).ok().and_then(|_| own.value_source(option));
    source != Some(ValueSource::CommandLine)
}

/// `command`, or its subcommands, with `given` as the default of the option of this name.
fn with_default(command: Command, given: &Given) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let command = names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |inner| with_default(inner, given)));
    match option(&command, given.key).map(|option| option.get_id().clone()) {
        Some(id) => command.mut_arg(id, |option| option.default_value(&*given.value.clone().leak())),
        None => command,
    }
}

/// The option `--KEY` of `command`; of [`RECORDS`] what `runs` lists.
fn option<'c>(command: &'c Command, key: &str) -> Option<&'c Arg> {
    let is_listed =
        |one: &Arg| key == RECORDS && command.get_name() == "runs" && one.get_id() == "directories";
    command.get_arguments().find(|one| one.get_long() == Some(key) || is_listed(one))
}

/// Whether the option of `key` takes `value`; the error says what it takes.
fn check(key: &str, value: &str, definition: &Command) -> Result<(), String> {
    if key == RECORDS {
        return Ok(());
    }
    let commands = KEYS.iter().find(|one| one.name == key).map_or(&[][..], |one| one.commands);
    let mut options = commands.iter().filter_map(|name| option(definition.find_subcommand(name)?, key));
    let Some(option) = options.next().cloned() else { return Ok(()) };
    let alone = Command::new("default").no_binary_name(true).arg(option);
    let word = OsString::from(format!("--{key}={value}"));
    alone.try_get_matches_from([word]).map(|_| ()).map_err(|error| {
        let told = error.to_string();
        let first = told.lines().next().unwrap_or_default();
        first.strip_prefix("error: ").unwrap_or(first).to_owned()
    })
}

fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_uppercase())
}

/// The files that may have defaults, in the order in which later ones win.
fn files() -> Vec<PathBuf> {
    if let Some(only) = std::env::var_os(ONLY) {
        return if only.is_empty() { Vec::new() } else { vec![only.into()] };
    }
    // The specification of base directories ignores a relative path.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let own = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    [PathBuf::from(SYSTEM)].into_iter().chain(own.map(|own| own.join(USER))).collect()
}

/// The defaults in the file at `path`; none if there is no such file.
fn of_file(path: &Path, definition: &Command) -> Result<Vec<Given>, Failure> {
    let read_it = host::read_settings(path, DEFAULTS_BYTES as u64).map_err(|error| {
        let exit = match error {
            host::HostError::SettingsOfOthers { .. } => Exit::Refused,
            _ => Exit::HostLacks,
        };
        Failure::new(exit, error)
    })?;
    let Some(bytes) = read_it else {
        // A file that somebody named is meant.
        let is_named = std::env::var_os(ONLY).is_some_and(|only| only == path.as_os_str());
        return match is_named {
            true => Err(Failure::usage(format!(
                "{}: there is no such file, but {ONLY} names it; correct or unset it",
                path.display()
            ))),
            false => Ok(Vec::new()),
        };
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..place].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::usage(format!("{}, line {line}: not UTF-8; save the file in that encoding", path.display()))
    })?;
    let keys = KEYS.map(|key| key.name);
    let check = |key: &str, value: &str| check(key, value, definition);
    let rules = Rules { keys: &keys, refused: &NEVER, check: &check };
    let written = read(path, &text, &rules).map_err(|errors| Failure::new(Exit::Usage, errors))?;
    let from = |line: usize| format!("{}:{line}", path.display());
    Ok(written
        .into_iter()
        .map(|one| Given { key: one.key, value: one.value, from: from(one.line) })
        .collect())
}

/// `ioproof config`: each default with its value and its source, and the files that are looked for.
pub(crate) fn run(definition: &Command) -> Result<Exit, Failure> {
    let all = Defaults::all(definition)?;
    let own = |key: &Key| match key.name {
        RECORDS => RECORDS_DEFAULT,
        "quiet" => "false",
        _ => "–",
    };
    let rows: Vec<[String; 3]> = KEYS
        .iter()
        .map(|key| match all.given.iter().find(|one| one.key == key.name) {
            Some(given) => [key.name.to_owned(), given.value.clone(), given.from.clone()],
            None => [key.name.to_owned(), own(key).to_owned(), "the program".to_owned()],
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0).max("key".len()), width(1).max("value".len()));
    let mut out = format!("{:first$}  {:second$}  from\n", "key", "value");
    for [key, value, from] in &rows {
        out += &format!("{key:first$}  {:second$}  {}\n", visible(value), visible(from));
    }
    out += "\n";
    for key in &KEYS {
        out += &format!("{:first$}  {}; of {}\n", key.name, key.about, key.commands.join(", "));
    }
    out += "\nLater sources win: ";
    for path in files() {
        let there = if path.exists() { "" } else { " (not there)" };
        out += &format!("{}{there}, ", visible(&path.to_string_lossy()));
    }
    out += &format!("{PREFIX}KEY, the command line.\n");
    print_folded(&out).map(|()| Exit::Success)
}
