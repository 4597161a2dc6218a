//! The largest message that the native MPI sends at once, where nobody measured it: what
//! is larger asks its receiver first, which costs a message between clusters two to four latencies.
//!
//! Measured between hosts 10 ms apart, over TCP:
//!
//! | MPI | sent at once |
//! |---|---|
//! | Open MPI 4.1 and 5 | below 64 KiB, header included |
//! | MPICH 4.0 over UCX 1.13 | up to 18.5 KiB, with 1 and with 4 processes on a host |
//! | MPICH 5.0 over UCX | all, up to 1 MiB |

use std::env;

use treepie_base::size;
use treepie_mpi::native::Native;
use treepie_native::Family;

const KIB: u64 = 1024;

/// The usual limit of libraries that have none, or that say nothing of it.
const NONE: u64 = 48 * KIB;

/// What headers take of a limit that is set, at most.
const HEADERS: u64 = 512;

/// The largest message that goes at once, in bytes, by what this process sees.
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

/// The limit of a library of the MPICH family that says this of itself.
fn of_version(text: &str, family: Family) -> u64 {
    let version = text.strip_prefix("MPICH Version:").map(str::trim_start);
    let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    match major {
        Some(5..) => NONE,
        None if text.starts_with("Intel") => NONE,
        _ => family.usual_eager_limit(),
    }
}

/// A number of bytes as Open MPI and UCX read it; `None` for `auto` and for what is none.
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
