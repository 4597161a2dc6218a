//! Rules by which a recorded collective is expanded to messages.

use strum::VariantArray;

use crate::family::Family;
use treepie_base::UnknownName;
use treepie_collective::algorithms::TABLE;

/// Rules by which a recorded collective is expanded to messages. Written as `open-mpi`, `mpich`,
/// `logical` or the name of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Model {
    /// Algorithms that a native MPI usually chooses.
    Native(Family),
    /// Logical messages of the collective, independent of its implementation: root to all, all to
    /// root, all to all.
    Logical,
    /// One algorithm, by name, for every operation that it implements; the others as usual.
    Algorithm(&'static str),
}

const LOGICAL: &str = "logical";

impl Model {
    /// Returns every name of a model: of algorithms, those that depend only on ranks.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let families = Family::VARIANTS.iter().map(|&family| family.into());
        let by_rank = TABLE.iter().filter(|algorithm| algorithm.is_by_rank());
        let mut algorithms: Vec<&str> = Vec::new();
        for name in by_rank.flat_map(|known| known.aliases.iter().copied().chain([known.name])) {
            if !algorithms.contains(&name) {
                algorithms.push(name);
            }
        }
        families.chain([LOGICAL]).chain(algorithms)
    }
}

impl std::fmt::Display for Model {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Model::Native(family) => family.fmt(formatter),
            Model::Logical => formatter.pad(LOGICAL),
            Model::Algorithm(name) => formatter.pad(name),
        }
    }
}

impl std::str::FromStr for Model {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.trim().to_ascii_lowercase().replace('_', "-");
        if let Ok(family) = wanted.parse() {
            return Ok(Model::Native(family));
        }
        if wanted == LOGICAL {
            return Ok(Model::Logical);
        }
        let found = Model::names().find(|&name| name == wanted);
        found.map(Model::Algorithm).ok_or_else(|| UnknownName {
            kind: "model of collectives",
            given: text.to_owned(),
            known: Model::names().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_read_back_from_its_name() {
        for name in Model::names() {
            let model: Model = name.parse().unwrap();
            assert_eq!(model.to_string(), name);
        }
        assert_eq!("Open_MPI".parse(), Ok(Model::Native(Family::OpenMpi)));
    }

    #[test]
    fn an_unknown_model_is_answered_with_all_that_exist() {
        let error = "ompi".parse::<Model>().unwrap_err().to_string();
        assert!(
            error.starts_with(
                "no model of collectives is called `ompi`: write one of open-mpi, mpich, logical, \
                 linear, flat, chain, "
            ),
            "{error}"
        );
    }
}
