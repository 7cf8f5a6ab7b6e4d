//! The wire, driven through its front door on in-memory pipes.

mod frames;
mod splices;
