//! Values of overrides.

use proptest::prelude::*;
use proptest::sample::select;

use crate::kernel::{Kernel, KernelError};

const SIZES: &str = "
    override WIDTH: u32;
    override COUNT: u32 = 2;
    override UNUSED: f32;
    @id(7) override NUMBERED: i32;
    var<workgroup> shared_values: array<u32, 2 * COUNT>;
    var<workgroup> same_size: array<u32, COUNT>;
    var<workgroup> fixed: array<u32, 3>;
    @group(0) @binding(0) var<storage, read_write> values: array<i32>;

    @compute @workgroup_size(WIDTH, COUNT + 1)
    fn main() {
        shared_values[1] = 5;
        same_size[1] = 6;
        fixed[1] = 7;
        values[shared_values[0]] = NUMBERED;
    }";

fn sizes() -> Result<Kernel, KernelError> {
    Kernel::builder(SIZES)
        .override_constant("WIDTH", 8.0)
        .override_constant("COUNT", 3.0)
        .override_constant("NUMBERED", -4.0)
        .build()
}

#[test]
fn workgroup_size_follows_overrides() {
    assert_eq!(sizes().unwrap().workgroup_size(), [8, 4, 1]);
}

#[test]
fn array_sizes_follow_overrides() {
    assert_eq!(sizes().unwrap().workgroup_memory_bytes(), 4 * (6 + 3 + 3));
}

#[test]
fn no_override_is_left() {
    let kernel = sizes().unwrap();
    let types = kernel.module().types.iter();
    let pending = types.filter(|(_, item)| format!("{item:?}").contains("Pending"));
    assert_eq!((kernel.module().overrides.len(), pending.count()), (0, 0));
}

#[test]
fn resolved_module_translates_to_spirv_as_it_is() {
    use naga::back::spv::{Options, write_vec};
    let kernel = sizes().unwrap();
    let words = write_vec(
        kernel.module(),
        kernel.module_info(),
        &Options::default(),
        None,
    );
    assert!(words.is_ok(), "{words:?}");
}

#[test]
fn values_are_kept_sorted_by_name() {
    let expected = [("COUNT", 3.0), ("NUMBERED", -4.0), ("WIDTH", 8.0)];
    let expected = expected.map(|(name, value)| (name.to_owned(), value));
    assert_eq!(sizes().unwrap().overrides(), expected);
}

#[test]
fn missing_values_are_named() {
    let error = Kernel::from_wgsl(SIZES).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no value for override WIDTH, NUMBERED; set it with `override_constant`"
    );
}

#[test]
fn unknown_names_list_the_available() {
    let error = Kernel::builder(SIZES)
        .override_constant("DEPTH", 1.0)
        .build()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no override is named 'DEPTH'; available: WIDTH, COUNT, UNUSED, NUMBERED"
    );
}

#[test]
fn overrides_the_entry_point_does_not_use_may_be_set() {
    let source = "override A = 1; @compute @workgroup_size(1) fn main() {}";
    assert!(
        Kernel::builder(source)
            .override_constant("A", 2.0)
            .build()
            .is_ok()
    );
}

#[test]
fn defaults_may_depend_on_values() {
    let source = "override A: u32; override B = A * 2; @compute @workgroup_size(B) fn main() {}";
    let kernel = Kernel::builder(source).override_constant("A", 3.0).build();
    assert_eq!(kernel.unwrap().workgroup_size(), [6, 1, 1]);
}

#[test]
fn array_size_expression_before_a_named_override_is_resolved() {
    let source = "
        override A: u32 = 2;
        var<workgroup> x: array<u32, A * 2>;
        override B: u32 = 3;
        @compute @workgroup_size(1) fn main() { x[0] = B; }";
    assert_eq!(
        Kernel::from_wgsl(source).unwrap().workgroup_memory_bytes(),
        16
    );
}

#[test]
fn values_that_make_a_size_zero_are_refused() {
    let sources = [
        "override N = 1u; @compute @workgroup_size(N) fn main() {}",
        "override N = 1u; var<workgroup> x: array<u32, N>;
         @compute @workgroup_size(1) fn main() { x[0] = 1; }",
        "override N = 1u; @compute @workgroup_size(4 / N) fn main() {}",
    ];
    for source in sources {
        let error = Kernel::builder(source)
            .override_constant("N", 0.0)
            .build()
            .unwrap_err();
        assert!(
            matches!(error, KernelError::OverrideEvaluation { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("with N = 0: "), "{error}");
    }
}

/// Builds with an override of `type_name`.
fn with_value(type_name: &str, value: f64) -> Result<Kernel, KernelError> {
    let source = format!(
        "enable f16; override X: {type_name};
         @group(0) @binding(0) var<storage, read_write> data: array<u32>;
         @compute @workgroup_size(1) fn main() {{ data[0] = u32(X); }}"
    );
    Kernel::builder(&source)
        .override_constant("X", value)
        .build()
}

#[test]
fn values_at_the_ends_of_a_type_fit() {
    let cases = [
        ("u32", 4_294_967_295.0),
        ("i32", -2_147_483_648.0),
        ("f16", -65_519.0),
        ("f32", f64::from(f32::MAX)),
        ("f32", 0.1),
        ("bool", 1.0),
    ];
    for (type_name, value) in cases {
        assert!(with_value(type_name, value).is_ok(), "{type_name} {value}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let cases = [
        ("u32", 4_294_967_296.0),
        ("u32", -1.0),
        ("u32", 0.5),
        ("u32", f64::NAN),
        ("i32", 2_147_483_648.0),
        ("i32", f64::INFINITY),
        ("f16", 65_520.0),
        ("f32", 1e39),
        ("f32", f64::NAN),
        ("bool", 2.0),
        ("bool", f64::NAN),
    ];
    for (type_name, value) in cases {
        let result = with_value(type_name, value);
        assert!(
            matches!(result, Err(KernelError::OverrideValue { .. })),
            "{type_name} {value}: {result:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn whole_values_reach_the_kernel(value in any::<u32>()) {
        let kernel = with_value("u32", f64::from(value)).unwrap();
        let module = kernel.module();
        let literals = module.global_expressions.iter().map(|(_, expression)| expression.clone());
        let expected = naga::Expression::Literal(naga::Literal::U32(value));
        prop_assert!(literals.collect::<Vec<_>>().contains(&expected));
    }

    #[test]
    fn no_value_panics(value in any::<f64>(), type_name in select(&["u32", "i32", "f16", "f32", "bool"])) {
        let result = with_value(type_name, value);
        let refused = matches!(result, Err(KernelError::OverrideValue { .. }));
        prop_assert!(refused || result.is_ok(), "{:?}", result);
    }
}
