//! What devices and layers give together.

mod layers;
mod scalability;
