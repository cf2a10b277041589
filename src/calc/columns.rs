//! Reads columns of numbers from a file or standard input.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use plan::limits::{NUMBERS, NUMBERS_BYTES};

use crate::console::exit::{Exit, Failure};

/// Maximum magnitude; larger numbers would overflow when they are squared and summed.
const MAGNITUDE_MAX: f64 = 1e100;

/// Reads one number per line.
pub(super) fn one(file: Option<&Path>) -> Result<Vec<f64>, Failure> {
    let rows = rows::<1>(file)?;
    Ok(rows.into_iter().map(|[value]| value).collect())
}

/// Reads two numbers per line.
pub(super) fn two(file: Option<&Path>) -> Result<Vec<(f64, f64)>, Failure> {
    let rows = rows::<2>(file)?;
    Ok(rows.into_iter().map(|[x, y]| (x, y)).collect())
}

fn rows<const WIDTH: usize>(file: Option<&Path>) -> Result<Vec<[f64; WIDTH]>, Failure> {
    let name = file.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
    let input: anyhow::Result<Box<dyn Read>> = match file {
        None => Ok(Box::new(io::stdin())),
        Some(path) => File::open(path).map(|file| Box::new(file) as Box<dyn Read>).map_err(Into::into),
    };
    input
        .and_then(|input| {
            let mut text = String::new();
            let bytes = input.take(NUMBERS_BYTES + 1).read_to_string(&mut text).context("it is not text")?;
            anyhow::ensure!(bytes as u64 <= NUMBERS_BYTES, "it has more than {NUMBERS_BYTES} bytes");
            parse(text.as_bytes())
        })
        .with_context(|| format!("cannot read numbers from {name}"))
        .map_err(|error| Failure::new(Exit::Usage, error))
}

/// Parses lines of numbers that are separated by spaces, tabs, commas or semicolons. Empty lines, lines that
/// start with `#`, and a heading in the first line are skipped.
fn parse<const WIDTH: usize>(input: impl BufRead) -> anyhow::Result<Vec<[f64; WIDTH]>> {
    let mut rows = Vec::new();
    for (index, line) in input.lines().enumerate() {
        let line = line.context("it is not text")?;
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        match row(content) {
            Ok(row) if rows.len() < NUMBERS => rows.push(row),
            Ok(_) => bail!("it has more than {NUMBERS} lines"),
            Err(_) if index == 0 && is_heading(content) => {}
            Err(error) => return Err(error.context(format!("line {}", index + 1))),
        }
    }
    if rows.is_empty() {
        bail!("it contains no numbers; write {WIDTH} on each line");
    }
    Ok(rows)
}

/// Whether a line is a heading, that is, no word starts like a number or is the name of a number.
fn is_heading(content: &str) -> bool {
    words(content).all(|word| {
        let begins = word.trim_start_matches(['-', '+']).chars().next();
        begins.is_some_and(char::is_alphabetic) && word.parse::<f64>().is_err()
    })
}

fn words(content: &str) -> impl Iterator<Item = &str> {
    content.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty())
}

fn row<const WIDTH: usize>(content: &str) -> anyhow::Result<[f64; WIDTH]> {
    let numbers = words(content)
        .map(|word| match word.parse::<f64>() {
            Ok(number) if number.abs() <= MAGNITUDE_MAX => Ok(number),
            _ => Err(anyhow!("`{word}` is not a number; write, for example, 5153 or 4.4e9, without a unit")),
        })
        .collect::<anyhow::Result<Vec<f64>>>()?;
    let count = numbers.len();
    numbers.try_into().map_err(|_| anyhow!("{count} numbers instead of {WIDTH}"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn headings_comments_and_any_separator_are_taken() {
        let text = "nodes,MB/s\n# the first\n1, 5153\n\n2;10306\n3\t15459\n";
        let rows = parse::<2>(text.as_bytes()).expect("three rows");
        assert_eq!(rows, [[1.0, 5153.0], [2.0, 10306.0], [3.0, 15459.0]]);
    }

    #[test]
    fn what_is_no_number_is_named_with_its_line() {
        let told = |text: &str| format!("{:#}", parse::<2>(text.as_bytes()).unwrap_err());
        assert!(told("1 2\n3 x\n").contains("line 2: `x` is not a number"));
        assert!(told("1 2\n3\n").contains("line 2: 1 numbers instead of 2"));
        assert!(told("nan 1\n2 3\n").contains("line 1: `nan` is not a number"));
        assert!(told("5153x 1\n2 3\n").contains("line 1: `5153x` is not a number"));
        assert!(told("1 1e308\n").contains("`1e308` is not a number"));
        assert!(told("").contains("it contains no numbers"));
    }
}
