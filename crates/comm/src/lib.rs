//! How tasks on several processes agree.
