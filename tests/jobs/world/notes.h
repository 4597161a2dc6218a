/*
 * What the jobs of this folder share: every rank writes notes, and rank 0 prints
 * all of them in rank order. Notes must not depend on which process runs which
 * rank: then a run under any permutation prints what the plain run prints.
 */
#ifndef NOTES_H
#define NOTES_H
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char notes[65536];
static size_t noted;
static int rank, size;

__attribute__((format(printf, 1, 2), unused)) static void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(notes + noted, sizeof notes - noted, format, arguments);
    va_end(arguments);
    if (length > 0 && noted + (size_t)length < sizeof notes)
        noted += (size_t)length;
}

/* Starts MPI, where it is not started, and asks who this is. */
__attribute__((unused)) static void begin(int *argc, char ***argv)
{
    int started;
    MPI_Initialized(&started);
    if (!started)
        MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Prints all notes, as many times as it is called; collective on the world. */
__attribute__((unused)) static void print_notes(void)
{
    int length = (int)noted;
    if (rank == 0) {
        printf("rank 0:\n%.*s", length, notes);
        for (int from = 1; from < size; from++) {
            MPI_Status status;
            MPI_Recv(notes, sizeof notes, MPI_CHAR, from, 7, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_CHAR, &length);
            printf("rank %d:\n%.*s", status.MPI_SOURCE, length, notes);
        }
        fflush(stdout);
    } else {
        MPI_Send(notes, length, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
    }
    noted = 0;
}

/* An error code's class, by name: codes differ from one MPI to the next. */
__attribute__((unused)) static const char *class_of(int code)
{
#define CLASS(name) {name, #name}
    static const struct {
        int class;
        const char *name;
    } names[] = {
        CLASS(MPI_SUCCESS),   CLASS(MPI_ERR_COMM),    CLASS(MPI_ERR_RANK),   CLASS(MPI_ERR_ARG),
        CLASS(MPI_ERR_TYPE),  CLASS(MPI_ERR_TAG),     CLASS(MPI_ERR_COUNT),  CLASS(MPI_ERR_REQUEST),
        CLASS(MPI_ERR_ROOT),  CLASS(MPI_ERR_GROUP),   CLASS(MPI_ERR_OP),     CLASS(MPI_ERR_KEYVAL),
        CLASS(MPI_ERR_DIMS),  CLASS(MPI_ERR_TOPOLOGY), CLASS(MPI_ERR_TRUNCATE), CLASS(MPI_ERR_BUFFER),
        CLASS(MPI_ERR_OTHER), CLASS(MPI_ERR_NO_SUCH_FILE), CLASS(MPI_ERR_WIN), CLASS(MPI_ERR_INFO),
        CLASS(MPI_ERR_UNKNOWN), CLASS(MPI_ERR_INTERN), CLASS(MPI_ERR_FILE), CLASS(MPI_ERR_SPAWN),
    };
    int class;
    MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].class == class)
            return names[i].name;
    return "another class";
}

__attribute__((unused)) static const char *comparison(int result)
{
    return result == MPI_IDENT       ? "IDENT"
           : result == MPI_CONGRUENT ? "CONGRUENT"
           : result == MPI_SIMILAR   ? "SIMILAR"
           : result == MPI_UNEQUAL   ? "UNEQUAL"
                                     : "nothing known";
}

__attribute__((unused)) static const char *compare(MPI_Comm one, MPI_Comm other)
{
    int result = -1;
    MPI_Comm_compare(one, other, &result);
    return comparison(result);
}

/* What a communicator is to the application. */
__attribute__((unused)) static const char *seen(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD  ? "the world"
           : comm == MPI_COMM_SELF ? "self"
           : comm == MPI_COMM_NULL ? "none"
                                   : "another";
}
#endif
