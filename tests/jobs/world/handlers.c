/*
 * Error handlers of the world: who is called, with which communicator, and what
 * is got back.
 */
#include "notes.h"

/* Removed by MPI 3.0; libraries still carry them, headers may refuse them. */
#undef MPI_Errhandler_create
#undef MPI_Errhandler_set
#undef MPI_Errhandler_get
#pragma weak MPI_Errhandler_create
#pragma weak MPI_Errhandler_set
#pragma weak MPI_Errhandler_get
int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler);

static char calls[4096];
static int called;

static void record(const char *who, MPI_Comm *comm, int code)
{
    char entry[160];
    int through = -1, result = -1;
    if (*comm == MPI_COMM_WORLD) {
        MPI_Comm_compare(*comm, MPI_COMM_WORLD, &result);
        MPI_Comm_rank(*comm, &through);
    }
    snprintf(entry, sizeof entry, " %s(%s, %s, %s, rank %s)", who, seen(*comm), class_of(code), comparison(result),
             through == rank ? "right" : through < 0 ? "not asked" : "wrong");
    if (called++ < 8)
        strcat(calls, entry);
}

static void first(MPI_Comm *comm, int *code, ...) { record("first", comm, *code); }
static void second(MPI_Comm *comm, int *code, ...) { record("second", comm, *code); }

static void report(const char *what, int code)
{
    note("%s: %s, calls %d:%s\n", what, class_of(code), called, calls);
    called = 0;
    calls[0] = 0;
}

/* One error of each kind: on the world, on no object, on a type, on a request,
 * on a group. What an MPI does with each is its own affair. */
static void make_errors(const char *with)
{
    int value = 0, code;
    MPI_Datatype no_type = MPI_DATATYPE_NULL;
    MPI_Group group;
    MPI_Comm made;
    note("with %s\n", with);
    code = MPI_Send(&value, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD);
    report("send to no rank", code);
    code = MPI_Recv(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    report("receive of a negative count", code);
    code = MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD);
    report("broadcast from no rank", code);
    code = MPI_Type_commit(&no_type);
    report("commit of no type", code);
    code = MPI_Comm_size(MPI_COMM_NULL, &value);
    report("size of no communicator", code);
    code = MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made);
    report("communicator of no group", code);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    int ranks[1] = {size + 3};
    MPI_Group none;
    code = MPI_Group_incl(group, 1, ranks, &none);
    report("group of a rank that is not there", code);
    MPI_Group_free(&group);
    code = MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    report("a call of the handler", code);
}

int main(int argc, char **argv)
{
    MPI_Errhandler one, two, got, of_dup;
    MPI_Comm dup;
    int value = 0, code;
    begin(&argc, &argv);

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    note("at first %s\n", got == MPI_ERRORS_ARE_FATAL ? "fatal" : "another");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_errhandler(first, &one);
    MPI_Comm_create_errhandler(second, &two);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, one);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    note("what was set is got: %d\n", got == one);
    MPI_Errhandler_free(&got);
    make_errors("the first handler");

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, two);
    make_errors("the second handler");

    /* A dup inherits; a handler of its own stays its own. */
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_errhandler(dup, &of_dup);
    note("a dup inherits it: %d\n", of_dup == two);
    MPI_Errhandler_free(&of_dup);
    code = MPI_Send(&value, 1, MPI_INT, size + 1, 0, dup);
    report("on a dup", code);
    MPI_Comm_set_errhandler(dup, one);
    code = MPI_Send(&value, 1, MPI_INT, size + 1, 0, dup);
    report("on a dup with the other handler", code);
    code = MPI_Send(&value, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD);
    report("on the world after that", code);

    /* Freed in use, and its function registered again. */
    MPI_Errhandler_free(&one);
    MPI_Errhandler_free(&two);
    code = MPI_Send(&value, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD);
    report("after the handler was freed", code);
    code = MPI_Send(&value, 1, MPI_INT, size + 1, 0, dup);
    report("on the dup after its handler was freed", code);
    MPI_Comm_free(&dup);
    for (int again = 0; again < 200; again++) {
        MPI_Comm_create_errhandler(again % 2 ? first : second, &one);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, one);
        MPI_Errhandler_free(&one);
    }
    code = MPI_Send(&value, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD);
    report("after 200 handlers", code);

    /* The names of MPI-1. */
    note("the old names are there: %d\n", MPI_Errhandler_create && MPI_Errhandler_set && MPI_Errhandler_get);
    if (MPI_Errhandler_create && MPI_Errhandler_set && MPI_Errhandler_get) {
        MPI_Errhandler_create(second, &two);
        MPI_Errhandler_set(MPI_COMM_WORLD, two);
        MPI_Errhandler_get(MPI_COMM_WORLD, &got);
        note("what was set is got: %d\n", got == two);
        make_errors("a handler by the old names");
    }

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make_errors("errors returned");

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    note("fatal again: %d\n", got == MPI_ERRORS_ARE_FATAL);
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   handlers set on the world are called for errors on it and on objects
 *           of no communicator, are handed MPI_COMM_WORLD, may be freed in use,
 *           and are got back as they were set.
 * PITFALLS: 8 12
 * FAILURES: attrerrtype commcall commcall_oldapi namepubf namepubf90
 */
