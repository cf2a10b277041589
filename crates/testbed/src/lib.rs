//! Known-answer devices for the tests: throttled loop devices, a programmable file system.
