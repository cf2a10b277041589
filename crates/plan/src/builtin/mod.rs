//! Plans that commands make without a study file.

pub mod cross_check;
pub mod exchanges;
pub mod probe;
pub mod quick;
pub mod randomops;
