package dev.tenon.kernels.nvidia;

/// One parameter of a kernel.
public sealed interface Argument {
    /// An address in a buffer, or none.
    ///
    /// @param buffer id of a [BufferSpec]; -1 for the null address
    /// @param offsetBytes offset in it
    record Address(int buffer, long offsetBytes) implements Argument {
        /// The null address: something optional that is not there.
        public static final Address NULL = new Address(-1, 0);

        /// {@return an address further on}
        ///
        /// @param bytes how far; nothing happens to the null address
        public Address plus(long bytes) {
            return buffer < 0 ? this : new Address(buffer, offsetBytes + bytes);
        }
    }

    /// A 32-bit integer.
    ///
    /// @param value the value
    record Int(int value) implements Argument {}

    /// A 64-bit integer.
    ///
    /// @param value the value
    record Long(long value) implements Argument {}

    /// A 32-bit floating-point number.
    ///
    /// @param value the value
    record Float(float value) implements Argument {}
}
