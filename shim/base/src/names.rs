//! Names of the choices that users write: metrics, layers, operations, algorithms, formats.

use strum::VariantArray;
use thiserror::Error;

/// Unknown name: the message lists the known ones.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no {kind} is called `{given}`: write one of {}", known.join(", "))]
pub struct UnknownName {
    /// Kind of choice, such as `layer`.
    pub kind: &'static str,
    /// Name as written.
    pub given: String,
    /// Known names.
    pub known: Vec<&'static str>,
}

/// Returns the choice that `given` names in `table`, whose lines are name and choice. Case is
/// ignored, and `-` and `_` are equivalent.
pub fn parse<T: Copy>(
    kind: &'static str,
    table: &[(&'static str, T)],
    given: &str,
) -> Result<T, UnknownName> {
    let normalized = given.trim().to_ascii_lowercase().replace('_', "-");
    table
        .iter()
        .find(|(name, _)| *name == normalized)
        .map(|&(_, choice)| choice)
        .ok_or_else(|| UnknownName {
            kind,
            given: given.to_owned(),
            known: table.iter().map(|&(name, _)| name).collect(),
        })
}

/// Returns the choice that `given` names: strum's name of a variant, or one of `others`. Case is
/// ignored, and `-` and `_` are equivalent.
pub fn find<T: VariantArray + Copy + Into<&'static str>>(
    kind: &'static str,
    others: &[(&'static str, T)],
    given: &str,
) -> Result<T, UnknownName> {
    let named = T::VARIANTS.iter().map(|&choice| (choice.into(), choice));
    let table: Vec<_> = named.chain(others.iter().copied()).collect();
    parse(kind, &table, given)
}

/// Implements `FromStr` for a type that derives strum's `VariantArray` and `IntoStaticStr`. Further
/// names may follow the kind of choice.
#[macro_export]
macro_rules! from_name {
    ($type:ty, $kind:literal $(, $name:literal => $choice:expr)*) => {
        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::names::find($kind, &[$(($name, $choice)),*], text)
            }
        }
    };
}
