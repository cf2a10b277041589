//! The program called as another tool: takes that tool's command line, prints its output, and writes its own
//! record. IOR has more options and therefore its own module.

pub(crate) mod cross_check;
pub(crate) mod io500;
pub(crate) mod ior;
mod live;
pub(crate) mod output;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use dialect::ior::Launcher;
use dialect::{Extras, ParsedCommand, Tool};
use engine::Controls;
use plan::Plan;
use plan::shell_word;
use report::Shown;
use runner::{Checked, Event, Watch};

use crate::console::exit::{Exit, Failure};
use crate::console::progress::LiveLine;
use crate::console::{can_ask, print, print_folded, screen};
use crate::run::cluster::World;
use crate::run::keep_history;
use crate::run::session::{self, Session};
use live::{OperationPoller, Shared, ToolOutput};
use output::{Output, warn, write_whole};

/// Runs the command line of `tool`, which begins with the program's name.
pub(crate) fn run(tool: &Tool, arguments: &[OsString], world: &World) -> Result<Exit, Failure> {
    let words = unicode(arguments)?;
    let parsed = (tool.parse)(&words, launcher(world)).map_err(|error| Failure::new(Exit::Usage, error))?;
    if let Some(text) = &parsed.show {
        return print_folded(text).map(|()| Exit::Success);
    }
    warn(&parsed.warnings);
    let session = Session::new(world, tool.name);
    if parsed.extras.explain {
        session.check_options(&parsed.plan, parsed.extras.out.as_deref())?;
        return explain(&session, &parsed.plan);
    }
    measure(tool, &session, parsed, false)?.tell()
}

/// A run that has ended.
pub(crate) struct Measured {
    /// The closed record.
    pub(crate) run: record::Run,
    pub(crate) exit: Exit,
    /// Why it did not end as expected, if so.
    pub(crate) message: Option<String>,
}

impl Measured {
    /// Its exit code, or why it did not end as expected.
    pub(crate) fn tell(self) -> Result<Exit, Failure> {
        match self.message {
            Some(message) => Err(Failure::new(self.exit, anyhow::anyhow!(message))),
            None => Ok(self.exit),
        }
    }
}

pub(crate) fn unicode(arguments: &[OsString]) -> Result<Vec<String>, Failure> {
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::usage(format!("`{}` is not Unicode; rename the file", word.to_string_lossy()))
        })
    };
    arguments.iter().map(text).collect()
}

/// The launcher in the form needed by the tool's printer.
pub(crate) fn launcher(world: &World) -> Launcher<'_> {
    let memory_bytes = Some(host::Host::new(host::Root::default()).memory_total());
    let by_hand = Launcher { memory_bytes, ..Launcher::default() };
    if !world.launched {
        return by_hand;
    }
    let topology = world.comm().topology();
    Launcher { node_of: topology.node_of(), names: topology.names(), ..by_hand }
}

/// Prints the planned measurements.
pub(crate) fn explain(session: &Session<'_>, plan: &Plan) -> Result<Exit, Failure> {
    let facts = session.host.facts(&session::targets(plan), engine::clock_name());
    let around = session.environment(plan, &facts);
    print(&report::explain(plan, &around, screen()))?;
    print(&session::explained_consent(plan)).map(|()| Exit::Success)
}

/// Reports leftovers of killed runs and files that will be lost, and asks whether to lose these.
pub(crate) fn agreed(checked: &Checked, extras: &Extras) -> Result<(), Failure> {
    warn(&session::leftover_lines(&checked.leftovers));
    warn(&session::lacking_right(&checked.plan).into_iter().collect::<Vec<_>>());
    // A refusal names the files itself.
    if extras.yes || can_ask() {
        warn(&checked.replaced().iter().map(session::replaced_line).collect::<Vec<_>>());
    }
    session::agree_to_losses(checked, extras.yes, "Lose this data and start?")
}

/// Prints the warnings about the figures in the tool's output, each on one line. The first line contains the path of
/// the record. This is done before the summary, because scripts search a log of both streams for the last line with
/// a certain word.
pub(crate) fn doubts(run: &record::Run, directory: &Path) {
    if let Some(doubts) = report::Study::of(run).doubts() {
        warn(&[format!("{doubts}; see `ioproof report {}`", shell_word(&directory.to_string_lossy()))]);
    }
}

/// Runs the plan of `parsed`, and prints or writes what `tool` would. If this is part of a larger run, the warnings
/// about its figures are reported with those of the whole run.
pub(crate) fn measure(
    tool: &Tool,
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
    let out = Output::open(parsed.output.as_deref(), is_part)?;
    let mut printer = (tool.printer)(&manifest.plan)
        .ok_or_else(|| Failure::new(Exit::Internal, anyhow::anyhow!("the plan lost its command line")))?;
    let header = printer.header(&manifest);
    // A tool that prints each operation needs no progress line.
    let most = if printer.is_live() { Shown::RecordOnly } else { Shown::All };
    let shown = if parsed.extras.no_progress { Shown::Nothing } else { most };
    let line = session.line(&checked, &directory, shown);
    let output = Shared::new(ToolOutput { printer, out, failed: None });
    let mut watch = Printed { output: output.clone(), header, poller: None, controls: None, line };
    let (mut ended, place) = session.run(&checked, &directory, &mut watch)?;
    drop(watch);
    let mut output = output.lock();
    let ToolOutput { printer, out, failed } = &mut *output;
    if let Some(failure) = failed.take() {
        return Err(failure);
    }
    let run = record::Run::open(&place)?;
    // A summary of an incomplete run would look like that of a complete one.
    if !ended.interrupted || printer.ends_when_interrupted() {
        if !is_part {
            doubts(&run, &directory);
        }
        out.write(&printer.finish(&run))?;
        for (path, text) in printer.side_files(&run) {
            write_whole(&path, &text)?;
        }
    }
    if printer.counts_errors() {
        ended.surprises = 0;
    }
    let (exit, message) = match ended.interrupted && ended.failed.is_none() && printer.ends_when_interrupted()
    {
        true => (Exit::Success, None),
        false => session::verdict(&ended, &directory),
    };
    Ok(Measured { run, exit, message })
}

/// Prints the tool's rows when phases end.
struct Printed {
    output: Shared,
    /// Printed with the first case, so that an earlier error does not follow the header.
    header: String,
    /// Set during a phase whose operations are printed as they complete.
    poller: Option<OperationPoller>,
    /// The controls of the phase in progress.
    controls: Option<Arc<Controls>>,
    line: LiveLine,
}

impl Watch for Printed {
    fn event(&mut self, event: &Event<'_>) {
        self.line.event(event);
        let text = match event {
            Event::PhaseFinished(record) => {
                self.poller = None;
                let mut output = self.output.lock();
                let stopped = self.controls.take().is_some_and(|controls| controls.is_stopped());
                // The row of an incomplete phase would look like that of a complete one.
                if stopped && !output.printer.ends_when_interrupted() {
                    return;
                }
                output.printer.phase(record)
            }
            Event::PhaseStarted { phase, controls, .. } => {
                self.controls = Some(Arc::clone(controls));
                if phase.is_result() && self.output.lock().printer.is_live() {
                    self.poller = Some(OperationPoller::start(self.output.clone(), Arc::clone(controls)));
                }
                return;
            }
            Event::CaseStarted { .. } => std::mem::take(&mut self.header),
            Event::Warning(_)
            | Event::CaseSkipped { .. }
            | Event::CaseFinished(_)
            | Event::CaseFailed { .. }
            | Event::Removed { .. }
            | Event::Layout { .. }
            | Event::Wiped { .. } => return,
        };
        self.line.beside(|| self.output.lock().write(&text));
    }
}
