/*
 * What random programs have in common: the seed of a program, numbers drawn by it, the data of its
 * steps, and an end for those that hang.
 */
#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned value;

static int rank, ranks;
/* That of a program; what all ranks draw alike; what each draws for itself. */
static unsigned long long seed, shared, own;

static unsigned draw(unsigned long long *state, unsigned below)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(*state >> 33) % below;
}

/* Element `at` of a block from one rank, to another rank or the one of this number. */
static value element(int step, int from, int to, int at)
{
    value mixed = (value)(seed * 31 + (unsigned)step * 2654435761u);
    mixed ^= (value)from * 40503u + (value)to * 65599u + (value)at * 97u;
    mixed *= 2246822519u;
    return mixed ^ mixed >> 15;
}

static void hangs(int signal)
{
    (void)signal;
    fprintf(stderr, "seed %llu hangs on rank %d\n", seed, rank);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Begins a program, which may take so many seconds. */
static void begin_program(unsigned long long of, unsigned seconds)
{
    signal(SIGALRM, hangs);
    alarm(seconds);
    seed = of;
    shared = seed * 7919 + 17;
    own = seed * 104729 + (unsigned)rank * 15485863 + 5;
}
