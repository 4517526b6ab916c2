//! The tests of the runtime that need more than one module, in one binary.
