//! The pipeline cache on disk, as the driver fills it.

use std::fs;
use std::path::{Path, PathBuf};

use vyre_core::backend::VyreBackend;
use vyre_vulkan::PipelineCacheLocation;

use crate::programs::{assert_scales, scaled};
use crate::support::{Checked, config, open_with};

/// Bytes of the file before the driver's own.
const HEADER_LEN: usize = 52;

fn open_in(directory: &Path) -> Option<Checked> {
    let location = PipelineCacheLocation::Directory(directory.to_owned());
    open_with(&config().with_pipeline_cache(location))
}

/// Opens a backend with its cache in `directory`, runs a program and drops the backend; false where
/// there is no Vulkan.
fn run_in(directory: &Path) -> bool {
    let backend = open_in(directory);
    if let Some(backend) = &backend {
        assert_scales(&**backend, &scaled(7), 7);
    }
    backend.is_some()
}

/// The only file of a directory.
fn only_file(directory: &Path) -> PathBuf {
    let mut entries = fs::read_dir(directory).unwrap();
    let file = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    file
}

/// Whether a file has the documented form, with the right length and checksum.
fn is_intact(file: &[u8]) -> bool {
    let payload = file.get(HEADER_LEN..).unwrap_or_default();
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(file.get(..48).unwrap_or_default());
    checksum.update(payload);
    file.starts_with(b"vyrecach")
        && file.get(40..48) == Some(&(payload.len() as u64).to_le_bytes()[..])
        && file.get(48..52) == Some(&checksum.finalize().to_le_bytes()[..])
}

#[test]
fn dropped_backend_leaves_one_file_with_what_it_compiled() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("not/yet/there");
    let Some(backend) = open_in(&folder) else {
        return;
    };
    assert_scales(&*backend, &scaled(7), 7);
    assert!(!folder.exists());
    drop(backend);
    let file = fs::read(only_file(&folder)).unwrap();
    assert!(is_intact(&file));
    assert!(file.len() > HEADER_LEN);
}

#[cfg(unix)]
#[test]
fn file_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("cache");
    if !run_in(&folder) {
        return;
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&only_file(&folder)), 0o600);
    assert_eq!(mode(&folder), 0o700);
}

#[test]
fn second_backend_works_from_the_file_and_keeps_it_intact() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        if !run_in(directory.path()) {
            return;
        }
        assert!(is_intact(&fs::read(only_file(directory.path())).unwrap()));
    }
}

#[test]
fn second_backend_adds_what_it_compiles() {
    let directory = tempfile::tempdir().unwrap();
    let mut len = 0;
    for factor in [2, 3] {
        let Some(backend) = open_in(directory.path()) else {
            return;
        };
        assert_scales(&*backend, &scaled(factor), factor);
        drop(backend);
        let file = fs::read(only_file(directory.path())).unwrap();
        assert!(is_intact(&file));
        // A driver may store nothing but its header, so the file may stay as it was.
        assert!(file.len() >= len);
        len = file.len();
    }
}

#[test]
fn damaged_file_is_ignored_and_replaced() {
    let directory = tempfile::tempdir().unwrap();
    if !run_in(directory.path()) {
        return;
    }
    let path = only_file(directory.path());
    let good = fs::read(&path).unwrap();
    let flipped = |index: usize| {
        let mut bytes = good.clone();
        bytes[index] ^= 1;
        bytes
    };
    let damaged = [
        Vec::new(),
        b"garbage".to_vec(),
        vec![0xa5; good.len()],
        good[..HEADER_LEN / 2].to_vec(),
        good[..HEADER_LEN].to_vec(),
        good[..good.len() - 1].to_vec(),
        [&good[..], b"more"].concat(),
        flipped(0),
        flipped(12),
        flipped(49),
        flipped(HEADER_LEN),
        flipped(HEADER_LEN + 16),
        flipped(good.len() - 1),
    ];
    for bytes in damaged {
        fs::write(&path, &bytes).unwrap();
        assert!(run_in(directory.path()));
        assert_eq!(only_file(directory.path()), path);
        let replaced = fs::read(&path).unwrap();
        assert!(is_intact(&replaced) && replaced != bytes);
    }
}

#[test]
fn file_in_place_of_the_directory_fails_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let blocked = directory.path().join("blocked");
    fs::write(&blocked, b"in the way").unwrap();
    for location in [&blocked, &blocked.join("below")] {
        let Some(backend) = open_in(location) else {
            return;
        };
        assert_scales(&*backend, &scaled(7), 7);
        backend.compile(&scaled(8)).unwrap();
    }
    assert_eq!(fs::read(&blocked).unwrap(), b"in the way");
}

#[test]
fn directory_in_place_of_the_file_fails_nothing() {
    let directory = tempfile::tempdir().unwrap();
    if !run_in(directory.path()) {
        return;
    }
    let path = only_file(directory.path());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(run_in(directory.path()));
    assert_eq!(only_file(directory.path()), path);
}

#[test]
fn backends_that_store_at_once_leave_one_intact_file() {
    let directory = tempfile::tempdir().unwrap();
    let ran = std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(|| run_in(directory.path())));
        threads.map(|thread| thread.join().unwrap())
    });
    if ran.contains(&true) {
        assert!(is_intact(&fs::read(only_file(directory.path())).unwrap()));
    }
}
