/*
 * What a hook costs that does nothing: each procedure that `overhead` times goes on
 * to the MPI's. To be preloaded, as a yardstick in scripts/bench overhead.
 */
#define _GNU_SOURCE
#include <mpi.h>

#define HOOK(name, parameters, arguments)                                                                              \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        return PMPI_##name arguments;                                                                                  \
    }

HOOK(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
HOOK(Testall, (int n, MPI_Request r[], int *flag, MPI_Status s[]), (n, r, flag, s))
HOOK(Wait, (MPI_Request *r, MPI_Status *s), (r, s))
HOOK(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r))
HOOK(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, from, tag, c, r))
HOOK(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
HOOK(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s), (b, n, t, from, tag, c, s))
HOOK(Put, (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u, MPI_Win w), (b, n, t, to, at, m, u, w))
HOOK(Win_flush, (int to, MPI_Win w), (to, w))
HOOK(Allreduce, (const void *in, void *out, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (in, out, n, t, o, c))
