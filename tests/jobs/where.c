/* Where each rank runs: its host, and the cores that it may use. At most 64 ranks. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_processor_name(host, &length);

    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    char cores[512] = "";
    for (int core = 0; core < CPU_SETSIZE && strlen(cores) < 480; core++)
        if (CPU_ISSET(core, &set))
            sprintf(cores + strlen(cores), "%s%d", cores[0] ? "," : "", core);

    char line[1024], all[64][1024];
    snprintf(line, sizeof line, "rank %d host %s cores %s", rank, host, cores);
    MPI_Gather(line, sizeof line, MPI_CHAR, all, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int other = 0; other < ranks; other++)
            puts(all[other]);
    MPI_Finalize();
    return 0;
}
