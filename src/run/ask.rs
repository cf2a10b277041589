//! Creates the plan that `ioproof run` is to execute, from a study file or `--quick DIR`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use host::{Host, Relation, Root};
use plan::limits::STUDY_BYTES;
use plan::study::{self, Override};
use plan::{Plan, PlanError, quick, shell_word, visible};
use runner::RunnerError;

use crate::console::confirm;
use crate::console::exit::{Exit, Failure};
use crate::run::arguments::RunArguments;
use crate::run::{session, studies};

/// A plan with notes for the user.
pub(crate) struct PlannedRun {
    /// The descriptive part of the run's name.
    pub(crate) what: String,
    pub(crate) plan: Plan,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

/// Creates the plan specified by the arguments, for a run on `nodes` nodes.
pub(crate) fn ask(arguments: &RunArguments, nodes: u32) -> Result<PlannedRun, Failure> {
    match (arguments.quick.as_slice(), &arguments.study) {
        (directories @ [_, ..], _) => {
            let quick = quick_plan(directories, arguments)?;
            Ok(PlannedRun { what: "quick".to_owned(), plan: quick.plan, notes: quick.notes })
        }
        ([], Some(path)) => {
            if path.to_str().is_none() {
                let name = path.display();
                return Err(Failure::usage(format!(
                    "the name {name} is not valid UTF-8, which a record requires; rename it"
                )));
            }
            let text = match &arguments.on {
                Some(directory) => on_directory(&text(path)?, directory)?,
                None => text(path)?,
            };
            let plan = study_of(path, &text, &arguments.set, arguments.how.yes, nodes)?;
            if is_ready(path) && arguments.on.is_none() && arguments.model.is_none() {
                is_placed(path, &plan)?;
            }
            let name = path.file_stem().map_or("study".into(), |stem| stem.to_string_lossy().into_owned());
            Ok(PlannedRun { what: name, plan, notes: Vec::new() })
        }
        ([], None) => Err(Failure::usage("name a study file, or --quick DIR")),
    }
}

/// Rejects a study that names published figures or statements which are not in the library.
fn check_library(
    plan: Plan,
    path: &Path,
    text: &str,
    options: &study::Options,
) -> Result<Plan, study::StudyErrors> {
    let unknown = analysis::comparisons::unknown_ids(&plan, record::published());
    if unknown.is_empty() {
        return Ok(plan);
    }
    Err(study::unknown_ids(path, text, options, &unknown))
}

/// The plan of a study file for a run on `nodes` nodes. If it has very many cases, the user has to
/// confirm first.
pub(crate) fn study(path: &Path, set: &[String], yes: bool, nodes: u32) -> Result<Plan, Failure> {
    study_of(path, &text(path)?, set, yes, nodes)
}

fn study_of(path: &Path, text: &str, set: &[String], yes: bool, nodes: u32) -> Result<Plan, Failure> {
    let mut options = study::Options { nodes, ..study::Options::default() };
    for written in set {
        options.overrides.push(Override::parse(written).map_err(|error| Failure::new(Exit::Usage, error))?);
    }
    let own =
        studies::is_ready_text(text).then(|| study::placed_elsewhere(text, &options.overrides)).flatten();
    let text = own.as_deref().unwrap_or(text);
    let refused = |errors| Failure::new(Exit::Usage, errors);
    let errors = match study::read_with(path, text, &options) {
        Ok(plan) => return check_library(plan, path, text, &options).map_err(refused),
        Err(errors) => errors,
    };
    let Some(cases) = errors.too_many_cases().filter(|&cases| cases <= study::CASES_LIMIT) else {
        return Err(refused(errors));
    };
    if !yes && !confirm(&format!("The study has {cases} cases. Continue?"), false)? {
        return Err(Failure::new(Exit::Refused, errors));
    }
    options.cases_max = study::CASES_LIMIT;
    study::read_with(path, text, &options)
        .and_then(|plan| check_library(plan, path, text, &options))
        .map_err(refused)
}

/// Returns `plan`, which has already been measured, with the criteria of the file at `path`.
pub(crate) fn with_criteria(plan: Plan, path: &Path) -> Result<Plan, Failure> {
    let text = text(path)?;
    let refused = |errors| Failure::new(Exit::Usage, errors);
    let mut criteria = study::read_criteria(path, &text, &plan).map_err(refused)?;
    let own = plan.criteria.published.iter().filter(|one| !criteria.published.contains(one));
    let own: Vec<_> = own.cloned().collect();
    criteria.published.extend(own);
    check_library(Plan { criteria, ..plan }, path, &text, &study::Options::default()).map_err(refused)
}

/// Applies the study in `text` to `directory`, which must exist.
fn on_directory(text: &str, directory: &Path) -> Result<String, Failure> {
    host::files::check_directory(directory).map_err(|error| Failure::new(Exit::HostLacks, error))?;
    // The record needs the absolute path, which does not depend on the working directory.
    let place = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let place = place.to_str().ok_or_else(|| {
        Failure::usage(format!(
            "the name {} is not valid UTF-8, which a record requires; rename it",
            directory.display()
        ))
    })?;
    plan::study::on_directory(text, place).map_err(|why| {
        Failure::usage(format!(
            "--on cannot be used with this study: {why}; `--set {}` runs it there anyway",
            plan::shell_word(&format!("target.*.directory={place}"))
        ))
    })
}

/// Keeps only the cases on exactly `nodes` nodes.
pub(crate) fn only_on(plan: &mut Plan, nodes: u32) -> Result<(), Failure> {
    let known: BTreeSet<u32> = plan.cases.iter().map(|case| case.workload.nodes).collect();
    plan.keep_cases(|case| case.workload.nodes == nodes);
    if plan.cases.is_empty() {
        let known: Vec<String> = known.iter().map(u32::to_string).collect();
        let known = known.join(", ");
        return Err(Failure::usage(format!("no case uses {nodes} nodes; the study has cases on {known}")));
    }
    Ok(())
}

/// The text of a study file or, if there is no such file, of the ready study with this name.
fn text(path: &Path) -> Result<String, Failure> {
    let cannot = |why: String| Failure::usage(format!("cannot read the study {}: {why}", path.display()));
    if let Some(text) = ready(path) {
        return Ok(text.to_owned());
    }
    if path.is_dir() {
        return Err(cannot("it is a directory; name a study file in it, or use --quick DIR".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(STUDY_BYTES as u64 + 1).read_to_end(&mut bytes)).map_err(
        |error| match error.kind() {
            ErrorKind::NotFound => cannot(not_found(path)),
            _ => cannot(error.to_string()),
        },
    )?;
    String::from_utf8(bytes).map_err(|error| {
        let whole = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = whole.iter().filter(|&&byte| byte == b'\n').count() + 1;
        cannot(format!("line {line} is not UTF-8; save the file in that encoding"))
    })
}

fn ready(path: &Path) -> Option<&'static str> {
    path.to_str().filter(|_| !path.is_file()).and_then(studies::ready)
}

/// Whether `path` names a ready study and not a file.
pub(crate) fn is_ready(path: &Path) -> bool {
    ready(path).is_some()
}

/// Rejects a ready study whose directories, chosen by its authors, do not exist here.
fn is_placed(path: &Path, plan: &Plan) -> Result<(), Failure> {
    let missing = session::targets_without_layout(plan)
        .into_iter()
        .filter_map(|file| file.parent().map(Path::to_owned))
        .find(|directory| !directory.as_os_str().is_empty() && !directory.exists());
    let Some(missing) = missing else { return Ok(()) };
    let names: Vec<&str> = plan.criteria.targets.iter().map(|target| target.name.as_str()).collect();
    Err(Failure::usage(format!(
        "the ready study {} is for {}, which does not exist here: run it on a directory with --on DIR, or place its \
         targets ({}) with --set target.NAME.directory=DIR",
        path.display(),
        missing.display(),
        names.join(", ")
    )))
}

/// A suggestion for the name of a file that does not exist.
fn not_found(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let meant =
        studies::ready(&name).map(|_| &*name).or_else(|| record::Library::nearest(&name, studies::names()));
    match meant {
        Some(meant) => {
            format!("there is no such file; `{meant}` is a ready study: ioproof run {meant} --on DIR")
        }
        None => "there is no such file; `ioproof studies` lists the ready studies".to_owned(),
    }
}

fn quick_plan(directories: &[PathBuf], arguments: &RunArguments) -> Result<quick::Quick, Failure> {
    if directories.len() > quick::DIRECTORIES_MAX {
        return Err(Failure::usage(format!(
            "--quick measures at most {} directories in turns, not {}: compare more with a study file (docs/STUDY.md)",
            quick::DIRECTORIES_MAX,
            directories.len()
        )));
    }
    let mut wanted = quick::Options { cached: arguments.cached, ..quick::Options::default() };
    arguments.set.iter().try_for_each(|written| wanted.set(written)).map_err(not_quick)?;
    let places: Vec<_> =
        directories.iter().map(|directory| quick_environment(directory)).collect::<Result<_, _>>()?;
    let mut quick = quick_of(places, &wanted)?;
    quick.notes.extend(relations(directories)?);
    Ok(quick)
}

/// The plan of `--quick` in these places.
pub(crate) fn quick_of(
    places: Vec<quick::QuickEnvironment>,
    wanted: &quick::Options,
) -> Result<quick::Quick, Failure> {
    quick::plan_in_turns(places, wanted).map_err(not_quick)
}

fn not_quick(error: PlanError) -> Failure {
    let exit = if error.field == "directory" { Exit::HostLacks } else { Exit::Usage };
    Failure::new(exit, anyhow::anyhow!("{}: {}", error.message, error.help))
}

/// What directories that are compared have in common: a sentence for those on one file system or device, and for each two
/// of which one is inside the other.
///
/// # Errors
/// Errors if two of them are the same directory.
fn relations(directories: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let host = Host::new(Root::default());
    let mut notes = Vec::new();
    let mut shared: Vec<(String, Vec<String>)> = Vec::new();
    for (place, other) in directories.iter().enumerate() {
        for first in &directories[..place] {
            let [one, two] = [first, other].map(|path| visible(&path.to_string_lossy()).into_owned());
            let lacks = |error: host::HostError| Failure::from(RunnerError::from(error));
            let on = match host.relation(first, other).map_err(lacks)? {
                Relation::Same => {
                    return Err(Failure::usage(format!(
                        "{one} and {two} are the same directory, so there is nothing to compare; name two \
                         directories, or measure it alone with --quick {}",
                        shell_word(&first.to_string_lossy())
                    )));
                }
                Relation::Inside => {
                    notes.push(format!("{one} and {two}: one is inside the other: {OF_DIRECTORIES}."));
                    continue;
                }
                Relation::SameFileSystem(system) => system,
                Relation::SameDevice(device) => format!("device {device}"),
                Relation::Apart => continue,
            };
            let known = shared.iter().position(|(known, _)| *known == on);
            let place = known.unwrap_or_else(|| {
                shared.push((on, Vec::new()));
                shared.len() - 1
            });
            let all = &mut shared[place].1;
            [one, two].into_iter().for_each(|name| {
                if !all.contains(&name) {
                    all.push(name);
                }
            });
        }
    }
    notes.extend(shared.iter().map(|(on, all)| {
        let (last, first) = all
            .split_last()
            .map_or((String::new(), String::new()), |(last, first)| (last.clone(), first.join(", ")));
        format!("{first} and {last} are on {on}: {OF_DIRECTORIES}.")
    }));
    Ok(notes)
}

/// What a difference of directories on the same storage is.
const OF_DIRECTORIES: &str = "a difference is one of the directories, not of the storage below";

/// The environment of a directory for the quick study.
pub(crate) fn quick_environment(directory: &Path) -> Result<quick::QuickEnvironment, Failure> {
    let host = Host::new(Root::default());
    let lacks = |error: host::HostError| Failure::from(RunnerError::from(error));
    host::files::check_directory(directory).map_err(lacks)?;
    let alignment = host::direct_alignment(directory).map_err(lacks)?;
    Ok(quick::QuickEnvironment {
        directory: directory.to_owned(),
        file_system: host.file_system_name(directory).map_err(lacks)?,
        free_bytes: host.free_space(directory).map_err(lacks)?,
        memory_available_bytes: host.memory_available().map_err(lacks)?,
        direct_supported: alignment.is_some(),
        logical_block_bytes: alignment.unwrap_or(0).max(512),
        seed: session::random_seed(),
        uring: engine::uring_available().is_ok(),
    })
}
