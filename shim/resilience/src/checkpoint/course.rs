//! One wave: images flow, beside messages if ranks continue.

use super::fair::{Bottleneck, Flow, max_min};
use super::routes::{Limit, Routes};

/// A part of a wave during which nothing changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Duration in seconds.
    pub seconds: f64,
    /// Seconds of work that the job completes per second: 1 without a wave, 0 while it is stopped.
    pub speed: f64,
}

/// Course of a wave, from its start until it is complete.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    /// Its parts in order.
    pub pieces: Vec<Piece>,
}

impl Course {
    /// A wave that stops all ranks for this number of seconds.
    pub fn blocking(seconds: f64) -> Course {
        Course {
            pieces: vec![Piece {
                seconds,
                speed: 0.0,
            }],
        }
    }

    /// Duration in seconds.
    pub fn seconds(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.seconds).sum()
    }

    /// Work completed meanwhile, in seconds of a job without waves.
    pub fn progress(&self) -> f64 {
        let work = |piece: &Piece| piece.seconds * piece.speed;
        self.pieces.iter().map(work).sum()
    }

    /// Seconds from the start of the wave until `work` seconds of work are complete, which may be
    /// after its end.
    pub fn time_of(&self, work: f64) -> f64 {
        let (mut seconds, mut left) = (0.0, work);
        for piece in &self.pieces {
            let done = piece.seconds * piece.speed;
            if piece.speed > 0.0 && left <= done {
                return seconds + left / piece.speed;
            }
            seconds += piece.seconds;
            left -= done;
        }
        seconds + left
    }
}

/// An iteration of the job without images.
#[derive(Debug, Clone)]
pub(crate) struct Iteration {
    /// Seconds in which ranks compute.
    pub compute: f64,
    /// Seconds in which they communicate.
    pub communicate: f64,
    /// The links that messages use: index, share of the time, number of ranks (see
    /// [`Routes::messages`]).
    pub links: Vec<(usize, f64, f64)>,
}

impl Iteration {
    /// Duration in seconds.
    pub fn seconds(&self) -> f64 {
        self.compute + self.communicate
    }
}

/// Simulates images of `bytes` from all ranks, while the job iterates or, without an iteration, is
/// stopped: returns the wave's parts, and the bottleneck of the last image, if images are not
/// empty.
pub fn images(
    routes: &Routes,
    bytes: f64,
    iteration: Option<&Iteration>,
) -> (Course, Option<Limit>) {
    let mut flows = routes.images();
    let mut left = vec![bytes; flows.len()];
    let (mut course, mut last) = (Course::default(), None);
    while !flows.is_empty() && bytes > 0.0 {
        let (rates, speed) = match iteration {
            Some(iteration) => beside(routes.capacities(), &flows, iteration),
            None => (max_min(routes.capacities(), &flows), 0.0),
        };
        let time = |(&(rate, _), &left): (&(f64, Bottleneck), &f64)| left / rate;
        let seconds = rates
            .iter()
            .zip(&left)
            .map(time)
            .fold(f64::INFINITY, f64::min);
        let mut place = 0;
        flows.retain(|_| {
            left[place] -= seconds * rates[place].0;
            let is_left = left[place] > 1e-9 * bytes;
            if !is_left {
                last = Some(routes.limit(rates[place].1));
            }
            place += 1;
            is_left
        });
        left.retain(|&left| left > 1e-9 * bytes);
        if seconds > 0.0 {
            course.pieces.push(Piece { seconds, speed });
        }
    }
    (course, last)
}

/// Rates of images, and the speed of the job, while it iterates: the mean over the time in which
/// ranks compute and only images flow, and the time in which they communicate.
fn beside(
    capacities: &[f64],
    flows: &[Flow],
    iteration: &Iteration,
) -> (Vec<(f64, Bottleneck)>, f64) {
    let alone = max_min(capacities, flows);
    let slow_down = slow_down(capacities, flows, iteration);
    // The capacity that messages leave when they are slowed down by this factor.
    let mut reduced = capacities.to_vec();
    for &(link, share, _) in &iteration.links {
        reduced[link] *= 1.0 - (share / slow_down).min(1.0 - 1e-9);
    }
    let shared = max_min(&reduced, flows);
    let communicate = iteration.communicate * slow_down;
    let all = iteration.compute + communicate;
    let mean = |(alone, shared): (&(f64, Bottleneck), &(f64, Bottleneck))| {
        let bytes = iteration.compute * alone.0 + communicate * shared.0;
        (bytes / all, alone.1)
    };
    (
        alone.iter().zip(&shared).map(mean).collect(),
        iteration.seconds() / all,
    )
}

/// Factor by which communication takes longer beside these flows. Messages share each link with the
/// weight of the ranks that use it; the link that gives them the smallest part of their needs
/// decides.
fn slow_down(capacities: &[f64], flows: &[Flow], iteration: &Iteration) -> f64 {
    let messages = iteration.links.iter().map(|&(link, share, ranks)| Flow {
        links: vec![link],
        weight: ranks,
        most: share * capacities[link],
    });
    let all: Vec<Flow> = messages.chain(flows.iter().cloned()).collect();
    let rates = max_min(capacities, &all);
    let needed = all.iter().take(iteration.links.len());
    needed
        .zip(&rates)
        .filter(|(flow, _)| flow.most.is_finite())
        .map(|(flow, &(rate, _))| flow.most / rate)
        .fold(1.0, f64::max)
}
