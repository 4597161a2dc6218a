//! Records of plans that replaced native collectives, and the locality of ranks.

use super::*;
use treepie_base::Cluster;

/// Returns the sample after a broadcast by a plan on two clusters, which its locality has.
fn with_a_plan(locality: Locality) -> Profile {
    let mut profile = sample();
    profile.collectives.push(Record {
        operation: Operation::Bcast,
        group: [3, 0, 1].into(),
        root: Some(1),
        size_class: size_class(1000),
        plan: Some(PlanRun {
            algorithm: "grid-flat".into(),
            segment: 400,
            unit_bytes: 1,
            ordered: false,
        }),
        calls: 2,
        volume: Volume::Uniform(2000),
    });
    profile.locality = Some(locality);
    profile
}

fn numbers() -> Locality {
    Locality::Numbers {
        cluster_of_rank: Cluster::list([0, 0, 1, 1]),
        host_of_rank: vec![0, 1, 2, 2],
        inside: Vec::new(),
    }
}

#[test]
fn what_a_plan_ran_is_expanded_as_it_was_run_unless_a_model_is_named() {
    let profile = with_a_plan(numbers());
    let of_plan = |model| profile.traffic_of_collectives(&profile.collectives[1..], model);
    // Rank 1 of the communicator, world rank 0, sends to the leader of the other cluster, world
    // rank 3, and to world rank 1: a thousand bytes in three messages, twice.
    let sent: Vec<_> = of_plan(None).entries().collect();
    let message = Traffic::new(6, 2000);
    assert_eq!(sent, [(0, 1, message), (0, 3, message)]);
    let logical = Traffic::new(2, 2000);
    let sent: Vec<_> = of_plan(Some(Model::Logical)).entries().collect();
    assert_eq!(sent, [(0, 1, logical), (0, 3, logical)]);
}

#[test]
fn plans_and_their_locality_are_read_as_they_were_written() {
    let [platform, _] = grids::platforms();
    let names: Vec<String> = platform
        .hosts()
        .iter()
        .map(|host| host.name.clone())
        .collect();
    let on_platform = Locality::Platform {
        platform: platform.for_job(&names[..4]).unwrap(),
        eager_limit: 65_000,
    };
    for locality in [numbers(), on_platform] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("app.profile.yaml");
        let profile = with_a_plan(locality);
        profile.write(&path).unwrap();
        let read = Profile::read(&path).unwrap();
        assert_eq!(read.collectives, profile.collectives);
        let traffic = |profile: &Profile| profile.traffic(Layer::ALL);
        assert_eq!(traffic(&read), traffic(&profile));
        let text = locality_text(profile.locality.as_ref().unwrap()).unwrap();
        assert_eq!(Some(locality_from_text(&text, 4).unwrap()), read.locality);
    }
}

#[test]
fn a_plan_that_is_not_known_or_without_its_locality_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.profile.yaml");
    let refused = |old: &str, new: &str| {
        with_a_plan(numbers()).write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{text}");
        fs::write(&path, text.replace(old, new)).unwrap();
        let message = Profile::read(&path).unwrap_err().to_string();
        message.replace(&format!("{}/", directory.path().display()), "")
    };
    assert_eq!(
        refused("plan=grid-flat", "plan=teleport"),
        "app.profile.yaml: collectives.rows[1]: a bcast was run by the algorithm `teleport`, which \
         this treepie does not know; read it with the treepie that wrote it"
    );
    assert_eq!(
        refused("locality:\n  clusters: 0,0,1,1\n  hosts: 0-2,2\n", ""),
        "app.profile.yaml: collectives.rows[1]: a plan ran it, and there is no `locality`, which \
         plans are made by; take the profile again"
    );
    assert_eq!(
        refused("  clusters: 0,0,1,1", "  clusters: 0,0,1"),
        "app.profile.yaml: locality: 3 ranks have a cluster, and there are 4; take the profile again"
    );
}
