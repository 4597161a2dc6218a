//! Plans with user-defined trees and parameters.

use super::*;
use treepie_collective::Composition;
use treepie_collective::algorithms::Shape;
use treepie_collective::algorithms::TABLE;

/// Shapes of two levels.
const NAMED: [&[Shape]; 6] = [
    &[Shape::Chain],
    &[Shape::Flat, Shape::Chain],
    &[Shape::Binary, Shape::HighestBit],
    &[Shape::Octopus(1), Shape::Flat],
    &[Shape::Quadrinomial, Shape::Alpha(25)],
    &[Shape::Lambda(3), Shape::Binomial],
];

/// A plan with these shapes.
fn shaped(shapes: &[Shape]) -> Composition {
    Composition {
        shapes: shapes.to_vec(),
        ..Composition::from(&TABLE[0])
    }
}

/// Plans of all ranks of a call, from rank 0, of 64 bytes in messages of 16.
fn plans(
    algorithm: &Algorithm,
    operation: Operation,
    clusters: &Clusters,
    network: &Network,
) -> Option<Vec<Plan>> {
    let amount = Amount::Each(64);
    let problem = Problem {
        operation,
        root: 0,
        amount: &amount,
        clusters,
        ordered: false,
        network: Some(network),
        unit_bytes: 1,
    };
    let serves = algorithm.serves(&problem);
    serves.then(|| algorithm.describe(&problem).plans(16))
}

#[test]
fn algorithms_with_trees_inside_take_any_shape_and_are_right() {
    for ranks in 1..=13 {
        for at in arrangements(ranks) {
            for shapes in NAMED {
                let at = Arrangement {
                    clusters: at.clusters.for_plan(&shaped(shapes)).into_owned(),
                    network: at.network.clone(),
                };
                for operation in Operation::all() {
                    let all = Algorithm::of(operation);
                    for algorithm in all.filter(|one| one.has_trees_inside) {
                        let root = (ranks - 1) * usize::from(operation.has_root());
                        let result =
                            check_one(algorithm, operation, &at, root, 9, Flow::from(2), false);
                        assert_eq!(
                            result,
                            Ok(()),
                            "{operation} {} on {ranks} ranks in {:?}, {shapes:?}",
                            algorithm.name,
                            at.clusters
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn shapes_change_the_plans_of_algorithms_that_have_trees_inside_and_of_no_others() {
    let network = grids::network(&[24, 24], |_| grids::lan(), |_, _| grids::wan(10.0, 100.0));
    let clusters = Clusters::of_network(&network);
    let mut wrong = Vec::new();
    for algorithm in TABLE {
        for &operation in algorithm.operations {
            let plans = |shape| {
                let clusters = clusters.for_plan(&shaped(&[shape]));
                plans(algorithm, operation, &clusters, &network)
            };
            let [flat, chain] = [Shape::Flat, Shape::Chain].map(plans);
            if let (Some(flat), Some(chain)) = (flat, chain) {
                let changes = flat
                    .iter()
                    .zip(&chain)
                    .any(|(one, other)| one.steps() != other.steps());
                if changes != algorithm.has_trees_inside {
                    wrong.push(format!("{operation} {}", algorithm.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn parameters_change_plans_and_the_usual_one_is_that_of_plans_without() {
    let network = grids::network(&[20, 20], |_| grids::lan(), |_, _| grids::wan(10.0, 100.0));
    let clusters = Clusters::of_network(&network);
    for algorithm in TABLE.iter() {
        let Some(parameter) = algorithm.parameter else {
            continue;
        };
        for &operation in algorithm.operations {
            let of = |parameter| {
                let plan = Composition {
                    parameter,
                    ..Composition::from(algorithm)
                };
                plans(algorithm, operation, &clusters.for_plan(&plan), &network).unwrap_or_default()
            };
            let (usual, least) = (of(Some(parameter.usual)), of(Some(parameter.least)));
            let name = algorithm.name;
            assert_eq!(of(None), usual, "{operation} {name}");
            assert!(usual.is_empty() || usual != least, "{operation} {name}");
        }
    }
}

#[test]
fn algorithms_are_right_with_any_parameter() {
    for ranks in 1..=13 {
        for at in arrangements(ranks) {
            for algorithm in TABLE.iter() {
                let Some(parameter) = algorithm.parameter else {
                    continue;
                };
                for parameter in [parameter.least, parameter.least + 1, parameter.most] {
                    let plan = Composition {
                        parameter: Some(parameter),
                        ..Composition::from(algorithm)
                    };
                    let at = Arrangement {
                        clusters: at.clusters.for_plan(&plan).into_owned(),
                        network: at.network.clone(),
                    };
                    for &operation in algorithm.operations {
                        let result =
                            check_one(algorithm, operation, &at, 0, 9, Flow::from(2), true);
                        assert_eq!(result, Ok(()), "{operation} {plan} on {ranks} ranks");
                    }
                }
            }
        }
    }
}
