//! The rows as text: J relative to the best known, and CPU seconds.

use crate::suite::Instance;

/// The result of a mapper for an instance.
pub struct Measured {
    pub cost: f64,
    pub seconds: f64,
    pub note: String,
}

/// All mappers on one instance.
pub struct Row {
    pattern: String,
    anchor: Option<f64>,
    known: Option<f64>,
    identity: f64,
    columns: Vec<(String, Measured)>,
}

impl Row {
    pub fn new(instance: &Instance) -> Self {
        Row {
            pattern: instance.pattern.clone(),
            anchor: instance.anchor,
            known: instance.known,
            identity: instance.identity,
            columns: Vec::new(),
        }
    }

    pub fn push(&mut self, mapper: String, measured: Measured) {
        self.columns.push((mapper, measured));
    }

    /// The divisor of J: the best of the mappers compared for the reference, else the least of this
    /// row.
    fn base(&self) -> f64 {
        let least = self.columns.iter().map(|column| column.1.cost);
        self.anchor.unwrap_or(least.fold(self.identity, f64::min))
    }
}

/// The rows of one size.
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub fn new(ranks: usize, natural: bool) -> Self {
        let order = if natural { "natural" } else { "shuffled" };
        println!("\n{ranks} ranks, {order} numbering");
        Table { rows: Vec::new() }
    }

    /// Prints a row as soon as it is complete.
    pub fn push(&mut self, row: Row) {
        let base = row.base();
        print!("{:7} best anchor {:>13.0}", row.pattern, base);
        print!("  identity {:.3}", row.identity / base);
        if let Some(known) = row.known {
            print!("  best known {:.3}", known / base);
        }
        println!();
        for (mapper, measured) in &row.columns {
            let Measured {
                cost,
                seconds,
                note,
            } = measured;
            let ratio = cost / base;
            println!("    {mapper:22} J {cost:>13.0}  {ratio:7.4}  CPU {seconds:8.4} s  {note}");
        }
        self.rows.push(row);
    }

    /// Prints geometric means over the rows that a mapper has done.
    pub fn finish(&self) {
        let mut mappers: Vec<&str> = Vec::new();
        for (mapper, _) in self.rows.iter().flat_map(|row| &row.columns) {
            if !mappers.contains(&mapper.as_str()) {
                mappers.push(mapper);
            }
        }
        println!("geometric means: J against the best anchor, against the best known; CPU");
        for mapper in mappers {
            let done = self.rows.iter().filter_map(|row| {
                let column = row.columns.iter().find(|column| column.0 == mapper)?;
                Some((row, &column.1))
            });
            let done: Vec<_> = done.collect();
            let mean = |value: &dyn Fn(&Row, &Measured) -> f64| {
                let logarithms = done.iter().map(|(row, m)| value(row, m).max(1e-9).ln());
                (logarithms.sum::<f64>() / done.len() as f64).exp()
            };
            println!(
                "    {mapper:22} {:7.4}  {:7.4}  {:8.4} s  ({} rows)",
                mean(&|row, m| m.cost / row.base()),
                mean(&|row, m| m.cost / row.known.unwrap_or(row.base())),
                mean(&|_, m| m.seconds),
                done.len()
            );
        }
    }
}
