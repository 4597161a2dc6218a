//! The entry points themselves, under both names of each procedure.

use std::env;
use std::fmt::Write as _;

use crate::table::Procedure;

pub fn generate(procedures: &[Procedure]) -> String {
    let mut code = String::new();
    // Both names of a procedure: the one without the P starts a byte later.
    let names: String = procedures
        .iter()
        .map(|procedure| format!("P{}\\0", procedure.name))
        .collect();
    let _ = writeln!(
        code,
        "/// The names of all entry points, each ended by NUL.\n\
         pub static NAMES: [u8; {}] = *b\"{names}\";",
        procedures.iter().map(|p| p.name.len() + 2).sum::<usize>(),
    );
    for (prefix, start) in [("", 1), ("P", 0)] {
        let mut at = start;
        let _ = writeln!(
            code,
            "static NEXT_{prefix}MPI: [Next; {}] = [",
            procedures.len()
        );
        for procedure in procedures {
            let _ = writeln!(code, "    Next::new({at}), // {prefix}{}", procedure.name);
            at += procedure.name.len() + 2;
        }
        code.push_str("];\n");
    }
    for (index, procedure) in procedures.iter().enumerate() {
        generate_procedure(&mut code, index, procedure);
    }
    code
}

/// What the code of a procedure's functions is made of.
struct Parts<'a> {
    procedure: &'a Procedure,
    /// `a, b`
    arguments: String,
    /// `a: Word, b: Word`
    declared: String,
}

impl<'a> Parts<'a> {
    fn of(procedure: &'a Procedure) -> Self {
        let names: Vec<&str> = procedure.parameters.iter().map(|p| &*p.name).collect();
        let declared: Vec<String> = names.iter().map(|name| format!("{name}: Word")).collect();
        Parts {
            procedure,
            arguments: names.join(", "),
            declared: declared.join(", "),
        }
    }

    /// The function that does what the procedure's role says around a call of `next`, with W'
    /// for the world.
    fn around(&self) -> String {
        let Parts {
            procedure,
            arguments,
            declared,
        } = self;
        let name = &procedure.name;
        let types = vec!["Word"; procedure.parameters.len()].join(", ");
        let pointer = format!("unsafe extern \"C\" fn({types}) -> c_int");
        let body = match procedure.role.strip_prefix("by ") {
            Some(function) => format!("        crate::{function}(next, {arguments})\n"),
            None => {
                let substituted: String = procedure
                    .parameters
                    .iter()
                    .filter(|parameter| parameter.kind == "comm")
                    .map(|p| format!("        let {0} = world::substitute({0});\n", p.name))
                    .collect();
                let body = procedure.body(&format!("next({arguments})"));
                format!("{substituted}        {body}\n")
            }
        };
        format!(
            "#[inline(always)]\nunsafe fn around_{name}(next: &'static Next, {declared}) -> c_int {{\n    \
             let Some(next) = next.get() else {{ return missing(next) }};\n    \
             // SAFETY: `next` is the address of the procedure of this name, which has these parameters;\n    \
             // they are the caller's own, or the communicator that stands for its world.\n    \
             unsafe {{\n        let next = std::mem::transmute::<*mut c_void, {pointer}>(next);\n{body}    }}\n}}\n"
        )
    }

    /// A function with the procedure's parameters.
    fn function(&self, attributes: &str, function: &str, body: &str) -> String {
        let Parts {
            procedure,
            declared,
            ..
        } = self;
        format!(
            "{attributes}unsafe extern \"C\" fn {function}({declared}) -> c_int {{\n    \
             // SAFETY: the caller keeps the contract of {}.\n    unsafe {{ {body} }}\n}}\n",
            procedure.name
        )
    }
}

fn generate_procedure(code: &mut String, index: usize, procedure: &Procedure) {
    let name = &procedure.name;
    let parts = Parts::of(procedure);
    let arguments = &parts.arguments;
    code.push_str(&parts.around());
    for prefix in procedure.prefixes() {
        let full = format!("{prefix}{name}");
        let next = format!("NEXT_{prefix}MPI[{index}]");
        let (attributes, entry) = match procedure.rare {
            true => ("", format!("entry_{full}")),
            false => ("#[unsafe(no_mangle)]\n", full.clone()),
        };
        let passes_on = procedure.passes_on(&next);
        let (watched_attributes, watched) = match passes_on {
            Some(_) => ("", format!("watched_{full}")),
            None => (attributes, entry.clone()),
        };
        let body = format!("around_{name}(&{next}, {arguments})");
        code.push_str(&parts.function(watched_attributes, &watched, &body));
        if let Some(instructions) = passes_on {
            let _ = write!(
                code,
                "#[unsafe(naked)]\n{attributes}unsafe extern \"C\" fn {entry}() {{\n    \
                 std::arch::naked_asm!({instructions} watched = sym watched_{full})\n}}\n"
            );
        }
        procedure.generate_rare(code, prefix, index);
    }
}

/// Where the System V ABI of x86-64 has a function find an argument as it is called.
fn argument_at(position: usize) -> String {
    match ["rdi", "rsi", "rdx", "rcx", "r8", "r9"].get(position) {
        Some(register) => (*register).to_owned(),
        None => format!("[rsp + {}]", 8 * (position - 6) + 8),
    }
}

impl Procedure {
    /// The instructions, and what they are about, of an entry point that jumps to `next`,
    /// with W' for the world, where nothing is done around calls, and to `{watched}`
    /// otherwise: it takes no more than a jump and touches no stack, which a function in
    /// Rust does for what comes behind the jump. `None` where there is always something to
    /// do, and on processors whose language this is not.
    fn passes_on(&self, next: &str) -> Option<String> {
        let is_ours = env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64");
        if !is_ours || self.role.starts_with("by ") {
            return None;
        }
        // Receives and what completes requests are only timed, and watched where requests
        // are cancelled.
        let states = match self.role.as_str() {
            "complete" | "receive" => "record::TIMING | record::CANCELLING",
            _ => "u8::MAX",
        };
        let mut lines = vec![
            "test byte ptr [rip + {state}], {states}".to_owned(),
            "jne {watched}".to_owned(),
        ];
        let mut operands = format!("state = sym record::STATE, states = const {states}, ");
        let further = match self.role.split(' ').next() {
            // A tool's own calls inside a receive are not the application's.
            Some("receive") => Some("next::TOOL_IS_BEHIND"),
            Some("collective") if self.blocks() => Some("collectives::ACTIVE"),
            _ => None,
        };
        if let Some(flag) = further {
            lines.push("cmp byte ptr [rip + {flag}], 0".to_owned());
            lines.push("jne {watched}".to_owned());
            operands += &format!("flag = sym {flag}, ");
        }
        lines.push("mov rax, [rip + {next} + {at}]".to_owned());
        lines.push("test rax, rax".to_owned());
        lines.push("je {watched}".to_owned());
        let (table, index) = next.split_once('[').expect("an element of a table");
        let index = index.trim_end_matches(']');
        operands += &format!(
            "next = sym {table}, at = const {index} * size_of::<Next>() + Next::ADDRESS, "
        );
        let substituted = self.substituted_arguments();
        if !substituted.is_empty() {
            operands += "substitution = sym world::SUBSTITUTION, \
                 mask = const world::Substitution::MASK, \
                 from = const world::Substitution::FROM, \
                 to = const world::Substitution::TO, ";
        }
        lines.extend(substituted);
        lines.push("jmp rax".to_owned());
        let lines: String = lines.iter().map(|line| format!("{line:?}, ")).collect();
        Some(lines + &operands)
    }

    /// The instructions that put W' for the world in each argument that is a communicator.
    fn substituted_arguments(&self) -> Vec<String> {
        let parameters = self.parameters.iter().enumerate();
        let comms = parameters.filter(|(_, parameter)| parameter.kind == "comm");
        let substituted = comms.flat_map(|(position, _)| {
            let argument = argument_at(position);
            [
                "mov r10, [rip + {substitution} + {mask}]".to_owned(),
                format!("and r10, {argument}"),
                "cmp r10, [rip + {substitution} + {from}]".to_owned(),
                "jne 2f".to_owned(),
                "mov r10, [rip + {substitution} + {to}]".to_owned(),
                format!("mov {argument}, r10"),
                "2:".to_owned(),
            ]
        });
        substituted.collect()
    }

    /// The exported symbol of a procedure that not every MPI has.
    fn generate_rare(&self, code: &mut String, prefix: &str, index: usize) {
        if self.rare {
            let name = format!("{prefix}{}", self.name);
            let _ = writeln!(
                code,
                "rare_entry_point!({name}, NEXT_{prefix}MPI, {index}, entry_{name});"
            );
        }
    }
}
