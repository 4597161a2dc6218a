/* A job that exchanges a little and then ends in the way that its argument says:
 *
 *     endings abort|fatal|exit|quick-exit|early|late|term|interrupt|handler|kill|wait|well
 *
 * Every rank sends 5 messages of 100 bytes to its right neighbour; then there is
 * one MPI_Allreduce of an int. With `kill` it waits for two seconds first; with
 * `wait` each rank says so, and waits for a minute. With `early` all ranks end with
 * status 0 before MPI_Finalize, with `late` rank 0 with status 3 after it. */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_term(int signal_number)
{
    (void)signal_number;
    if (write(STDOUT_FILENO, "handled\n", 8) != 8)
        _exit(8);
    _exit(9);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "well";
    char out[100] = {0}, in[100];
    int rank, size, one = 1, sum;

    if (!strcmp(how, "handler"))
        signal(SIGTERM, on_term);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++)
        MPI_Sendrecv(out, 100, MPI_CHAR, (rank + 1) % size, 0, in, 100, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);

    if (!strcmp(how, "well")) {
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(how, "early"))
        _exit(0);
    if (!strcmp(how, "late")) {
        MPI_Finalize();
        return rank == 0 ? 3 : 0;
    }
    if (!strcmp(how, "wait")) {
        puts("waiting");
        fflush(stdout);
    }
    if (!strcmp(how, "kill"))
        sleep(2);
    if (!strcmp(how, "interrupt"))
        raise(SIGINT);
    if (rank == 0) {
        if (!strcmp(how, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 3);
        if (!strcmp(how, "fatal"))
            MPI_Send(out, 1, MPI_CHAR, size, 0, MPI_COMM_WORLD);
        if (!strcmp(how, "exit"))
            exit(4);
        if (!strcmp(how, "quick-exit"))
            _exit(4);
        if (!strcmp(how, "term") || !strcmp(how, "handler"))
            raise(SIGTERM);
        if (!strcmp(how, "kill"))
            raise(SIGKILL);
    }
    sleep(60);
    return 1;
}
