//! Runner of each collective: the native MPI, or plans.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::choices::choice;
use treepie_base::size::{self, size};
use treepie_choice::are_bytes_known;
use treepie_collective::{Composition, CompositionError, Operation};

/// Runner of one collective.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Runner {
    /// The native MPI, unchanged.
    #[default]
    Native,
    /// The plan that is predicted to be fastest.
    Auto,
    /// The named plan, such as `ecef-lat`.
    Plan(Composition),
    /// By the bytes of the message, or of a rank's block: consecutive ranges, and the native MPI
    /// elsewhere.
    BySize(Vec<OfSizes>),
}

/// Runner of the calls of these sizes, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfSizes {
    /// Range of sizes in bytes.
    pub sizes: Range<u64>,
    /// Runner, which does not depend on the size again.
    pub runner: Runner,
}

impl Runner {
    fn parse(operation: Operation, text: &str) -> Result<Self, String> {
        match text {
            "native" => Ok(Runner::Native),
            "auto" => Ok(Runner::Auto),
            text => match Composition::parse(operation, text) {
                Ok(plan) => Ok(Runner::Plan(plan)),
                Err(CompositionError::Algorithm { name, known, .. }) => Err(format!(
                    "{operation} has no algorithm `{name}`; known are native, auto, {known}"
                )),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    /// Returns the runner of a call of `bytes` bytes; if not all ranks know the bytes of a call,
    /// its runner is the same for all sizes.
    pub fn of(&self, bytes: Option<u64>) -> &Runner {
        match self {
            Runner::BySize(all) => {
                let fits = |one: &&OfSizes| bytes.is_some_and(|bytes| one.sizes.contains(&bytes));
                all.iter()
                    .find(fits)
                    .map_or(&Runner::Native, |one| &one.runner)
            }
            runner => runner,
        }
    }

    /// Returns the runners that calls of some size have.
    pub fn all(&self) -> impl Iterator<Item = &Runner> {
        let (one, by_size) = match self {
            Runner::BySize(all) => (None, &all[..]),
            runner => (Some(runner), &[][..]),
        };
        one.into_iter().chain(by_size.iter().map(|one| &one.runner))
    }
}

impl fmt::Display for Runner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Runner::Native => out.write_str("native"),
            Runner::Auto => out.write_str("auto"),
            Runner::Plan(composition) => composition.fmt(out),
            Runner::BySize(_) => out.write_str("by size"),
        }
    }
}

/// Runner of each collective: `native`, `auto`, or one by one, for all sizes or some, as in
/// `bcast:0-64K=ecef-lat,bcast:64K-=grid-chain/32K@flat,allreduce=auto`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collectives {
    /// Runner of collectives that are not listed.
    pub otherwise: Runner,
    /// Listed operations.
    pub listed: Vec<(Operation, Runner)>,
    /// Operations for which the native MPI is to use this algorithm of its own, as in
    /// `bcast=native:chain`; only the MPI can check if it has that algorithm.
    pub native_algorithms: Vec<(Operation, String)>,
    /// True if communicators whose names (`MPI_Comm_set_name`) begin with [`NAMED`] have separate
    /// runners: `treepie tune` compares plans in this way.
    pub by_name: bool,
}

/// Prefix of the name of one of the native MPI's own algorithms.
const NATIVE_ALGORITHM: &str = "native:";

/// Setting that lets communicators have separate runners.
const BY_NAME: &str = "by-name";

/// Prefix of the name of a communicator that has separate runners, which follow in the setting's
/// syntax: `treepie:bcast=binomial`.
pub const NAMED: &str = "treepie:";

impl Collectives {
    /// Returns the runner of `operation`.
    pub fn runner(&self, operation: Operation) -> &Runner {
        self.listed
            .iter()
            .find(|(listed, _)| *listed == operation)
            .map_or(&self.otherwise, |(_, runner)| runner)
    }

    /// Returns the setting in which all are chosen automatically.
    pub fn all_auto() -> Collectives {
        Collectives {
            otherwise: Runner::Auto,
            ..Collectives::default()
        }
    }

    /// Returns the runners on a communicator of this name.
    ///
    /// # Errors
    /// A name that begins with [`NAMED`] and continues with invalid syntax.
    pub fn of_name(name: &str) -> Result<Collectives, String> {
        match name.strip_prefix(NAMED) {
            Some(setting) => setting.parse(),
            None => Ok(Collectives::default()),
        }
    }

    /// True if every collective is left to the native MPI.
    pub fn all_native(&self) -> bool {
        !self.by_name
            && self.otherwise == Runner::Native
            && self
                .listed
                .iter()
                .flat_map(|(_, runner)| runner.all())
                .all(|runner| *runner == Runner::Native)
    }
}

impl FromStr for Collectives {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == BY_NAME {
            return Ok(Collectives {
                by_name: true,
                ..Collectives::default()
            });
        }
        if !text.contains('=') {
            let otherwise = match text.trim() {
                "native" => Runner::Native,
                "auto" => Runner::Auto,
                name => {
                    return Err(format!(
                        "`{name}` stands alone; write native, auto, or the operation in front, such \
                         as bcast={name}"
                    ));
                }
            };
            return Ok(Collectives {
                otherwise,
                ..Collectives::default()
            });
        }
        let mut all = Collectives::default();
        for item in text.split(',').map(str::trim) {
            let (calls, runner) = item.split_once('=').ok_or_else(|| {
                format!("`{item}` is not operation=strategy; write it as in bcast=ecef-lat")
            })?;
            let (operation, sizes) = match calls.split_once(':') {
                Some((operation, sizes)) => (operation, Some(sizes)),
                None => (calls, None),
            };
            let operation: Operation = choice(operation.trim())?;
            let runner = runner.trim();
            match sizes {
                Some(sizes) => all.add_of_sizes(operation, sizes.trim(), runner)?,
                None => all.add(operation, runner)?,
            }
        }
        Ok(all)
    }
}

impl Collectives {
    /// Adds the runner of all calls of an operation.
    fn add(&mut self, operation: Operation, runner: &str) -> Result<(), String> {
        if self.listed.iter().any(|(listed, _)| *listed == operation) {
            return Err(format!("{operation} is listed twice; keep one of them"));
        }
        let runner = match runner.strip_prefix(NATIVE_ALGORITHM) {
            Some(name) => {
                self.native_algorithms.push((operation, native_name(name)?));
                Runner::Native
            }
            None => Runner::parse(operation, runner)?,
        };
        self.listed.push((operation, runner));
        Ok(())
    }

    /// Adds the runner of its calls of some sizes.
    fn add_of_sizes(
        &mut self,
        operation: Operation,
        sizes: &str,
        runner: &str,
    ) -> Result<(), String> {
        if !are_bytes_known(operation) || operation == Operation::Barrier {
            return Err(format!(
                "{operation}:{sizes}: not all ranks know a size of {operation}; write \
                 {operation}={runner}"
            ));
        }
        if runner.starts_with(NATIVE_ALGORITHM) {
            return Err(format!(
                "{operation}:{sizes}={runner}: an algorithm of the MPI's own is for all sizes; \
                 write {operation}={runner}, or a tuning (TREEPIE_TUNING)"
            ));
        }
        let found = range(sizes).ok_or_else(|| {
            format!(
                "`{operation}:{sizes}` has no sizes; write {operation}:FROM-TO or \
                 {operation}:FROM-, from FROM bytes on and below TO, as in {operation}:0-64K"
            )
        })?;
        let runner = Runner::parse(operation, runner)?;
        let listed = self
            .listed
            .iter_mut()
            .find(|(listed, _)| *listed == operation);
        let ranges = match listed {
            None => {
                self.listed.push((operation, Runner::BySize(Vec::new())));
                self.listed.last_mut().map(|(_, runner)| runner)
            }
            Some((_, runner)) => Some(runner),
        };
        let Some(Runner::BySize(ranges)) = ranges else {
            return Err(format!(
                "{operation} is listed for all sizes, and for {sizes}; keep one of them"
            ));
        };
        let meets = |one: &OfSizes| one.sizes.start < found.end && found.start < one.sizes.end;
        if ranges.iter().any(meets) {
            return Err(format!(
                "{operation}:{sizes} meets sizes that are listed already; keep one of them"
            ));
        }
        ranges.push(OfSizes {
            sizes: found,
            runner,
        });
        ranges.sort_by_key(|one| one.sizes.start);
        Ok(())
    }
}

/// Parses sizes such as `0-64K`, or `64K-` without an end.
fn range(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once('-')?;
    let end = match end.trim() {
        "" => u64::MAX,
        end => size(end)?,
    };
    let sizes = size(start)?..end;
    (!sizes.is_empty()).then_some(sizes)
}

/// Converts a name to the form that MPIs use: `scatter_allgather`.
fn native_name(name: &str) -> Result<String, String> {
    let is_of_one = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match !name.is_empty() && name.bytes().all(is_of_one) {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "`{name}` names no algorithm of an MPI's own; write one such as native:binomial"
        )),
    }
}

impl fmt::Display for Collectives {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.by_name {
            return out.write_str(BY_NAME);
        }
        if self.listed.is_empty() {
            return self.otherwise.fmt(out);
        }
        for (index, (operation, runner)) in self.listed.iter().enumerate() {
            if index > 0 {
                out.write_str(",")?;
            }
            if let Runner::BySize(ranges) = runner {
                for (index, one) in ranges.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    let OfSizes { sizes, runner } = one;
                    write!(out, "{comma}{operation}:{}-", size::text(sizes.start))?;
                    if sizes.end < u64::MAX {
                        out.write_str(&size::text(sizes.end))?;
                    }
                    write!(out, "={runner}")?;
                }
                continue;
            }
            write!(out, "{operation}={runner}")?;
            let mut named = self.native_algorithms.iter();
            if let Some((_, name)) = named.find(|(of, _)| of == operation) {
                write!(out, ":{name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_three_forms_are_read_and_written() {
        for text in [
            "native",
            "auto",
            "by-name",
            "bcast=grid-ecef-lat,allreduce=native",
            "bcast=grid-chain/32K@binomial/flat,allreduce=auto",
            "bcast:0-8K=native,bcast:8K-1M=auto,bcast:1M-=grid-chain@flat,scan=native",
            "bcast=native:scatter_allgather,scan=native:2",
        ] {
            let collectives: Collectives = text.parse().unwrap();
            assert_eq!(collectives.to_string(), text);
        }
        let some: Collectives = "bcast=ecef-lat,allreduce=native".parse().unwrap();
        assert_eq!(some.runner(Operation::Bcast).to_string(), "grid-ecef-lat");
        assert_eq!(some.runner(Operation::Barrier), &Runner::Native);
        assert!(!some.all_native());
        assert!("bcast=native".parse::<Collectives>().unwrap().all_native());
        let own: Collectives = "bcast=native:chain".parse().unwrap();
        assert!(own.all_native());
        assert_eq!(
            own.native_algorithms,
            [(Operation::Bcast, "chain".to_owned())]
        );
    }

    #[test]
    fn each_size_has_one_runner() {
        let text = "bcast:64K-=grid-chain,bcast:0-8K=auto";
        let collectives: Collectives = text.parse().unwrap();
        let runner = collectives.runner(Operation::Bcast);
        for (bytes, expected) in [
            (Some(0), "auto"),
            (Some(8191), "auto"),
            (Some(8192), "native"),
            (Some(65535), "native"),
            (Some(65536), "grid-chain"),
            (None, "native"),
        ] {
            assert_eq!(runner.of(bytes).to_string(), expected, "{bytes:?}");
        }
        assert!(!collectives.all_native());
        let native: Collectives = "bcast:0-8K=native".parse().unwrap();
        assert!(native.all_native());
    }

    #[test]
    fn a_communicator_s_name_may_say_who_runs_its_collectives() {
        let of = |name| Collectives::of_name(name).unwrap();
        let named = of("treepie:bcast=binomial");
        assert_eq!(named.runner(Operation::Bcast).to_string(), "binomial");
        assert!(of("rows of the matrix").all_native() && of("").all_native());
        assert!(Collectives::of_name("treepie:bcast").is_err());
    }

    #[test]
    fn wrong_lists_say_what_to_write() {
        for (text, expected) in [
            (
                "fast",
                "`fast` stands alone; write native, auto, or the operation in front, such as \
                 bcast=fast",
            ),
            (
                "bcast=auto,allreduce",
                "`allreduce` is not operation=strategy; write it as in bcast=ecef-lat",
            ),
            (
                "bcast=native:two words",
                "`two words` names no algorithm of an MPI's own; write one such as native:binomial",
            ),
            (
                "bcast=auto,bcast=native",
                "bcast is listed twice; keep one of them",
            ),
            (
                "bcast:0-8K=auto,bcast=native",
                "bcast is listed twice; keep one of them",
            ),
            (
                "bcast=native,bcast:0-8K=auto",
                "bcast is listed for all sizes, and for 0-8K; keep one of them",
            ),
            (
                "bcast:0-8K=auto,bcast:4K-=native",
                "bcast:4K- meets sizes that are listed already; keep one of them",
            ),
            (
                "bcast:8K-8K=auto",
                "`bcast:8K-8K` has no sizes; write bcast:FROM-TO or bcast:FROM-, from FROM bytes on \
                 and below TO, as in bcast:0-64K",
            ),
            (
                "gatherv:0-8K=flat",
                "gatherv:0-8K: not all ranks know a size of gatherv; write gatherv=flat",
            ),
            (
                "bcast:0-8K=native:chain",
                "bcast:0-8K=native:chain: an algorithm of the MPI's own is for all sizes; write \
                 bcast=native:chain, or a tuning (TREEPIE_TUNING)",
            ),
            (
                "allreduce=ring@flat",
                "ring of allreduce has no trees inside clusters that a shape could be given; of \
                 allreduce, grid-exchange, grid-chain, grid-flat, grid-ecef-lat do",
            ),
        ] {
            assert_eq!(text.parse::<Collectives>().unwrap_err(), expected);
        }
    }
}
