//! Numbers of all procedures, as constants with their names.
#![allow(non_upper_case_globals, missing_docs, dead_code)]

use super::note::Procedure;

include!(concat!(env!("OUT_DIR"), "/procedures.rs"));
