/*
 * Attributes of the world: what MPI sets, what the program sets, and the
 * communicators that callbacks are told.
 */
#include "notes.h"

static void predefined(MPI_Comm comm, const char *of)
{
    static const struct {
        const char *name;
        int key;
    } keys[] = {
        {"TAG_UB", MPI_TAG_UB},
        {"HOST", MPI_HOST},
        {"IO", MPI_IO},
        {"WTIME_IS_GLOBAL", MPI_WTIME_IS_GLOBAL},
        {"UNIVERSE_SIZE", MPI_UNIVERSE_SIZE},
        {"APPNUM", MPI_APPNUM},
        {"LASTUSEDCODE", MPI_LASTUSEDCODE},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int *value = NULL, *old_value = NULL, found = 0, old_found = 0;
        MPI_Comm_get_attr(comm, keys[i].key, &value, &found);
        MPI_Attr_get(comm, keys[i].key, &old_value, &old_found);
        note("%s of %s: %d %d, by the old name %d %d\n", keys[i].name, of, found, found ? *value : 0, old_found,
             old_found ? *old_value : 0);
    }
}

static char events[4096];

static void event(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t used = strlen(events);
    vsnprintf(events + used, sizeof events - used, format, arguments);
    va_end(arguments);
}

static void report(const char *what)
{
    note("%s:%s\n", what, events);
    events[0] = 0;
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int of = -1;
    MPI_Comm_rank(comm, &of);
    event(" copy(%s, rank %s, key %s, extra %d, value %d)", seen(comm), of == rank ? "right" : "wrong",
          key == MPI_KEYVAL_INVALID ? "invalid" : "valid", *(int *)extra, *(int *)in);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    event(" delete(%s, key %s, extra %d, value %d)", seen(comm), key == MPI_KEYVAL_INVALID ? "invalid" : "valid",
          *(int *)extra, *(int *)value);
    return MPI_SUCCESS;
}

static int refusals = 1;

static int refuse(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return refusals-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* When MPI_Finalize takes MPI_COMM_SELF's attributes away, MPI still works. */
static int at_end_of_self(MPI_Comm comm, int key, void *value, void *extra)
{
    int now, all = 0, finalized, one = 1;
    (void)key, (void)extra;
    MPI_Comm_rank(MPI_COMM_WORLD, &now);
    MPI_Finalized(&finalized);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    note("at the end of %s, value %d: rank %s, finalized %d, %d ranks\n", seen(comm), *(int *)value,
         now == rank ? "right" : "wrong", finalized, all);
    if (*(int *)value == 1)
        print_notes();
    return MPI_SUCCESS;
}

static int at_end_of_world(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)extra;
    /* No order is given by MPI between ranks here, so that one speaks. */
    if (rank == 0) {
        printf("at the end of %s, value %d\n", seen(comm), *(int *)value);
        fflush(stdout);
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static int extra = 5, values[6] = {0, 1, 2, 3, 4, 5};
    int key, plain_key, null_key, refusing_key, old_key, end_key, world_key, found, code;
    int *value;
    MPI_Comm dup, twice, split, idup;
    MPI_Request request;
    begin(&argc, &argv);
    predefined(MPI_COMM_WORLD, "the world");
    int class;
    MPI_Add_error_class(&class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found);
    note("LASTUSEDCODE is the class that was added: %d\n", found && *value == class);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    predefined(dup, "a dup");
    MPI_Comm_free(&dup);

    MPI_Comm_create_keyval(copy, delete, &key, &extra);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain_key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &null_key, &extra);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &values[1]);
    MPI_Comm_set_attr(MPI_COMM_WORLD, plain_key, &values[2]);
    MPI_Comm_set_attr(MPI_COMM_WORLD, null_key, &values[3]);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    note("set: %d %d\n", found, found ? *value : -1);
    report("so far");
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &values[4]);
    report("set again");

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    report("dup");
    MPI_Comm_get_attr(dup, key, &value, &found);
    note("in the dup: %d %d\n", found, found ? *value : -1);
    MPI_Comm_get_attr(dup, plain_key, &value, &found);
    note("in the dup, by MPI_COMM_DUP_FN: %d %d\n", found, found ? *value : -1);
    MPI_Comm_get_attr(dup, null_key, &value, &found);
    note("in the dup, by MPI_COMM_NULL_COPY_FN: %d\n", found);
    MPI_Comm_dup(dup, &twice);
    report("dup of the dup");
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &split);
    report("split");
    MPI_Comm_get_attr(split, key, &value, &found);
    note("in a split: %d\n", found);
    MPI_Comm_idup(MPI_COMM_WORLD, &idup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    report("idup");
    MPI_Comm_free(&idup);
    MPI_Comm_free(&twice);
    MPI_Comm_free(&split);
    report("frees");
    MPI_Comm_delete_attr(dup, key);
    report("delete from the dup");
    MPI_Comm_free(&dup);
    report("free of the dup");

    /* Keyvals freed in use, and their numbers used again. */
    int freed = key;
    MPI_Comm_free_keyval(&freed);
    for (int again = 0; again < 100; again++) {
        int other;
        MPI_Comm_create_keyval(copy, delete, &other, &extra);
        MPI_Comm_free_keyval(&other);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    report("dup with a freed keyval");
    MPI_Comm_free(&dup);
    report("free of that");
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    report("delete from the world");
    MPI_Comm_delete_attr(MPI_COMM_WORLD, null_key);
    report("delete from the world, of the other");

    /* A callback that fails. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &refusing_key, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(MPI_COMM_WORLD, refusing_key, &values[1]);
    code = MPI_Comm_delete_attr(MPI_COMM_WORLD, refusing_key);
    note("a callback that refuses: %s\n", code == MPI_SUCCESS ? "success" : "an error");
    code = MPI_Comm_delete_attr(MPI_COMM_WORLD, refusing_key);
    note("asked again: %s\n", code == MPI_SUCCESS ? "success" : "an error");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);

    /* The names of MPI-1. */
    MPI_Keyval_create(copy, delete, &old_key, &extra);
    MPI_Attr_put(MPI_COMM_WORLD, old_key, &values[2]);
    MPI_Attr_get(MPI_COMM_WORLD, old_key, &value, &found);
    note("by the old names: %d %d\n", found, found ? *value : -1);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
    MPI_Attr_delete(MPI_COMM_WORLD, old_key);
    MPI_Keyval_free(&old_key);
    report("by the old names");

    /* Those that end with MPI. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end_of_self, &end_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, end_key, &values[1]);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end_of_self, &end_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, end_key, &values[2]);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end_of_world, &world_key, NULL);
#if !defined OMPI_MAJOR_VERSION || OMPI_MAJOR_VERSION < 5 /* which forgets it */
    MPI_Comm_set_attr(MPI_COMM_WORLD, world_key, &values[3]);
#endif
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   predefined attributes are the host's, by both names; the program's
 *           are copied by dup and not by split; callbacks are told MPI_COMM_WORLD;
 *           those of MPI_COMM_SELF, in MPI_Finalize, still see the same ranks.
 * PITFALLS: 6 8 26
 * FAILURES: baseattr2 baseattrcomm testLastUsedCode
 */
