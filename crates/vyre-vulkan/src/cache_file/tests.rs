//! Cache files that are whole, damaged, foreign, absent.

use proptest::prelude::*;

use super::*;

const KEY: CacheKey = CacheKey {
    vendor_id: 0x10de,
    device_id: 0x2330,
    driver_version: 0x9101_2345,
    pipeline_cache_uuid: *b"0123456789abcdef",
};

/// What a driver would give for `KEY`, its header spelled out byte by byte.
const PAYLOAD: &[u8] = b"\x20\0\0\0\x01\0\0\0\xde\x10\0\0\x30\x23\0\0\
                         0123456789abcdefthe pipelines";

/// A cache file for `KEY` in a directory of its own, that lives as long as the first value.
fn cache() -> (tempfile::TempDir, CacheFile) {
    let directory = tempfile::tempdir().unwrap();
    let cache = CacheFile::new(&directory.path().join("some/where"), &KEY);
    (directory, cache)
}

fn stored() -> Vec<u8> {
    [&KEY.header(PAYLOAD), PAYLOAD].concat()
}

#[test]
fn what_was_stored_is_loaded() {
    let (_directory, cache) = cache();
    cache.store(PAYLOAD).unwrap();
    assert_eq!(cache.load().as_deref(), Some(PAYLOAD));
    let longer = [PAYLOAD, b" and more"].concat();
    cache.store(&longer).unwrap();
    assert_eq!(cache.load(), Some(longer));
}

#[test]
fn an_absent_file_loads_as_nothing() {
    let (_directory, cache) = cache();
    assert_eq!(cache.load(), None);
}

#[test]
fn the_layout_on_disk_is_fixed() {
    let (_directory, cache) = cache();
    cache.store(PAYLOAD).unwrap();
    let bytes = fs::read(&cache.path).unwrap();
    assert_eq!(bytes[..12], *b"vyrecach\x01\0\0\0");
    assert_eq!(bytes[12..24], *b"\xde\x10\0\0\x30\x23\0\0\x45\x23\x01\x91");
    assert_eq!(bytes[24..40], *b"0123456789abcdef");
    assert_eq!(bytes[40..48], [45, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[52..], *PAYLOAD);
    let name = cache.path.file_name().unwrap();
    let uuid = "30313233343536373839616263646566";
    assert_eq!(
        name,
        format!("000010de-00002330-91012345-{uuid}.pipelines").as_str()
    );
}

#[test]
fn every_change_of_a_single_byte_is_refused() {
    let mut bytes = stored();
    assert_eq!(KEY.check(&bytes), Ok(()));
    for index in 0..bytes.len() {
        for change in 1..=u8::MAX {
            bytes[index] ^= change;
            assert!(KEY.check(&bytes).is_err(), "byte {index} ^ {change}");
            bytes[index] ^= change;
        }
    }
}

#[test]
fn every_other_length_is_refused() {
    let bytes = stored();
    for len in 0..bytes.len() {
        assert!(KEY.check(&bytes[..len]).is_err(), "{len} bytes");
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert_eq!(KEY.check(&longer), Err(Refusal::Length));
}

#[test]
fn a_file_of_another_device_or_driver_is_refused() {
    let bytes = stored();
    let mut uuid = KEY.pipeline_cache_uuid;
    uuid[15] = 0;
    for other in [
        CacheKey {
            vendor_id: 1,
            ..KEY
        },
        CacheKey {
            device_id: 1,
            ..KEY
        },
        CacheKey {
            driver_version: 1,
            ..KEY
        },
        CacheKey {
            pipeline_cache_uuid: uuid,
            ..KEY
        },
    ] {
        assert_eq!(other.check(&bytes), Err(Refusal::Foreign));
        let (_directory, cache) = cache();
        let other = CacheFile::new(cache.path.parent().unwrap(), &other);
        cache.store(PAYLOAD).unwrap();
        assert_ne!(cache.path, other.path);
        fs::rename(&cache.path, &other.path).unwrap();
        assert_eq!(other.load(), None);
    }
}

#[test]
fn driver_data_with_a_foreign_or_damaged_header_is_refused() {
    for index in 0..32 {
        let mut payload = PAYLOAD.to_vec();
        payload[index] ^= 1;
        let bytes = [KEY.header(&payload), payload].concat();
        assert_eq!(
            KEY.check(&bytes),
            Err(Refusal::VulkanHeader),
            "byte {index}"
        );
    }
    for len in 0..32 {
        let payload = &PAYLOAD[..len];
        let bytes = [&KEY.header(payload), payload].concat();
        assert_eq!(KEY.check(&bytes), Err(Refusal::VulkanHeader), "{len} bytes");
    }
}

#[test]
fn a_damaged_file_is_replaced() {
    let (_directory, cache) = cache();
    cache.store(PAYLOAD).unwrap();
    fs::write(&cache.path, b"not a cache").unwrap();
    assert_eq!(cache.load(), None);
    cache.store(PAYLOAD).unwrap();
    assert_eq!(cache.load().as_deref(), Some(PAYLOAD));
    let entries = fs::read_dir(cache.path.parent().unwrap()).unwrap();
    assert_eq!(entries.count(), 1);
}

#[test]
fn a_directory_that_cant_be_made_is_an_error() {
    let (directory, cache) = cache();
    fs::write(directory.path().join("some"), b"a file in the way").unwrap();
    assert!(cache.store(PAYLOAD).is_err());
    assert_eq!(cache.load(), None);
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;

    let (_directory, cache) = cache();
    cache.store(PAYLOAD).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&cache.path), 0o600);
    assert_eq!(mode(cache.path.parent().unwrap()), 0o700);
}

#[test]
fn the_directory_follows_the_environment() {
    let directory = |variables: &[(&str, &str)]| {
        directory_from(|wanted| {
            let mut variables = variables.iter();
            let (_, value) = variables.find(|(name, _)| *name == wanted)?;
            Some(OsString::from(value))
        })
    };
    let (own, xdg, home) = (
        ("VYRE_CACHE_DIR", "here"),
        ("XDG_CACHE_HOME", "/x"),
        ("HOME", "/h"),
    );
    assert_eq!(directory(&[home, xdg, own]), Some("here".into()));
    assert_eq!(
        directory(&[home, xdg, ("VYRE_CACHE_DIR", "")]),
        Some("/x/vyre".into())
    );
    assert_eq!(
        directory(&[home, ("XDG_CACHE_HOME", "")]),
        Some("/h/.cache/vyre".into())
    );
    assert_eq!(
        directory(&[home, ("XDG_CACHE_HOME", "x")]),
        Some("/h/.cache/vyre".into())
    );
    assert_eq!(directory(&[("HOME", "")]), None);
    assert_eq!(directory(&[]), None);
}

proptest! {
    #[test]
    fn any_driver_data_comes_back(data in prop::collection::vec(any::<u8>(), 0..512)) {
        let payload = [&PAYLOAD[..32], &data].concat();
        let bytes = [&KEY.header(&payload), &payload[..]].concat();
        prop_assert_eq!(KEY.check(&bytes), Ok(()));
    }

    #[test]
    fn garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        prop_assert!(KEY.check(&bytes).is_err());
    }

    #[test]
    fn garbage_behind_a_good_start_is_refused(
        start in 0..stored().len(),
        bytes in prop::collection::vec(any::<u8>(), 1..256),
    ) {
        let file = [&stored()[..start], &bytes].concat();
        prop_assume!(file != stored());
        prop_assert!(KEY.check(&file).is_err());
    }
}
