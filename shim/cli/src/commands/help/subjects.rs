//! Pages that help with errors.

use treepie_launch::error::{CommandError, Subject};

/// Page about the subject of an error.
const PAGES_ABOUT: [(Subject, &str); 13] = [
    (Subject::File, "files"),
    (Subject::Apply, "apply"),
    (Subject::Setting, "variables"),
    (Subject::Launcher, "launchers"),
    (Subject::Library, "install"),
    (Subject::Program, "support"),
    (Subject::Topology, "placement"),
    (Subject::Network, "networks"),
    (Subject::Placement, "placement"),
    (Subject::Store, "learning"),
    (Subject::Matrix, "profiles"),
    (Subject::Order, "orders"),
    (Subject::Pages, "hangs"),
];

/// Ending of the line of an error: the page that helps, where there is one.
pub fn hint(error: &CommandError) -> String {
    let page = PAGES_ABOUT
        .iter()
        .find(|(subject, _)| Some(*subject) == error.subject());
    page.map_or(String::new(), |(_, page)| {
        format!(" (more: `treepie help {page}`)")
    })
}

#[cfg(test)]
mod tests {
    use treepie_book::Page;

    use super::*;

    #[test]
    fn every_page_is_one_of_the_book() {
        for (subject, page) in PAGES_ABOUT {
            assert!(Page::named(page).is_some(), "{subject:?}: {page}");
        }
    }
}
