// Copies by the bulk copy engine, from global to shared memory (compute capability 9.0 and up). Ordinary reads of a
// multiprocessor come back in the order in which they were asked for: one that another kernel waits for would stand
// behind all of the keys and values. These do not stand in that queue.
//
// A Mailbox belongs to a warp. Addresses and sizes are multiples of 16. Before 9.0 its lanes copy.
//
//   one lane   expect(bytes of all)     any lanes   copy, copy, ...     all lanes   wait
#pragma once
#include "common.cuh"

#if __CUDA_ARCH__ >= 900
#define TENON_BULK 1
#else
#define TENON_BULK 0
#endif

// Whether this is the lane that begins copies, of all lanes of a warp. A compiler that knows where a copy goes to be the
// same for all lanes needs no loop over them for it.
DEVICE bool chosenLane() {
    u32 chosen = threadIdx.x % 32 == 0;
#if TENON_BULK
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
#endif
    return chosen != 0;
}

struct Mailbox {
    u32 barrier; // 8 bytes of shared memory

    DEVICE explicit Mailbox(const u64* own) : barrier(sharedAddress(own)) {}

    // by one lane, once; seen by the others after a __syncwarp
    DEVICE void init() const {
#if TENON_BULK
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    }

    // by one lane
    DEVICE void expect(int bytes) const {
#if TENON_BULK
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
#endif
    }

    // by any lane; the memory must have been read to the end before, by lanes that have met in a __syncwarp since, and
    // must not have been written by them
    DEVICE void copy(u32 to, const void* from, int bytes) const {
#if TENON_BULK
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :
                     : "r"(to), "l"(from), "r"(bytes), "r"(barrier)
                     : "memory");
#endif
    }

    // until all bytes of a phase have arrived; phases are 0, 1, 0, 1, ...
    DEVICE void wait(u32 phase) const {
#if TENON_BULK
        u32 done;
        do {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(barrier), "r"(phase)
                         : "memory");
        } while (done == 0);
#endif
    }
};
