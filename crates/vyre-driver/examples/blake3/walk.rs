//! The files under a path.

use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// A path that could not be read, and why.
pub(crate) type Unreadable = (PathBuf, io::Error);

/// Every file under `path` in the order of names, without the entries of `path` named in `skipped`.
///
/// `path` itself is followed if it is a link, and need not be a regular file. Below it links are not
/// followed, so a broken one is no error, and only regular files count.
pub(crate) fn files<'a>(
    path: &'a Path,
    skipped: &'a [&str],
) -> impl Iterator<Item = Result<PathBuf, Unreadable>> + 'a {
    let is_kept = |entry: &DirEntry| entry.depth() != 1 || !is_named(entry, skipped);
    let entries = WalkDir::new(path)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(is_kept);
    entries.filter_map(move |entry| match entry {
        Ok(entry) => is_wanted(&entry).then(|| Ok(entry.into_path())),
        Err(error) => {
            let path = error.path().unwrap_or(path).to_owned();
            let error = error.into_io_error();
            Some(Err((
                path,
                error.unwrap_or_else(|| io::Error::other("links in a circle")),
            )))
        }
    })
}

fn is_named(entry: &DirEntry, names: &[&str]) -> bool {
    names.iter().any(|name| entry.file_name() == *name)
}

fn is_wanted(entry: &DirEntry) -> bool {
    match entry.depth() {
        0 => !entry.path().is_dir(),
        _ => entry.file_type().is_file(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn regular_files_are_found_and_what_is_skipped_is_not() {
        let root = std::env::temp_dir().join(format!("vyre-walk-{}", std::process::id()));
        for folder in ["empty", "src/target", "target"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("file"), "").unwrap();
        }
        fs::remove_file(root.join("empty/file")).unwrap();
        symlink("nowhere", root.join("broken")).unwrap();

        let found: Vec<_> = files(&root, &["target"]).map(Result::unwrap).collect();
        assert_eq!(found, [root.join("src/target/file")]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_path_that_does_not_exist_is_named() {
        let (path, error) = files(Path::new("no/such/file"), &[])
            .next()
            .unwrap()
            .unwrap_err();
        assert_eq!(path, Path::new("no/such/file"));
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
