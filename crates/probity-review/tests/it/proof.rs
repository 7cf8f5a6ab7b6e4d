//! Claims tried in small repositories, with each runner, to each outcome.

mod go;
mod python;
mod stage;
