//! `agent`: ask one, list them, record a conversation, play it again.

mod ask;
mod list;
pub(crate) mod record;
mod replay;

pub(crate) use self::{
    ask::{AskOptions, run as ask},
    list::run as list,
    replay::run as replay,
};
