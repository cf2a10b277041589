//! The program called as a foreign tool: that tool's command line in, its output out, and a record of our
//! own. IOR, whose options reach further, has a module to itself.

mod live;
pub(crate) mod output;

use std::collections::HashSet;
use std::ffi::OsString;
use std::mem::Discriminant;
use std::path::Path;
use std::sync::Arc;

use dialect::ior::Launcher;
use dialect::{Asked, Extras, Tool};
use plan::Plan;
use plan::shell_word;
use record::{Warning, WarningRow};
use report::Shown;
use runner::{Checked, Event, Watch};

use crate::cluster::World;
use crate::console::{can_ask, print};
use crate::exit::{Exit, Failure};
use crate::progress::LiveLine;
use crate::run::keep_history;
use crate::session::{self, Session};
use live::{Looking, Paper, Shared};
use output::{Output, warn, write_whole};

/// Runs the command line of `tool`, the program's name first.
pub(crate) fn run(tool: &Tool, arguments: &[OsString], world: &World) -> Result<Exit, Failure> {
    let words = unicode(arguments)?;
    let asked = (tool.parse)(&words, launcher(world)).map_err(|error| Failure::new(Exit::Usage, error))?;
    if let Some(text) = &asked.show {
        return print(text).map(|()| Exit::Success);
    }
    warn(&asked.warnings);
    let session = Session::new(world, tool.name);
    if asked.extras.explain {
        return explain(&session, &asked.plan);
    }
    measure(tool, &session, asked)
}

fn unicode(arguments: &[OsString]) -> Result<Vec<String>, Failure> {
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::usage(format!("`{}` is not Unicode; rename the file", word.to_string_lossy()))
        })
    };
    arguments.iter().map(text).collect()
}

/// What the launcher says.
pub(crate) fn launcher(world: &World) -> Launcher<'_> {
    let memory_bytes = Some(host::Host::new(host::Root::default()).memory_total());
    let by_hand = Launcher { memory_bytes, ..Launcher::default() };
    if !world.launched {
        return by_hand;
    }
    let topology = world.comm().topology();
    Launcher { node_of: topology.node_of(), names: topology.names(), ..by_hand }
}

/// Prints what would be measured.
pub(crate) fn explain(session: &Session<'_>, plan: &Plan) -> Result<Exit, Failure> {
    let facts = session.host.facts(&session::targets(plan), engine::clock_name());
    let around = session.surroundings(plan, &facts);
    print(&report::explain(plan, &around))?;
    print(&session::explained_loss(plan)).map(|()| Exit::Success)
}

/// Says what killed runs left and what the user would lose, and asks about that.
pub(crate) fn agreed(checked: &Checked, extras: &Extras) -> Result<(), Failure> {
    warn(&session::leftover_lines(&checked.leftovers));
    // A refusal names the files itself.
    if extras.yes || can_ask() {
        warn(&checked.replaced().iter().map(session::replaced_line).collect::<Vec<_>>());
    }
    session::agree_to_losses(checked, extras.yes, "Lose that and start?")
}

fn measure(tool: &Tool, session: &Session<'_>, asked: Asked) -> Result<Exit, Failure> {
    let mut plan = asked.plan;
    keep_history(&mut plan, asked.extras.history)?;
    let checked = session.check(plan)?;
    agreed(&checked, &asked.extras)?;
    let directory = session.directory(asked.extras.out.as_deref());
    let manifest = session.manifest(&checked);
    let mut out = Output::open(asked.output.as_deref())?;
    let mut printer = (tool.printer)(&manifest.plan)
        .ok_or_else(|| Failure::new(Exit::Internal, anyhow::anyhow!("the plan lost its command line")))?;
    out.write(&printer.header(&manifest))?;
    // What a tool prints for each operation shows well enough how far it is.
    let most = if printer.is_live() { Shown::RecordOnly } else { Shown::All };
    let shown = if asked.extras.no_progress { Shown::Nothing } else { most };
    let line = session.line(&checked, &directory, shown);
    let paper = Shared::new(Paper { printer, out, failed: None });
    let mut watch = Printed { paper: paper.clone(), looking: None, told: Told::default(), line };
    let ended = session.run(&checked, &directory, &mut watch)?;
    let Printed { told, line, .. } = watch;
    drop(line);
    told.close(&directory);
    let mut paper = paper.lock();
    let Paper { printer, out, failed } = &mut *paper;
    if let Some(failure) = failed.take() {
        return Err(failure);
    }
    let run = record::Run::open(&directory)?;
    out.write(&printer.finish(&run))?;
    for (path, text) in printer.side_files(&run) {
        write_whole(&path, &text)?;
    }
    if ended.interrupted && ended.failed.is_none() && printer.ends_when_interrupted() {
        return Ok(Exit::Success);
    }
    match session::verdict(&ended) {
        (exit, Some(message)) => Err(Failure::new(exit, anyhow::anyhow!(message))),
        (exit, None) => Ok(exit),
    }
}

/// Prints the tool's rows as the phases end.
struct Printed {
    paper: Shared,
    /// While a phase runs whose operations are printed as they come.
    looking: Option<Looking>,
    told: Told,
    line: LiveLine,
}

/// Of each kind of warning the first is told as it comes: a tool has many short phases, and the record has
/// the others.
#[derive(Default)]
struct Told {
    kinds: HashSet<Discriminant<Warning>>,
    untold: usize,
}

impl Told {
    fn note(&mut self, rows: &[WarningRow]) {
        for WarningRow { key, warning } in rows {
            if !self.kinds.insert(std::mem::discriminant(warning)) {
                self.untold += 1;
                continue;
            }
            let phase = key.as_ref().map_or(String::new(), |key| format!("{}: ", key.phase));
            warn(&[format!("{phase}{warning}; {}", warning.advice())]);
        }
    }

    fn close(&self, directory: &Path) {
        if self.untold > 0 {
            let (untold, directory) = (self.untold, shell_word(&directory.to_string_lossy()));
            warn(&[format!("{untold} more of these kinds are shown by `ioproof report {directory}`")]);
        }
    }
}

impl Watch for Printed {
    fn event(&mut self, event: &Event<'_>) {
        self.line.event(event);
        let Self { told, line, .. } = self;
        let text = match event {
            Event::PhaseFinished(record) => {
                self.looking = None;
                line.beside(|| told.note(&record.warnings));
                self.paper.lock().printer.phase(record)
            }
            Event::PhaseStarted { phase, controls, .. } => {
                if phase.is_result() && self.paper.lock().printer.is_live() {
                    self.looking = Some(Looking::start(self.paper.clone(), Arc::clone(controls)));
                }
                return;
            }
            Event::Warning(row) => return line.beside(|| told.note(std::slice::from_ref(row))),
            Event::CaseStarted { .. }
            | Event::CaseSkipped { .. }
            | Event::CaseFinished(_)
            | Event::CaseFailed { .. }
            | Event::Removed { .. }
            | Event::Layout { .. }
            | Event::Wiped { .. } => return,
        };
        self.line.beside(|| self.paper.lock().write(&text));
    }
}
