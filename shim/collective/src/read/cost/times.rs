//! Times of a collective.

/// Times at which a collective is complete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Seconds until the last message has arrived, and the last rank is done.
    pub end: f64,
    /// Seconds until the last message has left its sender's links: from then on the next collective
    /// may send.
    pub left: f64,
    /// Seconds that the busiest uplink or downlink of a cluster is occupied.
    pub busiest: f64,
}

impl Times {
    /// Times of a collective that never ends, or is unknown.
    pub const NEVER: Times = Times {
        end: f64::INFINITY,
        left: f64::INFINITY,
        busiest: f64::INFINITY,
    };

    /// Extrapolates times that are `one` at `x[0]` and `other` at `x[1]` to `at`, beyond both: at
    /// the rate between the two or, because paths fill first, at that of the busiest link.
    pub(super) fn line(x: [f64; 2], [one, other]: [Times; 2], at: f64) -> Times {
        let further = (at - x[1]) / (x[1] - x[0]);
        let busiest = other.busiest - one.busiest;
        let on = |one: f64, other: f64| other + further * (other - one).max(busiest).max(0.0);
        Times {
            end: on(one.end, other.end),
            left: on(one.left, other.left),
            busiest: other.busiest + further * busiest,
        }
    }
}
