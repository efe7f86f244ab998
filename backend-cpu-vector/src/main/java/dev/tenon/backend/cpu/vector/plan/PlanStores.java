package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.WindowLayers;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;

/// Where a plan keeps what it computes.
///
/// @param cache pages of layers that see all positions, or of all layers
/// @param windows pages of layers with a window; null where these keep all positions too
/// @param windowLayers those layers
/// @param states memory of states; null if no op has one
/// @param memory owner of all memory
record PlanStores(CpuKv cache, CpuKv windows, WindowLayers windowLayers, CpuStates states, PlanMemory memory) {
    /// {@return where a layer's keys and values are}
    CpuKv cache(int layer) {
        return windows != null && windowLayers.has(layer) ? windows : cache;
    }

    /// {@return pages of layers with a window}
    int windowPages() {
        return windows == null ? 0 : windows.pageCount();
    }

    /// {@return bytes of all pages}
    long cacheBytes() {
        return cache.sizeBytes() + (windows == null ? 0 : windows.sizeBytes());
    }

    /// {@return bytes of a position over all layers}
    double tokenBytes() {
        return (double) (cache.pageBytes() + (windows == null ? 0 : windows.pageBytes())) / CpuKv.TOKENS;
    }
}
