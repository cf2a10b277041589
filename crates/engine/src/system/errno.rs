//! Error numbers of the kernel as text.

use std::fmt;

/// An error number of the kernel. Displays as `no space left on device (ENOSPC)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// The symbol, for example `ENOSPC`, of errors that are common with storage.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            libc::EPERM => "EPERM",
            libc::ENOENT => "ENOENT",
            libc::EINTR => "EINTR",
            libc::EIO => "EIO",
            libc::ENXIO => "ENXIO",
            libc::EBADF => "EBADF",
            libc::EAGAIN => "EAGAIN",
            libc::ENOMEM => "ENOMEM",
            libc::EACCES => "EACCES",
            libc::EFAULT => "EFAULT",
            libc::EBUSY => "EBUSY",
            libc::EEXIST => "EEXIST",
            libc::ENODEV => "ENODEV",
            libc::ENOTDIR => "ENOTDIR",
            libc::EISDIR => "EISDIR",
            libc::EINVAL => "EINVAL",
            libc::ENFILE => "ENFILE",
            libc::EMFILE => "EMFILE",
            libc::ETXTBSY => "ETXTBSY",
            libc::EFBIG => "EFBIG",
            libc::ENOSPC => "ENOSPC",
            libc::EROFS => "EROFS",
            libc::ENAMETOOLONG => "ENAMETOOLONG",
            libc::EMLINK => "EMLINK",
            libc::ENOTEMPTY => "ENOTEMPTY",
            libc::ENOSYS => "ENOSYS",
            libc::ELOOP => "ELOOP",
            libc::ETIME => "ETIME",
            libc::EILSEQ => "EILSEQ",
            libc::EOPNOTSUPP => "EOPNOTSUPP",
            libc::ETIMEDOUT => "ETIMEDOUT",
            libc::ESTALE => "ESTALE",
            libc::EREMOTEIO => "EREMOTEIO",
            libc::EDQUOT => "EDQUOT",
            libc::ECANCELED => "ECANCELED",
            _ => return None,
        })
    }

    /// The suggested next step; empty if none is known.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self.0 {
            libc::ENOENT => "create the directory, or correct the path",
            libc::ENOTDIR => "a component of the path is a file; correct the path",
            libc::EACCES | libc::EPERM => {
                "give this user access to the file and its directory, or choose another place"
            }
            libc::EROFS => "the file system is mounted read-only; choose another, or remount it read-write",
            libc::EISDIR => "the path is a directory; name a file in it",
            libc::ETXTBSY => "the file is a running program or a swap area; choose another path",
            libc::EMFILE => "raise the limit on open files (ulimit -n), or use fewer tasks",
            libc::ENFILE => "the whole system is out of open files; raise fs.file-max, or use fewer tasks",
            libc::ENOSPC => "free some space, or lower the block size, the segments or the tasks",
            libc::EDQUOT => "raise the quota, or lower the block size, the segments or the tasks",
            libc::EFBIG => {
                "the file system or `ulimit -f` does not allow files of this size; lower the volume"
            }
            libc::EIO | libc::EILSEQ | libc::EREMOTEIO => {
                "the device or its file system reports an error; read the kernel's log (dmesg) before \
                 continuing"
            }
            libc::ETIMEDOUT | libc::ETIME => {
                "the device did not respond in time; read the kernel's log (dmesg) before continuing"
            }
            libc::ENXIO | libc::ENODEV => "the device is gone or has no medium; check it before continuing",
            libc::EBUSY => "something else is using it; find out what (lsof, findmnt) first",
            libc::ESTALE => "the file was replaced on its server; remount the file system or start again",
            libc::ENOMEM => "free memory, or use fewer tasks, a lower depth or smaller transfers",
            libc::EOPNOTSUPP | libc::ENOSYS => "this file system does not support it; leave the option off",
            libc::EINVAL => "the kernel rejects these values for this file; check size and alignment",
            _ => "read the kernel's log (dmesg) for the cause",
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = std::io::Error::from_raw_os_error(self.0).to_string();
        // The library adds "(os error 28)"; the symbol is more informative.
        let words = text.split(" (os error").next().unwrap_or(&text);
        let mut letters = words.chars();
        if let Some(first) = letters.next() {
            write!(f, "{}{}", first.to_lowercase(), letters.as_str())?;
        }
        match self.name() {
            Some(name) => write!(f, " ({name})"),
            None => write!(f, " (error {})", self.0),
        }
    }
}

impl From<rustix::io::Errno> for Errno {
    fn from(errno: rustix::io::Errno) -> Self {
        Self(errno.raw_os_error())
    }
}

impl From<&std::io::Error> for Errno {
    fn from(error: &std::io::Error) -> Self {
        Self(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

#[cfg(test)]
mod tests {
    use super::Errno;

    #[test]
    fn an_error_is_named_in_words_and_by_its_symbol() {
        assert_eq!(Errno(libc::ENOSPC).to_string(), "no space left on device (ENOSPC)");
        assert_eq!(Errno(libc::EDQUOT).to_string(), "disk quota exceeded (EDQUOT)");
        assert_eq!(Errno(libc::EXDEV).to_string(), "invalid cross-device link (error 18)");
    }
}
