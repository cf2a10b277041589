//! The loops of transfers, compiled for each backend.
//!
//! | module | what it is |
//! |---|---|
//! | `blocking` | one thread for each task, one transfer at a time |
//! | `queued`, `requests` | few threads serve all tasks, each with several transfers in flight |
//! | `transfer` | late, short and wrong transfers |

pub(crate) mod blocking;
pub(crate) mod queued;
mod requests;
mod transfer;
