//! A table by its columns.

/// A column's name and values.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) values: Values,
}

/// Values of one type, of which each row has one.
pub(super) enum Values {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<String>),
}

/// Columns of one length.
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

/// A count as other tools have it: none is beyond this.
pub(super) fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A number of a rank.
pub(super) fn number(rank: usize) -> i64 {
    whole(rank as u64)
}
