//! Runs that are ended, storage that fails, files of users.

mod clean;
mod failing_storage;
mod fault_matrix;
mod resume;
mod users_files;
