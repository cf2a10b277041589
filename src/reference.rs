//! `ioproof reference`: what studies have published.

use clap::{Args, Subcommand};
use record::{Metric, PublishedOperation};
use report::reference::{self, Filter};

use crate::arguments::ReferenceArguments;
use crate::console::{print, screen};
use crate::exit::{Exit, Failure};

/// What of the library is shown.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// The figures, in one unit and as printed.
    List(Chosen),
    /// All that is known of a figure, statement, command line or study.
    Show {
        /// Its id, as a-t2-read-best.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// The studies.
    Studies(Chosen),
    /// Statements that own data can confirm or refute.
    Claims(Chosen),
    /// Printed figures that are wrong or contradict themselves, with the reading that is used.
    Misprints(Chosen),
}

/// Which part is shown.
#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// The letter or id of a study.
    #[arg(long, value_name = "A|ID")]
    study: Option<String>,
    /// What figures are of, as bandwidth.
    #[arg(long)]
    metric: Option<String>,
    /// What was done, as read.
    #[arg(long)]
    operation: Option<String>,
    /// Stands somewhere in it.
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

/// Prints the selected part.
pub(crate) fn run(arguments: &ReferenceArguments) -> Result<Exit, Failure> {
    let library = record::published();
    let text = match &arguments.what {
        What::Show { id } => {
            let shown = match arguments.json {
                true => reference::show_json(library, id).map(|value| report::json_text(&value)),
                false => reference::show(library, id, screen()),
            };
            shown.ok_or_else(|| unknown(id))?
        }
        What::List(chosen) | What::Studies(chosen) | What::Claims(chosen) | What::Misprints(chosen)
            if arguments.json =>
        {
            report::json_text(&reference::json(library, &chosen.filter()?))
        }
        What::List(chosen) => reference::list(library, &chosen.filter()?, screen()),
        What::Studies(chosen) => reference::studies(library, &chosen.filter()?, screen()),
        What::Claims(chosen) => reference::claims(library, &chosen.filter()?, screen()),
        What::Misprints(chosen) => reference::misprints(library, &chosen.filter()?, screen()),
    };
    if text.is_empty() {
        return Err(Failure::usage("nothing in the library is so; `ioproof reference list` shows all of it"));
    }
    print(&text)?;
    Ok(Exit::Success)
}

fn unknown(id: &str) -> Failure {
    let library = record::published();
    let meant = record::Library::nearest(id, library.ids());
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean {meant}? "));
    Failure::usage(format!(
        "nothing in the library is called `{id}`: {meant}`ioproof reference list` shows all ids"
    ))
}

impl Chosen {
    fn filter(&self) -> Result<Filter, Failure> {
        let library = record::published();
        if let Some(study) = self.study.as_ref().filter(|study| library.study(study).is_none()) {
            let known: Vec<String> =
                library.studies.iter().map(|study| format!("{} ({})", study.letter, study.id)).collect();
            return Err(Failure::usage(format!(
                "there is no study `{study}`; the studies are {}",
                known.join(", ")
            )));
        }
        let metric =
            self.metric.as_deref().map(|word| named(word, "metric", Metric::named(word))).transpose()?;
        let operation = self.operation.as_deref();
        let operation =
            operation.map(|word| named(word, "operation", PublishedOperation::named(word))).transpose()?;
        Ok(Filter { study: self.study.clone(), metric, operation, text: self.text.clone() })
    }
}

fn named<T>(word: &str, what: &str, found: Option<T>) -> Result<T, Failure> {
    found.ok_or_else(|| {
        Failure::usage(format!(
            "no figure has the {what} `{word}`; `ioproof reference list` shows those that are"
        ))
    })
}
