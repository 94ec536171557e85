// Section 2.4: each invocation turns one chunk of 1024 bytes into its chaining value.

const CHUNK_BYTES = 1024u;
const BLOCK_BYTES = 64u;

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<uniform> piece: Piece;
@group(0) @binding(2) var<storage, read_write> nodes: array<Node>;

fn word(index: u32) -> u32 {
    if index < arrayLength(&data) {
        return data[index];
    }
    return 0u;
}

fn block(first: u32) -> Message {
    return Message(
        vec4<u32>(word(first), word(first + 2u), word(first + 4u), word(first + 6u)),
        vec4<u32>(word(first + 1u), word(first + 3u), word(first + 5u), word(first + 7u)),
        vec4<u32>(word(first + 8u), word(first + 10u), word(first + 12u), word(first + 14u)),
        vec4<u32>(word(first + 9u), word(first + 11u), word(first + 13u), word(first + 15u)),
    );
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let chunk = id.x;
    let chunks = arrayLength(&nodes);
    if chunk >= chunks {
        return;
    }
    // A segment holds a power of two of chunks, so its counters never carry.
    let counter = vec2<u32>(piece.counter_low + chunk, piece.counter_high);
    let last = CHUNK_END | select(0u, ROOT, piece.whole == 1u && chunks == 1u);

    var at = chunk * CHUNK_BYTES;
    let end = min(at + CHUNK_BYTES, piece.byte_len);
    var value = IV;
    var flags = CHUNK_START;
    loop { // at least once: an empty file is one empty block
        let rest = end - at;
        flags |= select(0u, last, rest <= BLOCK_BYTES);
        value = compress(value, block(at / 4u), counter, min(rest, BLOCK_BYTES), flags);
        flags = 0u;
        at += BLOCK_BYTES;
        if at >= end {
            break;
        }
    }
    nodes[chunk] = value;
}
