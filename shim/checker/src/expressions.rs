//! What a unit is computed from, as an expression over what ranks gave.

use std::collections::HashMap;

/// What a unit holds: a place in an arena of expressions.
pub type Value = usize;

/// An expression over inputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Expression {
    /// What rank `rank` had in its unit `unit`.
    Given { rank: usize, unit: u64 },
    /// A reduction of two.
    Reduced(Value, Value),
}

/// All expressions that came up, each once: equal values are equal expressions.
#[derive(Debug, Default)]
pub(crate) struct Expressions {
    all: Vec<Expression>,
    known: HashMap<Expression, Value>,
    /// The ranks that each is made of, from left to right.
    ranks: Vec<Vec<usize>>,
    /// The unit of the input that all operands are from.
    unit: Vec<u64>,
}

impl Expressions {
    fn intern(&mut self, expression: Expression, ranks: Vec<usize>, unit: u64) -> Value {
        *self.known.entry(expression.clone()).or_insert_with(|| {
            self.all.push(expression);
            self.ranks.push(ranks);
            self.unit.push(unit);
            self.all.len() - 1
        })
    }

    /// What `rank` had in its unit `unit`.
    pub fn given(&mut self, rank: usize, unit: u64) -> Value {
        self.intern(Expression::Given { rank, unit }, vec![rank], unit)
    }

    /// `left op right`; `None` where they are of different units.
    pub fn reduced(&mut self, left: Value, right: Value) -> Option<Value> {
        if self.unit[left] != self.unit[right] {
            return None;
        }
        let ranks = [&self.ranks[left][..], &self.ranks[right][..]].concat();
        Some(self.intern(Expression::Reduced(left, right), ranks, self.unit[left]))
    }

    /// The ranks that a value is made of, from left to right.
    pub fn ranks(&self, value: Value) -> &[usize] {
        &self.ranks[value]
    }

    /// The unit of the input that a value is made of.
    pub fn unit(&self, value: Value) -> u64 {
        self.unit[value]
    }
}
