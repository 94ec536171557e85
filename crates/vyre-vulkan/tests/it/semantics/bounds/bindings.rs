//! Arrays in storage and uniform buffers, of which a part is bound.

use vyre_core::kernel::Capability;

use super::Place;
use crate::semantics::has;
use crate::support::open;

fn assert_is_kept_to(place: Place<'_>) {
    let Some(backend) = open() else { return };
    place.assert_is_kept_to(&*backend);
}

/// A storage buffer of `words` zeros.
fn storage(module: &str, words: usize) -> Place<'_> {
    const ZEROS: [u32; 64] = [0; 64];
    Place {
        module,
        contents: &ZEROS[..words],
        ..Place::default()
    }
}

#[test]
fn runtime_array_is_kept_to() {
    let module = "@group(0) @binding(2) var<storage, read_write> place: array<u32>;";
    assert_is_kept_to(Place {
        read: "place[_]",
        write: "place[_] = #;",
        ..storage(module, 6)
    });
}

#[test]
fn runtime_array_of_one_element_is_kept_to() {
    let module = "@group(0) @binding(2) var<storage, read_write> place: array<u32>;";
    assert_is_kept_to(Place {
        read: "place[_]",
        write: "place[_] = #;",
        len: 1,
        ..storage(module, 1)
    });
}

#[test]
fn runtime_array_of_vectors_is_kept_to() {
    let module = "@group(0) @binding(2) var<storage, read_write> place: array<vec4u>;";
    assert_is_kept_to(Place {
        read: "place[_].z",
        write: "place[_].z = #;",
        around: "place[0].x | place[0].w | place[5].x | place[5].y | place[5].w",
        ..storage(module, 24)
    });
}

#[test]
fn lane_of_a_vector_in_a_buffer_is_kept_to() {
    let module = "@group(0) @binding(2) var<storage, read_write> place: array<vec4u>;";
    assert_is_kept_to(Place {
        read: "place[1][_]",
        write: "place[1][_] = #;",
        len: 4,
        around: "place[0].x | place[0].w | place[2].x | place[2].y | place[2].w",
        ..storage(module, 12)
    });
}

#[test]
fn runtime_array_behind_other_members_is_kept_to() {
    let module = "
    struct Frame { before: vec3u, count: u32, cells: array<u32> }
    @group(0) @binding(2) var<storage, read_write> place: Frame;";
    assert_is_kept_to(Place {
        read: "place.cells[_]",
        write: "place.cells[_] = #;",
        around: "place.before.x | place.before.y | place.before.z | place.count",
        ..storage(module, 10)
    });
}

#[test]
fn fixed_array_before_other_members_is_kept_to() {
    let module = "
    struct Frame { before: u32, cells: array<u32, 6>, after: u32, more: array<u32> }
    @group(0) @binding(2) var<storage, read_write> place: Frame;";
    assert_is_kept_to(Place {
        read: "place.cells[_]",
        write: "place.cells[_] = #;",
        around: "place.before | place.after | place.more[0] | place.more[1] | place.more[5]",
        ..storage(module, 14)
    });
}

#[test]
fn arrays_in_rows_are_kept_to_in_both_dimensions() {
    let module = "
    struct Row { number: u32, cells: array<u32, 4> }
    @group(0) @binding(2) var<storage, read_write> place: array<Row>;";
    for (read, write, len) in [
        ("place[_].cells[2]", "place[_].cells[2] = #;", 6),
        ("place[2].cells[_]", "place[2].cells[_] = #;", 4),
    ] {
        assert_is_kept_to(Place {
            read,
            write,
            len,
            around: "place[1].cells[3] | place[2].number | place[3].number | place[3].cells[0]",
            ..storage(module, 30)
        });
    }
}

#[test]
fn row_out_of_bounds_is_zeros() {
    let module = "
    struct Row { number: u32, cells: array<u32, 2>, last: i32 }
    @group(0) @binding(2) var<storage, read_write> place: array<Row>;
    fn largest(row: Row) -> u32 {
        return max(max(row.number, u32(row.last)), max(row.cells[0], row.cells[1]));
    }";
    assert_is_kept_to(Place {
        read: "largest(place[_])",
        write: "place[_] = Row(#, array(#, #), i32(#));",
        ..storage(module, 24)
    });
}

#[test]
fn half_floats_in_a_buffer_are_kept_to() {
    let Some(backend) = open() else { return };
    if !has(&*backend, Capability::Float16) {
        return;
    }
    let module = "enable f16;
    @group(0) @binding(2) var<storage, read_write> place: array<f16>;";
    let place = Place {
        read: "u32(place[_])",
        write: "place[_] = f16(#);",
        ..storage(module, 3)
    };
    place.assert_is_kept_to(&*backend);
}

#[test]
fn wide_integers_in_a_buffer_are_kept_to() {
    let Some(backend) = open() else { return };
    if !has(&*backend, Capability::Int64) {
        return;
    }
    let module = "@group(0) @binding(2) var<storage, read_write> place: array<u64>;";
    let place = Place {
        read: "u32(place[_])",
        write: "place[_] = u64(#);",
        ..storage(module, 12)
    };
    place.assert_is_kept_to(&*backend);
}

#[test]
fn buffer_that_is_only_read_is_kept_to() {
    assert_is_kept_to(Place {
        module: "@group(0) @binding(2) var<storage, read> place: array<u32>;",
        read: "place[_]",
        contents: &[1, 2, 3, 4, 5, 6],
        ..Place::default()
    });
}

#[test]
fn uniform_array_is_kept_to() {
    assert_is_kept_to(Place {
        module: "@group(0) @binding(2) var<uniform> place: array<vec4u, 3>;",
        read: "place[_].y",
        len: 3,
        contents: &[7, 1, 7, 7, 7, 2, 7, 7, 7, 3, 7, 7],
        ..Place::default()
    });
}

#[test]
fn uniform_array_before_other_members_is_kept_to() {
    assert_is_kept_to(Place {
        module: "struct Frame { before: vec4u, cells: array<vec4u, 2>, after: vec4u }
                 @group(0) @binding(2) var<uniform> place: Frame;",
        read: "place.cells[_].x",
        len: 2,
        contents: &[9, 9, 9, 9, 1, 9, 9, 9, 2, 9, 9, 9, 9, 9, 9, 9],
        ..Place::default()
    });
}

#[test]
fn lane_of_a_uniform_vector_is_kept_to() {
    assert_is_kept_to(Place {
        module: "struct Frame { v: vec4u, after: vec4u }
                 @group(0) @binding(2) var<uniform> place: Frame;",
        read: "place.v[_]",
        len: 4,
        contents: &[1, 2, 3, 4, 9, 9, 9, 9],
        ..Place::default()
    });
}
