//! `ioproof batch`: job scripts for a study.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use dialect::batch::{BatchRequest, Jobs, Script, System, scripts};
use plan::{Budget, Nanos, RunEnvironment, SettingValue, shell_word};

use crate::arguments::values;
use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print};
use crate::run::arguments::{Basis, Scale};
use crate::run::cluster::World;
use crate::run::{ask, predictions, scale};

/// `ioproof batch`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("system").required(true).args(["slurm", "pbs", "flux"]))]
pub(crate) struct BatchArguments {
    /// The study file.
    #[arg(value_name = "STUDY.toml")]
    study: PathBuf,
    /// Write scripts for Slurm (sbatch).
    #[arg(long)]
    slurm: bool,
    /// Write scripts for PBS Professional (qsub).
    #[arg(long)]
    pbs: bool,
    /// Write scripts for Flux (flux batch).
    #[arg(long)]
    flux: bool,
    /// Write a job for each number of nodes in the study, and one that merges their records [default: one job for the
    /// whole study].
    #[arg(long)]
    per_point: bool,
    /// Processes on each node, which run the tasks of the study.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    ranks_per_node: u32,
    /// Wall time that is asked for each job, for example 2h [default: from the prediction].
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    wall_time: Option<Nanos>,
    #[command(flatten)]
    basis: Box<Basis>,
    /// Account to charge.
    #[arg(long)]
    account: Option<String>,
    /// Partition or queue.
    #[arg(long)]
    partition: Option<String>,
    /// Shell line to execute before the run, for example `module load openmpi`; may be repeated.
    #[arg(long, value_name = "LINE")]
    setup: Vec<String>,
    /// Command that starts the ranks, instead of the batch system's own launcher.
    #[arg(long, value_name = "WORDS")]
    launcher: Option<String>,
    /// Path of the MPI library, as seen by the jobs, if the right one is not found automatically.
    #[arg(long, value_name = "PATH")]
    mpi: Option<PathBuf>,
    /// Agree to the commands that the study executes, by the hash that `ioproof run STUDY --explain` prints.
    #[arg(long, value_name = "HASH")]
    allow_commands: Option<String>,
    /// Path of the program, as seen by the jobs.
    #[arg(long, value_name = "PATH", default_value = "ioproof")]
    program: PathBuf,
    /// Override a value of the study; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Directory for the scripts and for the records of the jobs.
    #[arg(long, value_name = "DIR", default_value = "ioproof-batch")]
    out: PathBuf,
    /// Accept a study with very many cases without asking.
    #[arg(long, short)]
    yes: bool,
    /// Additional directives for the batch system, verbatim, for example `-- --constraint=nvme`.
    #[arg(last = true)]
    directives: Vec<String>,
    #[command(flatten)]
    scale: Scale,
}

/// Mode of a script before the user's umask is applied.
const MODE: u32 = 0o777;

/// Writes the scripts and prints how to submit them.
pub(crate) fn run(arguments: &BatchArguments) -> Result<Exit, Failure> {
    let study = match ask::is_ready(&arguments.study) {
        true => arguments.study.clone(),
        false => absolute(&arguments.study)?,
    };
    // A workload that does not specify `nodes` runs on all nodes of the job.
    let nodes = arguments.scale.nodes.unwrap_or(1);
    let plan = ask::study(&study, &arguments.set, arguments.yes, nodes)?;
    let predicted = predictions::of_options(&plan, &arguments.basis, &World::alone())?;
    predicted
        .unmatched()
        .for_each(|words| complain(&format!("{words}: the scripts state what their time is based on")));
    let environment = RunEnvironment { predicted, ..RunEnvironment::default() };
    let plan = scale::scaled(plan, &arguments.scale, nodes, |_| environment.clone())?;
    let out = absolute(&arguments.out)?;
    let request = BatchRequest {
        jobs: if arguments.per_point { Jobs::PerNodes } else { Jobs::One },
        ranks_per_node: arguments.ranks_per_node,
        time: arguments.wall_time,
        options: options(&arguments.scale.budget(), &arguments.basis)?,
        account: arguments.account.clone(),
        partition: arguments.partition.clone(),
        directives: arguments.directives.clone(),
        setup: arguments.setup.clone(),
        launcher: arguments.launcher.clone(),
        mpi: arguments.mpi.clone(),
        allow_commands: arguments.allow_commands.clone(),
        program: arguments.program.clone(),
        directory: None,
        out: out.clone(),
        ..BatchRequest::new(&plan, &environment, arguments.system())
    };
    let scripts = scripts(&request).map_err(|error| Failure::new(Exit::Usage, error))?;
    write(&out, &scripts)?;
    for line in
        plan.scaling.iter().flat_map(|scaling| [scaling.to_string()].into_iter().chain(scaling.details()))
    {
        print(&format!("{line}\n"))?;
    }
    for (name, warning) in scripts.iter().filter_map(|one| Some((&one.name, one.warning.as_ref()?))) {
        complain(&format!("{name}: {warning} A job that is submitted again continues with what is there."));
    }
    let list: String =
        scripts.iter().map(|script| format!("{}\n", out.join(&script.name).display())).collect();
    let submit = shell_word(&out.join("submit.sh").to_string_lossy());
    print(&format!("{list}submit them with: sh {submit}\n")).map(|()| Exit::Success)
}

/// The options with which the jobs scale the study, and what their prediction rests on. A study that fits here may not
/// fit with what a job knows of its node.
fn options(budget: &Budget, basis: &Basis) -> Result<Vec<String>, Failure> {
    if budget.is_unlimited() {
        return Ok(Vec::new());
    }
    let Budget { time, space, tasks, nodes } = *budget;
    let mut words = Vec::new();
    let mut add = |option: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]));
    };
    add("--time", time.map(|time| SettingValue::Time(time).exact()));
    add("--space", space.map(|space| SettingValue::Bytes(space).exact()));
    add("--tasks", tasks.map(|tasks| tasks.to_string()));
    add("--nodes", nodes.map(|nodes| nodes.to_string()));
    for given in &basis.expect {
        add("--expect", Some(given.to_string()));
    }
    let like = basis.like.as_deref().map(absolute).transpose()?;
    add("--like", like.map(|directory| directory.to_string_lossy().into_owned()));
    Ok(words)
}

/// Writes either all scripts or none, because an existing one may have been edited by hand.
fn write(out: &Path, scripts: &[Script]) -> Result<(), Failure> {
    fs::create_dir_all(out).map_err(|error| cannot_write(out, error))?;
    if let Some(path) = scripts.iter().map(|script| out.join(&script.name)).find(|path| path.exists()) {
        let message = format!("{} exists: remove it, or choose another --out", path.display());
        return Err(Failure::new(Exit::Refused, anyhow::anyhow!(message)));
    }
    for Script { name, text, .. } in scripts {
        let path = out.join(name);
        let made = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&path);
        made.and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| cannot_write(&path, error))?;
    }
    Ok(())
}

fn cannot_write(path: &Path, error: std::io::Error) -> Failure {
    let context = format!("cannot write {}: choose another --out", path.display());
    Failure::new(Exit::Record, anyhow::Error::from(error).context(context))
}

/// Makes the path absolute, because jobs start in another directory.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| cannot_write(path, error))
}

impl BatchArguments {
    fn system(&self) -> System {
        match (self.slurm, self.pbs) {
            (true, _) => System::Slurm,
            (false, true) => System::Pbs,
            (false, false) => System::Flux,
        }
    }
}
