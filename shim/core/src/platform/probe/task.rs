//! What rank 0 asks of a rank and what that answers, as lines of text.

use super::super::{Link, Sample};

/// One thing to do with a partner. Of the two, one measures and the other
/// mirrors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Task {
    /// Round trips of an empty message.
    Latency,
    /// All pLogP parameters towards the partner, in so many seconds.
    Link {
        /// Seconds that it may take.
        seconds: f64,
        /// Largest size in bytes.
        largest: u64,
    },
    /// Messages one after the other.
    Stream {
        /// Size of each in bytes.
        bytes: u64,
        /// Number of messages.
        count: usize,
    },
}

/// What a rank is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Order {
    /// Do a task with a partner.
    Do {
        /// What.
        task: Task,
        /// With whom.
        partner: usize,
        /// Whether this rank measures.
        measures: bool,
    },
    /// There is nothing more to do.
    End,
}

impl Order {
    pub(super) fn text(&self) -> String {
        match *self {
            Order::End => "end".into(),
            Order::Do {
                task,
                partner,
                measures,
            } => {
                let role = if measures { "measure" } else { "mirror" };
                let task = match task {
                    Task::Latency => "latency".into(),
                    Task::Link { seconds, largest } => format!("link {seconds:e} {largest}"),
                    Task::Stream { bytes, count } => format!("stream {bytes} {count}"),
                };
                format!("{role} {partner} {task}")
            }
        }
    }

    /// The order in a text; [`Order::End`] for one that means nothing, which
    /// only another program could have sent.
    pub(super) fn parse(text: &str) -> Order {
        Order::try_parse(text).unwrap_or(Order::End)
    }

    fn try_parse(text: &str) -> Option<Order> {
        let words: Vec<&str> = text.split(' ').collect();
        let (role, partner, task) = (words.first()?, words.get(1)?, words.get(2)?);
        let task = match *task {
            "latency" => Task::Latency,
            "link" => Task::Link {
                seconds: words.get(3)?.parse().ok()?,
                largest: words.get(4)?.parse().ok()?,
            },
            "stream" => Task::Stream {
                bytes: words.get(3)?.parse().ok()?,
                count: words.get(4)?.parse().ok()?,
            },
            _ => return None,
        };
        Some(Order::Do {
            task,
            partner: partner.parse().ok()?,
            measures: *role == "measure",
        })
    }
}

/// The numbers of a link, for rank 0.
pub(super) fn link_text(link: Option<&Link>) -> String {
    let Some(link) = link else {
        return String::new();
    };
    let mut text = format!("{:e}", link.latency());
    for sample in link.samples() {
        text += &format!(
            " {} {:e} {:e} {:e} {:e} {:e}",
            sample.bytes,
            sample.gap,
            sample.handshake,
            sample.send,
            sample.receive,
            sample.confidence
        );
    }
    text
}

/// The link of such a text.
pub(super) fn link_of(text: &str) -> Option<Link> {
    let mut words = text.split(' ');
    let latency = words.next()?.parse().ok()?;
    let rest: Vec<&str> = words.collect();
    let samples = rest
        .as_chunks::<6>()
        .0
        .iter()
        .map(|words| {
            let number = |place: usize| words[place].parse::<f64>().ok();
            Some(Sample {
                bytes: words[0].parse().ok()?,
                gap: number(1)?,
                handshake: number(2)?,
                send: number(3)?,
                receive: number(4)?,
                confidence: number(5)?,
            })
        })
        .collect::<Option<Vec<Sample>>>()?;
    Link::new(latency, samples).ok()
}
