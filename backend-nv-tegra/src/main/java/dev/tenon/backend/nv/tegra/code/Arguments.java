package dev.tenon.backend.nv.tegra.code;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;

/// The parameters of one launch, packed as the kernel's cubin says. For one thread at a time.
public final class Arguments {
    private final CubinKernel kernel;
    private final ByteBuffer bytes;
    private final BitSet set = new BitSet();

    /// @param kernel whose parameters
    public Arguments(CubinKernel kernel) {
        this.kernel = kernel;
        this.bytes = ByteBuffer.allocate(kernel.parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
    }

    private int at(int index, int size) {
        CubinKernel.Parameter parameter = kernel.parameter(index);
        if (parameter.sizeBytes() != size) {
            throw new IllegalArgumentException("parameter " + index + " of kernel " + kernel.name() + " has "
                    + parameter.sizeBytes() + " bytes; " + size + " were given");
        }
        set.set(index);
        return parameter.offset();
    }

    /// Sets a parameter of 8 bytes: an address or a number.
    ///
    /// @param index 0-based
    /// @param value its value
    /// @return this
    public Arguments set(int index, long value) {
        bytes.putLong(at(index, 8), value);
        return this;
    }

    /// Sets a parameter of 4 bytes.
    ///
    /// @param index 0-based
    /// @param value its value
    /// @return this
    public Arguments set(int index, int value) {
        bytes.putInt(at(index, 4), value);
        return this;
    }

    /// Sets a parameter of 4 bytes.
    ///
    /// @param index 0-based
    /// @param value its value
    /// @return this
    public Arguments set(int index, float value) {
        bytes.putFloat(at(index, 4), value);
        return this;
    }

    /// Sets a parameter of any size.
    ///
    /// @param index 0-based
    /// @param value its bytes
    /// @return this
    public Arguments set(int index, byte[] value) {
        bytes.put(at(index, value.length), value);
        return this;
    }

    /// {@return the bytes, which later calls of this change}
    public byte[] bytes() {
        if (set.cardinality() != kernel.parameters().size()) {
            throw new IllegalArgumentException("kernel " + kernel.name() + ": parameter " + set.nextClearBit(0) + " of "
                    + kernel.parameters().size() + " was not set");
        }
        return bytes.array();
    }
}
