//! Many places of a text, and whether another one is near one of them, without looking at each.

use probity_finding::Span;

/// Places, sorted by where they begin.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    starts: Vec<usize>,
    /// How far this place and all before it reach.
    reaches: Vec<usize>,
}

impl Overlaps {
    pub(crate) fn of(places: impl IntoIterator<Item = Span>) -> Self {
        let mut places: Vec<Span> = places.into_iter().collect();
        places.sort_unstable_by_key(|place| place.start);
        let mut reach = 0;
        let reaches = places.iter().map(|place| {
            reach = reach.max(place.end);
            reach
        });
        Self {
            reaches: reaches.collect(),
            starts: places.iter().map(|place| place.start).collect(),
        }
    }

    /// Whether fewer than `gap` bytes are between one of the places and this one.
    pub(crate) fn come_near(&self, span: Span, gap: usize) -> bool {
        let before = self.starts.partition_point(|&start| start < span.end + gap);
        let reach = before.checked_sub(1).and_then(|last| self.reaches.get(last));
        reach.is_some_and(|&reach| span.start < reach + gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_that_of_a_look_at_each_place() {
        // Every place below seven, in sets that a small generator chooses.
        let all: Vec<Span> =
            (0..7).flat_map(|start| (start..7).map(move |end| Span::new(start, end))).collect();
        let mut seed = 1_u64;
        for _ in 0..500 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let chosen: Vec<Span> = all
                .iter()
                .enumerate()
                .filter(|(index, _)| seed >> (index % 60) & 7 == 0)
                .map(|(_, span)| *span)
                .collect();
            let overlaps = Overlaps::of(chosen.iter().copied());
            for span in &all {
                for gap in 0..3 {
                    let expected = chosen
                        .iter()
                        .any(|place| place.start < span.end + gap && span.start < place.end + gap);
                    assert_eq!(overlaps.come_near(*span, gap), expected, "{chosen:?} {span:?}");
                }
            }
        }
    }
}
