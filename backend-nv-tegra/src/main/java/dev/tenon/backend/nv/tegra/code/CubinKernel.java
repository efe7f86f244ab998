package dev.tenon.backend.nv.tegra.code;

import java.util.List;
import java.util.Map;

/// What a cubin says of one kernel.
///
/// @param name its name
/// @param codeBytes size of its code
/// @param registers of a thread
/// @param stackBytes of a thread: what it needs of local memory, without what the convention
///     reserves
/// @param barriers of a block
/// @param sharedBytes static shared memory of a block, with what the architecture reserves
/// @param parameterBase where parameters begin in constant bank 0
/// @param parameterBytes their size
/// @param parameters in order; unmodifiable
/// @param constantBytes size of each constant bank but 0 that it uses, by number; unmodifiable
public record CubinKernel(
        String name,
        int codeBytes,
        int registers,
        int stackBytes,
        int barriers,
        int sharedBytes,
        int parameterBase,
        int parameterBytes,
        List<Parameter> parameters,
        Map<Integer, Integer> constantBytes) {
    /// A parameter.
    ///
    /// @param offset from the base
    /// @param sizeBytes its size
    public record Parameter(int offset, int sizeBytes) {}

    /// Copies the collections.
    public CubinKernel {
        parameters = List.copyOf(parameters);
        constantBytes = Map.copyOf(constantBytes);
    }

    /// {@return a parameter}
    ///
    /// @param index 0-based
    public Parameter parameter(int index) {
        if (index < 0 || index >= parameters.size()) {
            throw new IllegalArgumentException(
                    "kernel " + name + " has " + parameters.size() + " parameters; there is no number " + index);
        }
        return parameters.get(index);
    }
}
