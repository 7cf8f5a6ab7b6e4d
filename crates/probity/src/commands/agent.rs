//! `agent`: ask one, list them, print the image of all, record a conversation, play it again.

mod ask;
mod image;
mod list;
pub(crate) mod record;
mod replay;

pub(crate) use self::{
    ask::{AskOptions, run as ask},
    image::run as image,
    list::run as list,
    replay::run as replay,
};
