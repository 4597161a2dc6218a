//! Traffic by layer.

use serde::Serialize;
use treepie_traffic::{Layer, Traffic};

use super::table::Table;
use super::units;

/// Traffic of one kind of call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerSummary {
    /// Name of the layer.
    pub layer: String,
    /// Messages.
    pub messages: u64,
    /// Bytes.
    pub bytes: u64,
    /// True if the numbers are not counted but follow from a model.
    pub modelled: bool,
    /// Name of that model.
    pub model: Option<String>,
    /// True if the numbers are those of the plans that ran.
    pub as_run: bool,
}

impl LayerSummary {
    /// Creates the summary of a counted layer.
    pub fn counted(layer: Layer, sum: Traffic) -> Self {
        LayerSummary {
            layer: layer.to_string(),
            messages: sum.messages,
            bytes: sum.bytes,
            modelled: false,
            model: None,
            as_run: false,
        }
    }

    /// Its name with the source of its numbers, unless they were counted.
    pub fn title(&self) -> String {
        match &self.model {
            Some(model) => format!("{} (modelled: {model})", self.layer),
            None if self.as_run => format!("{} (as run)", self.layer),
            None => self.layer.clone(),
        }
    }
}

/// Messages and bytes of each layer, and of all layers.
pub fn layer_table(layers: &[LayerSummary]) -> Table {
    let mut table = Table::new(["layer", "messages", "bytes", "share"]);
    let sum = |of: fn(&LayerSummary) -> u64| {
        let all = layers.iter().map(of);
        all.fold(0, u64::saturating_add)
    };
    let (messages, bytes) = (sum(|layer| layer.messages), sum(|layer| layer.bytes));
    let row = |name: String, of_messages: u64, of_bytes: u64| {
        [
            name,
            units::count(of_messages as f64),
            units::bytes(of_bytes as f64),
            units::share(of_bytes as f64, bytes as f64),
        ]
    };
    for layer in layers {
        table.row(row(layer.title(), layer.messages, layer.bytes));
    }
    table.row(row("all".to_owned(), messages, bytes));
    table
}
