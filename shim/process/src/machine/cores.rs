//! Cores that this process may run on.

/// Returns the cores that this process may run on, in Linux's list format (`0-3,8`); empty if the
/// system does not report them.
pub fn allowed_cores() -> String {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            Some(line.trim().to_owned())
        })
        .unwrap_or_default()
}

/// Returns the numbers of [`allowed_cores`].
pub fn cores() -> Vec<usize> {
    treepie_base::list::parse(&allowed_cores()).unwrap_or_default()
}
