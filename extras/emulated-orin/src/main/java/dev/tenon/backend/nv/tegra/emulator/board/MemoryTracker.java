package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.emulator.board.AddressSpace.Mapping;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamRecorder;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/// Finds out what has changed in the memory of an address space, by comparing all of it with what
/// was there before.
public final class MemoryTracker {
    private static final int PAGE = 4096;
    private static final byte[] ZERO = new byte[PAGE];

    private final AddressSpace addressSpace;
    /// Pages of a buffer as they were; null where they were zero.
    private final Map<Mapping, byte[][]> known = new IdentityHashMap<>();

    /// A page that has changed.
    interface Change {
        void page(long va, byte[] bytes);
    }

    public MemoryTracker(AddressSpace addressSpace) {
        this.addressSpace = addressSpace;
    }

    /// Tells what the processor has changed.
    public void processor(StreamRecorder to) {
        List<Mapping> now = addressSpace.mappings();
        for (Mapping mapping : new ArrayList<>(known.keySet())) {
            if (!now.contains(mapping)) {
                known.remove(mapping);
                to.unmapped(mapping.va);
            }
        }
        for (Mapping mapping : now) {
            if (!known.containsKey(mapping)) {
                known.put(mapping, new byte[(int) (mapping.buffer.size / PAGE)][]);
                to.mapped(mapping.va, mapping.buffer.size);
            }
        }
        look(to::written);
    }

    /// Tells what the GPU has changed.
    public void gpu(int token, StreamRecorder to) {
        look((va, page) -> to.changed(token, va, crc(page)));
    }

    static int crc(byte[] page) {
        CRC32 crc = new CRC32();
        crc.update(page);
        return (int) crc.getValue();
    }

    private void look(Change change) {
        for (Mapping mapping : addressSpace.mappings()) {
            byte[][] pages = known.get(mapping);
            if (pages == null || !mapping.buffer.isUsed()) {
                continue;
            }
            MemorySegment memory = mapping.buffer.pages();
            for (int i = 0; i < pages.length; i++) {
                MemorySegment page = memory.asSlice((long) i * PAGE, PAGE);
                if (page.mismatch(MemorySegment.ofArray(pages[i] == null ? ZERO : pages[i])) >= 0) {
                    pages[i] = page.toArray(ValueLayout.JAVA_BYTE);
                    change.page(mapping.va + (long) i * PAGE, pages[i]);
                }
            }
        }
    }
}
