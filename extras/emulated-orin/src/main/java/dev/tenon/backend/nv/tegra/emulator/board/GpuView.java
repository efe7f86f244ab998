package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault;
import java.lang.foreign.MemorySegment;

/// Memory as the GPU sees it: what is mapped in one address space.
public final class GpuView {
    private static final long ADDRESS_LIMIT = 1L << 40;

    private final AddressSpace addressSpace;

    GpuView(AddressSpace addressSpace) {
        this.addressSpace = addressSpace;
    }

    /// {@return memory of the GPU}
    ///
    /// @param va address
    /// @param bytes size; all of it must be in one buffer
    /// @param what for messages
    MemorySegment at(long va, long bytes, String what) {
        if (va < 0 || bytes < 0 || va >= ADDRESS_LIMIT || addressSpace.isClosed()) {
            throw GpuFault.mmu(va, what);
        }
        AddressSpace.Mapping mapping = addressSpace.at(va);
        if (mapping == null) {
            throw GpuFault.mmu(va, what);
        }
        if (va + bytes > mapping.end()) {
            throw GpuFault.mmu(mapping.end(), what + " of " + bytes + " bytes from 0x" + Long.toHexString(va));
        }
        return mapping.buffer.pages().asSlice(va - mapping.va, bytes);
    }

    /// {@return bytes that are mapped from an address on, 0 if none}
    long mappedBytes(long va) {
        AddressSpace.Mapping mapping = addressSpace.at(va);
        return mapping == null ? 0 : mapping.end() - va;
    }

    /// {@return whether an address is in memory whose stores may linger in the processor}
    boolean isWriteCombined(long va) {
        AddressSpace.Mapping mapping = addressSpace.at(va);
        return mapping != null && mapping.buffer.cacheBits == DmaBuf.WRITE_COMBINED;
    }

    boolean touches(long va, long bytes) {
        return addressSpace.touches(va, bytes);
    }
}
