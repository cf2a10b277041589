//! Runs that are interrupted, storage that fails, and files that belong to users.

mod clean;
mod failing_storage;
mod fault_matrix;
mod moved_record;
mod resume;
mod users_files;
