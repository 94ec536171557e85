// The variables that random kernels index. Their statements replace the phony assignment.

struct Mixed {
    fixed: array<atomic<u32>, 4>,
    runtime: array<atomic<u32>>,
}

struct Row {
    cells: array<u32, 4>,
    lanes: vec4<u32>,
}

@group(0) @binding(0) var<storage, read_write> plain: array<u32>;
@group(0) @binding(1) var<storage, read_write> rows: array<Row>;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> mixed: Mixed;
@group(0) @binding(4) var<uniform> table: array<vec4<u32>, 4>;

var<workgroup> tile: array<array<u32, 4>, 4>;
var<workgroup> bins: array<atomic<u32>, 4>;
var<private> seen: array<u32, 4>;

const PRIMES = array<u32, 4>(2u, 3u, 5u, 7u);

fn pick(values: ptr<function, array<u32, 4>>, index: i32) -> array<u32, 4> {
    (*values)[index] = (*values)[index + 1] >> (*values)[0];
    return *values;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var turn = id.x;
    var signed = i32(id.y);
    var values: array<u32, 4>;
    var lanes: vec4<u32>;
    _ = 0;
}
