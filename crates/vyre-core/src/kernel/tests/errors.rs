//! Where errors point to, and how they read.

use std::error::Error;

use crate::kernel::{Kernel, KernelError, SourceLocation};

fn location(source: &str) -> SourceLocation {
    match Kernel::from_wgsl(source) {
        Err(KernelError::Parse { location, .. } | KernelError::Validate { location, .. }) => {
            location.unwrap()
        }
        other => panic!("{other:?}"),
    }
}

fn line_and_column(source: &str) -> (u32, u32) {
    let found = location(source);
    (found.line, found.column)
}

#[test]
fn parse_errors_point_at_the_token() {
    assert_eq!(
        line_and_column("fn main() {\n  let x = missing;\n}"),
        (2, 11)
    );
}

#[test]
fn validation_errors_point_at_the_statement() {
    let source = "@group(0) @binding(0) var<storage, read> a: u32;\n\
                  @compute @workgroup_size(1) fn main() {\n    a = 1;\n}";
    assert_eq!(line_and_column(source), (3, 5));
}

#[test]
fn columns_count_characters() {
    assert_eq!(
        line_and_column("/* größer */ fn f() { return ü; }"),
        (1, 30)
    );
}

#[test]
fn excerpt_shows_the_line_and_a_caret() {
    let excerpt = location("fn main() {\n\tlet x = missing;\n}").excerpt;
    assert_eq!(
        excerpt,
        "2 |  let x = missing;\n             ^ unknown identifier"
    );
}

#[test]
fn excerpt_of_a_huge_line_is_short() {
    let source = format!("{}fn f() {{ return missing; }}", " ".repeat(100_000));
    assert!(location(&source).excerpt.len() < 500);
}

#[test]
fn positions_after_a_blanked_directive_stay() {
    assert_eq!(
        line_and_column("enable subgroups; fn f() { return missing; }"),
        (1, 35)
    );
}

#[test]
fn message_names_the_place_and_shows_it() {
    let error = Kernel::from_wgsl("fn main() { let x = missing; }").unwrap_err();
    assert_eq!(
        error.to_string(),
        "wgsl error at 1:21: no definition in scope for identifier: `missing`\n\
         1 | fn main() { let x = missing; }\n\
         \x20                       ^ unknown identifier"
    );
}

#[test]
fn the_cause_is_kept() {
    let error = Kernel::from_wgsl("fn").unwrap_err();
    assert!(error.source().is_some());
}

#[test]
fn truncated_source_points_at_its_end() {
    assert_eq!(
        line_and_column("@compute @workgroup_size(1) fn main() {"),
        (1, 40)
    );
}
