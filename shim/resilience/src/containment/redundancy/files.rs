//! Configuration of the three libraries, in their own formats.

use std::fmt::Write;

use crate::containment::redundancy::sets::Scheme;

/// A host and the named nodes above it, such as `("RACK", "r1")`.
pub type NamedHost = (String, Vec<(String, String)>);

/// SCR's configuration (`.scrconf` in the prefix directory, or `SCR_CONF_FILE`): failure groups of
/// every host, and sets across the nodes of `group`. By default SCR bypasses the cache and protects
/// nothing, hence the first settings; `interval` is in seconds. The location of checkpoints is left
/// to the site (`SCR_CACHE_BASE`): another location would need a `STORE` line.
pub fn scr_config(
    hosts: &[NamedHost],
    group: &str,
    size: usize,
    scheme: Scheme,
    interval: f64,
) -> String {
    let mut text = format!(
        "SCR_COPY_TYPE=FILE\nSCR_CACHE_BYPASS=0\nSCR_CHECKPOINT_SECONDS={:.0}\n",
        interval.max(1.0)
    );
    for (host, groups) in hosts {
        let groups = groups.iter().map(|(kind, name)| format!(" {kind}={name}"));
        // Writing to a string does not fail.
        let _ = writeln!(text, "GROUPS={host}{}", groups.collect::<String>());
    }
    let scheme = match scheme {
        Scheme::Xor => format!("TYPE=XOR SET_SIZE={size}"),
        Scheme::Partner => format!("TYPE=PARTNER SET_SIZE={size}"),
        Scheme::ReedSolomon(losses) => {
            format!("TYPE=RS SET_SIZE={size} SET_FAILURES={losses}")
        }
    };
    text + &format!("CKPT=0 INTERVAL=1 GROUP={group} {scheme}\n")
}

/// The keys of FTI's configuration that determine the sets.
pub fn fti_config(ranks_per_host: usize, size: usize) -> String {
    format!("[basic]\nhead = 0\nnode_size = {ranks_per_host}\ngroup_size = {size}\n")
}

/// The keys of VELOC's configuration for redundancy. It has none for sets.
pub fn veloc_config() -> String {
    "mode = async\nscratch = /local/ckpt\npersistent = /shared/ckpt\nec_interval = 0\n".to_owned()
}
