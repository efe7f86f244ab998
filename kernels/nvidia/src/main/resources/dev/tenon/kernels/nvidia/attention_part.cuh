// How attention of a few rows is shared among blocks, and how the pieces of a long sequence are joined.
//
//   block id     | piece 0 of y 0 | piece 0 of y 1 | ... | piece 1 of y 0 | ...        y: a kv head and up to four of
//                                                                                      the query heads that share it
// so that the blocks that have something to do stand in front, whatever the length.
//
// What the blocks of a long sequence leave for the last one of them:
//
//   partial      | sums [T][heads][splits][valueLength] | maximum, weight [T][heads][splits][2] |
#pragma once
#include "kv_cache.cuh"

constexpr int GROUP = 4; // query heads of a block
constexpr int MAX_SPLITS = 64;
constexpr int MAX_ROWS = 8;       // of a fused step
constexpr float NOTHING = -1e30f; // maximum of no scores
constexpr float LOG2_E = 1.4426950408889634f;

struct Shape {
    int heads;
    int keyLength;
    int valueLength;
    float scale;
    int window;
    float softCap;
    const float* sinks; // [heads], one more score of each head, which has no value; or null
    const int* lasts;   // [T], the last position of each row's sequence that is in the step, if rows see what follows
                        // them: all, or, as what precedes them, half a window; null: causal

    float gain; // of positionFactor, for queries
    int offset;
    int period;
    int chunk; // positions of a run, of which a row sees its own only; 0: one run
    const float* bias; // [heads][biasSpan], added to scores by the distance of key and query; or null
    int biasReach;     // place of distance 0 in a row; distances outside of the row count as its ends
    int biasSpan;
    const int* firsts; // [T], where the window of each row ends; the row sees that window, and all from there up to its
                       // own of `lasts`. Or null

    // what a key `distance` positions after the query adds to the score of a head
    DEVICE float biasAt(int head, int distance) const {
        return bias[head * biasSpan + min(max(distance + biasReach, 0), biasSpan - 1)];
    }

    // the factor on the scores of a row
    DEVICE float scaleAt(int position) const { return scale * positionFactor(gain, offset, period, position); }

    // the score of a head's sink times log2(e), for the piece that takes it
    DEVICE float sink(int head, int piece) const {
        return sinks != nullptr && piece == 0 ? sinks[head] * LOG2_E : NOTHING;
    }
};

// What a block does: some query heads of one kv head, for one row of the step, over one piece of its sequence.
struct Part {
    int t;         // row of the step
    int sequence;  // of the row; below 0, the row only fills the bucket
    int position;  // of the row
    int y;         // the kv head and the four of its query heads
    int kvHead;
    int chunkHead; // query heads chunkHead .. chunkHead + chunk - 1 share the blocks of a y
    int chunk;
    int head; // of them, the block takes head .. head + group - 1
    int group;
    bool appends; // whether this block appends the row to the cache, when that is left to attention
    int fresh;    // rows of this step, from this one back, that the block takes from k and v instead of the cache
    int low;      // first position that the row sees
    int pieces;   // in how many the cached positions are cut
    int blocks;   // that have something to do
    int block;    // among them
    int piece;    // the block's; its cached positions are from .. end - 1
    int from;
    int end;

    // grid: splits (x), y, row (z). Up to `whole` positions are not cut; pieces of more are at least `atLeast` long.
    // With APART, blocks take fewer query heads each as long as some are left over.
    template <bool APART>
    static DEVICE Part of(const int* positions, const int* sequences, const Shape& shape, int kvHeads, bool fused,
            int whole, int atLeast) {
        Part part;
        part.choose<APART>(positions, sequences, shape, kvHeads, fused, whole, atLeast);
        return part;
    }

    template <bool APART>
    DEVICE void choose(const int* positions, const int* sequences, const Shape& shape, int kvHeads, bool fused,
            int whole, int atLeast) {
        t = blockIdx.z;
        sequence = sequences[t];
        position = positions[t];
        const int perKv = (u32) shape.heads / (u32) kvHeads;
        const int chunks = (u32) (perKv + GROUP - 1) / GROUP;
        const u32 id = blockIdx.y * gridDim.x + blockIdx.x;
        block = id / gridDim.y;
        y = id - block * gridDim.y;
        kvHead = (u32) y / (u32) chunks;
        chunkHead = kvHead * perKv + (y - kvHead * chunks) * GROUP;
        chunk = min(GROUP, (kvHead + 1) * perKv - chunkHead);
        int rows = fused ? 1 : 0;
        while (fused && rows <= t && sequences[t - rows] == sequence) {
            rows++;
        }
        const bool half = shape.lasts != nullptr && shape.firsts == nullptr;
        const int before = half ? shape.window / 2 : shape.window - 1;
        low = shape.window > 0 ? max(0, (shape.firsts != nullptr ? shape.firsts[t] : position) - before) : 0;
        if (shape.chunk > 0) {
            low = max(low, (u32) position / (u32) shape.chunk * shape.chunk);
        }
        int cached = position + 1 - rows;
        if (shape.lasts != nullptr) { // not fused
            cached = (half && shape.window > 0 ? min(shape.lasts[t], position + before) : shape.lasts[t]) + 1;
        }
        const int length = max(0, cached - low);
        // pieces are multiples of 16 long, and none is empty
        pieces = 1;
        int size = length;
        if (length > whole) {
            pieces = min(gridDim.x, (u32) (length + atLeast - 1) / (u32) atLeast);
            size = ((u32) (length + pieces - 1) / (u32) pieces + 15) & ~15;
            pieces = (u32) (length + size - 1) / (u32) size;
        }
        int first = 0; // of the block's query heads
        group = chunk;
        blocks = pieces;
        piece = block;
        if (APART) {
            int sharing = chunk; // query heads of a block: 1, 2 or all
            if (pieces * chunk <= (int) gridDim.x) {
                sharing = 1;
            } else if (pieces * ((chunk + 1) / 2) <= (int) gridDim.x) {
                sharing = min(2, chunk);
            }
            const int blocksOfPiece = (chunk + sharing - 1) / sharing;
            blocks = pieces * blocksOfPiece;
            piece = block / blocksOfPiece;
            first = (block - piece * blocksOfPiece) * sharing;
            group = min(sharing, chunk - first);
        }
        head = chunkHead + first;
        from = low + piece * size;
        end = min(cached, from + size);
        fresh = piece == pieces - 1 ? rows : 0; // often the shortest piece
        appends = fresh > 0 && first == 0 && y - kvHead * chunks == 0;
    }
};

// Where the pieces of a launch are left.
struct Pieces {
    float* sums;
    float* stats;
    int valueLength;

    DEVICE Pieces(float* partial, const Shape& shape) {
        sums = partial;
        stats = partial + (i64) gridDim.z * shape.heads * gridDim.x * shape.valueLength;
        valueLength = shape.valueLength;
    }

    // the place of piece 0 of a head of row t; those of the other pieces follow
    DEVICE i64 place(int t, int heads, int head) const { return ((i64) t * heads + head) * gridDim.x; }
};

// Counts those that are done, by one thread, behind a barrier of all that have written. Whether it is the last one of
// `all`: it leaves the counter at 0 and, behind another barrier, sees what the others have written.
static DEVICE bool countsLast(int* counter, int all) {
    int before;
    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
    if (before == all - 1) {
        *counter = 0;
    }
    return before == all - 1;
}

// Whether all other blocks of the same y are done.
static DEVICE bool isLastBlock(const Part& part, int* counter) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        last = countsLast(counter, part.blocks);
    }
    __syncthreads();
    return last;
}

// Whether the warps that have the same counter in all other blocks of the same y are done.
static DEVICE bool isLastWarp(int* counter, int blocks) {
    __syncwarp();
    bool last = false;
    if (threadIdx.x % 32 == 0) {
        last = countsLast(counter, blocks);
    }
    last = __shfl_sync(FULL_WARP, last, 0);
    __syncwarp();
    return last;
}

// Joins the pieces of all heads of a y. A thread adds up some pieces of W elements side by side; the first of its reads
// are under way while the shares of the pieces are worked out.
//
//   thread       | column 0 | column 1 | ... of pieces 0, TEAMS, ... | column 0 ... of pieces 1, TEAMS + 1, ... |
//
// scratch: as many floats as the block has threads, times W
template <int W>
static DEVICE void joinPieces(const Part& part, const Pieces& pieces, i64 place, float* out, float* scratch) {
    struct alignas(4 * W) Column {
        float v[W];
    };
    constexpr int AT_ONCE = 8;
    __shared__ float shares[GROUP][MAX_SPLITS]; // of each piece in the result
    const int lane = threadIdx.x % 32;
    const int ofHead = pieces.valueLength / W; // columns
    const int columns = part.chunk * ofHead;
    const int teams = max(1, (int) blockDim.x / columns);
    const int team = threadIdx.x / columns;
#pragma unroll 1
    for (int first = 0; first < columns; first += blockDim.x) { // more than once only where a column is one element
        const int column = first + threadIdx.x - team * columns;
        const int g = column / ofHead;
        const bool there = team < teams && column < columns;
        const Column* of = (const Column*) (pieces.sums + (place + g * gridDim.x) * pieces.valueLength);
        of += column % ofHead;
        Column sum = {};
#pragma unroll 1
        for (int from = team; from == team || from < part.pieces; from += AT_ONCE * teams) {
            Column next[AT_ONCE] = {};
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                const int s = from + i * teams;
                if (there && s < part.pieces) {
                    next[i] = of[s * ofHead];
                }
            }
            if (first == 0 && from == team) {
#pragma unroll 1
                for (int h = threadIdx.x / 32; h < part.chunk; h += blockDim.x / 32) {
                    const float* stats = pieces.stats + 2 * (place + h * gridDim.x);
                    const float m0 = lane < part.pieces ? stats[2 * lane] : NOTHING;
                    const float w0 = lane < part.pieces ? stats[2 * lane + 1] : 0.f;
                    const float m1 = lane + 32 < part.pieces ? stats[2 * lane + 64] : NOTHING;
                    const float w1 = lane + 32 < part.pieces ? stats[2 * lane + 65] : 0.f;
                    const float maximum = maxOver(fmaxf(m0, m1), 32);
                    const float f0 = powerOfTwo(m0 - maximum);
                    const float f1 = powerOfTwo(m1 - maximum);
                    const float weight = sumOver(f0 * w0 + f1 * w1, 32);
                    shares[h][lane] = f0 / weight;
                    shares[h][lane + 32] = f1 / weight;
                }
                __syncthreads();
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                const int s = from + i * teams;
                const float share = there && s < part.pieces ? shares[g][s] : 0.f;
#pragma unroll
                for (int w = 0; w < W; w++) {
                    sum.v[w] += share * next[i].v[w];
                }
            }
        }
        if (teams > 1) {
            ((Column*) scratch)[threadIdx.x] = sum;
            __syncthreads();
#pragma unroll 1
            for (int other = 1; team == 0 && other < teams; other++) {
                const Column more = ((Column*) scratch)[other * columns + threadIdx.x];
#pragma unroll
                for (int w = 0; w < W; w++) {
                    sum.v[w] += more.v[w];
                }
            }
        }
        if (there && team == 0) {
            ((Column*) out)[column] = sum;
        }
    }
}
