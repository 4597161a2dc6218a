/*
 * Puts as on a network where each takes long, and one with a datatype of the program's much longer.
 * To be preloaded behind libtreepie.so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

typedef int (*put)(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);

static int slow(const void *from, int n, MPI_Datatype t, int target, MPI_Aint at, int m, MPI_Datatype u, MPI_Win window)
{
    static put next;
    int integers, addresses, datatypes, combiner;
    PMPI_Type_get_envelope(u, &integers, &addresses, &datatypes, &combiner);
    double end = PMPI_Wtime() + (combiner == MPI_COMBINER_NAMED ? 1e-4 : 5e-3);
    while (PMPI_Wtime() < end)
        ;
    if (!next)
        next = (put)dlsym(RTLD_NEXT, "PMPI_Put");
    return next(from, n, t, target, at, m, u, window);
}

int MPI_Put(const void *from, int n, MPI_Datatype t, int target, MPI_Aint at, int m, MPI_Datatype u, MPI_Win window)
{
    return slow(from, n, t, target, at, m, u, window);
}

int PMPI_Put(const void *from, int n, MPI_Datatype t, int target, MPI_Aint at, int m, MPI_Datatype u, MPI_Win window)
{
    return slow(from, n, t, target, at, m, u, window);
}
