//! Names that hold markup, control characters, escape sequences and characters that change the
//! direction of text: nothing of it acts on a terminal, in a page or in a picture.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Answer, Desk, halo};
use treepie_base::Process;
use treepie_profile::{Host, Phase};

/// A name from an attacker, after what makes it different from others.
const EVIL: &str =
    "<b onload=x>\u{1b}[31m\u{9b}2J\u{7}\u{202e}&\"'</title></svg><script>x</script>";

/// Markup alone: topologies and platforms refuse names with other characters of these.
const MARKUP: &str = "<b onload=x>&\"'</title></svg><script>x</script>";

const PLATFORM: &str = include_str!("../../../profiles/two-clusters.platform.yaml");
const TOPOLOGY: &str = "treepie: topology\nversion: 1\nlevels: [EVIL, socket, core]\n\
                        arities: 4:2:2\n";

/// The name as YAML has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_ascii() && !letter.is_control() => quoted.push(letter),
            letter => quoted += &format!("\\u{:04x}", u32::from(letter)),
        }
    }
    format!("\"{quoted}\"")
}

/// A desk whose files have such names wherever a name may stand.
fn desk() -> Desk {
    let desk = Desk::new();
    let mut profile = halo();
    profile.command = vec![format!("./{EVIL}"), EVIL.to_owned()];
    profile.mpi.library = EVIL.to_owned();
    profile.notes = vec![format!("a note about {EVIL}")];
    profile.hosts = (0..4)
        .map(|host| Host {
            name: format!("h{host}{EVIL}"),
            processes: (4 * host..4 * host + 4).map(Process).collect(),
        })
        .collect();
    let phase = |name: &str| Phase {
        name: format!("{name} {EVIL}"),
        seconds: 1.0,
        point_to_point: profile.point_to_point.clone(),
        one_sided: profile.one_sided.clone(),
        neighbourhood: profile.neighbourhood.clone(),
        ..Phase::default()
    };
    profile.phases = ["one", "two"].map(phase).into();
    profile.write(&desk.path("app.profile.yaml")).unwrap();
    desk.write(
        "evil.topology.yaml",
        &TOPOLOGY.replace("EVIL", &quoted(MARKUP)),
    );
    let mut platform = PLATFORM.to_owned();
    for name in ["a0", "a1", "b0", "b1"] {
        let evil = quoted(&format!("{name}{MARKUP}"));
        platform = platform.replace(&format!("name: {name},"), &format!("name: {evil},"));
        platform = platform.replace(&format!("[{name},"), &format!("[{evil},"));
        platform = platform.replace(&format!(" {name}]"), &format!(" {evil}]"));
    }
    let cluster = quoted(&format!("a{MARKUP}"));
    for key in ["name", "from", "to"] {
        platform = platform.replace(&format!("{key}: a\n"), &format!("{key}: {cluster}\n"));
    }
    desk.write("evil.platform.yaml", &platform);
    desk
}

/// Whether a character does something instead of being shown.
fn acts(letter: char) -> bool {
    letter.is_control() && !"\n\t".contains(letter)
        || ('\u{202a}'..='\u{202e}').contains(&letter)
        || ('\u{2066}'..='\u{2069}').contains(&letter)
}

#[track_caller]
fn require_harmless(text: &str) {
    let found = text.chars().position(acts);
    assert_eq!(found, None, "{text:?}");
}

#[track_caller]
fn require_harmless_answer(answer: &Answer) {
    require_harmless(&answer.out);
    require_harmless(&answer.err);
}

/// Refuses elements that no page or picture of Treepie has.
#[track_caller]
fn require_own_elements(text: &str) {
    const OWN: &str = " !DOCTYPE html head meta title style body main header nav section footer h1 \
                       h2 h3 p a ul li pre dl div dt dd table thead tbody tr th td figure \
                       figcaption svg g rect circle line polyline polygon path text use defs ";
    require_harmless(text);
    for part in text.split('<').skip(1) {
        let name = part.trim_start_matches('/').split([' ', '>', '/', '\n']);
        let name = name.into_iter().next().unwrap();
        assert!(OWN.contains(&format!(" {name} ")), "<{part}");
    }
}

#[test]
fn a_terminal_and_readers_of_json_get_names_that_do_nothing() {
    let desk = desk();
    for words in [
        "show app.profile.yaml",
        "show app.profile.yaml --json",
        "show evil.topology.yaml",
        "show evil.topology.yaml --json",
        "show evil.platform.yaml",
        "show evil.platform.yaml --json",
        "map app.profile.yaml -t evil.topology.yaml -o app.placement.yaml",
        "map app.profile.yaml -t evil.topology.yaml --json",
        "show app.placement.yaml",
        "show app.placement.yaml --json",
        "compare app.profile.yaml app.profile.yaml -t evil.topology.yaml",
        "compare app.profile.yaml app.profile.yaml -t evil.topology.yaml --json",
        "predict evil.platform.yaml --collective bcast --bytes 1M",
        "predict evil.platform.yaml --pieces 4 --bytes 1K",
        "predict evil.platform.yaml --protocols blocking",
        "convert app.profile.yaml -o app.table.csv",
    ] {
        let answer = desk.run(&words.split(' ').collect::<Vec<_>>()).good();
        require_harmless_answer(&answer);
    }
    // Names of files and words of the command line are as foreign.
    let file = format!("{}.yaml", EVIL.replace('/', "-"));
    desk.write(&file, "treepie: profile\nversion: 1\nranks: x\n");
    for words in [
        &["show", &file][..],
        &["map", &file, "-t", EVIL],
        &["show", EVIL],
        &["profile", "--set", &format!("mode={EVIL}"), "--", "x"],
        &["profile", "--", EVIL],
        &[EVIL],
        &["help", EVIL],
    ] {
        let answer = desk.run(words);
        assert_ne!(answer.status, 0, "{words:?}");
        require_harmless_answer(&answer);
    }
}

#[test]
fn pages_and_pictures_have_no_element_of_a_name() {
    let desk = desk();
    desk.run(&["map", "app.profile.yaml", "-t", "evil.topology.yaml"])
        .good();
    for words in [
        "report app.profile.yaml -o a.html",
        "report app.profile.yaml app.placement.yaml app.profile.yaml evil.platform.yaml -o b.html",
        "show app.profile.yaml -o heat.svg",
        "show app.placement.yaml -o placed.svg",
        "show app.placement.yaml --draw tree -o tree.svg",
        "show evil.topology.yaml -o bare.svg",
        "show evil.platform.yaml -o platform.svg",
        "compare app.profile.yaml app.profile.yaml -t evil.topology.yaml -o both.svg",
        "predict evil.platform.yaml --collective bcast --bytes 1M -o plan.svg",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        desk.run(&words).good();
        let text = desk.text(words[words.len() - 1]);
        require_own_elements(&text);
    }
    let page = desk.text("a.html");
    assert!(page.contains("&lt;b onload=x&gt;\\u{1b}[31m"), "{page}");
}
