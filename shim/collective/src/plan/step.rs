//! Steps of a rank, and the order between them.
use crate::plan::range::Range;
/// Send, receive, reduction or copy of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Sends a range to another rank.
    Send {
        /// Receiver.
        to: usize,
        /// Number of the message among those to this receiver, from 0 on.
        tag: u32,
        /// Sent range; empty for a synchronization message.
        range: Range,
    },
    /// Receives a range from another rank.
    Receive {
        /// Sender.
        from: usize,
        /// Number of the message among those from this sender, from 0 on.
        tag: u32,
        /// Destination of the message; empty for a synchronization message.
        range: Range,
    },
    /// `right = left op right`, as by `MPI_Reduce_local`; the ranks of `left` precede those of
    /// `right` if the order matters.
    Reduce {
        /// Left operand.
        left: Range,
        /// Right operand and result; as long as `left`.
        right: Range,
    },
    /// Copies a range.
    Copy {
        /// Source.
        from: Range,
        /// Destination; as long as `from`.
        into: Range,
    },
}

impl Action {
    /// Ranges that are read.
    pub fn reads(&self) -> impl Iterator<Item = Range> {
        let (first, second) = match *self {
            Action::Send { range, .. } => (Some(range), None),
            Action::Receive { .. } => (None, None),
            Action::Reduce { left, right } => (Some(left), Some(right)),
            Action::Copy { from, .. } => (Some(from), None),
        };
        first.into_iter().chain(second)
    }

    /// Range that is written.
    pub fn writes(&self) -> Option<Range> {
        match *self {
            Action::Send { .. } => None,
            Action::Receive { range, .. } => Some(range),
            Action::Reduce { right, .. } => Some(right),
            Action::Copy { into, .. } => Some(into),
        }
    }
}

/// One step of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Action of the step.
    pub action: Action,
    /// Range in [`Plan::needs`] of the steps on which it depends.
    needs: std::ops::Range<u32>,
}

/// Steps of one rank. A step may start when those on which it depends are complete; of those that
/// may start, the first in the list is executed first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    pub(super) steps: Vec<Step>,
    needs: Vec<u32>,
    scratch: u64,
}

impl Plan {
    /// Plan without steps, with `scratch` units of scratch memory.
    pub fn with_scratch(scratch: u64) -> Self {
        Plan {
            scratch,
            ..Plan::default()
        }
    }

    /// Adds a step that depends on those at `needs`.
    pub fn push(&mut self, action: Action, needs: impl IntoIterator<Item = u32>) {
        let start = self.needs.len() as u32;
        self.needs.extend(needs);
        self.steps.push(Step {
            action,
            needs: start..self.needs.len() as u32,
        });
    }

    /// Steps, in their default order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Places of the steps on which `step` depends: all precede it in the list.
    pub fn needs(&self, step: &Step) -> &[u32] {
        &self.needs[step.needs.start as usize..step.needs.end as usize]
    }

    /// True if a message is sent, or received, only after another has arrived: other ranks then
    /// wait until this one makes progress on the plan.
    pub fn forwards(&self) -> bool {
        let mut waits = vec![false; self.steps.len()];
        self.steps.iter().enumerate().any(|(place, step)| {
            let waited = self.needs(step).iter().any(|&need| waits[need as usize]);
            let (sends, receives) = match step.action {
                Action::Send { .. } => (true, false),
                Action::Receive { .. } => (false, true),
                Action::Reduce { .. } | Action::Copy { .. } => (false, false),
            };
            waits[place] = waited || receives;
            waited && (sends || receives)
        })
    }

    /// Units of scratch memory that the plan uses.
    pub fn scratch(&self) -> u64 {
        self.scratch
    }
}
