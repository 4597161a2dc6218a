//! Options that select the numbers of a profile for a matrix.

use std::path::Path;
use std::str::FromStr;

use clap::Args;
use treepie_base::UnknownName;
use treepie_native::traffic::Model;
use treepie_traffic::{Layer, Metric};

use treepie_launch::error::CommandError;

/// A layer, or all layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayerChoice {
    /// Traffic of any origin.
    All,
    /// Traffic of one kind of call.
    One(Layer),
}

impl FromStr for LayerChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("all") {
            return Ok(LayerChoice::All);
        }
        let layer = text.parse().map(LayerChoice::One);
        layer.map_err(|unknown: UnknownName| format!("{unknown}, all"))
    }
}

/// Selection of the numbers of a profile that form the matrix.
#[derive(Debug, Default, Args)]
pub struct MatrixChoice {
    /// Metric: size (bytes), msg (messages), avg (bytes per message) [default: size]
    #[arg(long, value_name = "METRIC", value_parser = str::parse::<Metric>)]
    metric: Option<Metric>,
    /// Kinds of traffic to include: p2p (or point-to-point), collectives, one-sided, neighbourhood,
    /// all; several separated by commas or by repeating the option [default: all]
    #[arg(long = "layer", value_name = "LAYER", value_delimiter = ',', value_parser = str::parse::<LayerChoice>)]
    layers: Vec<LayerChoice>,
    /// Model of the messages of collectives: open-mpi or mpich (their usual algorithms), logical
    /// (root to all, all to all), or an algorithm such as binomial, ring, recursive-doubling
    /// [default: the job's MPI]
    #[arg(long, value_name = "MODEL", value_parser = str::parse::<Model>)]
    pub model: Option<Model>,
    /// Only one phase of the run, by its name
    #[arg(long, value_name = "PHASE")]
    pub phase: Option<String>,
}

impl MatrixChoice {
    /// The selected metric, or bytes.
    pub fn metric(&self) -> Metric {
        self.metric.unwrap_or(Metric::Size)
    }

    /// The selected layers.
    pub fn layers(&self) -> Vec<Layer> {
        let chosen = |layer: &Layer| self.layers.contains(&LayerChoice::One(*layer));
        if self.layers.is_empty() || self.layers.contains(&LayerChoice::All) {
            Layer::ALL.to_vec()
        } else {
            Layer::ALL.iter().copied().filter(chosen).collect()
        }
    }

    /// The selected layers and phase in words.
    pub fn describe(&self) -> String {
        let layers = self.layers();
        let mut words = if layers.len() == Layer::ALL.len() {
            "all traffic".to_owned()
        } else {
            layers
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" and ")
        };
        if let Some(phase) = &self.phase {
            words += &format!(", phase {phase}");
        }
        words
    }

    /// Refuses options that do not apply to `file`, because it is `kind`.
    ///
    /// # Errors
    /// One of these options was given: usage.
    pub fn require_none(
        &self,
        file: &Path,
        kind: &str,
        options: &[&str],
    ) -> Result<(), CommandError> {
        let given = [
            ("--metric", self.metric.is_some()),
            ("--layer", !self.layers.is_empty()),
            ("--model", self.model.is_some()),
            ("--phase", self.phase.is_some()),
        ];
        let wrong = given
            .into_iter()
            .find(|(option, given)| *given && options.contains(option));
        match wrong {
            None => Ok(()),
            Some((option, _)) => Err(CommandError::usage(format!(
                "{}: is {kind}, so there is nothing for {option} to choose; leave it out, or give a \
                 profile",
                file.display()
            ))),
        }
    }
}

/// Parses a number of bytes with K, M or G for powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    treepie_base::size(text)
        .ok_or_else(|| format!("`{text}` is no size; write bytes, such as 64, 16K or 1M"))
}
