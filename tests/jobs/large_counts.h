/* The collectives of collective_equality.c in their forms with large counts, which
 * MPI has from version 4 on. Where the MPI is older, the job says so. */
#if MPI_VERSION >= 4
typedef MPI_Count Count;
typedef MPI_Aint Place;
#define MPI_Bcast MPI_Bcast_c
#define MPI_Ibcast MPI_Ibcast_c
#define MPI_Gather MPI_Gather_c
#define MPI_Igather MPI_Igather_c
#define MPI_Gatherv MPI_Gatherv_c
#define MPI_Igatherv MPI_Igatherv_c
#define MPI_Scatter MPI_Scatter_c
#define MPI_Iscatter MPI_Iscatter_c
#define MPI_Scatterv MPI_Scatterv_c
#define MPI_Iscatterv MPI_Iscatterv_c
#define MPI_Allgather MPI_Allgather_c
#define MPI_Iallgather MPI_Iallgather_c
#define MPI_Allgatherv MPI_Allgatherv_c
#define MPI_Iallgatherv MPI_Iallgatherv_c
#define MPI_Alltoall MPI_Alltoall_c
#define MPI_Ialltoall MPI_Ialltoall_c
#define MPI_Alltoallv MPI_Alltoallv_c
#define MPI_Ialltoallv MPI_Ialltoallv_c
#define MPI_Alltoallw MPI_Alltoallw_c
#define MPI_Ialltoallw MPI_Ialltoallw_c
#define MPI_Reduce MPI_Reduce_c
#define MPI_Ireduce MPI_Ireduce_c
#define MPI_Allreduce MPI_Allreduce_c
#define MPI_Iallreduce MPI_Iallreduce_c
#define MPI_Reduce_scatter MPI_Reduce_scatter_c
#define MPI_Ireduce_scatter MPI_Ireduce_scatter_c
#define MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
#define MPI_Ireduce_scatter_block MPI_Ireduce_scatter_block_c
#define MPI_Scan MPI_Scan_c
#define MPI_Iscan MPI_Iscan_c
#define MPI_Exscan MPI_Exscan_c
#define MPI_Iexscan MPI_Iexscan_c
#else
#error "this MPI has no large counts"
#endif
