//! Generates the entry points of a procedure from its row in the table: its names, signature and
//! role.

use treepie_mpi::{
    AppComm, Comm, Datatype, DatatypeArray, Errhandler, Group, IntArray, LargeArray, Op,
    StatusAddress, Win, Word,
};

use crate::world;

/// Parameter of an entry point, and the value that is passed on for the application's argument.
pub trait Argument: Copy {
    /// Its type in the next procedure.
    type Passed: Copy;

    /// Returns the argument for the next procedure.
    fn pass(self) -> Self::Passed;

    /// Returns the argument for a function that makes its own substitution.
    #[inline(always)]
    fn keep(self) -> Self {
        self
    }
}

impl Argument for AppComm {
    type Passed = Comm;

    #[inline(always)]
    fn pass(self) -> Comm {
        world::substitute(self)
    }
}

/// Parameters that are passed on unchanged.
macro_rules! passed_as_they_are {
    ($($type:ty)*) => { $(
        impl Argument for $type {
            type Passed = $type;

            #[inline(always)]
            fn pass(self) -> $type {
                self
            }
        }
    )* };
}

passed_as_they_are! {
    Word i32 i64 Datatype DatatypeArray Errhandler Group Op Win IntArray LargeArray StatusAddress
}

/// Defines the entry points of a procedure, one for each of its names, which calls the next
/// procedure of that name: directly if nothing is to be done, with W' for the world; otherwise
/// through its role, or through the function that handles the call alone.
macro_rules! procedure {
    (
        $kind:ident $names:tt ($($argument:ident: $type:ty),*)
        by $function:path
    ) => {
        observed! {
            $kind $names ($($argument: $type),*) features::ALWAYS,
            // SAFETY: the arguments are those of the application's call, which keeps the
            // procedure's contract.
            keep next => unsafe { $function(next $(, $argument)*) }
        }
    };
    (
        $kind:ident $names:tt ($($argument:ident: $type:ty),*)
        $role:ident $procedure:ident { $($fact:ident: $value:expr),* }
        call { $($($field:ident).+ = $filled:expr),* }
        next |$changes:ident| ($($passed:expr),*)
    ) => {
        observed! {
            $kind $names ($($argument: $type),*) <roles::$role as Role>::FEATURES,
            pass next => {
                /// Next procedure, and its arguments.
                struct Native {
                    next: Function,
                    $($argument: <$type as Argument>::Passed),*
                }

                #[allow(unused_variables, unused_mut)]
                impl NativeCall for Native {
                    const PROPERTIES: Properties = Properties {
                        $($fact: $value,)*
                        ..Properties::of(procedures::$procedure)
                    };

                    #[inline(always)]
                    fn arguments(&self) -> Arguments {
                        let Native { $($argument,)* .. } = *self;
                        let mut arguments = Arguments::NONE;
                        $( arguments.$($field).+ = $filled; )*
                        arguments
                    }

                    #[inline(always)]
                    fn with(&self, $changes: Changes) -> c_int {
                        let Native { next, $($argument),* } = *self;
                        // SAFETY: the arguments are those of the application's call, which keeps
                        // the procedure's contract, with the communicator that replaces its world,
                        // or the replacements that a role may make.
                        unsafe { next($($passed),*) }
                    }
                }

                <roles::$role as Role>::around(Native { next, $($argument),* })
            }
        }
    };
}

/// Defines the entry points, and the function around `$body`, which calls the next procedure as
/// `$next`. `$body` has the arguments as `$pass` makes them.
///
/// Both names share one function. It is separate from the entry points, so that these need no
/// stack, and takes the arguments first, in the registers where they already are. An exception that
/// an error handler throws propagates through it; a panic in this library ends the process.
macro_rules! observed {
    (
        $kind:ident [$($name:ident)+] ($($argument:ident: $type:ty),*) $features:expr,
        $pass:ident $next:ident => $body:expr
    ) => {
        const _: () = {
            type Function = unsafe extern "C-unwind" fn($(<$type as Argument>::Passed),*) -> c_int;

            #[inline(never)]
            unsafe extern "C-unwind" fn observed($($argument: $type,)* next: &Next<Function>) -> c_int {
                let barrier = PanicBarrier;
                let code = match next.get() {
                    Some($next) => {
                        $( let $argument = $argument.$pass(); )*
                        $body
                    }
                    None => missing(next.name()),
                };
                std::mem::forget(barrier);
                code
            }

            entry_points! { $kind [$($name)+] ($($argument: $type),*) $features }
        };
    };
}

/// Defines the entry points of the names, and their symbols: the function itself in a `common`
/// procedure.
macro_rules! entry_points {
    (common [$($name:ident)+] $arguments:tt $features:expr) => {
        $( const _: () = {
            entry_point! { $name [#[unsafe(no_mangle)]] $name $arguments $features }
        }; )+
    };
    (optional [$($name:ident)+] $arguments:tt $features:expr) => {
        $( const _: () = {
            entry_point! { $name [] entry $arguments $features }
            optional_symbol! { $name NEXT entry }
        }; )+
    };
}

/// Defines the entry point of one name, a function that is called `$entry` here.
macro_rules! entry_point {
    (
        $name:ident [$($attribute:tt)*] $entry:ident ($($argument:ident: $type:ty),*)
        $features:expr
    ) => {
        // SAFETY: the table has the procedure's parameters, as every MPI declares them.
        static NEXT: Next<Function> = unsafe { Next::new(stringify!($name)) };

        $($attribute)*
        unsafe extern "C-unwind" fn $entry($($argument: $type),*) -> c_int {
            // SAFETY: the caller keeps the procedure's contract.
            unsafe {
                match NEXT.known() {
                    Some(next) if !features::any($features) => next($($argument.pass()),*),
                    _ => observed($($argument,)* &NEXT),
                }
            }
        }
    };
}

pub(super) use {entry_point, entry_points, observed, procedure};
