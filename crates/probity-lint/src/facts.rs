//! What several rules have to know about images, programs and instructions, beyond the facts of
//! probity-dockerfile. No rule is named here.

pub(crate) mod bare_stage;
pub(crate) mod base_image;
pub(crate) mod base_images;
pub(crate) mod conda;
pub(crate) mod context_files;
pub(crate) mod cuda;
pub(crate) mod download_config;
pub(crate) mod downloads;
pub(crate) mod end_of_life;
pub(crate) mod environment;
pub(crate) mod identity;
pub(crate) mod labels;
pub(crate) mod packages;
pub(crate) mod powershell;
pub(crate) mod ruby;
pub(crate) mod secret_names;
pub(crate) mod stage_purpose;
pub(crate) mod startup;
pub(crate) mod stop_signal;
pub(crate) mod unnoticed;
