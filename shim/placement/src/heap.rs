//! A priority queue of vertices whose priorities change.

const ABSENT: u32 = u32::MAX;

/// A binary heap of vertices with the largest priority on top, with the position of each vertex. Of
/// equal priorities, the earlier one stays above.
#[derive(Debug)]
pub(crate) struct Heap {
    heap: Vec<u32>,
    place: Vec<u32>,
    priority: Vec<f64>,
}

impl Heap {
    /// Creates an empty heap for vertices below `vertices`.
    pub fn new(vertices: usize) -> Self {
        Heap {
            heap: Vec::with_capacity(vertices),
            place: vec![ABSENT; vertices],
            priority: vec![0.0; vertices],
        }
    }

    /// Removes all vertices.
    pub fn clear(&mut self) {
        for &vertex in &self.heap {
            self.place[vertex as usize] = ABSENT;
        }
        self.heap.clear();
    }

    /// True if a vertex is in the heap.
    pub fn contains(&self, vertex: usize) -> bool {
        self.place[vertex] != ABSENT
    }

    /// The vertex with the largest priority, and that priority.
    pub fn top(&self) -> Option<(usize, f64)> {
        let vertex = *self.heap.first()? as usize;
        Some((vertex, self.priority[vertex]))
    }

    /// Inserts a vertex or changes its priority.
    pub fn set(&mut self, vertex: usize, priority: f64) {
        if self.place[vertex] == ABSENT {
            self.priority[vertex] = priority;
            self.place[vertex] = self.heap.len() as u32;
            self.heap.push(vertex as u32);
            self.sift_up(self.heap.len() - 1);
            return;
        }
        let before = std::mem::replace(&mut self.priority[vertex], priority);
        let at = self.place[vertex] as usize;
        if priority > before {
            self.sift_up(at);
        } else if priority < before {
            self.sift_down(at);
        }
    }

    /// Adds to the priority of a vertex that is in the heap.
    pub fn add(&mut self, vertex: usize, change: f64) {
        self.set(vertex, self.priority[vertex] + change);
    }

    /// Removes a vertex if it is in the heap.
    pub fn remove(&mut self, vertex: usize) {
        let at = self.place[vertex];
        if at == ABSENT {
            return;
        }
        let at = at as usize;
        self.place[vertex] = ABSENT;
        self.heap.swap_remove(at);
        if let Some(&moved) = self.heap.get(at) {
            self.place[moved as usize] = at as u32;
            self.sift_up(at);
            self.sift_down(self.place[moved as usize] as usize);
        }
    }

    fn above(&self, a: u32, b: u32) -> bool {
        self.priority[a as usize] > self.priority[b as usize]
    }

    fn sift_up(&mut self, mut at: usize) {
        let vertex = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.above(vertex, self.heap[parent]) {
                break;
            }
            self.put(self.heap[parent], at);
            at = parent;
        }
        self.put(vertex, at);
    }

    fn sift_down(&mut self, mut at: usize) {
        let vertex = self.heap[at];
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.above(self.heap[child + 1], self.heap[child]) {
                child += 1;
            }
            if !self.above(self.heap[child], vertex) {
                break;
            }
            self.put(self.heap[child], at);
            at = child;
        }
        self.put(vertex, at);
    }

    fn put(&mut self, vertex: u32, at: usize) {
        self.heap[at] = vertex;
        self.place[vertex as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::Heap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_top_is_always_the_largest_priority_that_is_in(
            steps in prop::collection::vec((0usize..20, prop::option::of(0u8..50)), 1..200)
        ) {
            let mut heap = Heap::new(20);
            let mut expected = std::collections::BTreeMap::new();
            for (vertex, priority) in steps {
                match priority {
                    Some(priority) => {
                        heap.set(vertex, f64::from(priority));
                        expected.insert(vertex, priority);
                    }
                    None => {
                        heap.remove(vertex);
                        expected.remove(&vertex);
                    }
                }
                let largest = expected.values().max().copied().map(f64::from);
                prop_assert_eq!(heap.top().map(|top| top.1), largest);
                prop_assert_eq!(heap.contains(vertex), expected.contains_key(&vertex));
            }
        }
    }
}
