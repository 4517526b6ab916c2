//! The tests that are longer than a unit.
