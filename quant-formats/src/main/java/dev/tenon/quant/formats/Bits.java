package dev.tenon.quant.formats;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Little-endian access to blocks in byte arrays, and rounding.
final class Bits {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /// 1.5 * 2^23: the spacing of floats around it is 1.
    private static final float ROUNDER = 12582912f;

    private Bits() {}

    /// {@return the 16 bits at a byte index, as 0..65535}
    ///
    /// @param in bytes
    /// @param at index of the low byte
    static int u16(byte[] in, int at) {
        return (short) SHORT.get(in, at) & 0xffff;
    }

    /// Writes the low 16 bits of a number.
    ///
    /// @param out bytes
    /// @param at index of the low byte
    /// @param value the bits
    static void putU16(byte[] out, int at, int value) {
        SHORT.set(out, at, (short) value);
    }

    /// {@return the 32 bits at a byte index}
    ///
    /// @param in bytes
    /// @param at index of the lowest byte
    static int i32(byte[] in, int at) {
        return (int) INT.get(in, at);
    }

    /// Writes 32 bits.
    ///
    /// @param out bytes
    /// @param at index of the lowest byte
    /// @param value the bits
    static void putI32(byte[] out, int at, int value) {
        INT.set(out, at, value);
    }

    /// {@return the half-precision number at a byte index, exactly}
    ///
    /// @param in bytes
    /// @param at index of the low byte
    static float half(byte[] in, int at) {
        return Float.float16ToFloat((short) SHORT.get(in, at));
    }

    /// Writes a number in half precision, rounded to the nearest, ties to even.
    ///
    /// @param out bytes
    /// @param at index of the low byte
    /// @param value the number
    static void putHalf(byte[] out, int at, float value) {
        SHORT.set(out, at, Float.floatToFloat16(value));
    }

    /// {@return the nearest whole number, ties to even; exact for magnitudes below 2^22, 0 for NaN}
    ///
    /// @param value a number
    static int nearest(float value) {
        return (int) ((value + ROUNDER) - ROUNDER);
    }

    /// {@return the nearest whole number, limited to a range}
    ///
    /// @param value a number of magnitude below 2^22, or NaN (counts as 0)
    /// @param low least result
    /// @param high greatest result
    static int nearest(float value, int low, int high) {
        return Math.max(low, Math.min(high, nearest(value)));
    }
}
