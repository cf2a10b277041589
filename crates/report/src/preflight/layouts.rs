//! Preview of the layouts of a plan.

use std::path::PathBuf;

use plan::layout::{Action, Step};
use plan::{Bytes, Layout, Recipe, visible_lines};

use crate::format::counted;
use crate::format::screen::Screen;
use crate::format::table::wrapped;

/// What is known about a layout before it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutOutlook {
    /// The layout.
    pub layout: Layout,
    /// Its devices in the order of the members, with their bytes where these are known.
    pub devices: Vec<(PathBuf, Option<u64>)>,
    /// The steps that make it, with how to undo them.
    pub steps: Vec<Step>,
    /// The user's own checks.
    pub checks: Vec<Action>,
    /// Obstacles to making it.
    pub obstacles: Vec<String>,
}

impl LayoutOutlook {
    /// Number of commands executed to make, check and dismantle it. Built-in actions on devices and
    /// directories are shown as an equivalent command, and counted.
    #[must_use]
    pub fn commands(&self) -> usize {
        self.steps.iter().map(|step| 1 + step.undo.len()).sum::<usize>() + self.checks.len()
    }
}

/// How many of the commands of layouts are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commands {
    /// None: the user has already agreed to them.
    Agreed,
    /// All of a study's own commands. For other layouts, similar commands are shown once and harmless ones are left
    /// out.
    Counted,
    /// Every command.
    All,
}

/// The layouts one after another, each with its devices and obstacles.
#[must_use]
pub fn layouts(estimates: &[LayoutOutlook], commands: Commands, screen: Screen) -> String {
    let mut out = "Layouts, made and dismantled one after another\n".to_owned();
    for (at, one) in estimates.iter().enumerate() {
        let layout = &one.layout;
        let head = [("", &layout.name), (": ", &layout.title), ("; stands for ", &layout.stands_for)];
        let head = head.into_iter().filter(|(_, words)| !words.is_empty());
        let head: String = head.map(|(before, words)| format!("{before}{words}")).collect();
        out += &wrapped("  ", &head, screen.prose());
        // In the short form, devices listed before are mentioned in the line of the commands.
        let mut same = String::new();
        if !one.devices.is_empty() {
            let known: Option<u64> = one.devices.iter().map(|(_, size)| *size).sum();
            let size = known.map_or_else(String::new, |bytes| format!(", {}", Bytes(bytes).both_units()));
            let count = counted(one.devices.len() as u64, "device");
            let before = estimates[..at].iter().find(|other| other.devices == one.devices);
            let before = before.filter(|_| one.devices.len() > 1);
            let names = match before {
                Some(other) => format!("those of {}", other.layout.name),
                None => {
                    let names: Vec<String> =
                        one.devices.iter().map(|(path, _)| path.display().to_string()).collect();
                    names.join(" ")
                }
            };
            let devices = format!("{count}{size}: {names}");
            match before {
                Some(_) if commands == Commands::Counted => same = format!("{devices}; "),
                _ => out += &wrapped("    ", &devices, screen.prose()),
            }
        }
        match commands {
            Commands::All => out += &of_one(one, screen),
            Commands::Counted => out += &counted_of_one(one, &same, screen),
            Commands::Agreed => {}
        }
        if commands != Commands::Counted {
            out.extend(one.obstacles.iter().map(|obstacle| wrapped("    ! ", obstacle, screen.prose())));
        }
    }
    if commands == Commands::Counted {
        out += &obstacles(estimates, screen);
    }
    out
}

/// Obstacles to layouts, each once, with the layouts; a common obstacle of several devices is one line.
fn obstacles(estimates: &[LayoutOutlook], screen: Screen) -> String {
    let each = estimates
        .iter()
        .flat_map(|one| one.obstacles.iter().map(|obstacle| (one.layout.name.as_str(), obstacle.as_str())));
    // `device "/dev/nvme0n1": there is no such device`
    let parts = |obstacle: &'_ str| {
        let (subject, reason) = obstacle.split_once(": ").unwrap_or(("", obstacle));
        (subject.to_owned(), reason.to_owned())
    };
    let reasons = analysis::figures::grouped(each, |(_, obstacle)| parts(obstacle).1);
    let line = |same: &Vec<(&str, &str)>| {
        let once = |words: Vec<String>| {
            let words = analysis::figures::grouped(words, String::clone);
            words.into_iter().map(|same| same[0].clone()).collect::<Vec<_>>()
        };
        let layouts = once(same.iter().map(|(layout, _)| (*layout).to_owned()).collect()).join(", ");
        let subjects = once(same.iter().map(|(_, obstacle)| parts(obstacle).0).collect());
        let reason = parts(same[0].1).1;
        let text = match subjects.as_slice() {
            [subject] if subject.is_empty() => reason,
            [subject] => format!("{subject}: {reason}"),
            [first, others @ ..] => format!("{first} and {} more: {reason}", others.len()),
            [] => reason,
        };
        wrapped("  ! ", &format!("{layouts}: {text}"), screen.prose())
    };
    reasons.iter().map(line).collect()
}

/// Programs that lose no data with any arguments.
const HARMLESS: [&str; 4] = ["mount", "umount", "mmmount", "mmumount"];

/// The number of commands that make and dismantle a layout, and each kind of those that change data on devices.
/// `prefix` precedes the number.
fn counted_of_one(one: &LayoutOutlook, prefix: &str, screen: Screen) -> String {
    let undone = one.steps.iter().rev().flat_map(|step| &step.undo).map(|undo| &undo.action);
    let all: Vec<&Action> =
        one.steps.iter().map(|step| &step.action).chain(undone).chain(&one.checks).collect();
    // The effects of a user's own commands are unknown.
    let is_own = matches!(one.layout.recipe, Recipe::Own { .. });
    let loses = |action: &&&Action| match action {
        _ if is_own => true,
        Action::MakeDirectory(_) | Action::RemoveDirectory(_) => false,
        Action::Command(words) => !words.first().is_some_and(|program| HARMLESS.contains(&program.as_str())),
        Action::Shell(_) | Action::Wipe(_) => true,
    };
    let devices: Vec<String> = one.devices.iter().map(|(path, _)| path.display().to_string()).collect();
    let shown = |action: &&Action| {
        let words = action.to_string();
        let mut words: Vec<&str> = words.split(' ').collect();
        if devices.len() > 1 && !matches!(action, Action::Shell(_)) {
            for word in &mut words {
                if devices.iter().any(|device| device == word) {
                    *word = "DEVICE";
                }
            }
        }
        // All devices of one command are adjacent words.
        let several = words.iter().filter(|word| **word == "DEVICE").count() > 1;
        words.dedup_by(|one, other| *one == "DEVICE" && other == one);
        let text = visible_lines(&words.join(" ")).replace('\n', "\n    > ");
        if several { text.replace("DEVICE", "DEVICES") } else { text }
    };
    let kinds = analysis::figures::grouped(all.iter().filter(loses).copied(), shown);
    let line = |same: &Vec<&Action>| {
        let text = shown(&same[0]);
        let times = match same.len() {
            1 => String::new(),
            several => format!("   ({several} times)"),
        };
        format!("    # {text}{times}\n")
    };
    let head = match all.len() {
        0 if prefix.is_empty() => return String::new(),
        0 => format!("{prefix}no command"),
        all if is_own => format!("{prefix}{}:", counted(all as u64, "command")),
        all => format!("{prefix}{}; apart from directories and mounts:", counted(all as u64, "command")),
    };
    wrapped("    ", &head, screen.prose()) + &kinds.iter().map(line).collect::<String>()
}

/// The commands of a layout, unwrapped so that they can be copied. Continuation lines begin with the shell's prompt.
fn of_one(one: &LayoutOutlook, screen: Screen) -> String {
    let command =
        |action: &Action| format!("    # {}\n", visible_lines(&action.to_string()).replace('\n', "\n    > "));
    let make = one.steps.iter().map(|step| {
        let remark = step.provenance.remark().map(|remark| wrapped("      ", &remark, screen.prose()));
        command(&step.action) + &remark.unwrap_or_default()
    });
    let undo = one.steps.iter().rev().flat_map(|step| &step.undo).map(|undo| command(&undo.action));
    let parts: [(&str, String); 3] = [
        ("to make it", make.collect()),
        ("to check it", one.checks.iter().map(command).collect()),
        ("to take it down", undo.collect()),
    ];
    let parts = parts.into_iter().filter(|(_, commands)| !commands.is_empty());
    parts.map(|(head, commands)| format!("    {head}:\n{commands}")).collect()
}
