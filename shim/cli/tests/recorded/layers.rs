//! Layers, metrics and models of collectives in the conversion to a matrix.

use crate::support::Desk;
use crate::{desk_with, with_broadcast};

#[test]
fn layers_metrics_and_models_are_chosen_when_the_matrix_is_made() {
    let desk = desk_with(&with_broadcast());
    let zeros = "0 0 0 0\n";
    for (options, expected) in [
        (
            &["--layer", "p2p"][..],
            format!("0 10 0 0\n{}", zeros.repeat(3)),
        ),
        (
            &["--layer", "p2p", "--metric", "msg"],
            format!("0 4 0 0\n{}", zeros.repeat(3)),
        ),
        (
            &["--layer", "p2p,one-sided", "--metric", "avg"],
            format!("0 2.5 0 0\n{zeros}0 0 0 7\n{zeros}"),
        ),
        (
            &["--layer", "collectives", "--model", "linear"],
            format!("0 100 100 100\n{}", zeros.repeat(3)),
        ),
        (
            &["--layer", "collectives", "--model", "chain"],
            format!("0 100 0 0\n0 0 100 0\n0 0 0 100\n{zeros}"),
        ),
        (
            &["--layer", "collectives", "--model", "logical"],
            format!("0 100 100 100\n{}", zeros.repeat(3)),
        ),
        (
            &["--layer", "all", "--model", "linear"],
            format!("0 110 100 100\n{zeros}0 0 0 7\n{zeros}"),
        ),
    ] {
        let words = [&["convert", "app.profile.yaml", "-o", "m.txt"], options].concat();
        desk.run(&words).good();
        assert_eq!(desk.dense("m.txt"), expected, "{options:?}");
    }
}

#[test]
fn what_is_modelled_is_labelled_with_its_model() {
    let desk = desk_with(&with_broadcast());
    for (options, model) in [(&[][..], "open-mpi"), (&["--model", "chain"], "chain")] {
        let words = [&["show", "app.profile.yaml"], options].concat();
        let answer = desk.run(&words).good().out;
        assert!(
            answer.contains(&format!("collectives (modelled: {model})")),
            "{answer}"
        );
    }
    let refusal = desk
        .run(&["show", "app.profile.yaml", "--model", "magic"])
        .refusal(2);
    assert!(
        refusal.contains("no model of collectives is called `magic`"),
        "{refusal}"
    );
    let refusal = desk
        .run(&["show", "app.profile.yaml", "--layer", "p3p"])
        .refusal(2);
    assert!(refusal.contains("no layer is called `p3p`"), "{refusal}");
}

#[test]
fn a_bare_matrix_has_no_layers_to_choose_from() {
    let desk = Desk::new();
    desk.write("m.txt", "0 1\n1 0\n");
    let refusal = desk
        .run(&["convert", "m.txt", "-o", "m.mtx", "--layer", "p2p"])
        .refusal(2);
    assert_eq!(
        refusal,
        "m.txt: is a bare matrix, so there is nothing for --layer to choose; leave it out, or give \
         a profile"
    );
    assert!(!desk.path("m.mtx").exists());
}
