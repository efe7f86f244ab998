package dev.tenon.api.kernel.cpu;

import java.lang.foreign.MemorySegment;

/// float32 numbers in an array, with the view of them that native code takes.
///
/// Whoever computes with the same array again and again makes this once: a view that is made in each call is an
/// object of each call, wherever the JIT compiler does not inline all of it. The array is shared, not copied; safe
/// for any thread as far as the array is.
public final class HostFloats {
    private final float[] array;
    private final MemorySegment view;

    /// Wraps an array.
    ///
    /// @param array the numbers; borrowed
    public HostFloats(float[] array) {
        this.array = array;
        this.view = MemorySegment.ofArray(array);
    }

    /// {@return the array itself}
    public float[] array() {
        return array;
    }

    /// {@return a view of the whole array, on the heap}
    public MemorySegment view() {
        return view;
    }

    /// {@return how many numbers there are}
    public int length() {
        return array.length;
    }
}
