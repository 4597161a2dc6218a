/*
 * Collectives as on a network where those of the MPI take 300 us, and messages of plans 20 us, by
 * the clock that the process sees. After native_is_slow(0) the MPI's take 20 us, and messages 150.
 * From the first native_is_slow on, that clock stands still but for this and 0.1 us whenever it is
 * read: what else runs on the machine changes nothing. To be preloaded behind libtreepie.so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static __thread struct timespec seen;
static long native_ns, message_ns;

static void pass(long nanoseconds)
{
    if (seen.tv_sec == 0)
        return;
    seen.tv_nsec += nanoseconds;
    seen.tv_sec += seen.tv_nsec / 1000000000;
    seen.tv_nsec %= 1000000000;
}

void native_is_slow(int is_slow);
void native_is_slow(int is_slow)
{
    if (seen.tv_sec == 0)
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &seen);
    native_ns = is_slow ? 300000 : 20000;
    message_ns = is_slow ? 20000 : 150000;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC || seen.tv_sec == 0)
        return syscall(SYS_clock_gettime, clock, time);
    pass(100);
    *time = seen;
    return 0;
}

int PMPI_Isend(const void *from, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    static __typeof__(PMPI_Isend) *next;
    pass(message_ns);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
    return next(from, n, t, to, tag, comm, request);
}

/* COLLECTIVE(Bcast, (parameters), (arguments)): as other tools do it, by PMPI_Bcast, which is again
 * the library's. */
#define COLLECTIVE(name, parameters, arguments)                                                    \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        pass(native_ns);                                                                           \
        return PMPI_##name arguments;                                                              \
    }

#define IN const void *a, int n, MPI_Datatype t
#define INS const void *a, const int *n, const int *p, MPI_Datatype t
#define OUT void *b, int m, MPI_Datatype u
#define OUTS void *b, const int *m, const int *q, MPI_Datatype u
#define REDUCED const void *a, void *b, int n, MPI_Datatype t, MPI_Op o

COLLECTIVE(Barrier, (MPI_Comm c), (c))
COLLECTIVE(Bcast, (OUT, int r, MPI_Comm c), (b, m, u, r, c))
COLLECTIVE(Gather, (IN, OUT, int r, MPI_Comm c), (a, n, t, b, m, u, r, c))
COLLECTIVE(Gatherv, (IN, OUTS, int r, MPI_Comm c), (a, n, t, b, m, q, u, r, c))
COLLECTIVE(Scatter, (IN, OUT, int r, MPI_Comm c), (a, n, t, b, m, u, r, c))
COLLECTIVE(Scatterv, (INS, OUT, int r, MPI_Comm c), (a, n, p, t, b, m, u, r, c))
COLLECTIVE(Allgather, (IN, OUT, MPI_Comm c), (a, n, t, b, m, u, c))
COLLECTIVE(Allgatherv, (IN, OUTS, MPI_Comm c), (a, n, t, b, m, q, u, c))
COLLECTIVE(Alltoall, (IN, OUT, MPI_Comm c), (a, n, t, b, m, u, c))
COLLECTIVE(Alltoallv, (INS, OUTS, MPI_Comm c), (a, n, p, t, b, m, q, u, c))
COLLECTIVE(Alltoallw,
           (const void *a, const int *n, const int *p, const MPI_Datatype *t, void *b, const int *m,
            const int *q, const MPI_Datatype *u, MPI_Comm c),
           (a, n, p, t, b, m, q, u, c))
COLLECTIVE(Reduce, (REDUCED, int r, MPI_Comm c), (a, b, n, t, o, r, c))
COLLECTIVE(Allreduce, (REDUCED, MPI_Comm c), (a, b, n, t, o, c))
COLLECTIVE(Reduce_scatter_block, (REDUCED, MPI_Comm c), (a, b, n, t, o, c))
COLLECTIVE(Reduce_scatter, (const void *a, void *b, const int *n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (a, b, n, t, o, c))
COLLECTIVE(Scan, (REDUCED, MPI_Comm c), (a, b, n, t, o, c))
COLLECTIVE(Exscan, (REDUCED, MPI_Comm c), (a, b, n, t, o, c))
