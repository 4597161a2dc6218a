/*
 * What may be called before MPI_Init and after MPI_Finalize, and processes that
 * a rank starts.
 */
#include "notes.h"
#include <sys/wait.h>
#include <unistd.h>

static int flags(void)
{
    int started, ended;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return 10 * started + ended;
}

static void outside(const char *when)
{
    int version, subversion, length;
    static char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(library, &length);
    note("%s: %02d, version %d.%d, a library of %s\n", when, flags(), version, subversion, length > 0 ? "some name" : "none");
}

int main(int argc, char **argv)
{
    outside("before");
    begin(&argc, &argv);
    outside("between");

    /* A child that does nothing with MPI, and one that is another program. */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(40 + rank);
    int status = 0;
    waitpid(child, &status, 0);
    note("a child's status %d\n", WEXITSTATUS(status));
    child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    note("a shell's status %d\n", WEXITSTATUS(status));
    char line[32] = "";
    FILE *pipe = popen("echo from a shell", "r");
    if (pipe && fgets(line, sizeof line, pipe))
        note("read %s", line);
    if (pipe)
        pclose(pipe);
    print_notes();
    int printer = rank == 0;
    MPI_Finalize();
    outside("after");
    if (printer)
        printf("%s", notes);
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   what MPI allows before MPI_Init and after MPI_Finalize works; children
 *           of a rank are plain processes.
 * PITFALLS: 2 5 14 21 26
 */
