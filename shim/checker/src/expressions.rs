//! Values of units, as expressions over the inputs of ranks.

use std::collections::HashMap;

/// Value of a unit: a place in an arena of expressions.
pub type Value = usize;

/// Expression over inputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Expression {
    /// Initial value of unit `unit` of rank `rank`.
    Given { rank: usize, unit: u64 },
    /// Reduction of two values.
    Reduced(Value, Value),
}

/// All expressions, each stored once: equal values are equal expressions.
#[derive(Debug, Default)]
pub(crate) struct Expressions {
    all: Vec<Expression>,
    known: HashMap<Expression, Value>,
    /// Ranks whose inputs each contains, from left to right.
    ranks: Vec<Vec<usize>>,
    /// Unit of the input to which all operands belong.
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

    /// Value of unit `unit` in the input of `rank`.
    pub fn given(&mut self, rank: usize, unit: u64) -> Value {
        self.intern(Expression::Given { rank, unit }, vec![rank], unit)
    }

    /// `left op right`; `None` if they belong to different units.
    pub fn reduced(&mut self, left: Value, right: Value) -> Option<Value> {
        if self.unit[left] != self.unit[right] {
            return None;
        }
        let ranks = [&self.ranks[left][..], &self.ranks[right][..]].concat();
        Some(self.intern(Expression::Reduced(left, right), ranks, self.unit[left]))
    }

    /// Ranks whose inputs a value contains, from left to right.
    pub fn ranks(&self, value: Value) -> &[usize] {
        &self.ranks[value]
    }

    /// Unit of the input to which a value belongs.
    pub fn unit(&self, value: Value) -> u64 {
        self.unit[value]
    }
}
