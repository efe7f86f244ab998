package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.command.AddressLayout;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// The model of the driver's address allocator, and the rule that no buffer ever lies in a memory
/// window.
class BuddyTests {
    private static final long MIB = 1L << 20;
    private static final AddressLayout RESERVED = AddressLayout.RESERVED_WINDOWS;
    private static final AddressLayout BELOW = AddressLayout.BELOW_WINDOWS;

    /// Oracle: hardware log.
    @Test
    void addressesAreThoseOfTheLogs() {
        Buddy buddy = new Buddy(RESERVED.start(), RESERVED.end());
        assertEquals(0xFFFFA00000L, buddy.allocate(4096));
        assertEquals(0xFFFFA01000L, buddy.allocate(4096));
        assertEquals(0xFFFFA10000L, buddy.allocate(65536));
        assertEquals(0xFFFFB00000L, buddy.allocate(MIB));
        assertEquals(0xFFFE200000L, buddy.allocate(16 * MIB));
        assertEquals(0xFFF8200000L, buddy.allocate(64 * MIB));
        assertEquals(0xFFC0200000L, buddy.allocate(512 * MIB));
    }

    /// Oracle: hardware log. Without reservations a buffer of 512 MiB lands in the shared window
    /// after 4 GiB of others.
    @Test
    void withoutReservationsABufferLandsInAWindow() {
        Buddy buddy = new Buddy(RESERVED.start(), RESERVED.end());
        boolean hit = false;
        for (int i = 0; i < 12 && !hit; i++) {
            long va = buddy.allocate(512 * MIB);
            hit = va == 0xFE00200000L;
            assertEquals(hit, !RESERVED.allows(va, 512 * MIB));
        }
        assertTrue(hit);
    }

    /// Oracle: belief, for the rule follows from the model; the rule itself is what boards were
    /// lost to.
    @Test
    void noBufferEverTouchesAWindowWithWindowsAbove() {
        churn(BELOW, 1_000_000, 1);
    }

    @Test
    void noBufferEverTouchesAWindowWithReservations() {
        churn(RESERVED, 1_000_000, 2);
    }

    /// Random sizes from 4 KiB to 4 GiB, random order, until addresses run out, again and again.
    private static void churn(AddressLayout layout, int operations, long seed) {
        Buddy buddy = new Buddy(layout.start(), layout.end());
        if (layout.reserveWindows()) {
            assertTrue(buddy.allocateFixed(layout.localWindow(), AddressLayout.WINDOW_BYTES));
            assertTrue(buddy.allocateFixed(layout.sharedWindow(), AddressLayout.WINDOW_BYTES));
        }
        Random random = new Random(seed);
        TreeMap<Long, Long> live = new TreeMap<>();
        int refused = 0;
        long highest = 0;
        for (int i = 0; i < operations; i++) {
            // Phases that mostly take and phases that mostly give back.
            boolean take = live.isEmpty() || random.nextInt(100) < ((i / 50_000) % 2 == 0 ? 95 : 10);
            if (take) {
                long bytes = 4096 + (random.nextLong() >>> 32 + random.nextInt(20));
                long va = buddy.allocate(bytes);
                if (va < 0) {
                    refused++;
                    continue;
                }
                if (!layout.allows(va, bytes) || va + bytes > 1L << 40) {
                    throw new AssertionError(
                            "seed " + seed + ", operation " + i + ": " + bytes + " bytes at 0x" + Long.toHexString(va));
                }
                assertTrue(bytes < 8 * MIB || va % (2 * MIB) == 0, "large buffers are aligned");
                Map.Entry<Long, Long> before = live.lowerEntry(va + bytes);
                if (before != null && before.getKey() + before.getValue() > va) {
                    throw new AssertionError("seed " + seed + ", operation " + i + ": two buffers overlap");
                }
                live.put(va, bytes);
                highest = Math.max(highest, va + bytes);
            } else {
                long key = live.floorKey(
                        live.firstKey() + (long) (random.nextDouble() * (live.lastKey() - live.firstKey())));
                live.remove(key);
                buddy.free(key);
            }
        }
        // The test means nothing if the range was never full.
        assertTrue(refused > 0, "addresses never ran out");
        assertTrue(highest > layout.end() - (64L << 30), "the upper end was never used");
        live.keySet().forEach(buddy::free);
        if (!layout.reserveWindows()) {
            assertTrue(buddy.isEmpty());
        }
    }

    @Test
    void everythingGivenBackIsWholeAgain() {
        Buddy buddy = new Buddy(BELOW.start(), BELOW.end());
        assertTrue(buddy.isEmpty());
        long a = buddy.allocate(4096);
        long b = buddy.allocate(3 * MIB);
        assertFalse(buddy.isEmpty());
        buddy.free(a);
        buddy.free(b);
        assertTrue(buddy.isEmpty());
    }

    @Test
    void aReservedRangeIsTakenOnce() {
        Buddy buddy = new Buddy(RESERVED.start(), RESERVED.end());
        assertTrue(buddy.allocateFixed(0xFD00000000L, 1L << 30));
        assertFalse(buddy.allocateFixed(0xFD00000000L, 1L << 30));
        assertFalse(buddy.allocateFixed(0xFD00001000L, 4096));
        assertFalse(buddy.allocateFixed(0xFD00001001L, 4096), "misaligned");
        assertFalse(buddy.allocateFixed(1L << 40, 4096), "out of range");
        buddy.freeFixed(0xFD00000000L, 1L << 30);
        assertTrue(buddy.isEmpty());
    }
}
