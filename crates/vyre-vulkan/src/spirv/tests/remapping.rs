//! Rebuilding a function without changing it.

use super::super::remap::{Rewriter, rebuild};
use super::parse;

/// Keeps everything.
struct Identity;

impl Rewriter for Identity {}

#[test]
fn a_function_rebuilt_by_the_defaults_is_the_same() {
    for source in [
        include_str!("accesses.wgsl"),
        include_str!("numbers.wgsl"),
        include_str!("lanes.wgsl"),
    ] {
        let (module, _) = parse(source);
        let mut types = module.types.clone();
        let called = module.functions.iter().map(|(_, function)| function);
        let entries = module.entry_points.iter().map(|entry| &entry.function);
        for function in called.chain(entries) {
            let rebuilt = rebuild(function, &mut types, &mut Identity).unwrap();
            assert_eq!(format!("{rebuilt:#?}"), format!("{function:#?}"));
        }
        assert_eq!(types.len(), module.types.len());
    }
}
