/* Programs that are careless with their process: with its environment, with children, with names
 * that libraries use. Prints one line a rank if all is as it was.
 *
 *     careless saved | cleared | children | names
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#ifdef NAMES
/* What a program may call its own procedures, and a C library has too: the MPI, which calls some of
 * them, gets answers of this program, and the library that is preloaded calls none. */
long random(void) { return 4; }
long time(long *seconds) { return seconds != NULL ? *seconds = 1 : 1; }
char *index(const char *text, int letter) { return strchr(text, letter); }
void error(int status, int number, const char *format, ...) { (void)status, (void)number, (void)format; abort(); }
void send_(void) { abort(); }
#endif

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "careless: %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* A child that ends in each of three ways; none of them is this job's end. */
static void have_children(void)
{
    for (int way = 0; way < 3; ++way) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0 && way == 0)
            _exit(7);
        if (child == 0 && way == 1)
            exit(7);
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
            _exit(1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a child did not end as it meant to");
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "cleared") == 0) {
        char *path = strdup(getenv("PATH"));
        clearenv();
        setenv("PATH", path, 1);
        /* Open MPI starts nothing as root otherwise. */
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    char **saved = environ;
    size_t variables = 0;
    while (saved != NULL && saved[variables] != NULL)
        ++variables;
    char **pointers = calloc(variables + 1, sizeof *pointers);
    char **copies = calloc(variables + 1, sizeof *copies);
    for (size_t i = 0; i < variables; ++i) {
        pointers[i] = saved[i];
        copies[i] = strdup(saved[i]);
    }

    MPI_Init(&argc, &argv);
    int rank, size, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < variables && strcmp(how, "saved") == 0; ++i)
        check(strcmp(pointers[i], copies[i]) == 0, "a saved variable has changed");
    if (strcmp(how, "children") == 0)
        have_children();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &got, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(got == previous && sum == size * (size - 1) / 2, "a message or a sum is wrong");
    MPI_Finalize();
    if (rank == 0)
        printf("%s: as it was on %d\n", how, size);
    return 0;
}
