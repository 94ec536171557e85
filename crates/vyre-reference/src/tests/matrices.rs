//! Matrices: products, layouts, columns.

use super::run;

/// Runs statements that write floats to `out`, over a matrix of 2 columns with 3 rows that counts
/// from 1 to 6 by columns.
fn matrix(body: &str, len: usize) -> Vec<f32> {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> m_in: mat2x3f;
         @group(0) @binding(1) var<storage, read_write> out: array<f32>;
         @compute @workgroup_size(1)
         fn main() {{ var m = m_in; {body} m_in[1][2] = 0.0; }}"
    );
    let m = [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0_f32].map(f32::to_bits);
    let out = run(&source, 1, &[("m_in", &m), ("out", &vec![0; len])]).remove(1);
    out.into_iter().map(f32::from_bits).collect()
}

#[test]
fn products_go_rows_by_columns() {
    let out = matrix(
        "let a = m * vec2f(1.0, 10.0);
         let b = vec3f(1.0, 10.0, 100.0) * m;
         let c = transpose(m) * m;
         out[0] = a.x; out[1] = a.y; out[2] = a.z; out[3] = b.x; out[4] = b.y;
         out[5] = c[0].x; out[6] = c[0].y; out[7] = c[1].x; out[8] = c[1].y;",
        9,
    );
    assert_eq!(
        out,
        [41.0, 52.0, 63.0, 321.0, 654.0, 14.0, 32.0, 32.0, 77.0]
    );
}

#[test]
fn sums_and_scalings_go_by_component() {
    let out = matrix(
        "let a = (m + m * 2.0 - m)[1]; out[0] = a.x + a.z; out[1] = (2.0 * m)[0].y;",
        2,
    );
    assert_eq!(out, [20.0, 4.0]);
}

#[test]
fn columns_are_found_by_an_index() {
    let out = matrix(
        "var i = 1; m[i].y = 50.0; m[i - 1][i + 1] = 7.0; m[i + 5][0] = 9.0;
         out[0] = m[1].y; out[1] = m[0].z; out[2] = m_in[i][i]; out[3] = m[i + 1].x + m_in[i + 1].x;
         let p = &m[i]; (*p).x += 1.0; out[4] = m[1].x;",
        5,
    );
    assert_eq!(out, [50.0, 7.0, 5.0, 0.0, 5.0]);
}

#[test]
fn determinant_of_four_columns() {
    let out = matrix(
        "var d = mat4x4f(2.0, 0.0, 0.0, 1.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0, 4.0, 0.0, 1.0, 0.0, 0.0, 5.0);
         out[0] = determinant(d);
         out[1] = determinant(mat2x2f(m[0].xy, m[1].xy));",
        2,
    );
    // 12 * (2 * 5 - 1), and 1 * 5 - 4 * 2.
    assert_eq!(out, [108.0, -3.0]);
}
