/*
 * Collectives whose ranks describe the same data differently: each rank draws datatypes and counts
 * of its own, of one signature.
 *
 *     collective_types SEED CALLS [backwards]    so many calls, drawn from SEED
 *     collective_types PROGRAM                   one of the fixed programs below
 *
 * Types are vectors, indexed and structs of each other, with gaps, backwards, resized to extents
 * that are negative, zero, or too small, with large lower bounds, absolute addresses from
 * MPI_BOTTOM, and without size. What is received is held against what its sender has in memory,
 * which non-blocking collectives of plain bytes, which nobody replaces, carry over; nothing else
 * may be written, and what is sent must stay. With `backwards`, operands of reductions may have
 * negative extents, which the native reductions of Open MPI 4.1 and MPICH 4.0 do not survive, and
 * operations commute, so that every algorithm serves them.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_RANKS 16
#define MOST_ITEMS 64    /* of a datatype */
#define ARENA (1 << 19)  /* bytes of the memory that data lie in */
#define MARGIN (1 << 15) /* of which no data lie in so many at either end */
#define AROUND (1 << 28) /* bytes of memory before and behind it */
#define MOST_TYPES 4096

typedef unsigned char Byte;

static int rank, ranks, calls, failures;
static MPI_Comm comm, worlds[2];
static unsigned long long seed;

/* What all ranks draw alike, and what each draws for itself: xorshift64. */
static uint64_t shared, own;

static unsigned draw(uint64_t *state, unsigned below)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (unsigned)(*state >> 33) % below;
}

static unsigned mine(unsigned below)
{
    return draw(&own, below);
}

static unsigned all(unsigned below)
{
    return draw(&shared, below);
}

#include "collective_types/types.h"
#include "collective_types/sides.h"

static char what_now[200];

static void show(const char *name, const struct side *side)
{
    for (int b = 0; b < side->blocks; b++)
        if (b == 0 || side->layout[b].type != side->layout[0].type)
            fprintf(stderr, "rank %d: call %d: %s: %d elements of %s\n", rank, calls, name,
                    side->counts[b], side->layout[b].text);
}

/* Before a call, where the environment asks for it: the last one that is shown is the one that did
 * not return. */
static void trace(void)
{
    static int is_on = -1;
    if (is_on < 0)
        is_on = getenv("COLLECTIVE_TYPES_TRACE") != NULL;
    if (!is_on)
        return;
    fprintf(stderr, "rank %d: call %d: %s\n", rank, calls, what_now);
    show("sent", &sent);
    show("received", &received);
}

/* What a block should hold after the call. */
static void expect(struct side *side, int block, Byte *flat)
{
    side->start += expected - side->arena;
    flatten(side, block, flat, 1);
    side->start -= expected - side->arena;
}

static void wrong(const char *where, MPI_Aint at)
{
    if (failures++ < 5)
        fprintf(stderr, "rank %d: call %d with seed %llu: %s: byte %ld of what is %s is wrong\n",
                rank, calls, seed, what_now, (long)at, where);
    show("sent", &sent);
    show("received", &received);
}

static void compare_bytes(const char *where, const Byte *is, const Byte *should)
{
    MPI_Aint at = 0;
    if (memcmp(is, should, ARENA) == 0)
        return;
    while (is[at] == should[at])
        at++;
    wrong(where, at);
}

/* Whether all memory is as it should be: what was received, and nothing else. */
static void compare(void)
{
    compare_bytes("sent", sent.arena, before_sent);
    compare_bytes("received", received.arena, expected);
    calls++;
}

#include "collective_types/calls.h"
#include "collective_types/reductions.h"
#include "collective_types/programs.h"

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"negative-extent", negative_extent},
    {"zero-extent", zero_extent},
    {"no-size", no_size},
    {"absolute", absolute},
    {"large-element", large_element},
};

int main(int argc, char **argv)
{
    int world_rank, sum = 0, most = argc > 2 ? atoi(argv[2]) : 0;
    const MPI_Datatype basic[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    MPI_Init(&argc, &argv);
    kinds = basic;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    comm = worlds[0] = MPI_COMM_WORLD;
    rank = world_rank;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &worlds[1]);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0)
            programs[i].run();
    seed = strtoull(argv[argc > 1], NULL, 10);
    shared = 88172645463325252u ^ (seed << 20);
    own = shared ^ ((uint64_t)(rank + 1) << 8);
    for (int i = 0; i < 20; i++)
        all(2), mine(2);
    size_t room = ARENA * (size_t)ranks;
    sent.arena = new_arena(), received.arena = new_arena();
    before_sent = malloc(ARENA), expected = malloc(ARENA);
    flat_out = malloc(room), flat_in = malloc(room);
    MPI_Op ops[2];
    MPI_Op_create(compose, 0, &ops[0]);
    MPI_Op_create(add, 1, &ops[1]);
    while (calls < most)
        all(4) ? one_call() : one_reduction(ops, argc > 3);
    MPI_Op_free(&ops[0]);
    MPI_Op_free(&ops[1]);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%d calls a rank, %d wrong, %d types drawn anew\n", calls, sum, misunderstood);
    MPI_Comm_free(&worlds[1]);
    MPI_Finalize();
    return sum != 0;
}

/*
 * RUN:    up to 16 ranks.
 * EXPECT: `N calls a rank, 0 wrong`, and how many types rank 0 drew anew.
 */
