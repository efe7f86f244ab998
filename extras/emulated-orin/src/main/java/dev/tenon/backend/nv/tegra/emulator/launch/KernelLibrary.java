package dev.tenon.backend.nv.tegra.emulator.launch;

import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.code.CubinKernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The kernels that an emulated GPU can run. It recognises them by their machine code at the
/// address where a launch says the program is: nothing tells it beside the memory of the GPU. Safe
/// for any thread.
public final class KernelLibrary {
    private final List<Entry> entries = new ArrayList<>();
    private final Map<Long, Entry> byAddress = new HashMap<>();

    /// A kernel that can be run.
    public record Entry(CubinKernel kernel, KernelReference reference, byte[] code, int[] relocated) {
        boolean matches(MemorySegment memory) {
            if (memory.byteSize() < code.length) {
                return false;
            }
            byte[] found = memory.asSlice(0, code.length).toArray(ValueLayout.JAVA_BYTE);
            for (int offset : relocated) {
                Arrays.fill(found, offset, offset + 4, (byte) 0);
            }
            return Arrays.equals(code, found);
        }
    }

    /// Creates an empty library.
    public KernelLibrary() {}

    /// Adds a kernel.
    ///
    /// @param cubin what it is compiled to
    /// @param name its name there
    /// @param reference what it computes
    /// @return this
    public synchronized KernelLibrary add(Cubin cubin, String name, KernelReference reference) {
        CubinKernel kernel = cubin.kernel(name);
        int from = cubin.codeOffset(name);
        byte[] code = Arrays.copyOfRange(cubin.image(0x10000), from, from + kernel.codeBytes());
        int[] relocated = cubin.relocatedWords(name).stream().mapToInt(i -> i).toArray();
        for (int offset : relocated) {
            Arrays.fill(code, offset, offset + 4, (byte) 0);
        }
        entries.add(new Entry(kernel, reference, code, relocated));
        return this;
    }

    /// {@return the kernel whose code is at an address}
    ///
    /// @param va address, which is only remembered to look there first next time
    /// @param memory what is there, as far as it is mapped
    public synchronized Optional<Entry> find(long va, MemorySegment memory) {
        Entry last = byAddress.get(va);
        if (last != null && last.matches(memory)) {
            return Optional.of(last);
        }
        for (Entry entry : entries) {
            if (entry.matches(memory)) {
                byAddress.put(va, entry);
                return Optional.of(entry);
            }
        }
        return Optional.empty();
    }
}
