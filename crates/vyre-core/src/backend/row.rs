//! Checks rows: the resident buffers of one instance of a program.

use super::Resource;
use crate::error::BackendError;
use crate::program::{BufferRole, Program};

/// Checks a batch of rows against `program`; `byte_len_of` looks a handle up.
///
/// # Errors
/// [`BackendError::RowShape`], [`BackendError::RowLength`], [`BackendError::RowAlias`], or the
/// error of `byte_len_of`.
pub fn check_rows(
    program: &Program,
    rows: &[&[Resource]],
    mut byte_len_of: impl FnMut(Resource) -> Result<u64, BackendError>,
) -> Result<(), BackendError> {
    let expected = program.row_buffers().len();
    let mut uses = Vec::with_capacity(expected * rows.len());
    for (row, handles) in rows.iter().enumerate() {
        if handles.len() != expected {
            return Err(BackendError::RowShape {
                row,
                expected,
                given: handles.len(),
            });
        }
        for ((_, decl), &resource) in program.row_buffers().zip(*handles) {
            let given = byte_len_of(resource)?;
            if given != decl.byte_len() {
                return Err(BackendError::RowLength {
                    row,
                    resource,
                    name: decl.name().to_owned(),
                    expected: decl.byte_len(),
                    given,
                });
            }
            uses.push((resource, row, decl.role() != BufferRole::Input));
        }
    }
    check_aliases(uses)
}

fn check_aliases(mut uses: Vec<(Resource, usize, bool)>) -> Result<(), BackendError> {
    uses.sort_unstable();
    for same in uses.chunk_by(|a, b| a.0 == b.0) {
        if let [(resource, first, _), (_, second, _), ..] = *same
            && same.iter().any(|(_, _, written)| *written)
        {
            return Err(BackendError::RowAlias {
                resource,
                first,
                second,
            });
        }
    }
    Ok(())
}
