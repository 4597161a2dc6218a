//! A table stored by columns.

/// Name and values of a column.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) values: Values,
}

/// Values of one type, one for each row.
pub(super) enum Values {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<String>),
}

/// Columns of equal length.
pub(super) struct Columns(pub(super) Vec<Column>);

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Whole(values) => values.len(),
            Values::Real(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }
}

impl Columns {
    pub(super) fn rows(&self) -> usize {
        self.0.first().map_or(0, |column| column.values.len())
    }
}

/// Converts a count to the integer type of other tools, which saturates.
pub(super) fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts the number of a rank.
pub(super) fn number(rank: usize) -> i64 {
    whole(rank as u64)
}
