/*
 * Files opened by the world: its ranks have their places, by every way to write.
 *
 *     files FILE
 */
#include "notes.h"

static void contents(MPI_File file, const char *what)
{
    char text[256] = "";
    MPI_Offset bytes;
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    if (bytes < (MPI_Offset)sizeof text)
        MPI_File_read_at(file, 0, text, (int)bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    note("%s: %lld bytes %s\n", what, (long long)bytes, text);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_size(file, 0);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Group world, of_file;
    MPI_Status status;
    char mine[16], line[4] = "?";
    int result, count;
    begin(&argc, &argv);
    if (argc != 2) {
        fprintf(stderr, "usage: files FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int code = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    note("open %s\n", class_of(code));
    MPI_File_get_group(file, &of_file);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(world, of_file, &result);
    note("group %s\n", comparison(result));
    MPI_Group_free(&world);
    MPI_Group_free(&of_file);
    snprintf(mine, sizeof mine, "<%d>", rank);
    int length = (int)strlen(mine);

    MPI_File_set_size(file, 0);
    MPI_File_write_at_all(file, (MPI_Offset)rank * length, mine, length, MPI_CHAR, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    note("written %d\n", count);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, (MPI_Offset)((rank + 1) % size) * length, line, length, MPI_CHAR, MPI_STATUS_IGNORE);
    note("of the next rank %.3s\n", line);
    contents(file, "at all");
    MPI_File_write_ordered(file, mine, length, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, line, 3, MPI_CHAR, MPI_STATUS_IGNORE);
    note("read in order %.3s\n", line);
    contents(file, "in order");

    /* Every rank sees its own column. */
    MPI_Datatype column;
    MPI_Type_create_resized(MPI_CHAR, 0, size, &column);
    MPI_Type_commit(&column);
    MPI_File_set_view(file, rank, MPI_CHAR, column, "native", MPI_INFO_NULL);
    char letters[3] = {'a' + (char)rank, 'A' + (char)rank, '.'};
    MPI_File_write_all(file, letters, 3, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    contents(file, "by columns");
    MPI_Type_free(&column);
    MPI_File_close(&file);

    code = MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    note("one that is not there: %s\n", code == MPI_SUCCESS ? "success" : "an error");
    code = MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    note("alone: %s\n", class_of(code));
    MPI_File_close(&file);
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:     4
 * ARGUMENTS: FILE
 * PROVES:    files opened on the world are written in the order of its ranks, by
 *            offsets, shared pointers and views; MPI's I/O, which calls MPI by its
 *            public names, finds one world.
 * PITFALLS:  18 28
 */
