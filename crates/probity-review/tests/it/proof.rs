//! Claims tried in small repositories, with each runner, to each outcome.

mod go;
mod javascript;
mod python;
mod rust;
mod stage;
