/*
 * A program that is not linked to MPI, and loads it when it runs, out of the
 * global scope: as Python and Julia do. With an argument every rank says which process
 * of the launcher runs it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined OPEN_MPI
static const char *const libraries[] = {"libmpi.so.40"};
#elif defined MPI_ABI_VERSION && !defined MPICH
static const char *const libraries[] = {"libmpi_abi.so.1", "libmpi_abi.so.0"};
#else
static const char *const libraries[] = {"libmpi.so.12", "libmpich.so.12"};
#endif

static void *library;

static void *find(const char *name)
{
    void *address = dlsym(library, name);
    if (!address)
        fprintf(stderr, "loaded: no %s\n", name);
    return address;
}

#define CALL(name, ...) ((__typeof__(&name))find(#name))(__VA_ARGS__)

int main(int argc, char **argv)
{
    int rank, size, in = -1, total = 0;
    (void)argv;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0] && !library; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "loaded: %s\n", dlerror());
        return 2;
    }
#ifdef OPEN_MPI
    MPI_Comm world = (MPI_Comm)find("ompi_mpi_comm_world");
    MPI_Datatype integer = (MPI_Datatype)find("ompi_mpi_int");
    MPI_Op sum = (MPI_Op)find("ompi_mpi_op_sum");
#else
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype integer = MPI_INT;
    MPI_Op sum = MPI_SUM;
#endif
    CALL(MPI_Init, NULL, NULL);
    CALL(MPI_Comm_rank, world, &rank);
    CALL(MPI_Comm_size, world, &size);
    CALL(MPI_Sendrecv, &rank, 1, integer, (rank + 1) % size, 0, &in, 1, integer, (rank + size - 1) % size, 0, world,
         MPI_STATUS_IGNORE);
    int weighted = (rank + 1) * in;
    CALL(MPI_Allreduce, &weighted, &total, 1, integer, sum, world);
    if (argc > 1) {
        const char *process = getenv("OMPI_COMM_WORLD_RANK");
        /* In one piece, whatever the launcher makes of lines. */
        char said[64];
        int length = snprintf(said, sizeof said, "rank %d:\nprocess %s\n", rank, process ? process : getenv("PMI_RANK"));
        if (write(STDOUT_FILENO, said, (size_t)length) != length)
            return 3;
    } else if (rank == 0)
        printf("loaded: %d ranks, %d from the left, %d in all\n", size, in, total);
    CALL(MPI_Finalize);
    return 0;
}

/*
 * RANKS:    4
 * PROVES:   an MPI that was loaded RTLD_LOCAL, with its procedures called through
 *           dlsym on the library itself, works, is counted and is permuted.
 * PITFALLS: 4
 */
