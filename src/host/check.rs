//! `ioproof host check`: compares the settings of the host with the advice.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use host::tuning::{self, ALL_DEVICES, Compliance, Finding, HostSettings, Severity, Step, TuningContext};
use host::{Host, Root};
use plan::visible;

use super::common::profiles_named;
use crate::console::exit::{Exit, Failure};
use crate::console::{print, print_folded};

/// `ioproof host check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Profiles whose advice is checked [default: all]; `--list` shows them.
    #[arg(value_name = "PROFILE")]
    profiles: Vec<String>,
    /// Devices to check: a device's path or name, a directory on it, or `all` [default: all].
    #[arg(long = "device", value_name = "DEVICE")]
    devices: Vec<PathBuf>,
    /// File with the output of `lctl get_param obdfilter.*.read_cache_enable` on Lustre servers, for example from
    /// `pdsh`.
    #[arg(long, value_name = "FILE")]
    lustre_params: Option<PathBuf>,
    /// Exit with status 3 if a finding is a warning.
    #[arg(long)]
    strict: bool,
    /// Print as JSON.
    #[arg(long)]
    json: bool,
    /// List the profiles and exit.
    #[arg(long)]
    list: bool,
    /// Read /proc, /sys, /dev and /etc below this directory, for example that of a support bundle.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

/// Shows the findings.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Exit, Failure> {
    if arguments.list {
        return print_folded(&list()).map(|()| Exit::Success);
    }
    let steps = if arguments.profiles.is_empty() {
        tuning::steps_of(&tuning::profiles())
    } else {
        tuning::steps_of(&profiles_named(&arguments.profiles)?)
    };
    let root = Root::new(arguments.root.clone());
    let settings = HostSettings::new(&root);
    let all = [PathBuf::from(ALL_DEVICES)];
    let devices = if arguments.devices.is_empty() { &all[..] } else { &arguments.devices };
    let mut context =
        TuningContext::new(&root, &settings, devices).map_err(|error| Failure::new(Exit::Usage, error))?;
    if let Some(file) = &arguments.lustre_params {
        let text = record::read_text(file)
            .with_context(|| format!("cannot read {}", file.display()))
            .map_err(|error| Failure::new(Exit::Usage, error))?;
        context = context.with_lustre(text, file.display().to_string());
    }
    let found: Vec<(&Step, Vec<Finding>)> =
        steps.iter().map(|step| (*step, step.findings(&context))).collect();
    if arguments.json {
        let findings: Vec<&Finding> = found.iter().flat_map(|(_, found)| found).collect();
        print(&report::json_text(&tuning::as_json(&Host::new(root.clone()).node(), &findings)))?;
    } else {
        print_folded(&text(&Host::new(root.clone()).node(), &found))?;
    }
    let warnings = found.iter().flat_map(|(_, found)| found);
    let warnings = warnings.filter(|finding| finding.severity == Severity::Warning).count();
    if arguments.strict && warnings > 0 {
        let message = format!(
            "findings that are warnings: {warnings}; what is measured with such settings is easily mistaken for the \
             storage; follow the advice, or omit --strict"
        );
        return Err(Failure::new(Exit::Refused, anyhow::anyhow!(message)));
    }
    Ok(Exit::Success)
}

fn list() -> String {
    let profiles = tuning::profiles();
    let width = profiles.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
    profiles.iter().fold(String::new(), |mut text, profile| {
        let _ = writeln!(text, "{:width$}  {}", profile.name, profile.title);
        if let [_, _, ..] = profile.steps.as_slice() {
            let names: Vec<&str> = profile.steps.iter().map(|step| step.name).collect();
            let _ = writeln!(text, "{:width$}  = {}", "", names.join(", "));
        }
        text
    })
}

fn text(node: &str, found: &[(&Step, Vec<Finding>)]) -> String {
    let mut text = format!("{node}: settings of the host compared with the advice\n");
    for (step, found) in found {
        let differs = |finding: &Finding| {
            matches!(finding.state.compliance, Compliance::Differs | Compliance::ByHand(_))
        };
        let _ = writeln!(text, "\n{}: {}", step.name, step.title);
        for group in groups(found) {
            let _ = writeln!(text, "  {}", visible(&line(&group)));
        }
        if found.iter().any(differs) {
            let _ = writeln!(text, "    why     {}\n    source  {}", step.reason, step.source);
            if let Some(published) = step.published {
                let _ = writeln!(text, "    printed {published}");
            }
            if let Some(note) = step.note {
                let _ = writeln!(text, "    note    {note}");
            }
        }
    }
    let count =
        |severity| found.iter().flat_map(|(_, found)| found).filter(|one| one.severity == severity).count();
    let _ = writeln!(
        text,
        "\n{} warnings, {} pieces of advice; `ioproof host tune PROFILE --plan` shows what a profile would write",
        count(Severity::Warning),
        count(Severity::Advice)
    );
    text
}

/// Groups the findings of a step that differ only in their location.
fn groups(found: &[Finding]) -> Vec<Vec<&Finding>> {
    /// Maximum number of findings that are listed individually.
    const LISTED: usize = 3;
    let alike = |one: &Finding, other: &Finding| {
        one.state.compliance == other.state.compliance
            && one.state.current == other.state.current
            && one.state.advised == other.state.advised
    };
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    for finding in found {
        match groups.iter_mut().find(|group| alike(group[0], finding)) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
        .into_iter()
        .flat_map(|group| match group.len() {
            ..=LISTED => group.into_iter().map(|finding| vec![finding]).collect(),
            _ => vec![group],
        })
        .collect()
}

fn line(group: &[&Finding]) -> String {
    let finding = group[0];
    let mark = match (finding.severity, &finding.state.compliance) {
        (Severity::Warning, _) => "warning",
        (Severity::Advice, _) => "advice ",
        (Severity::Fine, Compliance::NotHere(_)) => "-      ",
        (Severity::Fine, Compliance::Shown) => "is     ",
        (Severity::Fine, Compliance::Differs | Compliance::ByHand(_)) => "choice ",
        (Severity::Fine, _) => "ok     ",
    };
    let more = match group.len() {
        1 => String::new(),
        more => format!(" and {} more", more - 1),
    };
    let current = finding.state.current.as_deref().unwrap_or("unknown");
    let advised = finding.state.advised.as_deref().unwrap_or("");
    let said = match &finding.state.compliance {
        Compliance::AsAdvised | Compliance::Shown => current.to_owned(),
        Compliance::Differs => {
            let apply = finding.apply.as_deref().unwrap_or("");
            format!("{current}, advised {advised}: `{apply}`")
        }
        Compliance::ByHand(todo) if advised.is_empty() => format!("{current}; {todo}"),
        Compliance::ByHand(todo) => format!("{current}, advised {advised}: {todo}"),
        Compliance::NotHere(why) => format!("not here: {why}"),
    };
    format!("{mark} {}{more}: {said}", finding.state.what)
}
