//! What rank 0 asks of a rank and what that answers, as lines of text.

use super::super::{Link, Sample};

/// One thing to do with a partner. Of the two, one measures and the other
/// mirrors.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Task {
    /// Round trips of an empty message.
    Latency,
    /// All pLogP parameters towards the partner, in so many seconds.
    Link {
        /// Seconds that it may take.
        seconds: f64,
        /// Largest size in bytes.
        largest: u64,
        /// Sizes of interest, in bytes.
        also: Vec<u64>,
    },
    /// Messages one after the other.
    Stream {
        /// Size of each in bytes.
        bytes: u64,
        /// Number of messages.
        count: usize,
    },
}

/// What a rank is told to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    /// What.
    pub(super) task: Task,
    /// With whom.
    pub(super) partner: usize,
    /// Whether this rank measures.
    pub(super) measures: bool,
}

/// Says that there is nothing more to do.
pub(super) const END: &str = "end";

impl Order {
    /// The order as a line of text.
    pub(super) fn text(&self) -> String {
        let role = if self.measures { "measure" } else { "mirror" };
        let task = match &self.task {
            Task::Latency => "latency".into(),
            Task::Link {
                seconds,
                largest,
                also,
            } => {
                let also: String = also.iter().map(|bytes| format!(" {bytes}")).collect();
                format!("link {seconds:e} {largest}{also}")
            }
            Task::Stream { bytes, count } => format!("stream {bytes} {count}"),
        };
        format!("{role} {} {task}", self.partner)
    }

    /// The orders in the lines of a text; `None` at the end, and for a text that means
    /// nothing, which only another program could have sent.
    pub(super) fn of_lines(text: &str) -> Option<Vec<Order>> {
        text.lines().map(Order::parse).collect()
    }

    fn parse(text: &str) -> Option<Order> {
        let words: Vec<&str> = text.split(' ').collect();
        let (role, partner, task) = (words.first()?, words.get(1)?, words.get(2)?);
        let task = match *task {
            "latency" => Task::Latency,
            "link" => Task::Link {
                seconds: words.get(3)?.parse().ok()?,
                largest: words.get(4)?.parse().ok()?,
                also: words[5..]
                    .iter()
                    .map(|word| word.parse().ok())
                    .collect::<Option<_>>()?,
            },
            "stream" => Task::Stream {
                bytes: words.get(3)?.parse().ok()?,
                count: words.get(4)?.parse().ok()?,
            },
            _ => return None,
        };
        Some(Order {
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
