//! Numbers of procedures in pages, and facts about them that readers of pages need.

use crate::table::{Action, Procedure};

impl Procedure {
    /// Returns the role of the procedure for a reader of pages: by default, that it is a collective
    /// on its communicator.
    pub fn role_in_pages(&self) -> String {
        let made = ["comm*", "window*", "file*"];
        let makes = made.iter().any(|kind| self.has_kind(kind)) && self.has_kind("comm");
        let role = match &self.columns.action {
            Action::Role(role) => role,
            Action::By(_) if makes => return "makes".to_owned(),
            Action::By(_) => return String::new(),
        };
        match role.detail.and_then(|column| self.columns.fact(column)) {
            Some(detail) if detail.starts_with("Neighbor") => {
                let neighbourhood = role.in_pages.replace("collective", "neighbourhood");
                format!("{neighbourhood} {detail}")
            }
            Some(detail) => format!("{} {detail}", role.in_pages),
            None if role.in_pages.is_empty() && makes && !self.columns.is_of_group => {
                "makes".to_owned()
            }
            None => role.in_pages.to_owned(),
        }
    }

    /// True if no cut includes the operation that it begins.
    fn is_uncut(&self) -> bool {
        let prepares = match self.columns.action {
            Action::Role(role) => role.prepares_collective(),
            Action::By(_) => false,
        };
        prepares || self.columns.is_uncut
    }
}

/// Generates a constant for each procedure, which notes use, and the table in pages: a line for
/// each, with its name and its role.
pub(crate) fn generate(procedures: &[Procedure]) -> String {
    let (mut constants, mut table) = (String::new(), String::new());
    for (number, procedure) in procedures.iter().enumerate() {
        let name = &procedure.name;
        let role = procedure.role_in_pages();
        let poll = procedure.columns.polls;
        let kind = role.split(' ').next().unwrap_or_default();
        let collective = ["collective", "neighbourhood", "makes"].contains(&kind);
        let uncut = procedure.is_uncut();
        // Those that create a communicator are shown as the collectives that they are.
        let starts = procedure.has_kind("request*") && kind != "makes";
        constants += &format!(
            "pub const {name}: Procedure = Procedure {{ number: {number}, poll: {poll}, \
             collective: {collective}, uncut: {uncut}, starts: {starts} }};\n"
        );
        table += &format!("{name} {role}\n");
    }
    format!("{constants}pub const TABLE: &str = {table:?};\n")
}
