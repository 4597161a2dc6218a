/*
 * Puts as on a network where each takes 0.1 ms, and one with a datatype of the program's 5 ms, by
 * the clock that the process sees: from its first put on, that one stands still for the thread but
 * for what puts take, and 0.1 us whenever it is read. What else runs on the machine changes nothing.
 * To be preloaded behind libtreepie.so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int (*put)(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);

static __thread struct timespec seen;

static void pass(long nanoseconds)
{
    if (seen.tv_sec == 0)
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &seen);
    seen.tv_nsec += nanoseconds;
    seen.tv_sec += seen.tv_nsec / 1000000000;
    seen.tv_nsec %= 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC || seen.tv_sec == 0)
        return syscall(SYS_clock_gettime, clock, time);
    pass(100);
    *time = seen;
    return 0;
}

static int slow(const void *from, int n, MPI_Datatype t, int target, MPI_Aint at, int m, MPI_Datatype u, MPI_Win window)
{
    static put next;
    int integers, addresses, datatypes, combiner;
    PMPI_Type_get_envelope(u, &integers, &addresses, &datatypes, &combiner);
    pass(combiner == MPI_COMBINER_NAMED ? 100000 : 5000000);
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
