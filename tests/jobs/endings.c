/* A job that exchanges a little and then ends in the way that its argument says:
 *
 *     endings abort|fatal|exit|quick-exit|leave|early|late|segv|term|interrupt|handler|kill|wait|
 *             usr1|missing|well [receive]
 *
 * Every rank sends 5 messages of 100 bytes to its right neighbour; then there is
 * one MPI_Allreduce of an int. With `kill` it waits for two seconds first; with
 * `wait` each rank says so, and waits for a minute. With `early` all ranks end with
 * status 0 before MPI_Finalize, with `leave` rank 0 alone, with `late` rank 0 with status 3 after
 * it. With `usr1` each rank waits for a SIGUSR1 and ends well. With `missing` the last rank leaves
 * with status 0, and the others call MPI_Finalize, for 40 seconds at most: Open MPI's own may wait
 * without end for a rank that is gone. Where it is one rank that ends, the
 * others sleep, or with `receive` wait for a message from it. */

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

static void on_alarm(int signal_number)
{
    (void)signal_number;
    _exit(0);
}

static volatile sig_atomic_t came;

static void on_usr1(int signal_number)
{
    came = signal_number;
}

/* Rank 0 alone ends in this way. */
static void end_alone(const char *how, int size)
{
    char out = 0;
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(how, "fatal"))
        MPI_Send(&out, 1, MPI_CHAR, size, 0, MPI_COMM_WORLD);
    if (!strcmp(how, "exit"))
        exit(4);
    if (!strcmp(how, "quick-exit"))
        _exit(3);
    if (!strcmp(how, "leave"))
        _exit(0);
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "term") || !strcmp(how, "handler"))
        raise(SIGTERM);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "well";
    char out[100] = {0}, in[100];
    int rank, size, one = 1, sum;

    if (!strcmp(how, "handler"))
        signal(SIGTERM, on_term);
    if (!strcmp(how, "usr1"))
        signal(SIGUSR1, on_usr1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++)
        MPI_Sendrecv(out, 100, MPI_CHAR, (rank + 1) % size, 0, in, 100, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);

    if (!strcmp(how, "missing")) {
        if (rank == size - 1)
            _exit(0);
        signal(SIGALRM, on_alarm);
        alarm(40);
    }
    if (!strcmp(how, "well") || !strcmp(how, "missing")) {
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(how, "early"))
        _exit(0);
    if (!strcmp(how, "late")) {
        MPI_Finalize();
        return rank == 0 ? 3 : 0;
    }
    if (!strcmp(how, "wait") || !strcmp(how, "usr1")) {
        puts("waiting");
        fflush(stdout);
    }
    if (!strcmp(how, "usr1")) {
        while (!came)
            usleep(10000);
        puts("SIGUSR1 came");
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(how, "kill"))
        sleep(2);
    if (!strcmp(how, "interrupt"))
        raise(SIGINT);
    if (rank == 0)
        end_alone(how, size);
    else if (argc > 2)
        MPI_Recv(in, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sleep(60);
    return 1;
}
