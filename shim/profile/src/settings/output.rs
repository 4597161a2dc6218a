//! Names of output files with placeholders.

/// Default name of a profile.
pub const DEFAULT_OUTPUT: &str = "treepie-%n.profile.yaml";

/// Default name of a profile, as the reference shows it.
pub(super) const DEFAULT_IN_REFERENCE: &str = "`treepie-%n.profile.yaml`";

/// Checks that every `%` is followed by a known letter.
pub(super) fn check(template: &str) -> Result<(), String> {
    let mut letters = template.chars();
    while letters.by_ref().any(|letter| letter == '%') {
        match letters.next() {
            Some('j' | 'p' | 'n' | '%') => {}
            other => {
                let unknown = other.map(String::from).unwrap_or_default();
                return Err(format!(
                    "`%{unknown}` in `{template}` stands for nothing; write %j for the job's id, \
                     %p for the process id, %n for the number of ranks, %% for a per cent sign"
                ));
            }
        }
    }
    Ok(())
}

/// Expands a template: `%j` is the job's id, `%p` the process id, `%n` the number of ranks, `%%` a
/// per cent sign. Anything else is kept.
pub fn expand_output(template: &str, job: &str, process_id: u32, ranks: usize) -> String {
    let mut name = String::with_capacity(template.len() + job.len());
    let mut letters = template.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            name.push(letter);
            continue;
        }
        match letters.next() {
            Some('j') => name.push_str(job),
            Some('p') => name.push_str(&process_id.to_string()),
            Some('n') => name.push_str(&ranks.to_string()),
            Some('%') => name.push('%'),
            Some(other) => name.extend(['%', other]),
            None => name.push('%'),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled_in() {
        assert_eq!(
            expand_output("run-%j/%n-%p-100%%.yaml", "4711", 99, 64),
            "run-4711/64-99-100%.yaml"
        );
        assert_eq!(
            expand_output(DEFAULT_OUTPUT, "", 1, 8),
            "treepie-8.profile.yaml"
        );
    }

    #[test]
    fn an_unknown_placeholder_is_refused_and_never_lost() {
        for template in ["%q", "a%", "%%%"] {
            assert!(check(template).is_err());
            assert_eq!(expand_output("%q a%", "", 0, 0), "%q a%");
        }
        assert_eq!(check("%j%p%n%%"), Ok(()));
    }
}
