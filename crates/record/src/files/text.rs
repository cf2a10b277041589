//! Text files named by the user.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use plan::Bytes;
use plan::limits::USER_TEXT_BYTES;

/// The text of the file at `path`, which may be a link or a pipe, because it was named by the user.
///
/// # Errors
/// Errors if it cannot be read, is not UTF-8, or has more than 16 MiB.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let bytes = File::open(path)?.take(USER_TEXT_BYTES + 1).read_to_string(&mut text)?;
    if bytes as u64 > USER_TEXT_BYTES {
        let what = format!("it has more than {}", Bytes(USER_TEXT_BYTES));
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::read_text;

    #[test]
    fn what_has_no_end_is_refused() {
        let error = read_text(Path::new("/dev/zero")).expect_err("refused");
        assert_eq!(error.to_string(), "it has more than 16 MiB");
    }
}
