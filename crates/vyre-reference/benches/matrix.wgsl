// A tiled matrix product: each workgroup computes a tile of 16 by 16, over tiles in shared memory.

override SIDE: u32;

const TILE = 16u;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> product: array<f32>;

var<workgroup> tile_a: array<array<f32, TILE>, TILE>;
var<workgroup> tile_b: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    var sum = 0.0;
    for (var start = 0u; start < SIDE; start += TILE) {
        tile_a[local.y][local.x] = a[id.y * SIDE + start + local.x];
        tile_b[local.y][local.x] = b[(start + local.y) * SIDE + id.x];
        workgroupBarrier();
        for (var k = 0u; k < TILE; k++) {
            sum += tile_a[local.y][k] * tile_b[k][local.x];
        }
        workgroupBarrier();
    }
    product[id.y * SIDE + id.x] = sum;
}
