//! Work on several processors: plans are simulated independently of each other.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Results of `work` for all items, in their order, by as many threads as there are processors.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let some = || {
        let places = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let items = places.map_while(|place| Some((place, items.get(place)?)));
        items
            .map(|(place, item)| (place, work(item)))
            .collect::<Vec<(usize, R)>>()
    };
    let mut all = thread::scope(|scope| {
        let others = 1..processors.min(items.len());
        let others: Vec<_> = others.map(|_| scope.spawn(some)).collect();
        let mut all = some();
        for other in others {
            match other.join() {
                Ok(found) => all.extend(found),
                Err(panic) => resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|&(place, _)| place);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_items() {
        for count in [0, 1, 100] {
            let items: Vec<usize> = (0..count).collect();
            let squares = map(&items, |item| item * item);
            let expected: Vec<usize> = items.iter().map(|item| item * item).collect();
            assert_eq!(squares, expected);
        }
    }
}
