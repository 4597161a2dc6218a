//! Layers of traffic: the kinds of calls that cause it.

use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

/// Kind of call that causes traffic. A profile stores layers separately, so that a placement can be
/// computed from any of them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Layer {
    /// Sends that the application requested, counted exactly.
    PointToPoint,
    /// Messages caused by collectives: exact if the plan is known, and otherwise modelled
    /// (`treepie-native`, `traffic`).
    Collectives,
    /// Puts, gets and accumulates on windows.
    OneSided,
    /// Collectives over a process topology, whose partners are arguments.
    Neighbourhood,
}

impl Layer {
    /// All layers, in the order in which reports show them.
    pub const ALL: &'static [Layer] = Self::VARIANTS;
}

from_name!(Layer, "layer", "p2p" => Layer::PointToPoint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_is_read_back_from_its_name() {
        for &layer in Layer::ALL {
            assert_eq!(layer.to_string().parse(), Ok(layer));
        }
    }

    #[test]
    fn p2p_is_short_for_point_to_point_and_case_does_not_matter() {
        assert_eq!("P2P".parse(), Ok(Layer::PointToPoint));
        assert_eq!("one_sided".parse(), Ok(Layer::OneSided));
    }

    #[test]
    fn an_unknown_layer_is_answered_with_those_that_exist() {
        let error = "colectives".parse::<Layer>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "no layer is called `colectives`: write one of point-to-point, collectives, one-sided, \
             neighbourhood, p2p"
        );
    }
}
