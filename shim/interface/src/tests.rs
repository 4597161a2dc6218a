//! What the build script makes of the tables.

use crate::entry_points;
use crate::table::procedures;

/// What is generated for one procedure, without the layout of its lines.
fn generated(name: &str) -> String {
    let mut procedures = procedures();
    procedures.retain(|procedure| procedure.name == name);
    words(&entry_points::generate(&procedures))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_send_under_way_is_counted_with_its_request() {
    let expected = "
        procedure! { common [MPI_Isend PMPI_Isend]
            (buf: Word, count: c_int, datatype: Datatype, dest: c_int, tag: Word, comm: AppComm,
             request: Word)
            features::RECORD, pass next =>
            record::begin_send(
                Note { procedure: procedures::MPI_Isend, comm: comm, dest: dest,
                       tag: tag as c_int, elements: count as i64, request: request, sends: true,
                       ..Note::NONE },
                || next(buf, count, datatype, dest, tag, comm, request),
                Message { count: count as i64, datatype: datatype, dest: dest, comm: comm,
                          ..Message::NONE },
                request)
        }";
    let expected = words(expected).replace("( ", "(");
    assert_eq!(generated("MPI_Isend"), expected);
}

#[test]
fn a_collective_is_counted_around_the_plan_that_may_replace_it() {
    let expected = "
        procedure! { optional [MPI_Scatterv_c PMPI_Scatterv_c]
            (sendbuf: Word, sendcounts: LargeArray, displs: LargeArray, sendtype: Datatype, recvbuf: Word,
             recvcount: i64, recvtype: Datatype, root: c_int, comm: AppComm)
            features::COLLECTIVES, pass next =>
            { let call = &Call { operation: Operation::Scatterv,
                        send: Side { buffer: sendbuf, datatype: sendtype, counts: sendcounts.into(),
                                     displacements: displs.into(), ..Side::NONE },
                        receive: Side { buffer: recvbuf, count: recvcount as i64,
                                        datatype: recvtype, ..Side::NONE },
                        root: root, ..Call::NONE };
              record::replaceable(Note { procedure: procedures::MPI_Scatterv_c, comm: comm, dest: root,
                                         ..Note::NONE },
                |plan| collectives::run(|comm| next(sendbuf, sendcounts, displs, sendtype, recvbuf,
                                                recvcount, recvtype, root, comm), comm, call, plan),
                comm, call) }
        }";
    assert_eq!(generated("MPI_Scatterv_c"), words(expected));
}

#[test]
fn a_completion_can_be_given_other_statuses_and_goes_on_with_what_was_started() {
    let expected = "
        procedure! { common [MPI_Waitsome PMPI_Waitsome]
            (incount: Word, array_of_requests: Word, outcount: Word, array_of_indices: Word,
             array_of_statuses: StatusAddress)
            features::REQUESTS, pass next =>
            if !features::any(features::WATCHING) {
              record::complete(
                Note { procedure: procedures::MPI_Waitsome, count: incount as c_int,
                       requests: array_of_requests, ..Note::NONE },
                || next(incount, array_of_requests, outcount, array_of_indices,
                        array_of_statuses)) }
            else { record::apart(move ||
            { let completion = Completion { array: true, count: incount as c_int,
                             requests: array_of_requests, completed: outcount,
                             indices: array_of_indices, status: array_of_statuses,
                             ..Completion::NONE };
              record::complete_watched(
                Note { procedure: procedures::MPI_Waitsome, count: incount as c_int,
                       requests: array_of_requests, ..Note::NONE },
                completion,
                |status| order::complete(Some(CallKind::Waitsome),
                    Completion { status, ..completion },
                    |array_of_requests, array_of_statuses| collectives::complete(Waits::Some,
                        Completion { requests: array_of_requests, status: array_of_statuses,
                                     ..completion },
                        || next(incount, array_of_requests, outcount, array_of_indices,
                                array_of_statuses)))) }) }
        }";
    let expected = words(expected).replace("( ", "(");
    assert_eq!(generated("MPI_Waitsome"), expected);
}

#[test]
fn a_receive_can_be_given_another_source_and_tag_within_what_counts_it() {
    let expected = "
        procedure! { common [MPI_Sendrecv_replace PMPI_Sendrecv_replace]
            (buf: Word, count: c_int, datatype: Datatype, dest: c_int, sendtag: Word,
             source: c_int, recvtag: Word, comm: AppComm, status: StatusAddress)
            features::RECORD, pass next =>
            if !features::any(features::WATCHING) {
              record::send_receive(
                Note { procedure: procedures::MPI_Sendrecv_replace, comm: comm, dest: dest,
                       tag: sendtag as c_int, source: source, receive_tag: recvtag as c_int,
                       elements: count as i64, sends: true, posts: true, ..Note::NONE },
                || next(buf, count, datatype, dest, sendtag, source, recvtag, comm, status),
                Message { count: count as i64, datatype: datatype, dest: dest, comm: comm,
                          ..Message::NONE }) }
            else { record::apart(move || record::send_receive_watched(
                Note { procedure: procedures::MPI_Sendrecv_replace, comm: comm, dest: dest,
                       tag: sendtag as c_int, source: source, receive_tag: recvtag as c_int,
                       elements: count as i64, sends: true, posts: true, ..Note::NONE },
                |status| order::receive(
                    Receive { kind: CallKind::Sendrecv, comm: comm, source: source,
                              tag: recvtag as c_int, buffer: buf, count: count as i64,
                              datatype: datatype, status: status, ..Receive::NONE },
                    |comm, source, tag: c_int, status| next(buf, count, datatype, dest, sendtag,
                        source, tag as Word, comm, status)),
                Message { count: count as i64, datatype: datatype, dest: dest, comm: comm,
                          ..Message::NONE },
                Taken { status: status, ..Taken::NONE })) }
        }";
    let expected = words(expected).replace("( ", "(");
    assert_eq!(generated("MPI_Sendrecv_replace"), expected);
}

#[test]
fn a_put_may_be_kept_back_within_what_counts_it() {
    let expected = "
        procedure! { common [MPI_Put PMPI_Put]
            (origin_addr: Word, origin_count: c_int, origin_datatype: Datatype,
             target_rank: c_int, target_disp: Word, target_count: c_int,
             target_datatype: Datatype, win: Win)
            features::TRANSFERS, pass next =>
            record::transfer(WindowCall::Put,
                Note { procedure: procedures::MPI_Put, dest: target_rank,
                       elements: origin_count as i64, ..Note::NONE },
                || one_sided::put(
                    Reached { origin: origin_addr, origin_count: origin_count as i64,
                              origin_type: origin_datatype, target: target_rank,
                              displacement: target_disp as i64, target_count: target_count as i64,
                              target_type: target_datatype, window: win, ..Reached::NONE },
                    || next(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, win)),
                Transfer { origin_count: origin_count as i64, origin_type: origin_datatype,
                           target_type: target_datatype, target: target_rank, window: win,
                           ..Transfer::NONE })
        }";
    let expected = words(expected).replace("( ", "(");
    assert_eq!(generated("MPI_Put"), expected);
}
