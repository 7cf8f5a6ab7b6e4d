//! Where lint and agents meet: objectives, prompts, patches, acceptance checks, the bounded loop.
//!
//! **Invariant:** an agent's patch becomes an ordinary unsafe fix, and only after every check passed.
//! Nothing here writes a file.
