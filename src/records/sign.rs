//! Signatures of records: `ioproof run --sign` and `ioproof verify`, with `ssh-keygen`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use clap::Args;
use record::{RunDirectory, SIGNATURE, SUMS, Sums};

use crate::arguments::values;
use crate::console::exit::{Exit, Failure};
use crate::console::print_line;
use crate::run::arguments::RunOptions;

/// `ioproof verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The run directory.
    #[arg(value_name = "RUNDIR")]
    run: PathBuf,
    /// File with the public keys that you trust, each preceded by a name, for example `alice ssh-ed25519 AAAA…` (see
    /// ALLOWED SIGNERS in ssh-keygen(1)).
    #[arg(long, value_name = "FILE")]
    signers: Option<PathBuf>,
    /// The word that you gave before the run (`ioproof run --nonce`).
    #[arg(long, value_name = "WORD", value_parser = values::nonce)]
    nonce: Option<String>,
}

/// Namespace of the signature. It makes the signature invalid for mails and commits, and theirs invalid
/// for a record.
const NAMESPACE: &str = "ioproof";

/// How many of the files that a signature does not cover are named.
const OTHERS_SHOWN: usize = 20;

/// Signs the record of a run.
pub(crate) struct Signer {
    key: PathBuf,
    nonce: Option<String>,
}

impl Signer {
    /// The signer given by the arguments, or `None` if the record is not to be signed. Tests the key now,
    /// because a run may take hours.
    pub(crate) fn of(how: &RunOptions) -> Result<Option<Self>, Failure> {
        let Some(key) = &how.sign else { return Ok(None) };
        let signer = Self { key: key.clone(), nonce: how.nonce.clone() };
        signer.signature(b"").map(|_| Some(signer))
    }

    /// Writes checksums of the record in `directory` and signs them.
    pub(crate) fn sign(&self, directory: &RunDirectory) -> Result<(), Failure> {
        let sums = Sums::of(directory, self.nonce.clone())?;
        sums.write(directory)?;
        let signature = self.signature(sums.to_string().as_bytes()).map_err(|failure| {
            let sums = directory.path().join(SUMS);
            let next = format!(
                "the record is complete but not signed; `ssh-keygen -Y sign -n {NAMESPACE} -f {} {}` signs it",
                plan::shell_word(&self.key.to_string_lossy()),
                plan::shell_word(&sums.to_string_lossy())
            );
            Failure::new(Exit::Record, failure.error.context(next))
        })?;
        Sums::write_signature(directory, &signature)?;
        print_line(&format!("signed {}", directory.path().join(SIGNATURE).display()))
    }

    fn signature(&self, text: &[u8]) -> Result<Vec<u8>, Failure> {
        let key = self.key.as_os_str();
        let output = ssh_keygen("sign", &[OsStr::new("-f"), key], text)?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(Failure::new(
                Exit::HostLacks,
                anyhow::anyhow!(
                    "cannot sign with {}: {}; name an SSH private key (`ssh-keygen -t ed25519` creates one), or the .pub \
                     file of a key that the agent has",
                    self.key.display(),
                    told(&output)
                ),
            )),
        }
    }
}

/// Reports whether the record is unchanged since it was signed, and by whom.
pub(crate) fn verify(arguments: &VerifyArguments) -> Result<Exit, Failure> {
    let directory = &arguments.run;
    let now = Sums::of(directory, None)?;
    let Some(signed) = Sums::read(directory)? else {
        let why = "the record is not signed; `ioproof run --sign KEY` signs one when the run ends";
        return Err(Failure::new(Exit::NotKept, anyhow::anyhow!(why)));
    };
    let mut doubts = Vec::new();
    let differences = signed.differences(&now);
    if differences.is_empty() {
        print_line(&format!("{} files of the record match {SUMS}", now.count()))?;
    } else {
        differences.iter().try_for_each(|difference| print_line(&difference.to_string()))?;
        doubts.push(format!("{} of its files differ from what was signed", differences.len()));
    }
    let others = Sums::others(directory)?;
    for name in others.iter().take(OTHERS_SHOWN) {
        print_line(&format!("not covered by the signature: {}", plan::visible(name)))?;
    }
    if others.len() > OTHERS_SHOWN {
        print_line(&format!("and {} more that are not covered", others.len() - OTHERS_SHOWN))?;
    }
    match signature(directory, &signed, arguments.signers.as_deref())? {
        Ok(good) => {
            print_line(&good)?;
            if let Some(mark) = record::Manifest::read(directory).ok().as_ref().and_then(report::mark) {
                print_line(&format!("{mark}: what was signed is not a measurement"))?;
            }
            if let Some(nonce) = &signed.nonce {
                print_line(&format!("nonce {}", plan::visible(nonce)))?;
            }
        }
        Err(doubt) => doubts.push(doubt),
    }
    if let Some(given) = arguments.nonce.as_ref().filter(|given| signed.nonce.as_ref() != Some(*given)) {
        doubts.push(format!("the nonce {given} was not signed with it"));
    }
    if doubts.is_empty() { Ok(Exit::Success) } else { Err(not_shown(&doubts.join("; "))) }
}

/// Why the record at `place` is not what was signed, if there is a signature beside it that does not match. Who signed
/// it is not judged here. Without `ssh-keygen`, only the files are compared with their checksums.
pub(crate) fn doubt(place: &RunDirectory) -> Result<Option<String>, Failure> {
    let Some(signed) = Sums::read(place)? else { return Ok(None) };
    let differences = signed.differences(&Sums::of(place, None)?);
    if let Some(first) = differences.first() {
        let more = match differences.len() {
            1 => String::new(),
            several => format!(" and {} more", several - 1),
        };
        return Ok(Some(format!(
            "it is not what was signed ({first}{more}); `ioproof verify` lists what differs"
        )));
    }
    let file = place.path().join(SIGNATURE);
    let words = [OsStr::new("-s"), file.as_os_str()];
    Ok(match ssh_keygen("check-novalidate", &words, signed.to_string().as_bytes()) {
        Ok(output) if !output.status.success() => {
            Some(format!("the signature does not match {SUMS} ({})", told(&output)))
        }
        _ => None,
    })
}

/// The failure of a command that needs what was signed.
pub(crate) fn not_shown(why: &str) -> Failure {
    Failure::new(Exit::NotKept, anyhow::anyhow!("the record cannot be shown to be what was signed: {why}"))
}

/// The signer, or the reason why the signature cannot be verified.
fn signature(
    directory: &Path,
    signed: &Sums,
    signers: Option<&Path>,
) -> Result<Result<String, String>, Failure> {
    let (text, file) = (signed.to_string(), directory.join(SIGNATURE));
    let with = |action, more: &[&OsStr]| {
        let words = [&[OsStr::new("-s"), file.as_os_str()], more].concat();
        ssh_keygen(action, &words, text.as_bytes())
    };
    let Some(signers) = signers else {
        let output = with("check-novalidate", &[])?;
        return Ok(Err(match output.status.success() {
            true => format!(
                "{}, but the owner of that key was not checked; name the public keys that you trust with --signers FILE",
                told(&output)
            ),
            false => format!("the signature does not match {SUMS} ({})", told(&output)),
        }));
    };
    let kind = std::fs::metadata(signers).map_err(|error| {
        Failure::usage(format!("--signers {}: {error}; check the path", signers.display()))
    })?;
    if !kind.is_file() {
        // It must be a regular file, because it is read more than once.
        return Err(Failure::usage(format!("--signers {}: it is not a regular file", signers.display())));
    }
    let trusted = [OsStr::new("-f"), signers.as_os_str()];
    let found = with("find-principals", &trusted)?;
    let names = String::from_utf8_lossy(&found.stdout).into_owned();
    if names.is_empty() || !found.status.success() {
        let why =
            format!("{} does not contain the key of its signature ({})", signers.display(), told(&found));
        return Ok(Err(why));
    }
    // ssh-keygen names the first line with the key, but that line may be for another use.
    let listed = std::fs::read_to_string(signers).unwrap_or_default();
    let others = listed.lines().filter_map(|line| line.split_whitespace().next());
    let others = others.flat_map(|names| names.split(',')).filter(|name| !name.starts_with('#'));
    let mut tried = HashSet::new();
    let mut refused = String::new();
    for name in names.lines().chain(others).filter(|name| tried.insert(*name)) {
        let checked = with("verify", &[&trusted[..], &[OsStr::new("-I"), OsStr::new(name)]].concat())?;
        if checked.status.success() {
            return Ok(Ok(told(&checked)));
        }
        refused = told(&checked);
    }
    Ok(Err(format!("the signature does not match {SUMS}, or its key is not trusted for this ({refused})")))
}

/// Runs `ssh-keygen -Y action` with `text` as its input.
fn ssh_keygen(action: &str, words: &[&OsStr], text: &[u8]) -> Result<Output, Failure> {
    let lacks = |error: io::Error| {
        let what = format!(
            "cannot start ssh-keygen: {error}; install OpenSSH 8.2 or later, which signs and checks records"
        );
        Failure::new(Exit::HostLacks, anyhow::anyhow!(what))
    };
    let mut process = Command::new("ssh-keygen")
        .args(["-Y", action, "-n", NAMESPACE])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(lacks)?;
    if let Some(mut input) = process.stdin.take() {
        // A program that exits before it has read all input reports its own error.
        let _ = input.write_all(text);
    }
    process.wait_with_output().map_err(lacks)
}

/// The output of `ssh-keygen` as one line.
fn told(output: &Output) -> String {
    let words = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let lines = words.iter().flat_map(|text| text.lines()).map(str::trim).filter(|line| !line.is_empty());
    plan::visible(&lines.collect::<Vec<_>>().join(": ")).into_owned()
}
