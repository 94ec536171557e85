// BLAKE3's compression function, which both kernels are compiled with. Tables, sections and names
// are those of "BLAKE3: one function, fast everywhere", O'Connor, Aumasson, Neves, Wilcox-O'Hearn.

// The first and the last four words of a chaining value, and of the hash itself.
struct Node {
    low: vec4<u32>,
    high: vec4<u32>,
}

// The 16 words of a block, each vector being one operand of a half round: words 0 2 4 6, 1 3 5 7,
// 8 10 12 14 and 9 11 13 15.
struct Message {
    column_x: vec4<u32>,
    column_y: vec4<u32>,
    diagonal_x: vec4<u32>,
    diagonal_y: vec4<u32>,
}

// What is hashed: a file, or a segment of one. One slot of the buffer `pieces`.
struct Piece {
    byte_len: u32,
    // The counter of the first chunk.
    counter_low: u32,
    counter_high: u32,
    // 1 for a whole file, 0 for a segment.
    whole: u32,
}

// The state of section 2.2, one vector a row.
struct State {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

// Table 3.
const CHUNK_START = 1u;
const CHUNK_END = 2u;
const PARENT = 4u;
const ROOT = 8u;

// Table 1, and the chaining value to start from: no key is used.
const IV = Node(
    vec4<u32>(0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au),
    vec4<u32>(0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u),
);

fn rotate_right(x: vec4<u32>, bits: u32) -> vec4<u32> {
    return (x >> vec4<u32>(bits)) | (x << vec4<u32>(32u - bits));
}

// The quarter round G on four columns at once.
fn mix(in: State, x: vec4<u32>, y: vec4<u32>) -> State {
    var s = in;
    s.a += s.b + x;
    s.d = rotate_right(s.d ^ s.a, 16u);
    s.c += s.d;
    s.b = rotate_right(s.b ^ s.c, 12u);
    s.a += s.b + y;
    s.d = rotate_right(s.d ^ s.a, 8u);
    s.c += s.d;
    s.b = rotate_right(s.b ^ s.c, 7u);
    return s;
}

// Table 2: word i of the result is word 2 6 3 10 7 0 4 13 1 11 12 5 9 14 15 8 of `m`.
fn permute(m: Message) -> Message {
    let p = m.column_x;
    let q = m.column_y;
    let r = m.diagonal_x;
    let s = m.diagonal_y;
    return Message(
        vec4<u32>(p.y, q.y, q.w, p.z),
        vec4<u32>(p.w, r.y, p.x, s.z),
        vec4<u32>(q.x, r.z, s.x, s.w),
        vec4<u32>(s.y, q.z, r.w, r.x),
    );
}

// The first eight words of the compression function's output, section 2.2.
fn compress(value: Node, block: Message, counter: vec2<u32>, block_len: u32, flags: u32) -> Node {
    var m = block;
    var s = State(value.low, value.high, IV.low, vec4<u32>(counter, block_len, flags));
    for (var round = 0u; round < 7u; round++) {
        s = mix(s, m.column_x, m.column_y);
        s = State(s.a, s.b.yzwx, s.c.zwxy, s.d.wxyz);
        s = mix(s, m.diagonal_x, m.diagonal_y);
        s = State(s.a, s.b.wxyz, s.c.zwxy, s.d.yzwx);
        m = permute(m);
    }
    return Node(s.a ^ s.c, s.b ^ s.d);
}
