//! Jobs of an analytics server.

mod jobs_kept;
mod jobs_layouts;
mod jobs_matrix;
