/* Rank 0 reads two numbers from standard input and tells all ranks; each says which number the
   launcher gave its process.

   reads_input read           with read, after MPI_Init
   reads_input scanf          with scanf
   reads_input before         the process that the launcher calls 0 reads before MPI_Init
   reads_input halves         the first number before MPI_Init, the second behind it: it waits in
                              the buffer of the C library by then
   reads_input RANK           this rank reads, with scanf */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int numbers[2];

/* All of the input, byte by byte. */
static void with_read(void)
{
    char text[256];
    ssize_t length = 0, more;
    while ((more = read(0, text + length, sizeof text - 1 - length)) > 0)
        length += more;
    text[length] = 0;
    sscanf(text, "%d %d", &numbers[0], &numbers[1]);
}

static void with_scanf(int first, int last)
{
    for (int i = first; i <= last; i++)
        if (scanf("%d", &numbers[i]) != 1)
            numbers[i] = -1;
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int before = strcmp(how, "before") == 0, halves = strcmp(how, "halves") == 0;
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    const char *process = NULL;
    for (unsigned i = 0; i < sizeof names / sizeof *names && !process; i++)
        process = getenv(names[i]);
    if (process && strcmp(process, "0") == 0 && (before || halves))
        with_scanf(0, before ? 1 : 0);
    MPI_Init(&argc, &argv);
    int rank, ranks, reader = atoi(how);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == reader && !before) {
        if (strcmp(how, "read") == 0)
            with_read();
        else
            with_scanf(halves ? 1 : 0, 1);
    }
    MPI_Bcast(numbers, 2, MPI_INT, reader, MPI_COMM_WORLD);

    char line[64], all[64][64];
    snprintf(line, sizeof line, "rank %d is process %s: %d %d", rank, process ? process : "?",
             numbers[0], numbers[1]);
    MPI_Gather(line, sizeof line, MPI_CHAR, all, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int other = 0; other < ranks; other++)
            puts(all[other]);
    MPI_Finalize();
    return 0;
}
