//! Bytes that predicted plans move through memory.

use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::read::moved::{Moved, of_busiest_host, of_plans};

/// The largest number of bytes that the ranks of a host move, if messages are copied once; `None`
/// for the native collective, and for plans that are too long to be simulated.
pub(crate) fn moved(predictor: &Predictor, prediction: &Prediction) -> Option<Moved> {
    let algorithm = prediction
        .algorithm
        .filter(|_| prediction.simulated.is_some())?;
    let host_of = predictor.network.host_of();
    let plans = predictor.plans(algorithm, prediction.segment);
    Some(of_busiest_host(&of_plans(&plans, host_of), host_of))
}
