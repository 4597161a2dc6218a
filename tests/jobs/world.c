/*
 * What a program can see of MPI_COMM_WORLD.
 *
 * Every rank writes down what it sees, and rank 0 prints all notes in rank
 * order. Nothing in them depends on where a rank runs, so a run under a
 * permutation must print the same, byte for byte: this is the acceptance test
 * of the world's substitution.
 *
 *     world FILE      FILE is written by all ranks together
 *
 * One last question is not asked here: MPI_Abort has a job of its own.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char notes[65536];
static size_t noted;
static int rank, size;

static void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(notes + noted, sizeof notes - noted, format, arguments);
    va_end(arguments);
    if (length > 0 && noted + (size_t)length < sizeof notes)
        noted += (size_t)length;
}

/* Codes differ from one MPI to the next and may carry more than the class. */
static const char *class_of(int code)
{
    static const struct {
        int class;
        const char *name;
    } names[] = {
        {MPI_SUCCESS, "success"},   {MPI_ERR_COMM, "ERR_COMM"},   {MPI_ERR_RANK, "ERR_RANK"},
        {MPI_ERR_ARG, "ERR_ARG"},   {MPI_ERR_TYPE, "ERR_TYPE"},   {MPI_ERR_TAG, "ERR_TAG"},
        {MPI_ERR_COUNT, "ERR_COUNT"}, {MPI_ERR_REQUEST, "ERR_REQUEST"}, {MPI_ERR_ROOT, "ERR_ROOT"},
        {MPI_ERR_GROUP, "ERR_GROUP"}, {MPI_ERR_OP, "ERR_OP"},     {MPI_ERR_KEYVAL, "ERR_KEYVAL"},
        {MPI_ERR_NO_SUCH_FILE, "ERR_NO_SUCH_FILE"}, {MPI_ERR_DIMS, "ERR_DIMS"}, {MPI_ERR_TOPOLOGY, "ERR_TOPOLOGY"},
    };
    int class;
    MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].class == class)
            return names[i].name;
    return "another class";
}

static const char *comparison(int result)
{
    return result == MPI_IDENT       ? "IDENT"
           : result == MPI_CONGRUENT ? "CONGRUENT"
           : result == MPI_SIMILAR   ? "SIMILAR"
                                     : "UNEQUAL";
}

static const char *compare(MPI_Comm one, MPI_Comm other)
{
    int result;
    MPI_Comm_compare(one, other, &result);
    return comparison(result);
}

/* Through the handles' numbers. The standard ABI has no Fortran of its own. */
static MPI_Comm there_and_back(MPI_Comm comm)
{
#ifdef MPI_H_ABI
    return MPI_Comm_fromint(MPI_Comm_toint(comm));
#else
    return MPI_Comm_f2c(MPI_Comm_c2f(comm));
#endif
}

static void itself(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, inter, topology;
    MPI_Comm dup, parent, backward;

    note("rank %d of %d\n", rank, size);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    note("name %s (%d)\n", name, length);
    MPI_Comm_test_inter(MPI_COMM_WORLD, &inter);
    MPI_Topo_test(MPI_COMM_WORLD, &topology);
    note("inter %d, topology %s\n", inter, topology == MPI_UNDEFINED ? "none" : "some");
    MPI_Comm_get_parent(&parent);
    note("parent %s\n", parent == MPI_COMM_NULL ? "none" : "some");

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backward);
    note("compare: world world %s, world dup %s, dup world %s, world self %s, world backward %s\n",
         compare(MPI_COMM_WORLD, MPI_COMM_WORLD), compare(MPI_COMM_WORLD, dup), compare(dup, MPI_COMM_WORLD),
         size > 1 ? compare(MPI_COMM_WORLD, MPI_COMM_SELF) : "UNEQUAL", compare(MPI_COMM_WORLD, backward));
    MPI_Comm_get_name(dup, name, &length);
    note("name of a dup has %d letters\n", length);
    MPI_Comm_free(&backward);
    MPI_Comm_free(&dup);

    MPI_Comm translated = there_and_back(MPI_COMM_WORLD);
    note("f2c(c2f(world)) is the world: %d\n", translated == MPI_COMM_WORLD);
    int through;
    MPI_Comm_rank(translated, &through);
    note("rank through it %d\n", through);

    /* A name of its own, and back. */
    MPI_Comm_set_name(MPI_COMM_WORLD, "everyone");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    note("renamed %s\n", name);
    MPI_Comm_set_name(MPI_COMM_WORLD, "MPI_COMM_WORLD");
}

static void groups(void)
{
    MPI_Group world, dup_group, self, some;
    MPI_Comm dup, made;
    int ranks[2] = {0, size - 1}, translated[2], result, mine;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_group(dup, &dup_group);
    MPI_Group_compare(world, dup_group, &result);
    note("group of a dup %s\n", comparison(result));
    MPI_Group_rank(world, &mine);
    note("rank in the group %d\n", mine);
    MPI_Group_translate_ranks(self, 1, (int[]){0}, world, translated);
    note("self is %d in the world\n", translated[0]);
    MPI_Group_incl(world, size > 1 ? 2 : 1, ranks, &some);
    MPI_Group_translate_ranks(some, size > 1 ? 2 : 1, (int[]){0, 1}, world, translated);
    note("first and last of the group %d %d\n", translated[0], size > 1 ? translated[1] : 0);
    MPI_Comm_create(MPI_COMM_WORLD, some, &made);
    if (made != MPI_COMM_NULL) {
        MPI_Comm_rank(made, &mine);
        note("rank among first and last %d\n", mine);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&dup_group);
    MPI_Group_free(&self);
    MPI_Group_free(&world);
    MPI_Comm_free(&dup);
}

/* The predefined attributes. Two are the MPI's own affair where they say
 * something of the machine; that they are there, and the same, is ours. */
static void predefined_attributes(void)
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
        MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i].key, &value, &found);
        note("attribute %s: ", keys[i].name);
        if (found)
            note("%d", *value);
        else
            note("unset");
        /* The name that MPI-1 gave it is still what PETSc and others call. */
        MPI_Attr_get(MPI_COMM_WORLD, keys[i].key, &old_value, &old_found);
        if (old_found)
            note(", by the old name %d\n", *old_value);
        else
            note(", by the old name unset\n");
    }
    int code_class, *last, found;
    MPI_Add_error_class(&code_class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found);
    note("after a new error class, LASTUSEDCODE is it: %d\n", found && *last == code_class);
}

static int copies, deletions, foreign;

/* Callbacks are told the communicator that the application knows. */
static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key, (void)extra;
    copies++;
    if (comm != MPI_COMM_WORLD)
        foreign++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void user_attributes(void)
{
    int key, found, old_key;
    static int answer = 42;
    int *value = NULL;
    MPI_Comm dup;
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    note("attribute before it is set: %d\n", found);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &answer);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    note("attribute set: %d, %d\n", found, found ? *value : -1);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    value = NULL;
    MPI_Comm_get_attr(dup, key, &value, &found);
    note("attribute of the dup: %d, %d; copied %d times, from another communicator %d times\n", found,
         found ? *value : -1, copies, foreign);
    MPI_Comm_free(&dup);
    note("deleted with the dup: %d\n", deletions);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    note("attribute after deletion: %d, deleted %d\n", found, deletions);
    MPI_Comm_free_keyval(&key);

    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &old_key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, old_key, &answer);
    MPI_Attr_get(MPI_COMM_WORLD, old_key, &value, &found);
    note("attribute by the old names: %d, %d\n", found, found ? *value : -1);
    MPI_Attr_delete(MPI_COMM_WORLD, old_key);
    MPI_Keyval_free(&old_key);
}

static int handled, handled_on_world;
static char handled_class[64];

static void handler(MPI_Comm *comm, int *code, ...)
{
    handled++;
    handled_on_world += *comm == MPI_COMM_WORLD;
    snprintf(handled_class, sizeof handled_class, "%s", class_of(*code));
}

static void report_handler(const char *what)
{
    note("%s: handler called %d times, with the world %d times, %s\n", what, handled, handled_on_world,
         handled ? handled_class : "no class");
    handled = handled_on_world = 0;
}

/* The world's error handler is called for errors on the world, and for errors
 * that belong to no communicator. Where an MPI raises those on MPI_COMM_SELF
 * (as MPI 4 has it), that one returns them. */
static void error_handlers(void)
{
    MPI_Errhandler mine, before, got;
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Comm dup;
    int value = 1, code;

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    note("error handler at first: %s\n", before == MPI_ERRORS_ARE_FATAL ? "fatal" : "another");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    note("the handler that was set is got back: %d\n", got == mine);
    MPI_Errhandler_free(&got);

    code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    note("send to no rank: %s\n", class_of(code));
    report_handler("send to no rank");
    code = MPI_Bcast(&value, 1, MPI_INT, -7, MPI_COMM_WORLD);
    note("broadcast from no rank: %s\n", class_of(code));
    report_handler("broadcast from no rank");
    code = MPI_Type_commit(&none);
    note("commit of no type: %s\n", class_of(code));
    report_handler("commit of no type");
    code = MPI_Comm_rank(MPI_COMM_NULL, &value);
    note("rank in no communicator: %s\n", class_of(code));
    report_handler("rank in no communicator");
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    report_handler("call of the handler");

    /* A dup inherits the handler, and is not the world. */
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, dup);
    note("send on a dup: %s\n", class_of(code));
    report_handler("send on a dup");
    MPI_Comm_free(&dup);

    /* The handler may be freed while it is in use. */
    MPI_Errhandler_free(&mine);
    code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    report_handler("after the handler was freed");

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    note("with errors returned: %s\n", class_of(code));
    report_handler("with errors returned");
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    note("error handler now: %s\n", got == MPI_ERRORS_RETURN ? "return" : "another");
}

static void topologies(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], up, down, left, right, mine;
    MPI_Comm cart, line, graph, neighbours;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Comm_rank(cart, &mine);
    MPI_Cart_coords(cart, mine, 2, coords);
    MPI_Cart_shift(cart, 0, 1, &up, &down);
    MPI_Cart_shift(cart, 1, 1, &left, &right);
    note("grid: rank %d at %d %d; %d %d %s %s\n", mine, coords[0], coords[1], up, down,
         left == MPI_PROC_NULL ? "edge" : "inside", right == MPI_PROC_NULL ? "edge" : "inside");
    int keep[2] = {0, 1}, sum = 0;
    MPI_Cart_sub(cart, keep, &line);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, line);
    note("sum of ranks along a line %d\n", sum);
    int in[4] = {-1, -1, -1, -1}, out = rank;
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, cart);
    note("neighbours in the grid %d %d\n", in[0], in[1]);
    MPI_Comm_free(&line);
    MPI_Comm_free(&cart);

    /* A ring, once as a graph that all ranks know, once by each its own. */
    int *index = malloc((size_t)size * sizeof *index), *edges = malloc((size_t)size * sizeof *edges);
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    int degree, next;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
    MPI_Graph_neighbors_count(graph, rank, &degree);
    MPI_Graph_neighbors(graph, rank, 1, &next);
    note("graph: %d neighbour, %d\n", degree, next);
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &mine);
    note("graph map: in %d\n", mine >= 0 && mine < size);
    MPI_Comm_free(&graph);
    free(index);
    free(edges);

    int from = (rank + size - 1) % size, to = (rank + 1) % size, got = -1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &neighbours);
    MPI_Neighbor_alltoall(&rank, 1, MPI_INT, &got, 1, MPI_INT, neighbours);
    note("distributed graph: from %d\n", got);
    MPI_Comm_free(&neighbours);
    int degrees = 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degrees, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &neighbours);
    got = -1;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, neighbours);
    note("distributed graph, by its edges: from %d\n", got);
    MPI_Comm_free(&neighbours);
}

static void windows(void)
{
    int *memory, other = (rank + 1) % size;
    MPI_Win window;
    MPI_Group world, of_window;
    int result;
    /* A page, not a few bytes: MPICH 4.0.2 mistakes where each rank's part of
     * a smaller window begins, with or without us. */
    MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memory[0] = -1;
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, other, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    note("put by %d\n", memory[0]);
    MPI_Win_get_group(window, &of_window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(world, of_window, &result);
    note("group of the window %s\n", comparison(result));
    MPI_Group_free(&world);
    MPI_Group_free(&of_window);
    int target = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&target, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    note("rank 0 has %d\n", target);
    MPI_Win_free(&window);

    int own = 100 + rank;
    int code = MPI_Win_create(&own, sizeof own, sizeof own, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (code != MPI_SUCCESS) { /* Open MPI makes none for a single rank */
        note("window of own memory: an error\n");
        return;
    }
    MPI_Win_fence(0, window);
    MPI_Get(&target, 1, MPI_INT, other, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    note("got %d\n", target);
    MPI_Win_free(&window);
}

static void files(const char *name)
{
    MPI_File file;
    MPI_Group world, of_file;
    MPI_Offset bytes;
    char record[16], back[16] = "";
    int result;
    snprintf(record, sizeof record, "rank %8d\n", rank);
    int length = (int)strlen(record);
    int code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (code != MPI_SUCCESS) {
        note("file: cannot be opened\n");
        return;
    }
    MPI_File_set_size(file, 0);
    MPI_File_write_at_all(file, (MPI_Offset)rank * length, record, length, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, (MPI_Offset)((rank + 1) % size) * length, back, length, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &bytes);
    MPI_File_get_group(file, &of_file);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(world, of_file, &result);
    MPI_Group_free(&world);
    MPI_Group_free(&of_file);
    note("file: %lld bytes, group %s, the next record is %s", (long long)bytes, comparison(result), back);
    MPI_File_close(&file);
    code = MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    note("file that is not there: %s\n", code == MPI_SUCCESS ? "success" : "an error");
}

static void not_blocking(void)
{
    int sum = 0, from_zero = rank, *all = calloc((size_t)size, sizeof *all), passed = 0;
    MPI_Request requests[4];
    MPI_Comm dup;
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&from_zero, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++)
        passed += all[i] == i;
    note("non-blocking: %d, %d, %d\n", from_zero, sum, passed);
    free(all);
    MPI_Comm_idup(MPI_COMM_WORLD, &dup, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    note("idup %s\n", compare(MPI_COMM_WORLD, dup));
    MPI_Comm_free(&dup);
}

static void packing(void)
{
    char buffer[64];
    int position = 0, bytes, value = 0;
    MPI_Pack(&rank, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
    position = 0;
    MPI_Unpack(buffer, sizeof buffer, &position, &value, 1, MPI_INT, MPI_COMM_WORLD);
    note("packed %d, room %d\n", value, bytes >= (int)sizeof(int));
}

/* Freeing the world is an error that must stay one: it is still there
 * afterwards. (Errors are returned by now.) */
static void freeing(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int code = MPI_Comm_free(&comm), still;
    note("free of the world: %s, the handle is kept %d\n", code == MPI_SUCCESS ? "success" : "an error",
         comm == MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &still);
    note("rank still %d\n", still);
}

static void print_all(void)
{
    if (rank != 0) {
        MPI_Send(notes, (int)noted, MPI_CHAR, 0, 99, MPI_COMM_WORLD);
        return;
    }
    for (int from = 0; from < size; from++) {
        if (from > 0) {
            MPI_Status status;
            int length;
            MPI_Recv(notes, sizeof notes - 1, MPI_CHAR, from, 99, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_CHAR, &length);
            notes[length] = '\0';
        }
        for (char *line = strtok(notes, "\n"); line; line = strtok(NULL, "\n"))
            printf("[%d] %s\n", from, line);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: world FILE\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    itself();
    groups();
    predefined_attributes();
    user_attributes();
    error_handlers();
    topologies();
    windows();
    files(argv[1]);
    not_blocking();
    packing();
    freeing();
    print_all();
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    any number of ranks, with a file name in a directory of the test's.
 * EXPECT: standard output under `off`, `profile` and `replay` (any
 *         permutation) is that of the plain run.
 */
