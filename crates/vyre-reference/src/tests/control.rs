//! Control flow: lanes that go different ways come back together.

use super::output;

#[test]
fn branches_rejoin() {
    let out = output(
        "@compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32) {
             var x = 1u;
             if i < 2u { x += 10u; if i == 1u { x += 100u; } } else if i == 2u { x += 1000u; } else { x = 5u; }
             out[i] = x * 2u;
         }",
        4,
    );
    assert_eq!(out, [22, 222, 2002, 10]);
}

#[test]
fn each_lane_counts_its_own_iterations() {
    let out = output(
        "@compute @workgroup_size(8)
         fn main(@builtin(local_invocation_index) i: u32) {
             var sum = 0u;
             for (var k = 0u; k < i; k++) {
                 if k == 3u { continue; }
                 if k == 6u { break; }
                 sum += k;
             }
             out[i] = sum;
         }",
        8,
    );
    assert_eq!(out, [0, 0, 1, 3, 3, 7, 12, 12]);
}

#[test]
fn continuing_runs_after_continue() {
    let out = output(
        "@compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32) {
             var n = 0u;
             var k = 0u;
             loop {
                 if k % 2u == 0u { continue; }
                 n += 1u;
                 continuing { k += 1u; break if k >= i * 2u; }
             }
             out[i] = n * 100u + k;
         }",
        4,
    );
    assert_eq!(out, [1, 102, 204, 306]);
}

#[test]
fn early_return_keeps_the_other_lanes() {
    let out = output(
        "fn find(limit: u32) -> u32 {
             var k = 0u;
             loop {
                 switch k {
                     case 7u: { return 77u; }
                     case 1u, 2u: { if limit == 2u { return 22u; } }
                     default: { if k > limit { return k; } }
                 }
                 k++;
             }
             return 0u;
         }
         @compute @workgroup_size(16)
         fn main(@builtin(local_invocation_index) i: u32) {
             if i == 15u { return; }
             out[i] = find(i) + 1000u;
         }",
        16,
    );
    let expected = [
        1003, 1003, 1022, 1004, 1005, 1006, 1077, 1077, 1077, 1077, 1077, 1077, 1077, 1077, 1077, 0,
    ];
    assert_eq!(out, expected);
}

#[test]
fn switch_takes_one_case_each() {
    let out = output(
        "@compute @workgroup_size(6)
         fn main(@builtin(local_invocation_index) i: u32) {
             var x = 0;
             for (var k = 0; k < 3; k++) {
                 switch i32(i) - 1 {
                     case -1: { x += 1; continue; }
                     case 0, 1, default: { x += 10; if i == 2u { break; } x += 100; }
                     case 3: { x += 1000; }
                     case 4: { }
                 }
                 x += 5;
             }
             out[i] = u32(x);
         }",
        6,
    );
    assert_eq!(out, [3, 345, 45, 345, 3015, 15]);
}

#[test]
fn function_sees_its_arguments_only() {
    let out = output(
        "fn bump(p: ptr<function, u32>, by: u32) -> u32 { let old = *p; *p += by; return old; }
         fn twice(p: ptr<function, u32>) -> u32 { let a = bump(p, 1u); let b = bump(p, 10u); return a * 100u + b; }
         @compute @workgroup_size(2)
         fn main(@builtin(local_invocation_index) i: u32) {
             var a = i;
             var b = array<u32, 3>(7u, 8u, 9u);
             let x = twice(&a);
             let y = twice(&b[i + 1u]);
             out[i * 4u] = x;
             out[i * 4u + 1u] = y;
             out[i * 4u + 2u] = a;
             out[i * 4u + 3u] = b[1] * 100u + b[2];
         }",
        8,
    );
    assert_eq!(out, [1, 809, 11, 1909, 102, 910, 12, 820]);
}

#[test]
fn value_survives_a_store_to_its_variable() {
    let out = output(
        "struct Pair { a: vec2u, b: vec2u }
         @compute @workgroup_size(2)
         fn main(@builtin(local_invocation_index) i: u32) {
             var p = Pair(vec2u(1u, 2u), vec2u(3u, 4u));
             let before = p;
             let a = p.a;
             p = Pair(p.b.yx, p.a);
             if i == 1u { p.a = a + p.b; }
             for (var k = 0u; k < 4u; k++) { let old = p.a.x; p.a.x = p.a.y; p.a.y = old + before.a.x; }
             out[i * 4u] = p.a.x;
             out[i * 4u + 1u] = p.a.y;
             out[i * 4u + 2u] = p.b.x;
             out[i * 4u + 3u] = before.b.y;
         }",
        8,
    );
    assert_eq!(out, [6, 5, 1, 4, 4, 6, 1, 4]);
}

#[test]
fn continuing_sees_the_values_of_the_body() {
    let out = output(
        "@compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32) {
             var k = 0u;
             var sum = 0u;
             loop {
                 let old = k;
                 k += 10u;
                 if i == 1u { continue; }
                 sum += 1u;
                 continuing { sum += old; break if old >= 10u * i; }
             }
             out[i] = sum * 100u + k;
         }",
        4,
    );
    assert_eq!(out, [110, 1020, 3330, 6440]);
}

#[test]
fn inner_loop_that_all_leave_ends_alone() {
    let out = output(
        "@compute @workgroup_size(2)
         fn main(@builtin(local_invocation_index) i: u32) {
             var sum = 0u;
             for (var outer = 0u; outer < 3u; outer++) {
                 var k = 0u;
                 loop {
                     sum += 1u;
                     continuing { k++; break if k > i; }
                 }
                 while true { if sum > 0u { break; } }
                 sum += 100u;
             }
             out[i] = sum;
         }",
        2,
    );
    assert_eq!(out, [303, 306]);
}
