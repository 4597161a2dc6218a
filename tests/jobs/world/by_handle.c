/*
 * A program that is linked to MPI and makes some of its calls through dlsym on the
 * library's own handle: as mpi4py does beside a package that loads the MPI by itself,
 * or a plugin in C in a Julia program.
 */
#define _GNU_SOURCE
#include "notes.h"
#include <dlfcn.h>

#if defined OPEN_MPI
#define LIBRARIES "libmpi.so.40"
#elif defined MPI_ABI_VERSION && !defined MPICH
#define LIBRARIES "libmpi_abi.so.1", "libmpi_abi.so.0"
#else
#define LIBRARIES "libmpi.so.12", "libmpich.so.12"
#endif

/* Loaded already: another MPI of the machine may have the same name. */
static void *library;

static void *find(const char *name)
{
    dlerror();
    void *address = dlsym(library, name);
    const char *error = dlerror();
    if (!address || error)
        fprintf(stderr, "by_handle: %s: %s\n", name, error ? error : "found, and nothing there");
    return address;
}

#define CALL(name, ...) ((__typeof__(&name))find(#name))(__VA_ARGS__)

int main(int argc, char **argv)
{
    const char *const libraries[] = {LIBRARIES};
    int other = -1, others = -1, in = -1, back = -1;
    begin(&argc, &argv);
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0] && !library; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library) {
        fprintf(stderr, "by_handle: the MPI that it is linked to is not loaded\n");
        return 2;
    }
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &other);
    CALL(PMPI_Comm_size, MPI_COMM_WORLD, &others);
    note("rank %d of %d, by the handle %d of %d\n", rank, size, other, others);

    /* Sent by one way, received by the other. */
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request request;
    CALL(MPI_Isend, &rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &request);
    MPI_Recv(&in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    MPI_Isend(&in, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &request);
    CALL(MPI_Recv, &back, 1, MPI_INT, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("%d from the left, %d back\n", in, back);

    /* What is no entry point, what is no procedure, what is not there. */
    int major, minor;
    CALL(MPI_Get_version, &major, &minor);
    dlerror();
    int none = !dlsym(library, "MPI_Treepie_has_no_such_procedure");
    int told = dlerror() != NULL;
    note("version: %s; a name that is not there: %s, %s\n", major >= 3 ? "told" : "not told", none ? "none" : "found",
         told ? "with an error" : "without an error");
    note("what the program finds by its own scope is what it is linked to: %s\n",
         dlsym(RTLD_DEFAULT, "MPI_Comm_rank") == (void *)MPI_Comm_rank ? "yes" : "no");
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    4
 * PROVES:   calls that come through dlsym on the MPI library's own handle see the
 *           world that linked calls see, and dlsym says what it said otherwise.
 * PITFALLS: 4 5
 */
