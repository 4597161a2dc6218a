/*
 * A job whose output directory disappears while it runs.
 *
 *     remove_directory DIRECTORY      empty; rank 0 removes it
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && (argc != 2 || rmdir(argv[1]) != 0))
        perror("remove_directory");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    any number of ranks, with the library asked to write its profile
 *         into the directory.
 * EXPECT: one message about the profile; the job ends well.
 */
