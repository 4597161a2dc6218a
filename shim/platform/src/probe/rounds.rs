//! Pairs in rounds, each rank in at most one pair of a round.

/// All pairs of `participants`, in rounds of disjoint pairs: the circle method. An even number
/// needs one round less than participants, an odd one as many rounds as participants.
///
/// ```text
///   0 stays     0-5 1-4 2-3      others move on      0-4 5-3 1-2    ...
/// ```
pub fn tournament<I: From<usize>>(participants: usize) -> Vec<Vec<(I, I)>> {
    if participants < 2 {
        return Vec::new();
    }
    let seats = participants + participants % 2; // with an odd number, the last seat is a bye
    let turning = seats - 1;
    (0..turning)
        .map(|round| {
            let seat = |place: usize| match place {
                0 => 0,
                _ => 1 + (place - 1 + turning - round) % turning,
            };
            (0..seats / 2)
                .map(|place| (seat(place), seat(seats - 1 - place)))
                .filter(|&(one, other)| one < participants && other < participants)
                .map(|(one, other)| (one.min(other).into(), one.max(other).into()))
                .collect()
        })
        .collect()
}

/// Cuts a round into parts of at most `most` pairs; 0 for no limit.
pub(super) fn cut<T>(round: Vec<T>, most: usize) -> Vec<Vec<T>> {
    if most == 0 || round.len() <= most {
        return vec![round];
    }
    let mut parts: Vec<Vec<T>> = Vec::new();
    for pair in round {
        match parts.last_mut() {
            Some(part) if part.len() < most => part.push(pair),
            _ => parts.push(vec![pair]),
        }
    }
    parts
}
