//! decide.
