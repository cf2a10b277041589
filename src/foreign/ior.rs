//! The program called as `ior`: takes IOR's command line, prints IOR's output, and writes its own record.

use std::ffi::OsString;
use std::sync::Arc;

use dialect::ior::{self, ParsedCommand, Printer, SideFiles};
use engine::Controls;
use record::{PhaseRecord, TaskRow};
use report::Shown;
use runner::{Event, Watch};

use crate::console::exit::{Exit, Failure};
use crate::console::progress::LiveLine;
use crate::console::{print_folded, print_line};
use crate::foreign::output::{Output, refuse_device, warn, write_whole};
use crate::foreign::{Measured, agreed, doubts, explain, launcher};
use crate::run::cluster::World;
use crate::run::keep_history;
use crate::run::session::{self, Session};

/// Runs the command line, which begins with the program's name.
pub(crate) fn run(arguments: &[OsString], world: &World) -> Result<Exit, Failure> {
    let launcher = launcher(world);
    let parsed = ior::parse(arguments, launcher).map_err(|error| Failure::new(Exit::Usage, error))?;
    if parsed.show_help {
        return print_folded(&ior::help().to_string()).map(|()| Exit::Success);
    }
    if parsed.show_version {
        let version = ior::version(parsed.compat, env!("CARGO_PKG_VERSION"));
        return print_line(&format!("IOR-{version}")).map(|()| Exit::Success);
    }
    warn(&parsed.warnings);
    let session = Session::new(world, ior::TOOL);
    if parsed.extras.explain || parsed.dry_run {
        session.check_options(&parsed.plan, parsed.extras.out.as_deref())?;
        return explain(&session, &parsed.plan);
    }
    measure(&session, parsed, false)?.tell()
}

/// Runs the plan of `parsed`, and prints or writes what IOR would. If this is part of a larger run, the warnings
/// about its figures are reported with those of the whole run.
pub(crate) fn measure(
    session: &Session<'_>,
    parsed: ParsedCommand,
    is_part: bool,
) -> Result<Measured, Failure> {
    let mut plan = parsed.plan;
    keep_history(&mut plan, parsed.extras.history)?;
    let directory = session.directory(parsed.extras.out.as_deref())?;
    let checked = session.check(plan)?;
    agreed(&checked, &parsed.extras)?;
    let manifest = session.manifest(&checked);
    for path in parsed.side_files.iter().flat_map(|files| files.status.iter().chain(&files.rank_csv)) {
        refuse_device(path)?;
    }
    let out = Output::open(parsed.output.file.as_deref(), is_part)?;
    if let (Some(file), false) = (&parsed.output.file, is_part) {
        print_line(&format!("Writing output to {}", file.display()))?;
    }
    let mut printer = Printer::new(&manifest.plan)
        .ok_or_else(|| Failure::new(Exit::Internal, anyhow::anyhow!("the plan lost its command line")))?;
    let header = printer.header(&manifest);
    let shown = if parsed.extras.no_progress { Shown::Nothing } else { Shown::All };
    let mut watch = Printed {
        line: session.line(&checked, &directory, shown),
        printer,
        header,
        out,
        controls: None,
        side_files: parsed.side_files,
        tasks: Vec::new(),
        failed: None,
        warnings: 0,
    };
    let (ended, place) = session.run(&checked, &directory, &mut watch)?;
    let Printed { line, mut printer, mut out, failed, warnings, .. } = watch;
    drop(line);
    if let Some(failure) = failed {
        return Err(failure);
    }
    let run = record::Run::open(&place)?;
    // A summary of an incomplete run would look like that of a complete one.
    if !ended.interrupted || parsed.output.summary_always {
        if !is_part {
            doubts(&run, &directory);
        }
        out.write(&printer.finish(run.manifest.finished_unix_ns))?;
    }
    let (mut exit, mut message) = session::verdict(&ended, &directory);
    if message.is_none() && parsed.output.warnings_as_errors && warnings > 0 {
        exit = Exit::Refused;
        message = Some(format!("{warnings} warnings, which --warningAsErrors treats as errors"));
    }
    Ok(Measured { run, exit, message })
}

/// Prints IOR's rows when phases end.
struct Printed {
    line: LiveLine,
    printer: Printer,
    /// Printed with the first case, so that an earlier error does not follow the header.
    header: String,
    out: Output,
    side_files: Vec<SideFiles>,
    /// The controls of the phase in progress.
    controls: Option<Arc<Controls>>,
    /// The tasks of the case in progress, for its side files.
    tasks: Vec<TaskRow>,
    failed: Option<Failure>,
    warnings: usize,
}

impl Printed {
    fn phase(&mut self, record: &PhaseRecord) -> Result<(), Failure> {
        self.tasks.extend(record.tasks.iter().cloned());
        let beside = self.side_files.iter().find(|files| files.case == record.phase.key.case);
        if let Some(path) = beside.and_then(|files| files.status.as_ref())
            && record.phase.key.phase == plan::Phase::Write
        {
            write_whole(path, &ior::stonewall_status(&record.tasks))?;
        }
        let file_bytes = self.printer.file_bytes(&record.phase);
        let row = self.printer.phase(&record.phase, &record.tasks, file_bytes);
        self.line.beside(|| self.out.write(&row))
    }

    fn case_over(&mut self, case: &str) -> Result<(), Failure> {
        let tasks = std::mem::take(&mut self.tasks);
        let beside = self.side_files.iter().find(|files| files.case == case);
        match beside.and_then(|files| files.rank_csv.as_ref()) {
            Some(path) => write_whole(path, &ior::rank_csv(&tasks)),
            None => Ok(()),
        }
    }
}

impl Watch for Printed {
    fn event(&mut self, event: &Event<'_>) {
        self.line.event(event);
        let result = match event {
            Event::PhaseFinished(record) => {
                self.warnings += record.warnings.len();
                match self.controls.take() {
                    // The row of an incomplete phase would look like that of a complete one.
                    Some(controls) if controls.is_stopped() => Ok(()),
                    _ => self.phase(record),
                }
            }
            Event::CaseFinished(case) => self.case_over(&case.id),
            Event::Warning(_) => {
                self.warnings += 1;
                Ok(())
            }
            Event::Removed { repetition, seconds } => {
                let row = self.printer.removed(*repetition, *seconds);
                self.line.beside(|| self.out.write(&row))
            }
            Event::CaseStarted { .. } => {
                let header = std::mem::take(&mut self.header);
                self.line.beside(|| self.out.write(&header))
            }
            Event::PhaseStarted { controls, .. } => {
                self.controls = Some(Arc::clone(controls));
                Ok(())
            }
            Event::CaseSkipped { .. }
            | Event::Wiped { .. }
            | Event::Layout { .. }
            | Event::CaseFailed { .. } => Ok(()),
        };
        if let Err(failure) = result {
            self.failed.get_or_insert(failure);
        }
    }
}
