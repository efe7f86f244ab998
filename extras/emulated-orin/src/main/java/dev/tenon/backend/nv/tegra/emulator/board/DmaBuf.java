package dev.tenon.backend.nv.tegra.emulator.board;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The memory behind an nvmap handle. It lives as long as its handle, a file descriptor or a
/// mapping refers to it. Its pages exist from the first use on.
public final class DmaBuf {
    /// Cache bits: write-combined, so that stores may linger in the processor.
    static final int WRITE_COMBINED = 1;

    final int handle;
    final long size;
    final Nvmap owner;
    int cacheBits;
    boolean allocated;
    int references = 1;
    private Arena arena;
    private MemorySegment pages;

    DmaBuf(Nvmap owner, int handle, long size) {
        this.owner = owner;
        this.handle = handle;
        this.size = size;
    }

    public MemorySegment pages() {
        if (pages == null) {
            arena = Arena.ofShared();
            pages = Pages.allocate(size, arena);
        }
        return pages;
    }

    /// {@return whether anything was ever read or written; else all is zero}
    boolean isUsed() {
        return pages != null;
    }

    void retain() {
        references++;
    }

    void release() {
        references--;
        if (references == 0) {
            owner.gone(this);
            if (arena != null) {
                arena.close();
            }
        }
    }
}
