package dev.tenon.backend.cpu.vector.kernel;

/// All F16 numbers as float32, 256 KiB, of which the scales of a matrix use a few.
///
/// A conversion and what makes a vector of it take five instructions, three of which a processor
/// does one after the other with everything that moves lanes. A load from here can be the source
/// of a broadcast, which takes none of those.
public final class F16Table {
    /// Number `i & 0xFFFF` is that of the bits `i`.
    public static final float[] FLOATS = floats();

    private F16Table() {}

    /// In a method of its own, because the JIT compilers do not make much of a class initializer.
    private static float[] floats() {
        float[] floats = new float[1 << 16];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = Float.float16ToFloat((short) i);
        }
        return floats;
    }
}
