/*
 * A tool in the classic manner: it defines MPI_ names, counts, and calls the
 * PMPI_ ones. At the end, its rank 0 prints what all ranks have counted.
 *
 * With TOOL_TALKS, it sends messages of its own while the application receives.
 *
 * Built as tool.so, and preloaded before and after libtreepie.so.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int sends, ranks, first_rank = -1;

int MPI_Send(const void *buffer, int count, MPI_Datatype datatype, int destination, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buffer, count, datatype, destination, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int sent = 1, received;
    if (getenv("TOOL_TALKS"))
        PMPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return PMPI_Recv(buffer, count, datatype, source, tag, comm, status);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    int code = PMPI_Comm_rank(comm, rank);
    if (ranks++ == 0)
        first_rank = *rank;
    return code;
}

int MPI_Finalize(void)
{
    int rank, size, mine[4], all[4 * 64];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    mine[0] = rank;
    mine[1] = first_rank;
    mine[2] = sends;
    mine[3] = ranks;
    PMPI_Gather(mine, 4, MPI_INT, all, 4, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < size && i < 64; i++)
            printf("tool: rank %d, seen as %d, %d sends, %d times asked for its rank\n", all[4 * i], all[4 * i + 1],
                   all[4 * i + 2], all[4 * i + 3]);
    fflush(stdout);
    return PMPI_Finalize();
}
