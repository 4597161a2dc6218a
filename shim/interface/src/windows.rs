//! What an entry point calls innermost where small puts and accumulates are kept back: those
//! themselves, what could see the difference, and what makes, synchronises and frees windows.

use crate::calls::Field;
use crate::table::Procedure;

/// What a call reaches in the memory of its target.
const REACHED: &[Field] = &[
    ("origin", &["origin_addr"], ""),
    ("origin_count", &["origin_count"], " as i64"),
    ("origin_type", &["origin_datatype", "datatype"], ""),
    ("target", &["target_rank"], ""),
    ("displacement", &["target_disp"], " as i64"),
    ("target_count", &["target_count"], " as i64"),
    ("target_type", &["target_datatype", "datatype"], ""),
    ("op", &["op"], ""),
    ("window", &["win"], ""),
];

impl Procedure {
    /// Whether something is done around it where puts are kept back.
    pub(crate) fn concerns_windows(&self) -> bool {
        let (role, detail) = self.role.split_once(' ').unwrap_or((&self.role, ""));
        match role {
            "transfer" | "fetch" | "open-epoch" | "end-epoch" | "allocate-shared" => true,
            "within-epoch" => detail == "Flush",
            "end" => detail == "Window",
            "" => self.of_kind("window*").is_some(),
            _ => false,
        }
    }

    /// The call of the next procedure, `plain`, within what kept puts need around it.
    pub(crate) fn with_gathering(&self, plain: String) -> String {
        if !self.concerns_windows() {
            return plain;
        }
        let name = self.name.strip_suffix("_c").unwrap_or(&self.name);
        let reached = || self.literal("Reached", REACHED, "");
        let call = match name.strip_prefix("MPI_").unwrap_or(name) {
            "Put" => format!("put({}", reached()),
            "Accumulate" => format!("accumulate({}", reached()),
            "Win_fence" => "fence(win, assert as c_int".to_owned(),
            "Win_start" => "start(win, group".to_owned(),
            "Win_complete" => "complete(win".to_owned(),
            "Win_lock" => "lock(win, rank".to_owned(),
            "Win_unlock" => "unlock(win, rank".to_owned(),
            "Win_lock_all" => "lock_all(win".to_owned(),
            "Win_unlock_all" => "unlock_all(win".to_owned(),
            "Win_flush" | "Win_flush_local" => "flush(win, rank".to_owned(),
            "Win_flush_all" | "Win_flush_local_all" => "flush_all(win".to_owned(),
            "Win_sync" => "sync(win".to_owned(),
            // What waits for others' epochs ends none of this process's own.
            "Win_wait" | "Win_test" => return plain,
            "Win_free" => "free(win".to_owned(),
            _ if self.of_kind("window*").is_some() => {
                let unit = if self.large {
                    " as i64"
                } else {
                    " as c_int as i64"
                };
                match self.has("disp_unit") {
                    true => format!(
                        "made(Shape::Sized {{ bytes: size as i64, unit: disp_unit{unit} }}, comm, win"
                    ),
                    false => "made(Shape::Dynamic, comm, win".to_owned(),
                }
            }
            _ => format!("pass({}", reached()),
        };
        format!("one_sided::{call}, || {plain})")
    }
}
