//! Drives the transfers: tasks, offset streams, backends, buffers, latency histograms.
