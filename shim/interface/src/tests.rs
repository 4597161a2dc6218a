//! Rows of the tables, and the data that is generated from them.

use crate::entry_points;
use crate::table::{procedures, read};

/// Returns the data of one procedure, without the layout of its lines.
fn generated(name: &str) -> String {
    let mut procedures = procedures();
    procedures.retain(|procedure| procedure.name == name);
    words(&entry_points::generate(&procedures))
}

fn words(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("( ", "(")
}

#[test]
fn one_line_gives_a_new_procedure_its_entry_points() {
    let line = "MPI_Xsend buffer:buf count:count datatype:datatype rank:dest tag:tag comm:comm \
                +c? ? role=Send";
    let procedures = read(line).expect("the line is as the table's");
    let of_one = |name: &str, count: &str| {
        words(&format!(
            "procedure! {{
                optional [{name} P{name}]
                (buf: Word, count: {count}, datatype: Datatype, dest: c_int, tag: Word,
                 comm: AppComm)
                Send {name} {{ }}
                call {{ comm = comm, dest = Some(dest), elements = count as i64,
                        tag = tag as c_int, send.buffer = buf, send.count = count as i64,
                        send.datatype = datatype, receive.buffer = buf,
                        receive.count = count as i64, receive.datatype = datatype }}
                next |changes| (buf, count, datatype, dest, tag, changes.comm(comm))
            }}"
        ))
    };
    let expected = [of_one("MPI_Xsend", "c_int"), of_one("MPI_Xsend_c", "i64")].join(" ");
    assert_eq!(words(&entry_points::generate(&procedures)), expected);
}

#[test]
fn lines_that_cannot_be_right_are_refused() {
    for (line, problem) in [
        ("MPI_X comm:comm role=Sned", "unknown role \"Sned\""),
        ("MPI_X comm:comm role=Send polls", "unknown word \"polls\""),
        ("MPI_X comm:comm cut=yes", "unknown word \"cut=yes\""),
        (
            "MPI_X comm:comm role=Collective",
            "role Collective needs `operation=`",
        ),
        (
            "MPI_X comm:comm operation=Bcast",
            "role Plain has no `operation=`",
        ),
        (
            "MPI_X comm:comm comm*:newcomm",
            "it makes a communicator or window",
        ),
    ] {
        let refused = read(line).expect_err(line);
        assert!(refused.starts_with(problem), "{refused}");
        assert!(refused.ends_with(&format!("{line:?}")), "{refused}");
    }
}

#[test]
fn a_send_under_way_has_a_request() {
    let expected = "
        procedure! {
            common [MPI_Isend PMPI_Isend]
            (buf: Word, count: c_int, datatype: Datatype, dest: c_int, tag: Word, comm: AppComm,
             request: Word)
            BeginSend MPI_Isend { }
            call { comm = comm, dest = Some(dest), request = request, elements = count as i64,
                   tag = tag as c_int, send.buffer = buf, send.count = count as i64,
                   send.datatype = datatype, receive.buffer = buf, receive.count = count as i64,
                   receive.datatype = datatype }
            next |changes| (buf, count, datatype, dest, tag, changes.comm(comm), request)
        }";
    assert_eq!(generated("MPI_Isend"), words(expected));
}

#[test]
fn a_collective_has_displacements_on_the_side_that_has_counts() {
    let expected = "
        procedure! {
            optional [MPI_Scatterv_c PMPI_Scatterv_c]
            (sendbuf: Word, sendcounts: LargeArray, displs: LargeArray, sendtype: Datatype,
             recvbuf: Word, recvcount: i64, recvtype: Datatype, root: c_int, comm: AppComm)
            Collective MPI_Scatterv_c { operation: Operation::Scatterv }
            call { comm = comm, dest = Some(root), send.buffer = sendbuf,
                   send.datatype = sendtype, send.counts = sendcounts.into(),
                   receive.buffer = recvbuf, receive.count = recvcount as i64,
                   receive.datatype = recvtype, send.displacements = displs.into() }
            next |changes| (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                            root, changes.comm(comm))
        }";
    assert_eq!(generated("MPI_Scatterv_c"), words(expected));
}

#[test]
fn a_completion_can_be_given_other_requests_and_statuses() {
    let expected = "
        procedure! {
            common [MPI_Waitsome PMPI_Waitsome]
            (incount: Word, array_of_requests: Word, outcount: Word, array_of_indices: Word,
             array_of_statuses: StatusAddress)
            Complete MPI_Waitsome { open: Some(CallKind::Waitsome), waits: Waits::Some }
            call { requests = array_of_requests, completed = outcount, indices = array_of_indices,
                   status = array_of_statuses, count = incount as c_int, has_statuses = true }
            next |changes| (changes.count(incount), changes.requests(array_of_requests), outcount,
                            array_of_indices, changes.status(array_of_statuses))
        }";
    assert_eq!(generated("MPI_Waitsome"), words(expected));
}

#[test]
fn a_receive_can_be_given_another_source_and_tag_and_a_send_cannot() {
    let expected = "
        procedure! {
            common [MPI_Sendrecv_replace PMPI_Sendrecv_replace]
            (buf: Word, count: c_int, datatype: Datatype, dest: c_int, sendtag: Word,
             source: c_int, recvtag: Word, comm: AppComm, status: StatusAddress)
            SendReceive MPI_Sendrecv_replace { open: Some(CallKind::Sendrecv) }
            call { comm = comm, dest = Some(dest), source = Some(source), status = status,
                   elements = count as i64, tag = sendtag as c_int, receive_tag = recvtag as c_int,
                   send.buffer = buf, send.count = count as i64, send.datatype = datatype,
                   receive.buffer = buf, receive.count = count as i64,
                   receive.datatype = datatype }
            next |changes| (buf, count, datatype, dest, sendtag, changes.source(source),
                            changes.tag(recvtag), changes.comm(comm), changes.status(status))
        }";
    assert_eq!(generated("MPI_Sendrecv_replace"), words(expected));
}

#[test]
fn a_put_may_be_kept_back() {
    let expected = "
        procedure! {
            common [MPI_Put PMPI_Put]
            (origin_addr: Word, origin_count: c_int, origin_datatype: Datatype,
             target_rank: c_int, target_disp: Word, target_count: c_int,
             target_datatype: Datatype, win: Win)
            Transfer MPI_Put { access: WindowCall::Put, rma: Rma::Put }
            call { dest = Some(target_rank), elements = origin_count as i64, window = win,
                   origin = origin_addr, origin_count = origin_count as i64,
                   origin_type = origin_datatype, displacement = target_disp as i64,
                   target_count = target_count as i64, target_type = target_datatype }
            next |changes| (origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, win)
        }";
    assert_eq!(generated("MPI_Put"), words(expected));
}

#[test]
fn what_has_a_function_of_its_own_gets_words() {
    let expected = "
        procedure! {
            common [MPI_Comm_get_attr PMPI_Comm_get_attr]
            (comm: AppComm, comm_keyval: Word, attribute_val: Word, flag: Word)
            by world::attributes::get
        }";
    assert_eq!(generated("MPI_Comm_get_attr"), words(expected));
}

#[test]
fn pages_have_the_flags_and_the_role_of_a_procedure() {
    let text = crate::page_procedures();
    let constant = |name: &str| {
        let start = format!("pub const {name}: ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        let (_, flags) = line
            .and_then(|line| line.split_once(", "))
            .unwrap_or_default();
        flags.trim_end_matches(" };").to_owned()
    };
    let flags = |poll, collective, uncut, starts| {
        format!("poll: {poll}, collective: {collective}, uncut: {uncut}, starts: {starts}")
    };
    assert_eq!(constant("MPI_Testany"), flags(true, false, false, false));
    assert_eq!(constant("MPI_Ibcast_c"), flags(false, true, false, true));
    assert_eq!(constant("MPI_Bcast_init"), flags(false, false, true, true));
    assert_eq!(constant("MPI_Comm_spawn"), flags(false, true, true, false));
    assert_eq!(
        constant("MPI_Comm_create_group"),
        flags(false, false, false, false)
    );
    for line in [
        "MPI_Bcast collective Bcast",
        "MPI_Cart_create makes",
        "MPI_Comm_create_group ",
        "MPI_Ineighbor_alltoallw neighbourhood NeighborAlltoallw",
        "MPI_Iprobe receive",
        "MPIX_Neighbor_allgather_init neighbourhood-init NeighborAllgather",
        "MPI_Win_allocate_shared makes",
        "MPI_Win_free end Window",
    ] {
        assert!(text.contains(&format!("\\n{line}\\n")), "{line}");
    }
}
