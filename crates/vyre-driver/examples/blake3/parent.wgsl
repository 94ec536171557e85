// Section 2.5: each invocation turns two nodes of one level of the tree into a node of the next.
//
// An odd last node rises unchanged. Level by level this gives BLAKE3's tree, whose left subtrees
// are complete: the nodes of a level stand for equal powers of two of chunks, all but the last.

@group(0) @binding(0) var<storage, read> children: array<Node>;
@group(0) @binding(1) var<uniform> piece: Piece;
@group(0) @binding(2) var<storage, read_write> parents: array<Node>;

fn block(left: Node, right: Node) -> Message {
    return Message(
        vec4<u32>(left.low.xz, left.high.xz),
        vec4<u32>(left.low.yw, left.high.yw),
        vec4<u32>(right.low.xz, right.high.xz),
        vec4<u32>(right.low.yw, right.high.yw),
    );
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let parent = id.x;
    let count = arrayLength(&parents);
    if parent >= count {
        return;
    }
    let left = children[2u * parent];
    if 2u * parent + 1u == arrayLength(&children) {
        parents[parent] = left;
        return;
    }
    let flags = PARENT | select(0u, ROOT, piece.whole == 1u && count == 1u);
    let right = children[2u * parent + 1u];
    parents[parent] = compress(IV, block(left, right), vec2<u32>(0u), 64u, flags);
}
