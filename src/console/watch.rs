//! What the terminal shows about a run while it is in progress.

use plan::Layout;
use record::{Warning, WarningRow, Wiped};
use runner::{Event, LayoutProgress, Watch};

use crate::console::progress::LiveLine;

/// Updates the live line and prints urgent messages.
pub(crate) struct TerminalWatch {
    pub(crate) line: LiveLine,
}

impl TerminalWatch {
    fn layout(&self, layout: &Layout, step: &LayoutProgress<'_>) {
        let name = &layout.name;
        match step {
            LayoutProgress::Creating => self.line.say(&format!("layout {name}: being created")),
            LayoutProgress::Ran(run) if !run.succeeded() => {
                self.line.say(&format!("layout {name}: `{}` failed ({})", run.command, run.status));
            }
            LayoutProgress::Stands(findings) => {
                self.line.say(&format!("layout {name}: created"));
                for finding in findings.iter().filter(|finding| finding.differs()) {
                    self.line.say(&format!("layout {name}: {finding}"));
                }
            }
            LayoutProgress::Gone => self.line.say(&format!("layout {name}: dismantled")),
            LayoutProgress::Ran(_) | LayoutProgress::Destroying => {}
        }
    }
}

impl Watch for TerminalWatch {
    fn event(&mut self, event: &Event<'_>) {
        self.line.event(event);
        match event {
            // The preflight has said it.
            Event::Warning(WarningRow { warning: Warning::RecordOnTarget { .. }, .. }) => {}
            Event::Warning(WarningRow { warning, .. }) => {
                self.line.say(&format!("warning: {warning}; {}", warning.advice()));
            }
            Event::Wiped { case, what: what @ Wiped::Device { .. } } => {
                self.line.say(&format!("{}: {what}", case.id));
            }
            Event::Layout { layout, step } => self.layout(layout, step),
            Event::PhaseStarted { .. }
            | Event::PhaseFinished(_)
            | Event::CaseStarted { .. }
            | Event::CaseSkipped { .. }
            | Event::CaseFinished(_)
            | Event::CaseFailed { .. }
            | Event::Removed { .. }
            | Event::Wiped { .. } => {}
        }
    }
}
