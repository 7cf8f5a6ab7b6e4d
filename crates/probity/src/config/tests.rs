//! Whole ways through the configuration.
