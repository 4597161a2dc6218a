/*
 * The world as a communicator among others: names, comparison, groups, handles,
 * and communicators made from it.
 */
#include "notes.h"

static int sum_of_ranks(MPI_Comm comm)
{
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static void describe(const char *what, MPI_Comm comm)
{
    int mine, others, weighted, inter;
    if (comm == MPI_COMM_NULL) {
        note("%s: none\n", what);
        return;
    }
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &others);
    note("%s: rank %d of %d, inter %d, to the world %s", what, mine, others, inter,
         inter ? "not asked" : compare(MPI_COMM_WORLD, comm));
    if (!inter) {
        int position = (mine + 1) * rank;
        MPI_Allreduce(&position, &weighted, 1, MPI_INT, MPI_SUM, comm);
        note(", ranks weighted by place %d", weighted);
    }
    note("\n");
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm dup;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    note("name %s (%d)\n", name, length);
    MPI_Comm_set_name(MPI_COMM_WORLD, "everyone");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    note("renamed %s (%d)\n", name, length);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_name(dup, name, &length);
    note("a dup's name: %s (%d)\n", name, length);
    MPI_Comm_free(&dup);
    MPI_Comm_set_name(MPI_COMM_WORLD, "");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    note("without a name: %s (%d)\n", name, length);
    MPI_Comm_set_name(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    note("self is %s\n", name);
}

static void infos(void)
{
    MPI_Info info, got;
    int keys = -1, flag = 0, own = 0;
    char value[64] = "", key[MPI_MAX_INFO_KEY + 1];
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
    MPI_Comm_set_info(MPI_COMM_WORLD, info);
    MPI_Comm_get_info(MPI_COMM_WORLD, &got);
    MPI_Info_get_nkeys(got, &keys);
    /* Of Open MPI 6's own hints its world has fewer than communicators that are made. */
    for (int i = 0; i < keys; i++) {
        MPI_Info_get_nthkey(got, i, key);
        own += !strncmp(key, "ompi_", 5);
    }
    MPI_Info_get(got, "mpi_assert_no_any_tag", 63, value, &flag);
    note("info: %d keys, %d %s\n", keys - own, flag, flag ? value : "");
    MPI_Info_free(&got);
    MPI_Info_free(&info);
}

static void groups(void)
{
    MPI_Group world, of_dup, self, reversed, evens, both;
    MPI_Comm dup;
    int result, mine, *all = malloc(2 * (size_t)size * sizeof *all), *translated = all + size;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_group(dup, &of_dup);
    MPI_Group_compare(world, of_dup, &result);
    MPI_Group_rank(world, &mine);
    note("group: like a dup's %s, rank %d\n", comparison(result), mine);
    MPI_Group_translate_ranks(self, 1, (int[]){0}, world, &mine);
    note("self in the world %d\n", mine);
    for (int i = 0; i < size; i++)
        all[i] = size - 1 - i;
    MPI_Group_incl(world, size, all, &reversed);
    MPI_Group_translate_ranks(reversed, size, all, world, translated);
    note("reversed, translated:");
    for (int i = 0; i < size; i++)
        note(" %d", translated[i]);
    MPI_Group_compare(world, reversed, &result);
    note(", %s\n", comparison(result));
    MPI_Group_range_incl(world, 1, (int[1][3]){{0, size - 1, 2}}, &evens);
    MPI_Group_difference(world, evens, &both);
    MPI_Group_rank(both, &mine);
    note("rank among the odd: %d\n", mine == MPI_UNDEFINED ? -1 : mine);

    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_create(MPI_COMM_WORLD, reversed, &made);
    describe("created, reversed", made);
    MPI_Comm_free(&made);
    MPI_Comm_create(MPI_COMM_WORLD, evens, &made);
    describe("created, even", made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    if (rank % 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, both, 4, &made);
        describe("created by the odd alone", made);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&both);
    MPI_Group_free(&evens);
    MPI_Group_free(&reversed);
    MPI_Group_free(&of_dup);
    MPI_Group_free(&self);
    MPI_Group_free(&world);
    MPI_Comm_free(&dup);
    free(all);
}

static void handles(void)
{
    int through;
#if defined MPI_ABI_VERSION && !defined MPICH /* the standard ABI has these instead */
    MPI_Comm same = MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD));
#else
    MPI_Comm same = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
#endif
    MPI_Comm_rank(same, &through);
    note("through an integer and back: %s, %s, rank %d\n", seen(same), compare(same, MPI_COMM_WORLD), through);
}

static void made(void)
{
    MPI_Comm comm, dup, idup, split, inter, merged;
    MPI_Request request;
    MPI_Info info;
    int flag, remote;
    note("world %s, self %s\n", compare(MPI_COMM_WORLD, MPI_COMM_WORLD), compare(MPI_COMM_WORLD, MPI_COMM_SELF));
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    describe("dup", dup);
    note("other way round: %s\n", compare(dup, MPI_COMM_WORLD));
    MPI_Info_create(&info);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    describe("dup with info", comm);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    MPI_Comm_idup(MPI_COMM_WORLD, &idup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    describe("idup", idup);
    MPI_Comm_free(&idup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &split);
    describe("split, backward", split);
    MPI_Comm_free(&split);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &split);
    describe("split, equal keys", split);
    MPI_Comm_free(&split);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : rank % 2, rank, &split);
    describe("split in three", split);
    if (split != MPI_COMM_NULL)
        MPI_Comm_free(&split);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    describe("those of this machine", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm);
    describe("those of this machine, backward", comm);
    MPI_Comm_free(&comm);

    /* Even and odd ranks, with the world between them; its ranks are the
     * leaders' addresses. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &split);
    MPI_Intercomm_create(split, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 12, &inter);
    MPI_Comm_remote_size(inter, &remote);
    describe("across", inter);
    note("remote size %d\n", remote);
    int to_other = 10 * rank, from_other = -1, mine;
    MPI_Comm_rank(inter, &mine);
    if (mine < remote)
        MPI_Sendrecv(&to_other, 1, MPI_INT, mine, 5, &from_other, 1, MPI_INT, mine, 5, inter, MPI_STATUS_IGNORE);
    note("from the other side %d\n", from_other);
    int total = -1;
    MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, inter);
    note("sum of the other side %d\n", total);
    MPI_Group group, remote_group, world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_remote_group(inter, &remote_group);
    MPI_Group_translate_ranks(remote_group, 1, (int[]){0}, world, &flag);
    note("the leader there is %d of the world\n", flag);
    MPI_Group_free(&remote_group);
    MPI_Comm_group(inter, &group);
    MPI_Group_translate_ranks(group, 1, (int[]){0}, world, &flag);
    note("the leader here is %d of the world\n", flag);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    describe("merged", merged);
    note("sum there %d\n", sum_of_ranks(merged));
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&split);
    MPI_Comm_get_parent(&comm);
    describe("parent", comm);
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    describe("the world", MPI_COMM_WORLD);
    names();
    infos();
    groups();
    handles();
    made();
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    5
 * PROVES:   names, info, comparison, groups, Fortran handles and every way to make
 *           a communicator from the world see one world.
 * PITFALLS: 9 12 28
 * FAILURES: commname testHandleInt
 */
