//! Foreign command lines and outputs, one module for each tool.
