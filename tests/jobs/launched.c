/* Each rank's number in the world and on its host, and what the launcher's variables call
   its process. At most 64 ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, on_host;
    MPI_Comm host;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &on_host);

    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    const char *launcher = NULL;
    for (unsigned i = 0; i < sizeof names / sizeof *names && !launcher; i++)
        launcher = getenv(names[i]);

    char line[128], all[64][128];
    snprintf(line, sizeof line, "rank %d, on its host %d; the launcher's variables have %s",
             rank, on_host, launcher ? launcher : "none");
    MPI_Gather(line, sizeof line, MPI_CHAR, all, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int other = 0; other < ranks; other++)
            puts(all[other]);
    MPI_Comm_free(&host);
    MPI_Finalize();
    return 0;
}
