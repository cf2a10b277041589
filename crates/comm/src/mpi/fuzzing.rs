//! What a fuzz target needs of this module, which is otherwise private.

use super::frame::{Frame, FrameKind, call, failure};
use super::secret::Secret;

/// Parses `bytes` as if received from another rank that knows the secret. Returns whether they are a frame.
pub fn read_frame(bytes: &[u8]) -> bool {
    let Some(secret) = bytes.first_chunk() else { return false };
    let Ok(frame) = Frame::of(bytes, Secret::of(*secret)) else { return false };
    match frame.kind {
        FrameKind::Answer(asked) => drop(call(asked.strand, frame.bytes)),
        FrameKind::News(head) => drop(failure(head, frame.bytes)),
        _ => {}
    }
    true
}
