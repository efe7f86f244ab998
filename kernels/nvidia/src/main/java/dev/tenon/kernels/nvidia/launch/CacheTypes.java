package dev.tenon.kernels.nvidia.launch;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// The element types of a KV cache, and what that means for the kernels that touch it. Kernels for one type
/// of both are in the modules as they are; those for a pair are compiled for it, and never prebuilt: six
/// pairs would triple the size of these modules.
///
/// @param keys of keys
/// @param values of values
public record CacheTypes(KvType keys, KvType values) {
    private static final int TILE_ROWS = 16;

    /// {@return the part of an entry's name, such as `f16` or `f16_q8_0`}
    public String entry() {
        return keys == values ? name(keys) : name(keys) + "_" + name(values);
    }

    /// {@return the module that has the entries of these types}
    ///
    /// @param same the module that has those of one type for both
    KernelModule module(KernelModule same) {
        if (keys == values) {
            return same;
        }
        Map<String, String> macros = new HashMap<>(same.macros());
        macros.put("TENON_KEYS", name(keys));
        macros.put("TENON_VALUES", name(values));
        return new KernelModule(same.file(), macros);
    }

    /// {@return whether attention of few rows with heads of 64 or 128 elements runs on tensor cores}
    boolean onTensorCores() {
        return keys != KvType.F32 && values != KvType.F32;
    }

    /// {@return bytes of 16 keys and values of `length` elements in shared memory, where that runs on
    ///     tensor cores}
    int tileBytes(int length) {
        return TILE_ROWS * (rowBytes(keys, length) + rowBytes(values, length));
    }

    private static int rowBytes(KvType type, int length) {
        return type == KvType.F16 ? 2 * length : length + length / 16;
    }

    private static String name(KvType type) {
        return type.name().toLowerCase(Locale.ROOT);
    }
}
