//! The texts of the scripts.

use std::fmt::Write as _;

use plan::{Interval, Prediction, shell_word};

use super::quote;
use super::request::{BatchError, BatchRequest, Job, Script, Study};
use super::system::System;
use super::time::WallTime;

impl System {
    /// The directives of a job with exclusive use of whole nodes.
    fn directives(self, request: &BatchRequest<'_>, job: &Job, name: &str) -> Vec<String> {
        let (nodes, ranks, time) = (job.nodes, request.ranks_per_node, &job.time);
        let (account, queue, mut lines) = match self {
            Self::Slurm => (
                "--account=",
                "--partition=",
                vec![
                    format!("--job-name={name}"),
                    format!("--nodes={nodes}"),
                    format!("--ntasks-per-node={ranks}"),
                    // Without this a job may share its nodes, and gets only a part of their memory.
                    "--exclusive".to_owned(),
                    "--mem=0".to_owned(),
                    format!("--time={}", time.clock()),
                ],
            ),
            Self::Pbs => (
                "-A ",
                "-q ",
                vec![
                    format!("-N {name}"),
                    format!("-l select={nodes}:mpiprocs={ranks}"),
                    "-l place=scatter:excl".to_owned(),
                    format!("-l walltime={}", time.clock()),
                    "-j oe".to_owned(),
                ],
            ),
            Self::Flux => (
                "--bank=",
                "--queue=",
                vec![
                    format!("--job-name={name}"),
                    format!("--nodes={nodes}"),
                    "--exclusive".to_owned(),
                    format!("--time-limit={}m", time.minutes),
                ],
            ),
        };
        lines.extend(request.account.iter().map(|value| format!("{account}{value}")));
        lines.extend(request.partition.iter().map(|value| format!("{queue}{value}")));
        lines.extend(request.directives.iter().cloned());
        lines
    }
}

/// Wall time of the merge job, which reads and writes the records once.
const MERGE_MINUTES: u64 = 30;

/// All scripts of `jobs`.
pub(super) fn all(
    request: &BatchRequest<'_>,
    study: &Study<'_>,
    jobs: &[Job],
) -> Result<Vec<Script>, BatchError> {
    let mut scripts = Vec::new();
    for job in jobs {
        let (text, warning) = (run(request, study, job)?, job.time.shortage());
        scripts.push(Script { name: format!("{}.sh", job.name), text, warning });
    }
    if jobs.len() > 1 {
        let text = merge(request, study, jobs)?;
        scripts.push(Script { name: "merge.sh".to_owned(), text, warning: None });
    }
    let names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    let text = submit(request, study, &names)?;
    scripts.push(Script { name: "submit.sh".to_owned(), text, warning: None });
    Ok(scripts)
}

/// The script of the job that runs the study, or a part of it.
fn run(request: &BatchRequest<'_>, study: &Study<'_>, job: &Job) -> Result<String, BatchError> {
    let cases = match job.selects {
        true if job.nodes == 1 => "its cases on one node".to_owned(),
        true => format!("its cases on {} nodes", job.nodes),
        false => format!("all of its cases in one job (number of nodes: {})", job.nodes),
    };
    let mut text = head(request, study, job, &format!("Runs {cases}."))?;
    text += "# Directory for the record. A job that is submitted again resumes the record in it.\n";
    let record = quote::path(&request.out.join(&job.name))?;
    let _ = writeln!(text, "record={record}\nmkdir -p -- {}", quote::path(&request.out)?);
    text += "if [ -e \"$record/manifest.json\" ] && [ \"$(cat \"$record.status\" 2>/dev/null)\" = 0 ]; then\n    \
             printf 'the record %s is complete\\n' \"$record\"\n    exit 0\nfi\n";
    text += "if [ -e \"$record/manifest.json\" ]; then\n    \
             set -- --resume \"$record\"\nelse\n";
    let _ = write!(text, "    set -- {}", quote::path(study.path)?);
    for one in study.overrides {
        let _ = write!(text, " \\\n        --set {}", shell_word(one));
    }
    for word in &request.options {
        let gap = if word.starts_with("--") { " \\\n        " } else { " " };
        let _ = write!(text, "{gap}{}", shell_word(word));
    }
    if job.selects {
        let _ = write!(text, " \\\n        --on-nodes {}", job.nodes);
    }
    text += " \\\n        --out \"$record\"\nfi\n\n";
    text += request.system.environment();
    let own = || request.system.launcher(job.nodes, request.ranks_per_node);
    let launcher = request.launcher.clone().unwrap_or_else(own);
    let mpi = request.mpi.as_deref().map(quote::path).transpose()?;
    let mpi = mpi.map_or_else(String::new, |path| format!(" --mpi {path}"));
    let allowed = request.allow_commands.as_deref().map(shell_word);
    let allowed = allowed.map_or_else(String::new, |hash| format!(" --allow-commands {hash}"));
    let _ = writeln!(
        text,
        "status=0\n{launcher} \\\n    \"$ioproof\" run \"$@\" --yes{allowed}{mpi} || status=$?"
    );
    text += "printf '%s\\n' \"$status\" >\"$record.status\"\nexit \"$status\"\n";
    Ok(text)
}

/// The script of the job that merges the records of the others.
fn merge(request: &BatchRequest<'_>, study: &Study<'_>, jobs: &[Job]) -> Result<String, BatchError> {
    let prediction = Prediction { seconds: Interval::exact(0.0), source: String::new() };
    let time = WallTime { prediction, minutes: MERGE_MINUTES, given: true };
    let job = Job { name: "merge".to_owned(), nodes: 1, selects: false, time };
    let one = BatchRequest { ranks_per_node: 1, ..request.clone() };
    let mut text =
        head(&one, study, &job, "Merges the records of the other jobs, and reports on the result.")?;
    text += "set --\nmissing=0\nfor record in";
    for job in jobs {
        let _ = write!(text, " \\\n    {}", quote::path(&request.out.join(&job.name))?);
    }
    let all = quote::path(&request.out.join("all"))?;
    let again = "# An earlier merged record is kept.\nmerged=$all\ncount=1\nwhile [ -e \"$merged\" ]; do\n\
                 \x20   count=$((count + 1))\n    merged=$all-$count\ndone\n";
    text += "\ndo\n    if [ -e \"$record/manifest.json\" ]; then\n        set -- \"$@\" \"$record\"\n    \
             else\n        missing=1\n        printf 'there is no record %s\\n' \"$record\" >&2\n    fi\ndone\n\
             [ \"$#\" -gt 0 ] || exit 1\n";
    let _ = write!(text, "all={all}\n{again}");
    text += "\"$ioproof\" merge \"$merged\" \"$@\"\n\"$ioproof\" report \"$merged\"\nexit \"$missing\"\n";
    Ok(text)
}

/// The script that submits all jobs. Each job waits for the end of the previous one, because on the same storage
/// they would disturb each other.
fn submit(request: &BatchRequest<'_>, study: &Study<'_>, names: &[&str]) -> Result<String, BatchError> {
    let (first, later) = request.system.submission();
    let mut text = format!(
        "#!/bin/sh\n# Submits the jobs of {} to {}.\n",
        quote::line(&study.path.to_string_lossy()),
        request.system
    );
    if names.len() > 1 {
        text += "# Each job waits for the previous one to end, so that they do not disturb each other.\n";
    }
    text += "set -eu\n";
    // Relative paths in the jobs are relative to where they start, which is where they are submitted.
    text += "here=$(CDPATH='' cd -- \"$(dirname -- \"$0\")\" && pwd)\n";
    if let Some(directory) = &request.directory {
        let _ = writeln!(text, "CDPATH='' cd -- {}", quote::path(directory)?);
    }
    for (index, name) in names.iter().enumerate() {
        let command = if index == 0 { first } else { later };
        let _ = writeln!(text, "job=$({command} \"$here/{name}\")\nprintf '%s %s\\n' {name} \"$job\"");
    }
    let _ = writeln!(text, "printf '%s\\n' {}", shell_word(&format!("see: {}", request.system.listing())));
    Ok(text)
}

/// The beginning of every job: name, directives, and a shell that stops at an error.
fn head(request: &BatchRequest<'_>, study: &Study<'_>, job: &Job, what: &str) -> Result<String, BatchError> {
    let shell = if request.setup.is_empty() { "#!/bin/sh" } else { "#!/bin/sh -l" };
    let stem = study.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let name = quote::job_name(&format!("{stem}-{}", job.name));
    let mut text = format!("{shell}\n");
    for directive in request.system.directives(request, job, &name) {
        let _ = writeln!(text, "{}{directive}", request.system.mark());
    }
    let _ = writeln!(
        text,
        "#\n# Study {}: {}",
        quote::line(&study.path.to_string_lossy()),
        quote::line(&request.plan.title)
    );
    let _ = writeln!(text, "# {what}");
    if job.name != "merge" {
        for line in job.time.comment() {
            let _ = writeln!(text, "# {}", quote::line(&line));
        }
    }
    for line in &request.setup {
        let _ = writeln!(text, "{line}");
    }
    // The site's own commands above may not work with this setting.
    text += "set -eu\n";
    if let Some(directory) = &request.directory {
        let _ = writeln!(text, "CDPATH='' cd -- {}", quote::path(directory)?);
    } else if request.system == System::Pbs {
        // PBS starts a job in the home directory.
        text += "cd -- \"$PBS_O_WORKDIR\"\n";
    }
    let _ = writeln!(text, "\nioproof={}", quote::path(&request.program)?);
    Ok(text)
}
