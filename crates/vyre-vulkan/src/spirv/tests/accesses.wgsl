// Every kind of access that an index may carry out of bounds.

struct Mixed {
    head: u32,
    fixed: array<atomic<i32>, 4>,
    runtime: array<atomic<u32>>,
}

struct Row {
    id: u32,
    cells: array<vec3<f32>, 3>,
    basis: mat2x3<f32>,
}

@group(0) @binding(0) var<storage, read_write> mixed: Mixed;
@group(0) @binding(1) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> plain: array<u32>;
@group(0) @binding(4) var<uniform> table: array<vec4<u32>, 8>;

var<workgroup> tile: array<array<u32, 8>, 8>;
var<workgroup> bins: array<atomic<u32>, 64>;
var<private> seen: array<u32, 4>;

const PRIMES = array<u32, 4>(2u, 3u, 5u, 7u);

fn bump(values: ptr<function, array<u32, 4>>, index: i32) -> u32 {
    (*values)[index] += 1u;
    return (*values)[index];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = i32(id.y);
    var local = array<u32, 4>(1u, 2u, 3u, 4u);
    var lanes = vec4<u32>(1u, 2u, 3u, 4u);

    atomicAdd(&bins[id.x], 1u);
    atomicStore(&bins[id.y], 2u);
    tile[id.x][id.y] = atomicLoad(&bins[id.z]);
    workgroupBarrier();
    let shared_value = workgroupUniformLoad(&tile[table[0].x][1]);

    let swapped = atomicCompareExchangeWeak(&mixed.runtime[at], 1u, 2u);
    if swapped.exchanged {
        atomicMax(&mixed.fixed[id.x], 3);
        plain[swapped.old_value] = u32(atomicMin(&mixed.fixed[at], 4));
    }
    for (var i = 0u; i < atomicLoad(&counters[id.x]); i++) {
        plain[i] = atomicExchange(&counters[i], 5u) + atomicSub(&counters[7], 1u);
        continue;
    }

    let row = rows[id.x];
    rows[id.y] = row;
    rows[id.z].cells[at][id.x] = row.basis[id.x][id.y];
    plain[0] = PRIMES[id.x] + table[id.y][id.z] + id[id.x] + seen[id.x] + shared_value;
    plain[1] = bump(&local, at) + lanes[id.x] + arrayLength(&plain);
    lanes[id.y] = 9u;
    seen[id.z] = lanes.x;
    switch id.x {
        case 1u: {
            plain[2] = atomicOr(&counters[id.y], 1u) ^ atomicXor(&counters[id.z], 2u);
        }
        default: {
            plain[3] = atomicAnd(&counters[id.y], 3u);
        }
    }
}
