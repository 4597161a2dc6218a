/*
 * Every collective, prepared once on the world and started twice, by the names
 * that this MPI has them by.
 */
#include "notes.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#if MPI_VERSION < 4 && defined OMPI_HAVE_MPI_EXT_PCOLLREQ /* Open MPI 4 */
#define PREPARES
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Alltoallw_init MPIX_Alltoallw_init
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Exscan_init MPIX_Exscan_init
#define MPI_Gather_init MPIX_Gather_init
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Neighbor_allgather_init MPIX_Neighbor_allgather_init
#define MPI_Neighbor_allgatherv_init MPIX_Neighbor_allgatherv_init
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#define MPI_Reduce_init MPIX_Reduce_init
#define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Scan_init MPIX_Scan_init
#define MPI_Scatter_init MPIX_Scatter_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#elif MPI_VERSION >= 4
#define PREPARES
#endif

#ifdef PREPARES
enum { MOST = 16 };

static int out[MOST], in[MOST];
static int counts[MOST], places[MOST], sizes[MOST];
static MPI_Aint byte_places[MOST];
static MPI_Datatype types[MOST];
/* Freed at the end: MPICH 4.0 loses its way in a prepared collective that gets
 * the handle of one that was freed, with or without us. */
static MPI_Request made[32];
static int requests;

/* Starts the request twice, with other data each time. */
static void twice(const char *what, MPI_Request request)
{
    note("%s:", what);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < MOST; i++)
            out[i] = 100 * rank + 10 * turn + i, in[i] = -1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < size; i++)
            note(" %d", in[i]);
        note(turn ? "\n" : ";");
    }
    made[requests++] = request;
}

static void on_the_world(MPI_Comm comm, MPI_Info info)
{
    MPI_Request request;
    MPI_Barrier_init(comm, info, &request);
    twice("barrier", request);
    MPI_Bcast_init(rank == 1 ? out : in, 3, MPI_INT, 1, comm, info, &request);
    twice("bcast", request);
    MPI_Gather_init(out, 1, MPI_INT, in, 1, MPI_INT, 2, comm, info, &request);
    twice("gather", request);
    MPI_Gatherv_init(out, 1, MPI_INT, in, counts, places, MPI_INT, 2, comm, info, &request);
    twice("gatherv", request);
    MPI_Scatter_init(out, 1, MPI_INT, in, 1, MPI_INT, 1, comm, info, &request);
    twice("scatter", request);
    MPI_Scatterv_init(out, counts, places, MPI_INT, in, 1, MPI_INT, 1, comm, info, &request);
    twice("scatterv", request);
    MPI_Allgather_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, info, &request);
    twice("allgather", request);
    MPI_Allgatherv_init(out, 1, MPI_INT, in, counts, places, MPI_INT, comm, info, &request);
    twice("allgatherv", request);
    MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, info, &request);
    twice("alltoall", request);
    MPI_Alltoallv_init(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm, info, &request);
    twice("alltoallv", request);
    MPI_Alltoallw_init(out, counts, sizes, types, in, counts, sizes, types, comm, info, &request);
    twice("alltoallw", request);
    MPI_Reduce_init(out, in, 3, MPI_INT, MPI_SUM, 0, comm, info, &request);
    twice("reduce", request);
    MPI_Allreduce_init(out, in, 3, MPI_INT, MPI_SUM, comm, info, &request);
    twice("allreduce", request);
    MPI_Reduce_scatter_init(out, in, counts, MPI_INT, MPI_SUM, comm, info, &request);
    twice("reduce_scatter", request);
    MPI_Reduce_scatter_block_init(out, in, 1, MPI_INT, MPI_SUM, comm, info, &request);
    twice("reduce_scatter_block", request);
    MPI_Scan_init(out, in, 2, MPI_INT, MPI_SUM, comm, info, &request);
    twice("scan", request);
    MPI_Exscan_init(out, in, 2, MPI_INT, MPI_SUM, comm, info, &request);
    twice(rank ? "exscan" : "exscan, of none", request);
}

static void on_a_ring(MPI_Comm comm, MPI_Info info)
{
    MPI_Request request;
    MPI_Comm ring;
    MPI_Cart_create(comm, 1, &size, (int[]){1}, 0, &ring);
    MPI_Neighbor_allgather_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, info, &request);
    twice("neighbor_allgather", request);
    MPI_Neighbor_allgatherv_init(out, 1, MPI_INT, in, counts, places, MPI_INT, ring, info, &request);
    twice("neighbor_allgatherv", request);
    MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, info, &request);
    twice("neighbor_alltoall", request);
    MPI_Neighbor_alltoallv_init(out, counts, places, MPI_INT, in, counts, places, MPI_INT, ring, info, &request);
    twice("neighbor_alltoallv", request);
    MPI_Neighbor_alltoallw_init(out, counts, byte_places, types, in, counts, byte_places, types, ring, info, &request);
    twice("neighbor_alltoallw", request);
    while (requests > 0)
        MPI_Request_free(&made[--requests]);
    MPI_Comm_free(&ring);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
#ifdef PREPARES
    for (int i = 0; i < MOST; i++) {
        counts[i] = 1;
        places[i] = i;
        sizes[i] = i * (int)sizeof(int);
        byte_places[i] = i * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    on_the_world(MPI_COMM_WORLD, MPI_INFO_NULL);
    on_a_ring(MPI_COMM_WORLD, MPI_INFO_NULL);
#else
    note("this MPI prepares no collectives\n");
#endif
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    4
 * PROVES:   prepared collectives have the application's ranks, also by the names
 *           that they had before they were in the standard.
 * PITFALLS: 16 23
 * NOT:      mpich intel: they cannot start a prepared scatter twice
 */
