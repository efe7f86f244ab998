package dev.tenon.backend.nv.tegra.gpu;

import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.command.AddressLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/// A cubin in the GPU's memory. Whoever loaded it closes it, when nothing of it is running any
/// more.
public final class LoadedModule implements AutoCloseable {
    private final GpuMemory memory;
    private final Map<String, LoadedKernel> kernels = new LinkedHashMap<>();

    /// @param cubin what to load
    /// @param memory where, filled by this; owned
    /// @param localBytes local memory that every thread has
    /// @param traits the GPU
    /// @param layout its address space
    LoadedModule(Cubin cubin, GpuMemory memory, int localBytes, GpuTraits traits, AddressLayout layout) {
        this.memory = memory;
        byte[] image = cubin.image(memory.va());
        java.lang.foreign.MemorySegment.copy(
                image, 0, memory.host(), java.lang.foreign.ValueLayout.JAVA_BYTE, 0, image.length);
        cubin.kernels()
                .values()
                .forEach(k ->
                        kernels.put(k.name(), new LoadedKernel(k, cubin, memory.va(), localBytes, traits, layout)));
    }

    /// {@return a kernel}
    ///
    /// @param name its name
    public LoadedKernel kernel(String name) {
        LoadedKernel kernel = kernels.get(name);
        if (kernel == null) {
            throw new IllegalArgumentException("no kernel " + name + " among " + kernels.keySet());
        }
        return kernel;
    }

    @Override
    public void close() {
        memory.close();
    }
}
