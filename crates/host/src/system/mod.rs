//! System calls, and the files in which the kernel provides facts.

pub(crate) mod cpu_list;
pub mod limits;
mod node;
pub(crate) mod root;
pub(crate) mod sys;

pub(crate) use node::node_name;
