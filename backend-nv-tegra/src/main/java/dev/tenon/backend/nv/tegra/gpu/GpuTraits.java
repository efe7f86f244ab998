package dev.tenon.backend.nv.tegra.gpu;

import dev.tenon.backend.nv.tegra.command.QmdFormat;
/// What the core needs to know of a GPU.
///
/// @param name for people
/// @param computeClass class of compute methods, such as 0xC7C0
/// @param copyClass class of copy methods, such as 0xC7B5
/// @param sm architecture of code, such as 87
/// @param multiprocessors number of streaming multiprocessors
/// @param warpsPerMultiprocessor most warps on one
/// @param qmd version of launch descriptors
/// @param sharedMemory whether the processor reads all memory as fast as the GPU does

public record GpuTraits(
        String name,
        int computeClass,
        int copyClass,
        int sm,
        int multiprocessors,
        int warpsPerMultiprocessor,
        QmdFormat qmd,
        boolean sharedMemory) {
    /// Multiprocessors of a TPC on all GPUs with these classes.
    public static final int MULTIPROCESSORS_PER_TPC = 2;

    /// {@return number of TPCs, of which each has its part of local memory}
    public int tpcs() {
        return Math.max(1, (multiprocessors + MULTIPROCESSORS_PER_TPC - 1) / MULTIPROCESSORS_PER_TPC);
    }
}
