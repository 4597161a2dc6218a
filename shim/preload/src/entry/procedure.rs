//! Makes entry points of a procedure's signature and names, and of what is done around it.

use treepie_mpi::{
    AppComm, Comm, Datatype, Errhandler, Group, IntArray, LargeArray, Op, StatusAddress, Win, Word,
};

use crate::world;

/// A parameter of an entry point, and what is passed on where the application gave it.
pub trait Argument: Copy {
    /// Its type in the next procedure.
    type Passed: Copy;

    /// What the next procedure gets.
    fn pass(self) -> Self::Passed;

    /// What a function that substitutes by itself gets.
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

/// Parameters that are passed on as they are.
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
    Word i32 i64 Datatype Errhandler Group Op Win IntArray LargeArray StatusAddress
}

/// The entry points of a procedure, one for each of its names, which goes on to the next of that
/// name: at once where none of `$features` is on, with W' for the world; otherwise through
/// `$body`, which calls it as `$next`. `$body` has the arguments as `$pass` makes them.
///
/// The function around `$body` is one for both names. It is apart from the entry points, so that
/// these need no stack, and takes the arguments first, where they are already. An exception that
/// an error handler throws passes through an entry point; a panic of ours ends in `observed`.
macro_rules! procedure {
    (
        $kind:ident [$($name:ident)+] ($($argument:ident: $type:ty),*) $features:expr,
        $pass:ident $next:ident => $body:expr
    ) => {
        const _: () = {
            type Function = unsafe extern "C-unwind" fn($(<$type as Argument>::Passed),*) -> c_int;

            #[inline(never)]
            unsafe extern "C" fn observed($($argument: $type,)* next: &Next<Function>) -> c_int {
                let Some($next) = next.get() else { return missing(next.name()) };
                $( let $argument = $argument.$pass(); )*
                // SAFETY: the arguments are those of the application's call, which keeps the
                // procedure's contract, with the communicator that stands for its world.
                unsafe { $body }
            }

            entry_points! { $kind [$($name)+] ($($argument: $type),*) $features }
        };
    };
}

/// The entry points of the names, and their symbols: the function itself in a `common` procedure.
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

/// The entry point of one name, a function that is called `$entry` here.
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

pub(super) use {entry_point, entry_points, procedure};
