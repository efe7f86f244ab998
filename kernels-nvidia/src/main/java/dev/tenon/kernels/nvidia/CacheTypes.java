package dev.tenon.kernels.nvidia;

import dev.tenon.api.device.PlanOptions.KvType;
import java.util.Locale;
import java.util.Map;

/// The element types of a KV cache, and what that means for the kernels that touch it. Kernels for one type
/// of both are in the modules as they are; those for a pair are compiled for it, and never prebuilt: six
/// pairs would triple the size of these modules.
///
/// @param keys of keys
/// @param values of values
record CacheTypes(KvType keys, KvType values) {
    /// {@return the part of an entry's name, such as `f16` or `f16_q8_0`}
    String entry() {
        return keys == values ? name(keys) : name(keys) + "_" + name(values);
    }

    /// {@return the module that has the entries of these types}
    ///
    /// @param plain the module that has those of one type for both
    KernelModule module(KernelModule plain) {
        return keys == values
                ? plain
                : new KernelModule(plain.file(), Map.of("TENON_KEYS", name(keys), "TENON_VALUES", name(values)));
    }

    private static String name(KvType type) {
        return type.name().toLowerCase(Locale.ROOT);
    }
}
