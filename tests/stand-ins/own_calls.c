/*
 * Counts the calls by which a library in front of it makes communicators and
 * communicates: those of procedures that only such a library calls by their PMPI_
 * names. To be preloaded behind libtreepie.so; each rank prints its counts, and the
 * calls up to the end of MPI_Init apart from those after it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    const char *name;
    int calls[2];
} counts[64];

/* 0 up to the application's first call after MPI_Init, which is MPI_Comm_rank in the jobs that this is for. */
static int later;

static void *next(int counter, const char *name)
{
    counts[counter].name = name;
    counts[counter].calls[later]++;
    void *address = dlsym(RTLD_NEXT, name);
    if (!address)
        abort();
    return address;
}

/* PMPI_ is five letters. */
#define COUNT(name, parameters, arguments)                                                                             \
    int P##name parameters                                                                                             \
    {                                                                                                                  \
        return ((int(*) parameters)next(__COUNTER__, "P" #name)) arguments;                                            \
    }

COUNT(MPI_Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *n), (c, color, key, n))
COUNT(MPI_Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *n), (c, type, key, i, n))
COUNT(MPI_Comm_dup, (MPI_Comm c, MPI_Comm *n), (c, n))
COUNT(MPI_Comm_dup_with_info, (MPI_Comm c, MPI_Info i, MPI_Comm *n), (c, i, n))
COUNT(MPI_Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *n), (c, g, n))
COUNT(MPI_Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *n), (c, g, tag, n))
COUNT(MPI_Bcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c))
COUNT(MPI_Barrier, (MPI_Comm c), (c))
COUNT(MPI_Allreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
COUNT(MPI_Reduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c), (a, b, n, t, o, r, c))
COUNT(MPI_Allgather, (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c), (a, n, t, b, m, u, c))
COUNT(MPI_Gather, (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, int r, MPI_Comm c), (a, n, t, b, m, u, r, c))
COUNT(MPI_Gatherv, (const void *a, int n, MPI_Datatype t, void *b, const int m[], const int d[], MPI_Datatype u, int r, MPI_Comm c), (a, n, t, b, m, d, u, r, c))
COUNT(MPI_Alltoall, (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c), (a, n, t, b, m, u, c))
COUNT(MPI_Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
COUNT(MPI_Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r))
COUNT(MPI_Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s), (b, n, t, from, tag, c, s))

int MPI_Comm_rank(MPI_Comm c, int *rank)
{
    later = 1;
    return ((int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "MPI_Comm_rank"))(c, rank);
}

__attribute__((destructor)) static void tell(void)
{
    for (int i = 0; i < __COUNTER__; i++)
        for (int when = 0; when < 2; when++)
            if (counts[i].calls[when])
                fprintf(stderr, "own call: %s %d %s\n", counts[i].name, counts[i].calls[when], when ? "later" : "in MPI_Init");
}
