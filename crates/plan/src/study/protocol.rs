//! How a case is run, from `[protocol]` and from overrides in its workload.

use super::error::StudyError;
use super::fields::{Fields, Values};
use super::sweep::Point;
use super::value::{Until, Value};
use crate::{Case, Nanos, Phase, Protocol, Stonewall, Stopping};

/// The fewest repetitions whose smallest and largest value enclose the median with 95 %
/// confidence: 1 − 2 · (1/2)^6 = 96.9 % (Le Boudec, Performance Evaluation, section 2.2.2).
const REPETITIONS_LEAST: u64 = 6;
/// The SNIA Solid State Storage Performance Test Specification (section 2.1.27) asks for five
/// rounds, a range of 20 % of their mean and a slope of 10 % of it.
const STEADY: (u32, f64, f64) = (5, 0.20, 0.10);
/// Keys used only by `until = "steady"`.
const STEADY_KEYS: [&str; 3] = ["steady_window", "steady_excursion", "steady_slope"];

/// A workload and the `[protocol]` that provides its defaults.
#[derive(Clone, Copy)]
struct Both<'f> {
    own: &'f Point<'f>,
    all: &'f Fields,
}

impl<'f> Both<'f> {
    /// The table that determines `name`.
    fn of(self, name: &str) -> &'f dyn Asked {
        if self.own.has(name) { self.own } else { self.all }
    }
}

/// The questions about a protocol, so that both tables can answer.
trait Asked {
    fn ask(&self, name: &str) -> Option<&Value>;
    fn wrong(&self, name: &str, label: &str, message: String, help: &str) -> StudyError;
}

impl<T: Values> Asked for T {
    fn ask(&self, name: &str) -> Option<&Value> {
        self.value(name)
    }

    fn wrong(&self, name: &str, label: &str, message: String, help: &str) -> StudyError {
        StudyError::new(self.key_span(name), label, message, help)
    }
}

impl Both<'_> {
    fn count(self, name: &str) -> Option<u64> {
        match self.of(name).ask(name)? {
            Value::Integer(count) => Some(*count),
            _ => None,
        }
    }

    fn count_u32(self, name: &str) -> Option<u32> {
        self.count(name).and_then(|count| u32::try_from(count).ok())
    }

    fn nanos(self, name: &str) -> Option<Nanos> {
        self.count(name).map(Nanos)
    }

    fn share(self, name: &str) -> Option<f64> {
        match self.of(name).ask(name)? {
            Value::Number(share) => Some(*share),
            _ => None,
        }
    }

    fn flag(self, name: &str) -> bool {
        self.of(name).ask(name) == Some(&Value::Flag(true))
    }

    fn until(self) -> Option<Until> {
        match self.of("until").ask("until")? {
            Value::Until(until) => Some(*until),
            _ => None,
        }
    }

    /// Whether the number of repetitions is fixed.
    fn counts(self) -> bool {
        matches!(self.until(), None | Some(Until::Count))
    }

    fn has(self, name: &str) -> bool {
        self.own.has(name) || self.all.has(name)
    }
}

/// Gives `case` its protocol; `all` is the table `[protocol]`.
pub(super) fn apply(case: &mut Case, own: &Point<'_>, all: &Fields, errors: &mut Vec<StudyError>) {
    let both = Both { own, all };
    let Some(repetitions) = both.count_u32("repetitions").or_else(|| both.counts().then_some(1)) else {
        let help = "add `repetitions`: the most that may be needed, as 25";
        errors.push(both.of("until").wrong("until", "until when?", NO_END.to_owned(), help));
        return;
    };
    case.repetitions = repetitions;
    case.delay = both.nanos("delay").unwrap_or_default();
    case.time_limit = both.nanos("time_limit");
    case.protocol = Protocol {
        warm_up: both.count_u32("warm_up").unwrap_or(0),
        rounds: both.count_u32("rounds").unwrap_or(1),
        stopping: stopping(both, repetitions, errors),
        wipe: both.flag("wipe"),
        precondition: both.count_u32("precondition").unwrap_or(0),
        drop_caches: both.flag("drop_caches"),
        phase_min: both.nanos("phase_min").unwrap_or_default(),
    };
    if let (Some(least), Some(most)) = (both.nanos("phase_min"), both.nanos("phase_max"))
        && least > most
    {
        let message = format!("`phase_min` is {least}, and `phase_max` ends a phase after {most}");
        let help = "no phase could be long enough; give phase_max more time than phase_min";
        errors.push(both.of("phase_min").wrong("phase_min", "longer than a phase can be", message, help));
    }
    if own.flag("drop_caches") && !case.phases.iter().any(|phase| phase.needs_data() || !phase.is_transfers())
    {
        let help = "it needs a phase that reads; or leave it out";
        let message = "`drop_caches` would do nothing here".to_owned();
        errors.push(own.wrong("drop_caches", "without effect", message, help));
    }
}

/// Why a rule for an early end needs a number.
const NO_END: &str = "nothing says how many repetitions are enough where the rule is never met";

/// The stonewall of a workload that has neither that nor a duration.
pub(super) fn stonewall(own: &Point<'_>, all: &Fields) -> Option<Stonewall> {
    let both = Both { own, all };
    let deadline = both.nanos("phase_max").filter(|_| !own.has("stonewall") && !own.has("duration"))?;
    Some(Stonewall { deadline, wear_out: false })
}

fn stopping(both: Both<'_>, repetitions: u32, errors: &mut Vec<StudyError>) -> Stopping {
    let until = both.until();
    let mut refuse_idle = |name: &str, needs: &str| {
        // In `[protocol]` a key may be meant for the workloads that have a rule of their own.
        let here = both.own.has(name) || both.all.has("until") && !both.own.has("until");
        if here && both.has(name) {
            let message = format!("`{name}` would do nothing here");
            errors.push(both.of(name).wrong(name, "without effect", message, needs));
        }
    };
    if !matches!(until, Some(Until::Interval(_))) {
        refuse_idle("repetitions_min", "it needs until = \"interval 5 %\" or another share; or leave it out");
    }
    if until != Some(Until::Steady) {
        for name in STEADY_KEYS {
            refuse_idle(name, "it needs until = \"steady\"; or leave it out");
        }
    }
    let (needed, stopping) = match until {
        None | Some(Until::Count) => return Stopping::Count,
        Some(Until::Interval(share)) => {
            let least = both.count("repetitions_min").unwrap_or(REPETITIONS_LEAST);
            let least = u32::try_from(least).unwrap_or(u32::MAX);
            (least, Stopping::Interval { share, least })
        }
        Some(Until::Steady) => {
            let window = both.count_u32("steady_window").unwrap_or(STEADY.0);
            let excursion = both.share("steady_excursion").unwrap_or(STEADY.1);
            let slope = both.share("steady_slope").unwrap_or(STEADY.2);
            (window, Stopping::Steady { window, excursion, slope })
        }
    };
    if repetitions < needed {
        let message = format!("{repetitions} repetitions cannot meet a rule about {needed}");
        let help = format!("allow {needed} `repetitions` or more, or write until = \"count\"");
        errors.push(both.of("until").wrong("until", "this rule", message, &help));
    }
    stopping
}

/// Reports keys of `[protocol]` that no workload uses, because none has a rule that needs them.
pub(super) fn idle(all: &Fields, workloads: &[Fields]) -> Option<StudyError> {
    let key = STEADY_KEYS.into_iter().chain(["repetitions_min"]).find(|key| all.has(key))?;
    if all.has("until") || workloads.iter().any(|workload| workload.has("until")) {
        return None;
    }
    let message = format!("`{key}` would do nothing here");
    let help = "it needs a rule in `until`; or leave it out";
    Some(all.wrong(key, "without effect", message, help))
}

/// Whether `case` removes its files before it needs data in them.
pub(super) fn wipes_its_data(case: &Case) -> bool {
    let needs = case.phases.first().is_some_and(|phase: &Phase| phase.needs_data());
    case.protocol.wipe && needs && case.protocol.precondition == 0 && !case.workload.files.fill
}
