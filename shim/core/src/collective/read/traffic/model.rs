//! By which rules a recorded collective becomes messages.

use crate::affinity::UnknownName;
use crate::collective::native::Host;
use crate::collective::read::traffic::algorithm::Algorithm;

/// By which rules a recorded collective becomes messages. Written as
/// `open-mpi`, `mpich`, `logical` or the name of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Model {
    /// The algorithms that a host usually takes.
    Host(Host),
    /// What the collective means, whatever carries it out: root to all, all to
    /// root, all to all.
    Logical,
    /// One algorithm for every operation that it does; the others as usual.
    Algorithm(Algorithm),
}

const LOGICAL: &str = "logical";

impl Model {
    /// Every name that stands for a model.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let hosts = Host::NAMES.iter().map(|&(name, _)| name);
        let algorithms = Algorithm::NAMES.iter().map(|&(name, _)| name);
        hosts.chain([LOGICAL]).chain(algorithms)
    }
}

impl std::fmt::Display for Model {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Model::Host(host) => host.fmt(formatter),
            Model::Logical => formatter.pad(LOGICAL),
            Model::Algorithm(algorithm) => algorithm.fmt(formatter),
        }
    }
}

impl std::str::FromStr for Model {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(host) = text.parse() {
            return Ok(Model::Host(host));
        }
        if text.trim().eq_ignore_ascii_case(LOGICAL) {
            return Ok(Model::Logical);
        }
        let unknown = |_| UnknownName {
            kind: "model of collectives",
            given: text.to_owned(),
            known: Model::names().collect(),
        };
        text.parse().map(Model::Algorithm).map_err(unknown)
    }
}

#[cfg(test)]
mod tests {
    use crate::collective::read::traffic::model::*;

    #[test]
    fn every_model_is_read_back_from_its_name() {
        for name in Model::names() {
            let model: Model = name.parse().unwrap();
            assert_eq!(model.to_string(), name);
        }
        assert_eq!("Open_MPI".parse(), Ok(Model::Host(Host::OpenMpi)));
    }

    #[test]
    fn an_unknown_model_is_answered_with_all_that_exist() {
        let error = "ompi".parse::<Model>().unwrap_err().to_string();
        assert!(
            error.starts_with(
                "no model of collectives is called `ompi`: write one of open-mpi, mpich, logical, \
                 linear, synchronised-linear, "
            ),
            "{error}"
        );
    }
}
