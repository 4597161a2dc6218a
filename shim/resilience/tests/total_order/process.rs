//! One process of the ring.
//!
//! An order gives a message its number and names the process that gives the next one: that is the
//! token. A process gives a number only when it has all messages and orders before it, so that an
//! order with number s + k proves that k processes after the first have the message ordered as s.

use std::collections::{BTreeMap, BTreeSet};

/// A broadcast: its source, and its number there.
pub type Id = (usize, u32);

/// An order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The message; `None` if the token only moves on.
    pub id: Option<Id>,
    /// The process that gave it.
    pub from: usize,
    /// The process that gives the next one.
    pub next: usize,
}

/// Messages of the protocol.
#[derive(Debug, Clone)]
pub enum Wire {
    /// A message.
    Data(Id),
    /// An order of a view, with its number.
    Order(u32, u64, Order),
    /// Request to any process that has the order of this number to send it, and its message.
    Ask(u32, u64),
    /// End of a view.
    Reform(u32),
    /// State of a process at the end of a view.
    Report(u32, Report),
}

/// State of a process: orders, and messages without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub orders: BTreeMap<u64, Order>,
    pub data: BTreeSet<Id>,
}

/// A process.
#[derive(Debug, Clone)]
pub struct Process {
    pub number: usize,
    pub alive: bool,
    pub view: u32,
    pub members: Vec<usize>,
    /// The first number of this view.
    pub base: u64,
    pub orders: BTreeMap<u64, Order>,
    pub data: BTreeSet<Id>,
    /// All messages and orders before this number have arrived.
    pub held: u64,
    ordered: BTreeSet<Id>,
    next_delivery: u64,
    pub delivered: Vec<Id>,
    /// Number of moves of the token after which an ordered message is delivered.
    pub k: usize,
    pub suspects: BTreeSet<usize>,
    /// At the end of a view, the reports of others.
    pub reports: Option<BTreeMap<usize, Report>>,
    pub has_proposed: bool,
}

impl Process {
    pub fn new(number: usize, n: usize, k: usize) -> Self {
        Process {
            number,
            alive: true,
            view: 0,
            members: (0..n).collect(),
            base: 0,
            orders: BTreeMap::new(),
            data: BTreeSet::new(),
            held: 0,
            ordered: BTreeSet::new(),
            next_delivery: 0,
            delivered: Vec::new(),
            k,
            suspects: BTreeSet::new(),
            reports: None,
            has_proposed: false,
        }
    }

    /// Advances over all that has arrived without a gap, and delivers stable messages; returns the
    /// newly delivered ones.
    pub fn advance(&mut self) -> Vec<Id> {
        while let Some(order) = self.orders.get(&self.held) {
            match order.id {
                Some(id) if !self.data.contains(&id) => break,
                Some(id) => _ = self.ordered.insert(id),
                None => {}
            }
            self.held += 1;
        }
        // A ring that has shrunk cannot move the token to more processes than it has.
        let k = self.k.min(self.members.len()) as u64;
        self.deliver_before(self.held.saturating_sub(k))
    }

    /// Delivers messages ordered below a number.
    pub fn deliver_before(&mut self, end: u64) -> Vec<Id> {
        let before = self.delivered.len();
        while self.next_delivery < end {
            self.delivered.extend(self.orders[&self.next_delivery].id);
            self.next_delivery += 1;
        }
        self.delivered[before..].to_vec()
    }

    /// True if this process has the token.
    fn has_token(&self) -> bool {
        let last = self.held.checked_sub(1).filter(|&last| last >= self.base);
        let holder = match last {
            Some(last) => self.orders[&last].next,
            None => self.members[0],
        };
        holder == self.number && self.reports.is_none()
    }

    /// The order that this process gives, if it has the token and a message without an order, or
    /// may move the token so that others are delivered.
    pub fn give_order(&mut self, may_move: bool) -> Option<(u64, Order)> {
        let waiting = self.data.difference(&self.ordered).next().copied();
        let is_undelivered = self.next_delivery < self.held;
        if !self.has_token() || waiting.is_none() && !(may_move && is_undelivered) {
            return None;
        }
        let place = self.members.iter().position(|&one| one == self.number)?;
        let order = Order {
            id: waiting,
            from: self.number,
            next: self.members[(place + 1) % self.members.len()],
        };
        let number = self.held;
        self.orders.insert(number, order);
        Some((number, order))
    }

    /// Own messages without an order.
    pub fn unordered(&self) -> Vec<Id> {
        let own = |id: &&Id| id.0 == self.number && !self.ordered.contains(id);
        self.data.iter().filter(own).copied().collect()
    }

    /// The last order, if this process gave it: the next holder may not have it.
    pub fn last_given(&self) -> Option<(u64, Order)> {
        let last = self.held.checked_sub(1).filter(|&last| last >= self.base)?;
        let order = self.orders[&last];
        (order.from == self.number).then_some((last, order))
    }

    /// State of this process at the end of a view.
    pub fn report(&self) -> Report {
        Report {
            orders: self.orders.clone(),
            data: self.data.clone(),
        }
    }

    /// Continues in a new view, from the decision.
    pub fn install(&mut self, view: u32, members: Vec<usize>, known: &Report) -> Vec<Id> {
        self.data.extend(known.data.iter().copied());
        self.orders = known.orders.clone();
        self.reports = None;
        self.has_proposed = false;
        (self.view, self.members) = (view, members);
        self.base = u64::MAX;
        let mut delivered = self.advance();
        self.base = self.held;
        // No remaining process has more: the old view is stable.
        delivered.extend(self.deliver_before(self.held));
        delivered
    }
}
