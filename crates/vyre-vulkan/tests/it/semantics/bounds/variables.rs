//! Arrays, vectors and matrices in workgroup, private and function memory, and as values.

use super::Place;
use crate::support::open;

/// An array between two words.
const FRAME: &str = "struct Frame { before: u32, cells: array<u32, 6>, after: u32 }";

fn assert_is_kept_to(place: Place<'_>) {
    let Some(backend) = open() else { return };
    place.assert_is_kept_to(&*backend);
}

/// An array of numbers of the name `cells` in a struct of the name `frame`.
fn frame<'a>(module: &'a str, local: &'a str) -> Place<'a> {
    Place {
        module,
        local,
        read: "frame.cells[_]",
        write: "frame.cells[_] = #;",
        around: "frame.before | frame.after",
        ..Place::default()
    }
}

#[test]
fn workgroup_array_is_kept_to() {
    assert_is_kept_to(Place {
        module: "var<workgroup> before: array<u32, 6>;
                 var<workgroup> cells: array<u32, 6>;
                 var<workgroup> after: array<u32, 6>;",
        read: "cells[_]",
        write: "cells[_] = #;",
        around: "before[0] | before[5] | after[0] | after[5] | before[1] | after[1]",
        ..Place::default()
    });
}

#[test]
fn array_in_a_workgroup_struct_is_kept_to() {
    let module = format!("{FRAME} var<workgroup> frame: Frame;");
    assert_is_kept_to(frame(&module, ""));
}

#[test]
fn array_in_a_private_struct_is_kept_to() {
    let module = format!("{FRAME} var<private> frame: Frame;");
    assert_is_kept_to(frame(&module, ""));
}

#[test]
fn array_in_a_function_struct_is_kept_to() {
    assert_is_kept_to(frame(FRAME, "var frame: Frame;"));
}

#[test]
fn array_of_arrays_is_kept_to_in_both_dimensions() {
    for (read, write, len) in [
        ("rows[_][2]", "rows[_][2] = #;", 6),
        ("rows[2][_]", "rows[2][_] = #;", 4),
    ] {
        assert_is_kept_to(Place {
            module: "var<private> rows: array<array<u32, 4>, 6>;",
            read,
            write,
            len,
            around: "rows[1][0] | rows[1][3] | rows[3][0] | rows[3][1] | rows[3][3]",
            ..Place::default()
        });
    }
}

#[test]
fn array_behind_a_pointer_is_kept_to() {
    assert_is_kept_to(Place {
        module:
            "fn look(cells: ptr<function, array<u32, 6>>, i: u32) -> u32 { return (*cells)[i]; }
                 fn put(cells: ptr<function, array<u32, 6>>, i: u32, to: u32) { (*cells)[i] = to; }",
        local: "var cells: array<u32, 6>;",
        read: "look(&cells, u32(_))",
        write: "put(&cells, u32(_), #);",
        ..Place::default()
    });
}

#[test]
fn vector_in_memory_is_kept_to() {
    for module in [
        "var<private> v: vec4u;",
        "var<workgroup> v: vec4u;",
        "struct Frame { before: u32, v: vec4u } var<private> frame: Frame;",
    ] {
        let local = if module.contains("Frame") {
            "let place = &frame.v;"
        } else {
            "let place = &v;"
        };
        assert_is_kept_to(Place {
            module,
            local,
            read: "(*place)[_]",
            write: "(*place)[_] = #;",
            len: 4,
            ..Place::default()
        });
    }
}

#[test]
fn matrix_is_kept_to_in_both_dimensions() {
    for (read, write, len) in [
        ("u32(m[_][1])", "m[_][1] = f32(#);", 4),
        ("u32(m[1][_])", "m[1][_] = f32(#);", 3),
    ] {
        assert_is_kept_to(Place {
            local: "var m: mat4x3f;",
            read,
            write,
            len,
            around: "u32(m[0][0] + m[0][2] + m[2][0] + m[2][2] + m[3][0])",
            ..Place::default()
        });
    }
}

#[test]
fn column_of_a_matrix_out_of_bounds_is_zeros() {
    assert_is_kept_to(Place {
        local: "var m: mat4x3f;",
        read: "u32(dot(m[_], vec3f(1.0)))",
        write: "m[_] = vec3f(f32(#), 0.0, 0.0);",
        len: 4,
        ..Place::default()
    });
}

#[test]
fn struct_out_of_bounds_is_zeros() {
    assert_is_kept_to(Place {
        module: "struct Row { number: u32, cells: array<u32, 2>, lanes: vec2f, inner: Inner }
                 struct Inner { m: mat2x2f }
                 fn largest(row: Row) -> u32 {
                     let lanes = max(row.lanes, max(row.inner.m[0], row.inner.m[1]));
                     let cells = max(row.cells[0], row.cells[1]);
                     return max(max(row.number, cells), u32(max(lanes.x, lanes.y)));
                 }
                 fn row(n: u32) -> Row {
                     let f = f32(n);
                     return Row(n, array(n, n), vec2f(f), Inner(mat2x2f(f, f, f, f)));
                 }",
        local: "var rows: array<Row, 6>;",
        read: "largest(rows[_])",
        write: "rows[_] = row(#);",
        ..Place::default()
    });
}

#[test]
fn values_are_kept_to() {
    for (local, read) in [
        ("let v = vec4u(1u, 2u, 3u, 4u);", "v[_]"),
        ("let v = array(1u, 2u, 3u, 4u);", "v[_]"),
        (
            "let v = array(vec2u(9u, 1u), vec2u(9u, 2u), vec2u(9u, 3u), vec2u(9u, 4u));",
            "v[_].y",
        ),
    ] {
        assert_is_kept_to(Place {
            local,
            read,
            len: 4,
            ..Place::default()
        });
    }
}

#[test]
fn constant_array_is_kept_to() {
    assert_is_kept_to(Place {
        module: "const TABLE = array(1u, 2u, 3u, 4u);",
        read: "TABLE[_]",
        len: 4,
        ..Place::default()
    });
}

#[test]
fn uniform_load_out_of_bounds_is_zero() {
    assert_is_kept_to(Place {
        module: "var<workgroup> cells: array<u32, 6>;",
        read: "workgroupUniformLoad(&cells[_])",
        write: "cells[_] = #;",
        ..Place::default()
    });
}
