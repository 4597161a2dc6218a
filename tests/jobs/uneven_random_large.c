/*
 * uneven_random.c in the forms with large counts, where MPI has them; elsewhere a job that says that
 * it has not.
 */
#include <mpi.h>
#if MPI_VERSION >= 4
#define LARGE_COUNTS
#include "uneven_random.c"
#else
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    fprintf(stderr, "uneven_random_large: this MPI has no large counts\n");
    MPI_Finalize();
    return 1;
}
#endif
