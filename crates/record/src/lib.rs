//! The record of a run: directory, journal, tables and their readers.
