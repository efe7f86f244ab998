package dev.tenon.backend.nv.tegra.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// One struct in memory: zeroed, 8-aligned, between two guards that show whether a driver wrote
/// outside of it, which means that its interface is not the one of the table. Confined to the
/// thread that made it, which closes it.
public final class Record implements AutoCloseable {
    private static final int GUARD_BYTES = 32;
    private static final byte GUARD = (byte) 0xA5;

    private final Arena arena = Arena.ofConfined();
    private final Struct struct;
    private final MemorySegment all;
    private final MemorySegment body;

    /// Creates a zeroed record.
    ///
    /// @param struct its layout
    public Record(Struct struct) {
        this.struct = struct;
        all = arena.allocate(2L * GUARD_BYTES + struct.sizeBytes(), 8);
        all.fill(GUARD);
        body = all.asSlice(GUARD_BYTES, struct.sizeBytes());
        body.fill((byte) 0);
    }

    /// {@return its layout}
    public Struct struct() {
        return struct;
    }

    /// {@return its address}
    public long address() {
        return body.address();
    }

    /// {@return the struct's memory; valid until it is closed}
    public MemorySegment bytes() {
        return body;
    }

    /// Sets a field; the value is cut to the field's size.
    ///
    /// @param field a field of this struct
    /// @param value the value
    /// @return this
    public Record set(Struct.Field field, long value) {
        set(check(field), body, value);
        return this;
    }

    /// {@return a field, zero-extended}
    ///
    /// @param field a field of this struct
    public long get(Struct.Field field) {
        return get(check(field), body);
    }

    /// {@return a field of 4 bytes, as a signed number}
    ///
    /// @param field a field of this struct
    public int getInt(Struct.Field field) {
        return (int) get(field);
    }

    /// {@return whether nothing was written outside of the struct}
    public boolean isIntact() {
        for (long i = 0; i < GUARD_BYTES; i++) {
            if (all.get(JAVA_BYTE, i) != GUARD || all.get(JAVA_BYTE, GUARD_BYTES + struct.sizeBytes() + i) != GUARD) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        arena.close();
    }

    private Struct.Field check(Struct.Field field) {
        if (field.struct() != struct) {
            throw new IllegalArgumentException(field + " is no field of " + struct);
        }
        return field;
    }

    /// Writes a field of a struct that lies somewhere in memory.
    ///
    /// @param field field
    /// @param memory the struct
    /// @param value cut to the field's size
    public static void set(Struct.Field field, MemorySegment memory, long value) {
        switch (field.sizeBytes()) {
            case 1 -> memory.set(JAVA_BYTE, field.offset(), (byte) value);
            case 2 -> memory.set(JAVA_SHORT_UNALIGNED, field.offset(), (short) value);
            case 4 -> memory.set(JAVA_INT_UNALIGNED, field.offset(), (int) value);
            case 8 -> memory.set(JAVA_LONG_UNALIGNED, field.offset(), value);
            default -> throw new IllegalArgumentException(field + " is no number");
        }
    }

    /// {@return a field of a struct that lies somewhere in memory, zero-extended}
    ///
    /// @param field field
    /// @param memory the struct
    public static long get(Struct.Field field, MemorySegment memory) {
        return switch (field.sizeBytes()) {
            case 1 -> memory.get(JAVA_BYTE, field.offset()) & 0xFFL;
            case 2 -> memory.get(JAVA_SHORT_UNALIGNED, field.offset()) & 0xFFFFL;
            case 4 -> memory.get(JAVA_INT_UNALIGNED, field.offset()) & 0xFFFFFFFFL;
            case 8 -> memory.get(JAVA_LONG_UNALIGNED, field.offset());
            default -> throw new IllegalArgumentException(field + " is no number");
        };
    }
}
