// Every statement whose result an expression stands for.

@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> ticket: atomic<u32>;

var<workgroup> tile: u32;

fn half(value: u32) -> u32 {
    if value == 0u {
        return 1u;
    }
    return value / 2u;
}

@compute @workgroup_size(64)
fn main(@builtin(subgroup_invocation_id) lane: u32) {
    var turn = atomicAdd(&ticket, 1u);
    loop {
        turn = half(turn) + workgroupUniformLoad(&tile);
        if turn > 9u {
            continue;
        }
        data[0] = subgroupAdd(turn) + subgroupExclusiveMul(turn);
        data[1] = subgroupBroadcastFirst(turn) + subgroupBroadcast(turn, 1u);
        data[2] = subgroupShuffle(turn, lane) + subgroupShuffleXor(turn, 1u);
        data[3] = subgroupShuffleUp(turn, 1u) + subgroupShuffleDown(turn, 1u);
        data[4] = quadBroadcast(turn, 1u) + quadSwapX(turn);
        data[5] = subgroupBallot(turn > 3u).x + subgroupBallot().y;
        subgroupBarrier();
        storageBarrier();
        if subgroupAny(turn > 4u) {
            break;
        }
        continuing {
            turn += 1u;
            break if turn == 7u;
        }
    }
}
