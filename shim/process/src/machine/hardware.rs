//! Hardware of this host, as its companion library reads it.

use treepie_mpi::system::{Detail, hardware};

use crate::log;

/// Returns this host's hardware in the text form of `treepie_topology::Machine`, without the host's
/// name; `None` if it cannot be read.
pub fn read_hardware(detail: Detail) -> Option<String> {
    match hardware(detail) {
        Ok(text) => Some(without_host(&text)),
        Err(reason) => {
            log::info(&format!("the hardware of this host is not known: {reason}"));
            None
        }
    }
}

/// Removes the host's name: equal hosts have the same text.
fn without_host(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("host "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_machine_loses_its_host() {
        let text = "machine 1\nhost a\nlevel core 2\nunits 0 1\n";
        assert_eq!(without_host(text), "machine 1\nlevel core 2\nunits 0 1\n");
    }
}
