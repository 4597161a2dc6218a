/*
 * Every predefined operation on every kind of type that it is defined for: the blocking
 * collectives, which may be replaced, and the non-blocking ones, which are not, must leave the
 * same bytes.
 *
 *     collective_operations
 */
#include <mpi.h>
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 37
#define MOST_RANKS 16

enum { WHOLE = 1, REAL = 2, LOGICAL = 4, COMPLEX = 8, BYTES = 16, PAIRS = 32 };

static struct { const char *name; MPI_Op op; int kinds; } operations[] = {
    {"MPI_MAX", MPI_MAX, WHOLE | REAL},
    {"MPI_MIN", MPI_MIN, WHOLE | REAL},
    {"MPI_SUM", MPI_SUM, WHOLE | REAL | COMPLEX},
    {"MPI_PROD", MPI_PROD, WHOLE | REAL | COMPLEX},
    {"MPI_LAND", MPI_LAND, WHOLE | LOGICAL},
    {"MPI_BAND", MPI_BAND, WHOLE | BYTES},
    {"MPI_LOR", MPI_LOR, WHOLE | LOGICAL},
    {"MPI_BOR", MPI_BOR, WHOLE | BYTES},
    {"MPI_LXOR", MPI_LXOR, WHOLE | LOGICAL},
    {"MPI_BXOR", MPI_BXOR, WHOLE | BYTES},
    {"MPI_MAXLOC", MPI_MAXLOC, PAIRS},
    {"MPI_MINLOC", MPI_MINLOC, PAIRS},
};

static struct { const char *name; MPI_Datatype type; int kind; } types[] = {
    {"MPI_INT", MPI_INT, WHOLE},
    {"MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, WHOLE},
    {"MPI_SHORT", MPI_SHORT, WHOLE},
    {"MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, WHOLE},
    {"MPI_INT64_T", MPI_INT64_T, WHOLE},
    {"MPI_FLOAT", MPI_FLOAT, REAL},
    {"MPI_DOUBLE", MPI_DOUBLE, REAL},
    {"MPI_C_BOOL", MPI_C_BOOL, LOGICAL},
    {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, COMPLEX},
    {"MPI_BYTE", MPI_BYTE, BYTES},
    {"MPI_2INT", MPI_2INT, PAIRS},
    {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, PAIRS},
    {"MPI_SHORT_INT", MPI_SHORT_INT, PAIRS},
};

static int rank, ranks, failures, calls;
/* Room for COUNT elements of any type for each rank. */
static unsigned char given[COUNT * MOST_RANKS * 16], ours[sizeof given], hosts[sizeof given];

/* Small values: no sum or product of some ranks overflows or is rounded. */
static void fill(MPI_Datatype type, int kind)
{
    struct { double value; int at; } *double_int = (void *)given;
    struct { short value; int at; } *short_int = (void *)given;
    memset(given, 0, sizeof given);
    for (int i = 0; i < COUNT * ranks; i++) {
        int value = (i * 5 + rank * 3) % 4;
        if (type == MPI_FLOAT)
            ((float *)given)[i] = value;
        else if (type == MPI_DOUBLE)
            ((double *)given)[i] = value;
        else if (kind == COMPLEX)
            ((double complex *)given)[i] = value + 1 * I;
        else if (type == MPI_DOUBLE_INT)
            double_int[i].value = value, double_int[i].at = rank;
        else if (type == MPI_SHORT_INT)
            short_int[i].value = value, short_int[i].at = rank;
        else if (type == MPI_2INT)
            ((int *)given)[2 * i] = value, ((int *)given)[2 * i + 1] = rank;
        else if (kind == LOGICAL)
            ((_Bool *)given)[i] = value & 1;
        else if (type == MPI_INT)
            ((int *)given)[i] = value;
        else if (type == MPI_SHORT)
            ((short *)given)[i] = value;
        else if (type == MPI_UNSIGNED_LONG || type == MPI_INT64_T)
            ((int64_t *)given)[i] = value;
        else
            given[i] = value;
    }
}

static void compare(const char *what, int operation, int type)
{
    calls++;
    if (memcmp(ours, hosts, sizeof ours) != 0 && failures++ < 5)
        fprintf(stderr, "rank %d: %s with %s of %s differs from the host's\n", rank, what,
                operations[operation].name, types[type].name);
}

/* One of the collectives in both ways: what may be replaced into `ours`, the host's into `hosts`. */
enum { ALLREDUCE, REDUCE, SCAN, REDUCE_SCATTER_BLOCK, COLLECTIVES };

static const char *collectives[] = {"Allreduce", "Reduce", "Scan", "Reduce_scatter_block"};

static void run(int collective, MPI_Datatype type, MPI_Op op)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    int last = ranks - 1;
    switch (collective) {
    case ALLREDUCE:
        MPI_Allreduce(given, ours, COUNT, type, op, world);
        MPI_Iallreduce(given, hosts, COUNT, type, op, world, &request);
        break;
    case REDUCE:
        MPI_Reduce(given, ours, COUNT, type, op, last, world);
        MPI_Ireduce(given, hosts, COUNT, type, op, last, world, &request);
        break;
    case SCAN:
        MPI_Scan(given, ours, COUNT, type, op, world);
        MPI_Iscan(given, hosts, COUNT, type, op, world, &request);
        break;
    default:
        MPI_Reduce_scatter_block(given, ours, COUNT, type, op, world);
        /* The part of each rank alone: MPICH 4.0's own writes behind its memory where elements
         * have gaps. */
        MPI_Aint bound, extent;
        MPI_Type_get_extent(type, &bound, &extent);
        for (int root = 0; root < ranks; root++) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Ireduce(given + root * COUNT * extent, hosts, COUNT, type, op, root, world, &request);
        }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    if (ranks > MOST_RANKS)
        MPI_Abort(world, 2);
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            if (!(operations[o].kinds & types[t].kind))
                continue;
            fill(types[t].type, types[t].kind);
            for (int collective = 0; collective < COLLECTIVES; collective++) {
                memset(ours, 0, sizeof ours);
                memset(hosts, 0, sizeof hosts);
                run(collective, types[t].type, operations[o].op);
                compare(collectives[collective], o, t);
            }
        }
    MPI_Reduce(&failures, &sum, 1, MPI_INT, MPI_SUM, 0, world);
    if (rank == 0)
        printf("%d calls a rank, %d differences\n", calls, sum);
    MPI_Finalize();
    return failures != 0;
}

/*
 * RUN:    up to 16 ranks.
 * EXPECT: exit 0, no difference.
 */
