//! How a case is run, from `[protocol]` and from overrides in its workload.

use crate::study::error::StudyError;
use crate::study::keys::PROTOCOL;
use crate::study::table::definition::Setter;
use crate::study::table::values::{Fields, Point, Value, Values};
use crate::{Case, Phase, Stonewall, Stopping};

/// Keys used only by `until = "steady"`.
const STEADY_KEYS: [&str; 3] = ["steady_window", "steady_excursion", "steady_slope"];

/// A workload and the `[protocol]` that provides its defaults.
#[derive(Clone, Copy)]
struct ProtocolValues<'f> {
    own: &'f Point<'f>,
    all: &'f Fields,
}

impl<'f> ProtocolValues<'f> {
    fn has(self, name: &str) -> bool {
        self.own.has(name) || self.all.has(name)
    }

    /// The effective value, or the default.
    fn value(self, name: &str) -> Option<&'f Value> {
        self.own.value(name).or_else(|| self.all.value(name))
    }

    /// A mistake in `name`, in the table that determines it.
    fn wrong(self, name: &str, label: &str, message: impl Into<String>, help: &str) -> StudyError {
        let span = if self.own.has(name) { self.own.key_span(name) } else { self.all.key_span(name) };
        StudyError::new(span, label, message, help)
    }
}

/// Gives `case` its protocol; `all` is the table `[protocol]`.
pub(super) fn apply(case: &mut Case, own: &Point<'_>, all: &Fields, errors: &mut Vec<StudyError>) {
    let both = ProtocolValues { own, all };
    for key in PROTOCOL.shared {
        if let (Setter::Case(set), Some(value)) = (key.set, both.value(key.name)) {
            set(case, value);
        }
    }
    if !both.has("repetitions") && case.protocol.stopping != Stopping::Count {
        let help = "add `repetitions`, the largest number allowed, for example 25";
        errors.push(both.wrong("until", "no limit", NO_END, help));
        return;
    }
    check_stopping(both, case, errors);
    let least = case.protocol.phase_min;
    if let Some(most) = both.value("phase_max").map(Value::nanos).filter(|most| least > *most) {
        let message = format!("`phase_min` is {least}, but `phase_max` ends a phase after {most}");
        let help = "no phase could be long enough; give phase_max more time than phase_min";
        errors.push(both.wrong("phase_min", "longer than a phase can be", message, help));
    }
    if own.flag("drop_caches") && !case.phases.iter().any(|phase| phase.needs_data() || !phase.is_transfers())
    {
        let help = "it needs a phase that reads; otherwise leave it out";
        let message = "`drop_caches` would do nothing here";
        errors.push(both.wrong("drop_caches", "without effect", message, help));
    }
}

/// The reason why an early-stopping rule needs a number of repetitions.
const NO_END: &str = "nothing limits the repetitions if the rule is never met";

/// The stonewall of a workload that gives neither a stonewall nor a duration of its own.
pub(super) fn stonewall(own: &Point<'_>, all: &Fields) -> Option<Stonewall> {
    let both = ProtocolValues { own, all };
    let deadline = both.value("phase_max").filter(|_| !own.has("stonewall") && !own.has("duration"))?.nanos();
    Some(Stonewall::after(deadline))
}

/// Reports keys of a rule that the case does not use, and a rule for which `repetitions` are too
/// few.
fn check_stopping(both: ProtocolValues<'_>, case: &Case, errors: &mut Vec<StudyError>) {
    let mut refuse_idle = |name: &str, needs: &str| {
        // In `[protocol]`, a key may be meant for the workloads that have a rule of their own.
        let here = both.own.has(name) || both.all.has("until") && !both.own.has("until");
        if here && both.has(name) {
            let message = format!("`{name}` would do nothing here");
            errors.push(both.wrong(name, "without effect", message, needs));
        }
    };
    let stopping = case.protocol.stopping;
    if !matches!(stopping, Stopping::Interval { .. }) {
        refuse_idle(
            "repetitions_min",
            "it needs until = \"interval 5 %\" or another share; otherwise leave it out",
        );
    }
    if !matches!(stopping, Stopping::Steady { .. }) {
        for name in STEADY_KEYS {
            refuse_idle(name, "it needs until = \"steady\"; otherwise leave it out");
        }
    }
    let needed = match stopping {
        Stopping::Count => 0,
        Stopping::Interval { least, .. } => least,
        Stopping::Steady { window, .. } => window,
    };
    if case.repetitions < needed {
        let message = format!("{} repetitions cannot meet a rule that needs {needed}", case.repetitions);
        let help = format!("allow at least {needed} `repetitions`, or write until = \"count\"");
        errors.push(both.wrong("until", "this rule", message, &help));
    }
}

/// Reports keys of `[protocol]` that no workload uses, because none has a rule that needs them.
pub(super) fn idle(all: &Fields, workloads: &[Fields]) -> Option<StudyError> {
    let key = STEADY_KEYS.into_iter().chain(["repetitions_min"]).find(|key| all.has(key))?;
    if all.has("until") || workloads.iter().any(|workload| workload.has("until")) {
        return None;
    }
    let message = format!("`{key}` would do nothing here");
    let help = "it needs a rule in `until`; otherwise leave it out";
    Some(StudyError::new(all.key_span(key), "without effect", message, help))
}

/// Whether `case` removes its files before it needs data in them.
pub(super) fn wipes_its_data(case: &Case) -> bool {
    let needs = case.phases.first().is_some_and(|phase: &Phase| phase.needs_data());
    case.protocol.wipe && needs && case.protocol.precondition == 0 && !case.workload.files.fill
}
