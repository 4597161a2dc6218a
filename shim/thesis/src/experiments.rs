//! LaPIe's experiments on grids (thesis 7.1.5, 7.2.2, 7.3.2) and its statements on them. The thesis
//! plots and prints no times: the tops of axes bound them, and its prose ranks them (4.11 of the
//! digest).

use crate::lapie::{CASE_1, CASE_2, CASE_3, CASE_4, CASE_5, Grid};
use treepie_collective::Operation;

/// An experiment: one operation from rank 0 by several algorithms.
pub struct Experiment {
    /// The figures that plot it.
    pub figures: &'static str,
    /// The machines.
    pub grid: &'static Grid,
    /// The collective.
    pub operation: Operation,
    /// Computed sizes in bytes; the last is the largest of the figures.
    pub bytes: &'static [u64],
    /// Seconds at the top of the figure's axis, with and without the MPI's own collective.
    pub tops: (f64, Option<f64>),
    /// Contenders.
    pub contenders: &'static [Contender],
}

/// An algorithm of the collective.
pub struct Contender {
    /// Name in the thesis.
    pub name: &'static str,
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Statement of the thesis on its time.
    pub remark: &'static str,
}

const fn contender(name: &'static str, algorithm: &'static str, remark: &'static str) -> Contender {
    Contender {
        name,
        algorithm,
        remark,
    }
}

const MEGABYTE: u64 = 1 << 20;

/// A broadcast by LAM's tree over ranks and by the heuristics, with the statement of the thesis on
/// each.
macro_rules! broadcasts {
    ($lam:literal, $flat:literal, $fef:literal, $ecef:literal, $lat:literal, $bottom_up:literal) => {
        &[
            contender("LAM", "binomial", $lam),
            contender("Flat", "grid-flat", $flat),
            contender("FEF", "grid-fef", $fef),
            contender("ECEF", "grid-ecef", $ecef),
            contender("ECEF-LA", "grid-ecef-la", $ecef),
            contender("ECEF-LAt", "grid-ecef-lat-min", $ecef),
            contender("ECEF-LAT", "grid-ecef-lat", $lat),
            contender("BottomUp", "grid-bottom-up", $bottom_up),
        ]
    };
}

const SCATTERS: &[Contender] = &[
    contender("LAM", "flat", "far slower above 100 KB"),
    contender(
        "without order",
        "grid-grouped",
        "clearly better above 100 KB",
    ),
    contender(
        "slowest cluster first",
        "grid-slowest-first",
        "no visible gain over that",
    ),
];

/// All experiments, in the order of the thesis.
pub const ALL: [Experiment; 6] = [
    Experiment {
        figures: "7.6, 7.7",
        grid: &CASE_1,
        operation: Operation::Bcast,
        bytes: &[MEGABYTE, 4 * MEGABYTE],
        tops: (12.0, None),
        contenders: broadcasts!(
            "better than Flat",
            "worst",
            "with the best",
            "best",
            "best",
            "between"
        ),
    },
    Experiment {
        figures: "7.9, 7.10",
        grid: &CASE_2,
        operation: Operation::Bcast,
        bytes: &[MEGABYTE, 8 * MEGABYTE],
        tops: (12.0, Some(6.0)),
        contenders: broadcasts!(
            "worst by far",
            "as the best",
            "not the best",
            "best",
            "best",
            "far below LAM"
        ),
    },
    Experiment {
        figures: "7.12, 7.13",
        grid: &CASE_3,
        operation: Operation::Bcast,
        bytes: &[MEGABYTE, 8 * MEGABYTE],
        tops: (14.0, Some(4.0)),
        contenders: broadcasts!("worst by far", "favoured", "favoured", "-", "good", "good"),
    },
    Experiment {
        figures: "7.17",
        grid: &CASE_2,
        operation: Operation::Scatter,
        bytes: &[64 << 10, MEGABYTE],
        tops: (25.0, None),
        contenders: SCATTERS,
    },
    Experiment {
        figures: "7.19",
        grid: &CASE_5,
        operation: Operation::Scatter,
        bytes: &[64 << 10, MEGABYTE],
        tops: (35.0, None),
        contenders: SCATTERS,
    },
    Experiment {
        figures: "7.24 to 7.27",
        grid: &CASE_4,
        operation: Operation::Alltoall,
        bytes: &[64 << 10, MEGABYTE],
        tops: (6.0, None),
        contenders: &[
            contender("direct", "flat", "slightly better for large sizes"),
            contender("max-min", "max-min", "better below 100 KB"),
            contender(
                "max-weight",
                "max-weight",
                "very slightly better than max-min",
            ),
        ],
    },
];
