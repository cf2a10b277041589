//! The secret of a launch: 128 random bits that rank 0 generates and every frame contains.

use std::hint::black_box;

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// Size of a secret.
pub(super) const SECRET_BYTES: usize = 16;

/// The secret of a launch. It is never printed.
#[derive(Clone, Copy)]
pub(super) struct Secret([u8; SECRET_BYTES]);

impl Secret {
    /// Generates a secret from random bits of the kernel.
    ///
    /// # Errors
    /// Errors if the kernel returns none because it is older than 3.17 or forbids the call.
    pub(super) fn random() -> Result<Self, Errno> {
        let mut bytes = [0; SECRET_BYTES];
        let mut have = 0;
        while have < SECRET_BYTES {
            match getrandom(&mut bytes[have..], GetRandomFlags::empty()) {
                Ok(more) => have += more,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(Self(bytes))
    }

    /// The secret with these bits.
    pub(super) const fn of(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bits, for a frame.
    pub(super) fn bytes(self) -> [u8; SECRET_BYTES] {
        self.0
    }

    /// Whether `bytes` are the secret. The comparison takes the same time wherever they differ.
    pub(super) fn is(self, bytes: [u8; SECRET_BYTES]) -> bool {
        black_box(u128::from_ne_bytes(self.0) ^ u128::from_ne_bytes(bytes)) == 0
    }
}
