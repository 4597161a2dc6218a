//! Eager limit: size of the largest message that the native MPI sends without a rendezvous, if it
//! was not measured. A rendezvous costs a message between clusters two to four latencies.
//!
//! Measured between hosts 10 ms apart, over TCP:
//!
//! | MPI | sent eagerly |
//! |---|---|
//! | Open MPI 4.1 and 5 | below 64 KiB, header included |
//! | MPICH 4.0 over UCX 1.13 | up to 18.5 KiB, with 1 and with 4 processes on a host |
//! | MPICH 5.0 over UCX | all, up to 1 MiB |

use std::env;

use treepie_base::size;
use treepie_mpi::native::Native;
use treepie_native::Family;

const KIB: u64 = 1024;

/// Default limit for libraries that have none, or do not report it.
const NONE: u64 = 48 * KIB;

/// Largest part of a configured limit that headers take, in bytes.
const HEADERS: u64 = 512;

/// Returns the eager limit in bytes, from information that this process has.
pub fn limit(native: &Native, family: Family) -> u64 {
    let set = |name: &str| env::var(name).ok().and_then(|text| bytes(&text));
    match family {
        Family::OpenMpi => set("OMPI_MCA_btl_tcp_eager_limit")
            .map_or(family.usual_eager_limit(), |set| {
                set.saturating_sub(HEADERS)
            }),
        Family::Mpich => set("UCX_RNDV_THRESH").map_or_else(
            || of_version(&native.library_version(), family),
            |set| set.saturating_sub(HEADERS),
        ),
    }
    .max(KIB)
}

/// Returns the limit of a library of the MPICH family with this version text.
fn of_version(text: &str, family: Family) -> u64 {
    let version = text.strip_prefix("MPICH Version:").map(str::trim_start);
    let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    match major {
        Some(5..) => NONE,
        None if text.starts_with("Intel") => NONE,
        _ => family.usual_eager_limit(),
    }
}

/// Parses a number of bytes like Open MPI and UCX; `None` for `auto` and for invalid text.
fn bytes(text: &str) -> Option<u64> {
    match text.trim().eq_ignore_ascii_case("inf") {
        true => Some(NONE + HEADERS),
        false => size(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_the_libraries_read_them() {
        for (text, expected) in [
            ("16k", Some(16 * KIB)),
            ("inf", Some(NONE + HEADERS)),
            ("auto", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn the_limit_is_that_of_the_version() {
        let of = |text| of_version(text, Family::Mpich);
        assert_eq!(of("MPICH Version: 5.0.2"), NONE);
        assert_eq!(
            of("MPICH Version: 4.0.2"),
            Family::Mpich.usual_eager_limit()
        );
        assert_eq!(of("Intel(R) MPI Library 2021.16 for Linux* OS"), NONE);
        assert_eq!(
            of("MVAPICH2 Version : 2.3"),
            Family::Mpich.usual_eager_limit()
        );
    }
}
