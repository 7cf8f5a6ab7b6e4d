//! Claims tried in small repositories, with each runner, to each outcome.

mod beside;
mod go;
mod javascript;
mod python;
mod rust;
mod stage;
