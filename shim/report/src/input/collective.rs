//! Names of collectives with the form of the call.

use std::fmt;
use std::str::FromStr;

use treepie_base::UnknownName;
use treepie_collective::Operation;

/// Form of a collective's call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallForm {
    /// Complete when the call returns.
    Blocking,
    /// Started in one call: `iallreduce`.
    NonBlocking,
    /// A request is created once and started repeatedly: `allreduce-init`.
    Persistent,
}

/// A collective and the form of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collective {
    /// Operation.
    pub operation: Operation,
    /// Form of its call.
    pub form: CallForm,
}

impl Collective {
    /// True if it is started in one call and completed in another.
    pub fn is_started(self) -> bool {
        self.form != CallForm::Blocking
    }
}

impl FromStr for Collective {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let name = text.trim().to_ascii_lowercase().replace('_', "-");
        let operation = |name: &str| match name {
            "broadcast" => Ok(Operation::Bcast),
            _ => name.parse::<Operation>(),
        };
        let of_form = |form| move |operation| Collective { operation, form };
        let started = || {
            let persistent = name
                .strip_suffix("-init")
                .map(|rest| (rest, CallForm::Persistent));
            let non_blocking = name
                .strip_prefix('i')
                .map(|rest| (rest, CallForm::NonBlocking));
            let (rest, form) = persistent.or(non_blocking)?;
            operation(rest).ok().map(of_form(form))
        };
        match operation(&name) {
            Ok(operation) => Ok(of_form(CallForm::Blocking)(operation)),
            Err(unknown) => started().ok_or(UnknownName {
                given: text.to_owned(),
                ..unknown
            }),
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            CallForm::Blocking => write!(formatter, "{}", self.operation),
            CallForm::NonBlocking => write!(formatter, "i{}", self.operation),
            CallForm::Persistent => write!(formatter, "{}-init", self.operation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_every_collective_is_read_back_from_its_name() {
        for operation in Operation::every() {
            for form in [
                CallForm::Blocking,
                CallForm::NonBlocking,
                CallForm::Persistent,
            ] {
                let collective = Collective { operation, form };
                assert_eq!(collective.to_string().parse(), Ok(collective));
            }
        }
        let read = |text: &str| text.parse::<Collective>().map(|found| found.to_string());
        assert_eq!(read("Ibroadcast"), Ok("ibcast".to_owned()));
        assert_eq!(
            read("Reduce_scatter_init"),
            Ok("reduce-scatter-init".to_owned())
        );
    }

    #[test]
    fn what_is_no_collective_in_any_form_is_refused_as_it_was_written() {
        for text in ["icast", "init", "-init", "i", "iallreduce-init"] {
            let unknown = text.parse::<Collective>().expect_err(text);
            assert_eq!(unknown.given, text);
        }
    }
}
