// Every integer operation that SPIR-V leaves undefined for some operands.

@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> longs: array<i64>;
@group(0) @binding(2) var<storage, read_write> floats: array<vec3<f32>>;

const COUNT = 3u;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    words[0] = (words[1] << words[2]) >> id.x;
    words[1] <<= id.y;
    words[2] = u32(i32(words[3]) >> 31u) << COUNT;
    longs[0] = longs[1] << id.x;
    longs[1] >>= 63u;
    let lanes = (id << id.yzx) >> vec3<u32>(1u, 2u, 3u);
    words[3] = lanes.x / lanes.y + lanes.y % lanes.z;

    let whole = vec3<i32>(floats[0]);
    words[4] = u32(floats[1].x) + u32(i32(floats[2].y)) + u32(whole.z);
    longs[2] = i64(floats[3].z) / longs[3] + longs[4] % longs[5];
}
