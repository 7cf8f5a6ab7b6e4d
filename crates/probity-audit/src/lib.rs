//! Audit skills in, findings out.
//!
//! **Invariant:** a finding whose quoted evidence does not stand in the sources is never reported as
//! verified. Reads go through probity-scope; files are written by the binary.
