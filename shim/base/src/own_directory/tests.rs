#![allow(clippy::unwrap_used)]
use super::*;
use std::fs::{create_dir, read_to_string, set_permissions, symlink_metadata, write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

fn modes(path: &Path, mode: u32) {
    set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn is_strange(path: &Path, access: Access) -> bool {
    matches!(OwnDirectory::make(path, access), Err(NotOwn::Strange))
}

#[test]
fn a_link_a_file_and_what_others_may_write_to_are_no_directories_of_ours() {
    let base = tempfile::tempdir().unwrap();
    let named = |name: &str| -> PathBuf { base.path().join(name) };
    create_dir(named("other")).unwrap();
    symlink(named("other"), named("link")).unwrap();
    write(named("file"), "").unwrap();
    for name in ["link", "file"] {
        assert!(is_strange(&named(name), Access::Umask), "{name}");
    }
    let own = named("own");
    for (mode, umask, private) in [
        (0o700, false, false),
        (0o755, false, false),
        (0o2775, false, true),
        (0o777, true, true),
        (0o1777, true, true),
    ] {
        let _ = create_dir(&own);
        modes(&own, mode);
        assert_eq!(is_strange(&own, Access::Umask), umask, "{mode:o}");
        assert_eq!(is_strange(&own, Access::Private), private, "{mode:o}");
    }
}

#[test]
fn a_directory_of_another_user_is_not_roots_and_one_of_root_is_everybodys() {
    let is_root = rustix::process::geteuid().is_root();
    assert!(is_root, "only root can give files away: run this as root");
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("own");
    create_dir(&path).unwrap();
    // Owned by a member of the group, with which root shares its own.
    std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
    for mode in [0o700, 0o2775] {
        modes(&path, mode);
        for access in [Access::Umask, Access::Private] {
            assert!(is_strange(&path, access), "{mode:o}");
        }
        assert!(check(&path).is_err());
    }
    let of_user = |owner, mode| is_own(owner, mode, 1000);
    assert!(of_user(1000, 0o775) && of_user(0, 0o775));
    assert!(!of_user(1001, 0o775) && !of_user(1000, 0o777) && !of_user(0, 0o777));
}

#[test]
fn a_new_directory_is_ours_and_a_missing_one_is_no_strangers() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("own");
    assert!(check(&path).is_ok());
    OwnDirectory::make(&*path, Access::Umask).unwrap();
    assert_eq!(
        symlink_metadata(&path).unwrap().permissions().mode() & 0o002,
        0
    );
    assert!(check(&path).is_ok());
    let missing = OwnDirectory::make(&*path.join("a/b"), Access::Umask);
    assert!(matches!(missing, Err(NotOwn::System(_))));
}

#[test]
fn a_link_that_has_the_name_of_a_file_goes_and_its_target_stays() {
    let base = tempfile::tempdir().unwrap();
    let (path, target) = (base.path().join("own"), base.path().join("target"));
    write(&target, "precious").unwrap();
    let own = OwnDirectory::make(&*path, Access::Umask).unwrap();
    symlink(&target, path.join("a")).unwrap();
    assert!(own.open_file("a").is_err() && own.append_to("a").is_err());
    own.create("a", 0o666).unwrap().write_all(b"new").unwrap();
    own.rename("a", "b").unwrap();
    assert_eq!(read_to_string(path.join("b")).unwrap(), "new");
    assert_eq!(read_to_string(&target).unwrap(), "precious");
    remove_files(&path, |name| name == Path::new("b"));
    assert!(!path.exists());
}

#[test]
fn what_is_open_stays_ours_when_somebody_gives_its_name_to_a_link() {
    let base = tempfile::tempdir().unwrap();
    let named = |name: &str| -> PathBuf { base.path().join(name) };
    create_dir(named("other")).unwrap();
    symlink(named("other"), named("link")).unwrap();
    assert!(OwnDirectory::open_named(&*named("link"), Access::Group).is_ok());
    let own = OwnDirectory::make(&*named("own"), Access::Group).unwrap();
    let inner = own.make_in("inner", Access::Group).unwrap();
    let mode = symlink_metadata(named("own/inner")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o700);
    std::fs::rename(named("own"), named("moved")).unwrap();
    symlink(named("other"), named("own")).unwrap();
    inner.write("a", b"one", Older::Stays).unwrap();
    assert!(inner.write("a", b"two", Older::Stays).is_err());
    assert_eq!(read_to_string(named("moved/inner/a")).unwrap(), "one");
    inner.write("a", b"two", Older::Goes).unwrap();
    assert_eq!(read_to_string(named("moved/inner/a")).unwrap(), "two");
    assert_eq!(std::fs::read_dir(named("moved/inner")).unwrap().count(), 1);
    symlink(named("other"), named("moved/strange")).unwrap();
    let strange = own.make_in("strange", Access::Group);
    assert!(matches!(strange, Err(NotOwn::Strange)));
    assert!(own.remove_directory("strange").is_err());
    for _ in 0..2 {
        own.remove_directory("inner").unwrap();
    }
    assert_eq!(std::fs::read_dir(named("other")).unwrap().count(), 0);
    assert!(!named("moved/inner").exists());
}

#[test]
fn what_a_link_leads_to_is_not_removed() {
    let base = tempfile::tempdir().unwrap();
    let (path, link) = (base.path().join("own"), base.path().join("link"));
    create_dir(&path).unwrap();
    write(path.join("a"), "").unwrap();
    symlink(&path, &link).unwrap();
    remove_files(&link, |_| true);
    assert!(path.join("a").exists() && symlink_metadata(&link).is_ok());
    remove_files(&path, |name| name != Path::new("a"));
    assert!(path.join("a").exists());
}
