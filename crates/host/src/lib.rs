//! Facts about the host, observers, and the guards of its devices.
