//! Finding the stages that need each other, in time linear in the graph.

use super::Graph;

/// The groups of stages that need each other, smallest first. Tarjan's algorithm with a stack of its
/// own, since a chain of stages can be very long.
pub(super) fn find(graph: &Graph, count: usize) -> Vec<Vec<usize>> {
    let mut search = Search { order: vec![None; count], ..Search::default() };
    search.low.resize(count, 0);
    search.on_stack.resize(count, false);
    for stage in 0..count {
        if search.order.get(stage).copied().flatten().is_none() {
            search.run(graph, stage);
        }
    }
    search.cycles.sort_unstable();
    search.cycles
}

#[derive(Default)]
struct Search {
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    visited: usize,
    cycles: Vec<Vec<usize>>,
}

impl Search {
    fn run(&mut self, graph: &Graph, start: usize) {
        let mut calls = vec![(start, graph.targets(start).collect::<Vec<_>>())];
        self.enter(start);
        while let Some((stage, targets)) = calls.last_mut() {
            let stage = *stage;
            let Some(target) = targets.pop() else {
                calls.pop();
                self.leave(graph, stage);
                if let Some((caller, _)) = calls.last() {
                    self.lower(*caller, self.low.get(stage).copied().unwrap_or(usize::MAX));
                }
                continue;
            };
            match self.order.get(target).copied().flatten() {
                None => {
                    self.enter(target);
                    calls.push((target, graph.targets(target).collect()));
                }
                Some(order) if self.on_stack.get(target).copied().unwrap_or_default() => {
                    self.lower(stage, order);
                }
                Some(_) => {}
            }
        }
    }

    fn enter(&mut self, stage: usize) {
        set(&mut self.order, stage, Some(self.visited));
        set(&mut self.low, stage, self.visited);
        set(&mut self.on_stack, stage, true);
        self.visited += 1;
        self.stack.push(stage);
    }

    fn leave(&mut self, graph: &Graph, stage: usize) {
        if self.order.get(stage).copied().flatten() != self.low.get(stage).copied() {
            return;
        }
        let mut group = Vec::new();
        while let Some(member) = self.stack.pop() {
            set(&mut self.on_stack, member, false);
            group.push(member);
            if member == stage {
                break;
            }
        }
        if group.len() > 1 || graph.targets(stage).any(|target| target == stage) {
            group.sort_unstable();
            self.cycles.push(group);
        }
    }

    fn lower(&mut self, stage: usize, to: usize) {
        if let Some(low) = self.low.get_mut(stage) {
            *low = (*low).min(to);
        }
    }
}

fn set<T>(values: &mut [T], index: usize, value: T) {
    if let Some(slot) = values.get_mut(index) {
        *slot = value;
    }
}
