//! Plans that a user names, as one word: the algorithm, its parameter, its largest message, and the
//! trees inside clusters.
//!
//! ```text
//!   grid-chain                    messages and trees as the links have it
//!   grid-chain/32K                in messages of up to 32 KiB
//!   grid-chain/32K@binomial/flat  binomial trees between the hosts of a cluster, flat ones in them
//!   windowed:64                   64 messages at a time
//! ```

use std::fmt;
use std::str::FromStr;

use crate::algorithms::Algorithm;
use crate::algorithms::trees::Shape;
use crate::operation::Operation;
use thiserror::Error;
use treepie_base::size;

/// Plan that a user names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composition {
    /// Algorithm.
    pub algorithm: &'static Algorithm,
    /// Its parameter; `None` for the default.
    pub parameter: Option<u32>,
    /// Largest message in bytes; `None` for the size that suits the links.
    pub segment: Option<u64>,
    /// Shapes of the trees inside clusters, widest level first, the last one also for all further
    /// levels; empty for shapes that suit the links.
    pub shapes: Vec<Shape>,
}

/// Reason why a text names no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompositionError {
    /// There is no such algorithm.
    #[error("{operation} has no algorithm `{name}`; known are {known}")]
    Algorithm {
        /// Collective.
        operation: Operation,
        /// Name in the text.
        name: String,
        /// Names of the known algorithms.
        known: String,
    },
    /// The algorithm has no such parameter.
    #[error("`{algorithm}:{given}`: {expected}")]
    Parameter {
        /// Algorithm.
        algorithm: &'static str,
        /// Text of the parameter.
        given: String,
        /// Parameter that the algorithm has.
        expected: String,
    },
    /// The largest message is not a size.
    #[error("`{0}` is not a message size; write one such as 32K, of 1 byte or more")]
    Segment(String),
    /// There is no shape of this name.
    #[error(
        "`{0}` is not the shape of a tree; write flat, chain, binary, binomial, highest-bit, \
         quadrinomial, octopus-2, alpha-25 or lambda-3"
    )]
    Shape(String),
    /// The algorithm has no trees inside clusters.
    #[error(
        "{algorithm} of {operation} has no trees inside clusters that a shape could be given; of \
         {operation}, {known} do"
    )]
    NoTrees {
        /// Collective.
        operation: Operation,
        /// Algorithm.
        algorithm: &'static str,
        /// Names of the algorithms that have such trees.
        known: String,
    },
}

impl Composition {
    /// Plan that a text names for `operation`.
    ///
    /// # Errors
    /// The first part of the text that is invalid.
    pub fn parse(operation: Operation, text: &str) -> Result<Self, CompositionError> {
        let (plan, shapes) = match text.split_once('@') {
            Some((plan, shapes)) => (plan, Some(shapes)),
            None => (text, None),
        };
        let (name, segment) = match plan.split_once('/') {
            Some((name, segment)) => (name, Some(segment)),
            None => (plan, None),
        };
        let (name, parameter) = match name.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (name, None),
        };
        let algorithm = Algorithm::find(operation, name).ok_or_else(|| {
            let known = Algorithm::of(operation).map(|known| known.name);
            CompositionError::Algorithm {
                operation,
                name: name.to_owned(),
                known: known.collect::<Vec<_>>().join(", "),
            }
        })?;
        let segment = segment.map(|text| {
            let bytes = size::size(text).filter(|&bytes| bytes > 0);
            bytes.ok_or_else(|| CompositionError::Segment(text.to_owned()))
        });
        let shapes = shapes.map(|text| text.split('/').map(str::parse).collect());
        let parameter = parameter.map(|text| parameter_of(algorithm, text));
        let composition = Composition {
            algorithm,
            parameter: parameter.transpose()?,
            segment: segment.transpose()?,
            shapes: shapes.transpose()?.unwrap_or_default(),
        };
        if !composition.shapes.is_empty() && !algorithm.has_trees_inside {
            let with = Algorithm::of(operation).filter(|known| known.has_trees_inside);
            let known: Vec<&str> = with.map(|known| known.name).collect();
            return Err(CompositionError::NoTrees {
                operation,
                algorithm: algorithm.name,
                known: match known.is_empty() {
                    true => "none".to_owned(),
                    false => known.join(", "),
                },
            });
        }
        Ok(composition)
    }

    /// True if neither a parameter nor shapes are set.
    pub fn is_plain(&self) -> bool {
        self.parameter.is_none() && self.shapes.is_empty()
    }

    /// Algorithm with its parameter and its shapes, without the size of messages.
    pub fn name(&self) -> String {
        let mut text = self.plan_name();
        for (index, shape) in self.shapes.iter().enumerate() {
            text.push(if index == 0 { '@' } else { '/' });
            text += &shape.to_string();
        }
        text
    }

    fn plan_name(&self) -> String {
        let name = self.algorithm.name;
        self.parameter
            .map_or(name.to_owned(), |number| format!("{name}:{number}"))
    }
}

/// Parameter of an algorithm.
fn parameter_of(algorithm: &'static Algorithm, text: &str) -> Result<u32, CompositionError> {
    let known = algorithm.parameter;
    let fits = |number: &u32| known.is_some_and(|one| (one.least..=one.most).contains(number));
    let number = text.parse().ok().filter(fits);
    number.ok_or_else(|| CompositionError::Parameter {
        algorithm: algorithm.name,
        given: text.to_owned(),
        expected: match known {
            Some(known) => format!(
                "its {} is a number from {} to {}, {} without it",
                known.name, known.least, known.most, known.usual
            ),
            None => "it has no parameter; leave it out".to_owned(),
        },
    })
}

impl From<&'static Algorithm> for Composition {
    /// Plan with the messages and trees that suit the links.
    fn from(algorithm: &'static Algorithm) -> Self {
        Composition {
            algorithm,
            parameter: None,
            segment: None,
            shapes: Vec::new(),
        }
    }
}

impl fmt::Display for Composition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, name) = (self.plan_name(), self.name());
        out.write_str(&plan)?;
        if let Some(bytes) = self.segment {
            write!(out, "/{}", size::text(bytes))?;
        }
        out.write_str(&name[plan.len()..])
    }
}

/// Names of shapes without a number.
const SHAPES: [(&str, Shape); 6] = [
    ("flat", Shape::Flat),
    ("chain", Shape::Chain),
    ("binary", Shape::Binary),
    ("binomial", Shape::Binomial),
    ("highest-bit", Shape::HighestBit),
    ("quadrinomial", Shape::Quadrinomial),
];

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Octopus(degree) => write!(out, "octopus-{degree}"),
            Shape::Alpha(hundredths) => write!(out, "alpha-{hundredths}"),
            Shape::Lambda(lambda) => write!(out, "lambda-{lambda}"),
            plain => {
                let named = SHAPES.iter().find(|(_, shape)| shape == plain);
                out.write_str(named.map_or("", |(name, _)| name))
            }
        }
    }
}

impl FromStr for Shape {
    type Err = CompositionError;

    fn from_str(text: &str) -> Result<Self, CompositionError> {
        let unknown = || CompositionError::Shape(text.to_owned());
        if let Some((_, shape)) = SHAPES.iter().find(|(name, _)| *name == text) {
            return Ok(*shape);
        }
        let (name, number) = text.rsplit_once('-').ok_or_else(unknown)?;
        let number: u32 = number.parse().map_err(|_| unknown())?;
        match (name, number) {
            ("octopus", 0..=16) => Ok(Shape::Octopus(number)),
            ("alpha", 1..=99) => Ok(Shape::Alpha(number)),
            ("lambda", 1..=1_000_000) => Ok(Shape::Lambda(number)),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation::*;

    #[test]
    fn compositions_are_read_as_they_are_written() {
        for text in [
            "grid-chain",
            "grid-chain/32K",
            "grid-chain@binomial",
            "grid-ecef-lat/1000@octopus-2/flat",
            "grid-flat@quadrinomial/lambda-3/alpha-25",
            "octopus:3/8K",
        ] {
            let composition = Composition::parse(Bcast, text).unwrap();
            assert_eq!(composition.to_string(), text);
        }
        let short = Composition::parse(Bcast, "ecef/64k").unwrap();
        assert_eq!(short.to_string(), "grid-ecef/64K");
        assert_eq!(short.name(), "grid-ecef");
    }

    #[test]
    fn what_is_no_composition_is_refused_with_what_there_is() {
        let refused = |operation, text: &str| {
            let error = Composition::parse(operation, text).unwrap_err();
            error.to_string()
        };
        assert!(refused(Bcast, "grid-gone").contains("known are flat"));
        assert!(refused(Bcast, "grid-chain/0").contains("`0` is not a message size"));
        assert!(refused(Bcast, "grid-chain/").contains("`` is not a message size"));
        for shape in ["", "ring", "octopus", "octopus-99", "alpha-0", "lambda-x"] {
            let text = format!("grid-chain@{shape}");
            assert!(refused(Bcast, &text).contains("is not the shape"), "{text}");
        }
        let radix = refused(Allgather, "mixed-radix:1");
        assert_eq!(
            radix,
            "`mixed-radix:1`: its radix is a number from 2 to 1024, 16 without it"
        );
        assert!(refused(Bcast, "chain:2").contains("has no parameter"));
        let without = refused(Bcast, "binomial@flat");
        assert!(
            without.contains("binomial of bcast has no trees"),
            "{without}"
        );
        assert!(without.contains("grid-chain"), "{without}");
        let none = refused(Alltoall, "pairwise@flat");
        assert!(none.ends_with("of alltoall, none do"), "{none}");
    }
}
