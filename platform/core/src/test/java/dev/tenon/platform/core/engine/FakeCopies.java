package dev.tenon.platform.core.engine;

import dev.tenon.api.device.HostCopies;
import java.lang.foreign.MemorySegment;

/// Copies of pages or states on the host.
///
/// @param layout what tells them apart
/// @param toHost reads one
/// @param fromHost writes one
record FakeCopies(String layout, ToHost toHost, FromHost fromHost) implements HostCopies {
    interface ToHost {
        void read(int index, MemorySegment to);
    }

    interface FromHost {
        void write(int index, int tokens, MemorySegment from);
    }

    @Override
    public void read(int index, MemorySegment target) {
        toHost.read(index, target);
    }

    @Override
    public void write(int index, int tokens, MemorySegment source) {
        fromHost.write(index, tokens, source);
    }
}
