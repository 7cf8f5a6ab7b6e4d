//! Ids of our own for requests that somebody else numbered.

use std::collections::HashMap;
use std::hash::Hash;

use crate::envelope::Id;

/// Requests under way: our number for each, whose it was (`K`), and what is to be remembered (`V`).
///
/// Agents count from zero and editors do as they please, so an id is unique only together with who
/// chose it. `K` is that pair, or the bare id where only one side asks. Our numbers are never used
/// twice.
#[derive(Debug)]
pub struct IdMap<K, V> {
    next: u64,
    open: HashMap<u64, (K, V)>,
    numbers: HashMap<K, u64>,
}

impl<K, V> Default for IdMap<K, V> {
    fn default() -> Self {
        Self { next: 1, open: HashMap::new(), numbers: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash, V> IdMap<K, V> {
    /// Gives a fresh number to a request.
    pub fn issue(&mut self, key: K, value: V) -> u64 {
        let number = self.next;
        self.next += 1;
        // Who uses one id twice at a time gets both answers; a cancellation finds the later.
        self.numbers.insert(key.clone(), number);
        self.open.insert(number, (key, value));
        number
    }

    /// The request that a response belongs to, which is thereby answered. A second response to it
    /// finds nothing. The number may come back as a string.
    pub fn take(&mut self, id: &Id<'_>) -> Option<(K, V)> {
        let number = id.number()?;
        let (key, value) = self.open.remove(&number)?;
        if self.numbers.get(&key) == Some(&number) {
            self.numbers.remove(&key);
        }
        Some((key, value))
    }

    /// Our number for a request that is under way, for messages that name it in their payload.
    #[must_use]
    pub fn number_of(&self, key: &K) -> Option<u64> {
        self.numbers.get(key).copied()
    }

    /// The request under way that has our number `id`.
    #[must_use]
    pub fn get(&self, id: &Id<'_>) -> Option<&(K, V)> {
        self.open.get(&id.number()?)
    }

    /// Takes out all requests for which `which` holds, the oldest first: those of an agent that died.
    pub fn take_all(&mut self, which: impl Fn(&K, &V) -> bool) -> Vec<(K, V)> {
        let mut numbers: Vec<u64> = self
            .open
            .iter()
            .filter(|(_, (key, value))| which(key, value))
            .map(|(number, _)| *number)
            .collect();
        numbers.sort_unstable();
        numbers.into_iter().filter_map(|number| self.take(&Id::from(number))).collect()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Id, IdMap};

    #[test]
    fn equal_ids_of_two_agents_stay_apart_and_go_back_to_their_own() {
        let mut map = IdMap::default();
        let first = map.issue(("a", Id::from(0)), "from a");
        let second = map.issue(("b", Id::from(0)), "from b");
        let text = map.issue(("b", Id::string("0")), "from b, as text");
        assert!(first != second && second != text);
        assert_eq!(map.number_of(&("b", Id::from(0))), Some(second));
        assert_eq!(map.get(&Id::from(second)).map(|entry| entry.1), Some("from b"));

        let answered = map.take(&Id::string(&second.to_string()));
        assert_eq!(answered, Some((("b", Id::from(0)), "from b")));
        assert_eq!(map.take(&Id::from(second)), None);
        assert_eq!(map.number_of(&("b", Id::from(0))), None);
        assert_eq!(map.take(&Id::string("x")), None);
        assert_eq!(map.len(), 2);
    }

    #[test]
    fn an_id_used_twice_at_a_time_is_answered_twice() {
        let mut map = IdMap::default();
        let first = map.issue(7, 'a');
        let second = map.issue(7, 'b');
        assert_eq!(map.take(&Id::from(first)), Some((7, 'a')));
        assert_eq!(map.number_of(&7), Some(second));
        assert_eq!(map.take(&Id::from(second)), Some((7, 'b')));
        assert!(map.is_empty());
    }

    #[test]
    fn requests_of_a_dead_agent_are_taken_out_in_their_order() {
        let mut map = IdMap::default();
        for number in 0..40_u64 {
            map.issue((number % 2, number), number);
        }
        let taken: Vec<u64> =
            map.take_all(|key, _| key.0 == 1).into_iter().map(|(_, v)| v).collect();
        assert_eq!(taken, (0..40).filter(|number| number % 2 == 1).collect::<Vec<_>>());
        assert_eq!(map.len(), 20);
    }
}
