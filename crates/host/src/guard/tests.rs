//! What the guard refuses.
