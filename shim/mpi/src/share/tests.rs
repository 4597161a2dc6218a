//! Sharing among threads.
#![allow(clippy::unwrap_used)]

use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::Group;
use super::adopt::*;
use crate::native::NativeError;

/// Rank that is a thread. Its messages are in boxes, one for each pair of ranks.
struct Thread {
    rank: usize,
    size: usize,
    boxes: Arc<(Mutex<Boxes>, Condvar)>,
}

type Boxes = HashMap<(usize, usize), VecDeque<Vec<u8>>>;

impl Thread {
    fn put(&self, to: usize, bytes: &[u8]) {
        let (boxes, changed) = &*self.boxes;
        let mut boxes = boxes.lock().unwrap();
        let entry = boxes.entry((self.rank, to)).or_default();
        entry.push_back(bytes.to_vec());
        changed.notify_all();
    }

    fn take(&self, from: usize) -> Vec<u8> {
        let (boxes, changed) = &*self.boxes;
        let mut boxes = boxes.lock().unwrap();
        loop {
            let entry = boxes.entry((from, self.rank)).or_default();
            if let Some(bytes) = entry.pop_front() {
                return bytes;
            }
            boxes = changed.wait(boxes).unwrap();
        }
    }
}

impl Group for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn broadcast(&self, bytes: &mut [u8]) -> Result<(), NativeError> {
        match self.rank {
            0 => (1..self.size).for_each(|rank| self.put(rank, bytes)),
            _ => bytes.copy_from_slice(&self.take(0)),
        }
        Ok(())
    }

    fn allgather(&self, mine: u8) -> Result<Vec<u8>, NativeError> {
        (0..self.size).for_each(|rank| self.put(rank, &[mine]));
        Ok((0..self.size).flat_map(|rank| self.take(rank)).collect())
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), NativeError> {
        self.put(to, bytes);
        Ok(())
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), NativeError> {
        bytes.copy_from_slice(&self.take(from));
        Ok(())
    }

    fn exchange(
        &self,
        (to, out): (usize, &[u8]),
        (from, back): (usize, &mut [u8]),
    ) -> Result<(), NativeError> {
        self.put(to, out);
        self.receive(from, back)
    }
}

/// Returns the results of all ranks of a job of `size` ranks.
fn on_all<T: Send>(size: usize, work: impl Fn(&Thread) -> T + Sync) -> Vec<T> {
    let boxes = Arc::default();
    thread::scope(|scope| {
        let started: Vec<_> = (0..size)
            .map(|rank| {
                let boxes = Arc::clone(&boxes);
                let work = &work;
                scope.spawn(move || work(&Thread { rank, size, boxes }))
            })
            .collect();
        started
            .into_iter()
            .map(|rank| rank.join().unwrap())
            .collect()
    })
}

/// Checks that all ranks have an error and that only one is to report it; returns that report.
fn the_one_line<T: Debug>(results: Vec<Result<T, ShareError>>) -> String {
    let errors: Vec<ShareError> = results.into_iter().map(Result::unwrap_err).collect();
    let mut told = errors.iter().filter(|error| error.is_reported_here());
    let line = told.next().unwrap().to_string();
    assert_eq!(told.count(), 0, "{errors:?}");
    line
}

/// Number that cannot be read if it is `BAD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Not<const BAD: usize>(usize);

impl<'de, const BAD: usize> Deserialize<'de> for Not<BAD> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match usize::deserialize(from)? {
            bad if bad == BAD => Err(D::Error::custom("bad")),
            value => Ok(Not(value)),
        }
    }
}

#[test]
fn a_value_of_any_length_arrives_on_all_ranks() {
    for size in [1, 2, 5] {
        for length in [0, 1, FIRST, 3 * FIRST] {
            let value: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let results = on_all(size, |group| {
                share(group, (group.rank() == 0).then(|| value.clone())).unwrap()
            });
            assert_eq!(results, vec![value.clone(); size]);
        }
    }
}

#[test]
fn a_short_value_needs_one_broadcast_and_a_long_one_two() {
    for (length, expected) in [(0, 1), (FIRST, 1), (FIRST + 1, 2), (3 * FIRST, 2)] {
        let mut broadcasts = 0;
        let kept = broadcast_any_length(vec![7; length], |_| {
            broadcasts += 1;
            Ok(())
        });
        assert_eq!((kept.unwrap().len(), broadcasts), (length, expected));
    }
}

#[test]
fn values_are_gathered_in_the_order_of_the_ranks() {
    for size in 1..10 {
        let all: Vec<String> = (0..size).map(|rank| "x".repeat(rank)).collect();
        let results = on_all(size, |group| gather(group, &all[group.rank()]).unwrap());
        assert_eq!(results[0], all);
        assert!(results[1..].iter().all(Vec::is_empty));
        let results = on_all(size, |group| {
            gather_to_all(group, &all[group.rank()]).unwrap()
        });
        assert_eq!(results, vec![all; size]);
    }
}

#[test]
fn values_are_exchanged_around_a_ring() {
    let results = on_all(5, |group| {
        let (to, from) = ((group.rank() + 1) % 5, (group.rank() + 4) % 5);
        exchange(group, to, from, &vec![group.rank(); group.rank()]).unwrap()
    });
    let expected: Vec<_> = (0..5).map(|rank| (rank + 4) % 5).collect();
    let expected: Vec<_> = expected.into_iter().map(|from| vec![from; from]).collect();
    assert_eq!(results, expected);
}

#[test]
fn share_fails_on_all_ranks_if_one_cannot_decode() {
    // Only rank 2 cannot read a 1.
    let results = on_all(4, |group| match group.rank() {
        2 => share::<Not<1>>(group, None).map(|Not(value)| value),
        0 => share(group, Some(Not::<9>(1))).map(|Not(value)| value),
        _ => share::<Not<9>>(group, None).map(|Not(value)| value),
    });
    let line = the_one_line(results);
    assert!(line.starts_with("rank 2 cannot read"), "{line}");
}

#[test]
fn share_fails_on_all_ranks_if_rank_0_has_nothing_to_share() {
    let results = on_all(3, |group| share::<u32>(group, None));
    let line = the_one_line(results);
    assert!(line.starts_with("rank 0 cannot read"), "{line}");
}

#[test]
fn gather_and_exchange_fail_on_all_ranks_if_one_cannot_decode() {
    let line = the_one_line(on_all(4, |group| gather(group, &Not::<3>(group.rank()))));
    assert!(line.starts_with("rank 0 cannot read"), "{line}");
    let line = the_one_line(on_all(4, |group| {
        let (to, from) = ((group.rank() + 1) % 4, (group.rank() + 3) % 4);
        exchange(group, to, from, &Not::<3>(group.rank()))
    }));
    assert!(line.starts_with("rank 0 cannot read"), "{line}");
}

#[test]
fn another_version_is_told_with_both_versions() {
    let other = encode(&("treepie 9", 5u32));
    let error = decode_shared::<u32>(3, &other).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the library of rank 3 is {}, that of rank 0 is treepie 9; preload the same \
             libtreepie.so on all ranks",
            version()
        )
    );
}
