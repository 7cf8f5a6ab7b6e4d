//! Messages about sessions that the editor has not heard of yet.
//!
//! Real agents send updates of a session before they answer the request that made it. The editor
//! would throw them away, so they wait here until the answer is out.

/// Whose session an agent's message is about.
#[derive(Debug)]
pub(crate) enum Whose {
    Known(super::Known),
    /// It was put away and will come back.
    Held,
    /// The editor has seen it already.
    Repeated,
    /// The agent never said that there is such a session, or said too much about those that may be
    /// on their way: an editor that is shown sessions out of nowhere cannot tell whose they are.
    Strangers {
        /// How many such messages there were.
        count: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Early {
    limit: usize,
    bytes: usize,
    /// What the agent's session id says, and the message, in the order in which they came.
    messages: Vec<(String, String)>,
}

impl Early {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, bytes: 0, messages: Vec::new() }
    }

    pub(crate) fn hold(&mut self, session: &str, message: &str) -> bool {
        let fits = self.bytes + message.len() <= self.limit;
        if fits {
            self.bytes += message.len();
            self.messages.push((session.to_owned(), message.to_owned()));
        }
        fits
    }

    /// The messages about one session, or about all of them.
    pub(crate) fn release(&mut self, session: Option<&str>) -> Vec<String> {
        let all = std::mem::take(&mut self.messages);
        let (released, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(of, _)| session.is_none_or(|session| of == session));
        self.messages = kept;
        self.bytes = self.messages.iter().map(|(_, message)| message.len()).sum();
        released.into_iter().map(|(_, message)| message).collect()
    }

    pub(super) fn clear(&mut self) {
        self.messages = Vec::new();
        self.bytes = 0;
    }
}
