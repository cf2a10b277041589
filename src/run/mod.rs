//! `ioproof run`: from the study to the tables and the report page.

pub(crate) mod arguments;
pub(crate) mod ask;
pub(crate) mod cluster;
pub(crate) mod commands;
pub(crate) mod job;
pub(crate) mod on_layouts;
pub(crate) mod overhead;
pub(crate) mod predictions;
pub(crate) mod probe;
pub(crate) mod randomops;
pub(crate) mod rpc;
pub(crate) mod scale;
pub(crate) mod session;
pub(crate) mod simulated;
pub(crate) mod studies;

use std::path::Path;

use plan::{Plan, PlanSource, Predictions, RunEnvironment, shell_word, visible};
use record::{ModelSource, RecordError, Recorder, Resumed, Run, RunDirectory, WarningRow};
use report::Study;
use runner::{Checked, ErrorKind, RunSummary};

use crate::console::exit::{Exit, Failure};
use crate::console::watch::TerminalWatch;
use crate::console::{complain, confirm, print, print_line, screen};
use crate::records::sign::{self, Signer};
use crate::records::verdict;
use crate::run::arguments::{RunArguments, RunOptions};
use crate::run::ask::{PlannedRun, ask};
use crate::run::cluster::World;
use crate::run::commands::ServerCommands;
use crate::run::on_layouts::Campaign;
use crate::run::session::Session;

/// Carries out the command: checks, run, tables, report.
pub(crate) fn run(arguments: &RunArguments, world: &World) -> Result<Exit, Failure> {
    if let Some(directory) = &arguments.resume {
        return resume(directory, arguments, world);
    }
    let mut planned = ask(arguments, world.nodes())?;
    if arguments.verdict && planned.plan.criteria.commitments.is_empty() {
        let why =
            "the study has no commitment for --verdict to judge: add a [[commitment]], or omit --verdict";
        return Err(Failure::usage(why));
    }
    planned.plan.destroy_data_on.extend(arguments.destroy_data_on.iter().cloned());
    let predicted = predictions::of_options(&planned.plan, &arguments.basis, world)?;
    planned.plan = scale::planned(planned.plan, arguments, world.nodes(), |plan| {
        scale::environment(plan, &predicted, arguments, world)
    })?;
    if planned.plan.layouts.is_empty() {
        let allowed = arguments.allow_commands.as_deref();
        return measure(planned, predicted, &arguments.how, allowed, arguments.verdict, world);
    }
    measure_on_layouts(planned, predicted, arguments, world)
}

/// Like [`measure`], for cases on layouts.
fn measure_on_layouts(
    planned: PlannedRun,
    predicted: Predictions,
    arguments: &RunArguments,
    world: &World,
) -> Result<Exit, Failure> {
    let PlannedRun { what, mut plan, notes } = planned;
    let how = &arguments.how;
    keep_history(&mut plan, how.history)?;
    let mut session = Session::new(world, &what);
    session.predicted = predicted;
    if how.explain {
        session.check_options(&plan, how.out.as_deref())?;
        on_layouts::explain(&session, &plan, arguments)?;
        print(&session::explained_consent(&plan))?;
        return print(&lines(&notes)).map(|()| Exit::Success);
    }
    let signer = Signer::of(how)?;
    let directory = session.directory(how.out.as_deref())?;
    let mut campaign = Campaign::new(&session, &plan, arguments);
    campaign.others()?;
    let validated = campaign.validate_campaign(plan)?;
    let around = campaign.environment(&validated.checked.plan, &validated.checked.facts);
    print(&report::preflight(&validated.checked.plan, &around, screen()))?;
    print(&session.beside_record(&validated.checked.plan, how.out.as_deref()))?;
    print(&lines(&notes))?;
    campaign.agree(&validated, arguments.allow_commands.as_deref())?;
    if !agreed("Start?", &validated.checked, how)? {
        return print("not started\n").map(|()| Exit::Success);
    }
    let recorder = session.record(&validated.checked, &directory, &around)?;
    let place = recorder.place();
    let ended = campaign.run(validated, &around, recorder)?;
    conclude(&ended, (&place, &directory), arguments.verdict, signer.as_ref())
}

/// Runs a plan. `predicted` are the rates on which its prediction is based, `allowed` is the hash of the
/// commands that may run, and `verdict` says whether commitments determine the exit code.
pub(crate) fn measure(
    planned: PlannedRun,
    predicted: Predictions,
    how: &RunOptions,
    allowed: Option<&str>,
    verdict: bool,
    world: &World,
) -> Result<Exit, Failure> {
    let PlannedRun { what, mut plan, notes } = planned;
    keep_history(&mut plan, how.history)?;
    let mut session = Session::new(world, &what);
    session.predicted = predicted;
    if how.explain {
        session.check_options(&plan, how.out.as_deref())?;
        explain(&session, &plan, how)?;
        print(&session.beside_record(&plan, how.out.as_deref()))?;
        return print(&lines(&notes)).map(|()| Exit::Success);
    }
    let commands = ServerCommands::of(&plan);
    let signer = Signer::of(how)?;
    let directory = session.directory(how.out.as_deref())?;
    let checked = session.check(plan)?;
    let around = session.environment(&checked.plan, &checked.facts);
    print(&report::preflight(&checked.plan, &around, screen()))?;
    print(&session.beside_record(&checked.plan, how.out.as_deref()))?;
    print(&lines(&notes))?;
    session.servers = commands.agree(&checked.plan, allowed)?;
    if !agreed("Start?", &checked, how)? {
        return print("not started\n").map(|()| Exit::Success);
    }
    let (ended, place) = {
        let mut watch = TerminalWatch { line: session.line(&checked, &directory, how.shown()) };
        session.run(&checked, &directory, &mut watch)?
    };
    conclude(&ended, (&place, &directory), verdict, signer.as_ref())
}

/// Shows a plan without layouts, and the files that would be lost.
fn explain(session: &Session<'_>, plan: &Plan, how: &RunOptions) -> Result<(), Failure> {
    let facts = session.host.facts(&session::targets(plan), engine::clock_name());
    let around = session.environment(plan, &facts);
    print(&if how.full {
        report::explain(plan, &around, screen())
    } else {
        report::outline(plan, &around, screen())
    })?;
    print(&ServerCommands::of(plan).explained())?;
    print(&session::explained_consent(plan))
}

/// Makes each process of every case keep its last operations, if requested.
pub(crate) fn keep_history(plan: &mut Plan, operations: Option<u64>) -> Result<(), Failure> {
    let Some(operations) = operations else { return Ok(()) };
    plan.keep_history(operations).map_err(|error| Failure::new(Exit::Usage, error))
}

/// Resumes the run in `directory`.
fn resume(directory: &Path, arguments: &RunArguments, world: &World) -> Result<Exit, Failure> {
    let signer = Signer::of(&arguments.how)?;
    // A new signature must not vouch for what was changed since the last one. Without one, the record goes on unsigned.
    if let (Some(_), Some(doubt)) = (&signer, sign::doubt(&directory.into())?) {
        return Err(sign::not_shown(&format!("{}: {doubt}", directory.display())));
    }
    let earlier = Run::open(directory);
    let (recorder, mut resumed) = match (Recorder::resume(directory), &signer) {
        // The problem that prevented the signing of the finished run may have been solved.
        (Err(RecordError::Complete { .. }), Some(signer)) => {
            return signer.sign(&RunDirectory::hold(directory)?).map(|()| Exit::Success);
        }
        (resumed, _) => resumed?,
    };
    resumed.manifest.check_resumed_with(directory, None)?;
    if matches!(resumed.manifest.plan.source, PlanSource::CrossCheck { .. }) {
        // It would run a program named in the record.
        return Err(Failure::usage(
            "a cross-check cannot be resumed: start a new one; its record is not changed",
        ));
    }
    resumed.manifest.check_resumed_with(directory, None)?;
    // A record does not contain consent to lose data, so the user must name the devices again.
    resumed.manifest.plan.destroy_data_on.clone_from(&arguments.destroy_data_on);
    let mut session = Session::new(world, "resumed");
    session.predicted = predictions::of_options(&resumed.manifest.plan, &arguments.basis, world)?;
    // If the earlier run cannot be read, it is not used for predictions; this is no reason to stop.
    if let Ok(earlier) = earlier {
        session.predicted.append(predictions::of_run(&resumed.manifest.plan, &earlier, directory));
    }
    if arguments.how.explain {
        return explain_rest(&session, resumed, arguments);
    }
    if !resumed.manifest.plan.layouts.is_empty() {
        return resume_on_layouts(&session, directory, arguments, (recorder, resumed), signer.as_ref());
    }
    let checked = session.check_again(&resumed)?;
    print_line(&kept(&checked.plan, checked.finished.len()))?;
    print(&rest(&checked, &session.environment(&checked.plan, &checked.facts)))?;
    for WarningRow { warning, .. } in &resumed.warnings {
        print_line(&format!("! {warning}; {}", warning.advice()))?;
    }
    let commands = ServerCommands::of(&checked.plan);
    session.servers = commands.agree(&checked.plan, arguments.allow_commands.as_deref())?;
    if !agreed("Run the remaining cases?", &checked, &arguments.how)? {
        return print("not started\n").map(|()| Exit::Success);
    }
    session.listen()?;
    let (ended, place) = {
        let mut watch = TerminalWatch { line: session.line(&checked, directory, arguments.how.shown()) };
        session.live(&checked, recorder, &mut watch)?
    };
    conclude(&ended, (&place, directory), arguments.verdict, signer.as_ref())
}

/// Describes the finished part of a resumed run.
pub(crate) fn kept(plan: &Plan, finished: usize) -> String {
    let turns = plan.blocks().any(|block| block.len() > 1);
    let kept = match (finished, turns) {
        (0, false) => return "no case is finished: the run starts from the beginning".to_owned(),
        (0, true) => "no case is finished".to_owned(),
        (1, _) => format!("1 of {} cases is finished and kept", plan.cases.len()),
        (several, _) => format!("{several} of {} cases are finished and kept", plan.cases.len()),
    };
    let passes = if turns { "; complete passes that were measured are kept" } else { "" };
    format!("{kept}{passes}")
}

/// The time needed by those cases of a resumed run that are not finished.
fn rest(checked: &Checked, around: &RunEnvironment) -> String {
    let mut plan = checked.plan.clone();
    plan.cases.retain(|case| !checked.finished.contains(&case.id));
    report::prediction(&plan, around, screen())
}

/// Shows the remaining cases of a run.
fn explain_rest(session: &Session<'_>, resumed: Resumed, arguments: &RunArguments) -> Result<Exit, Failure> {
    let mut plan = resumed.manifest.plan;
    print_line(&kept(&plan, resumed.finished.len()))?;
    plan.cases.retain(|case| !resumed.finished.contains(&case.id));
    if plan.cases.is_empty() {
        return Ok(Exit::Success);
    }
    match plan.layouts.is_empty() {
        true => explain(session, &plan, &arguments.how)?,
        false => on_layouts::explain(session, &plan, arguments)?,
    }
    Ok(Exit::Success)
}

/// Like [`resume`], for a run on layouts. A leftover layout is destroyed first.
fn resume_on_layouts(
    session: &Session<'_>,
    directory: &Path,
    arguments: &RunArguments,
    (mut recorder, resumed): (Recorder, Resumed),
    signer: Option<&Signer>,
) -> Result<Exit, Failure> {
    let plan = &resumed.manifest.plan;
    let early = Campaign::new(session, plan, arguments);
    early.clear(&resumed.manifest.run_id, &mut recorder, arguments.how.yes)?;
    // The leftover has been destroyed, so its devices are surveyed again.
    let mut campaign = Campaign::new(session, plan, arguments);
    campaign.others()?;
    let validated = campaign.validate_again(&resumed)?;
    print_line(&kept(&validated.checked.plan, validated.finished.len()))?;
    let around = campaign.environment(&validated.checked.plan, &validated.checked.facts);
    print(&rest(&validated.checked, &around))?;
    for WarningRow { warning, .. } in &resumed.warnings {
        print_line(&format!("! {warning}; {}", warning.advice()))?;
    }
    campaign.agree(&validated, arguments.allow_commands.as_deref())?;
    if !agreed("Run the remaining cases?", &validated.checked, &arguments.how)? {
        return print("not started\n").map(|()| Exit::Success);
    }
    session.listen()?;
    let place = recorder.place();
    let ended = campaign.run(validated, &around, recorder)?;
    conclude(&ended, (&place, directory), arguments.verdict, signer)
}

/// Shows the results, and signs the record if requested. The exit code first reports errors of the run,
/// then the commitments if they count. `directory` is the place of the record as the user named it.
pub(crate) fn conclude(
    ended: &RunSummary,
    (place, directory): (&RunDirectory, &Path),
    judged: bool,
    signer: Option<&Signer>,
) -> Result<Exit, Failure> {
    let (exit, message) = session::verdict(ended, directory);
    // An unfinished run will be signed when it is finished.
    let signed = match signer {
        Some(signer) if !ended.interrupted && ended.failed.is_none() => signer.sign(place),
        Some(_) => {
            complain(
                "not signed, as the run is unfinished: `ioproof run --resume` resumes it and accepts --sign",
            );
            Ok(())
        }
        None => Ok(()),
    };
    let (verdict, model) = show(place, directory, judged)?;
    signed?;
    place.check_in_place()?;
    match message {
        Some(message) if ended.interrupted || ended.failed.is_some() => {
            // A model would fail again in the same way, so resuming the run would not help.
            if model.is_some() && ended.failed.as_ref().is_some_and(|(_, kind)| *kind == ErrorKind::HostLacks)
            {
                return Err(Failure::new(exit, anyhow::anyhow!(message)));
            }
            let directory = shell_word(&directory.to_string_lossy());
            let model = model.map(|model| format!(" {}", model.options()));
            let next =
                format!("`ioproof run --resume {directory}{}` resumes the run", model.unwrap_or_default());
            // The report page shows the partial results.
            let message =
                if ended.interrupted { format!("interrupted: {next}") } else { format!("{message}; {next}") };
            Err(Failure::new(exit, anyhow::anyhow!(message)))
        }
        Some(message) => Err(Failure::new(exit, anyhow::anyhow!(message))),
        None if judged => Ok(verdict),
        None => Ok(exit),
    }
}

/// Reports leftovers of killed runs and files that will be lost, and asks. If there is no terminal, a run
/// is only started if nothing is lost.
fn agreed(question: &str, checked: &Checked, how: &RunOptions) -> Result<bool, Failure> {
    for line in session::leftover_lines(&checked.leftovers) {
        print_line(&format!("{line}; `ioproof clean` removes what killed runs left"))?;
    }
    if let Some(line) = session::lacking_right(&checked.plan) {
        print_line(&format!("! {line}"))?;
    }
    let Some(replaced) = checked.replaced() else {
        return Ok(how.yes || confirm(question, true)?);
    };
    print_line(&format!("! {}", session::replaced_line(&replaced)))?;
    session::agree_to_losses(checked, how.yes, question).map(|()| true)
}

/// Prints the tables and writes the page. The exit code depends on the commitments. Returns the model of
/// a simulated run.
fn show(
    place: &RunDirectory,
    directory: &Path,
    judged: bool,
) -> Result<(Exit, Option<ModelSource>), Failure> {
    let run = Run::open(place)?;
    let study = Study::of(&run);
    print(&format!("\n{}", study.text(screen())))?;
    crate::records::report::page(&study, place)?;
    let page = directory.join(crate::records::report::PAGE);
    let name = shell_word(&directory.to_string_lossy());
    print(&format!("\npage    {}\ntables  ioproof report {name} --full\n", page.display()))?;
    if study.promises() {
        print(&format!("sheet   ioproof verdict {name} --sheet sheet.html\n"))?;
    }
    if judged {
        verdict::explain(&study);
    }
    Ok((verdict::exit(&study), run.manifest.model.clone()))
}

pub(crate) fn lines(notes: &[String]) -> String {
    notes.iter().map(|note| format!("{}\n", visible(note))).collect()
}
