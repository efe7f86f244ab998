package dev.tenon.backend.nv.tegra.abi;

import java.util.ArrayList;
import java.util.List;

/// The layout of a struct of the kernel's interface: its size and where its fields are.
///
/// The interface is that of L4T r36; layouts are equal on aarch64 and x86-64.
public final class Struct {
    private final String name;
    private final int sizeBytes;
    private final List<Field> fields = new ArrayList<>();

    /// A field of a struct.
    ///
    /// @param struct where it is
    /// @param name its name in the kernel's headers
    /// @param offset in bytes
    /// @param sizeBytes 1, 2, 4 or 8; other sizes are reserved areas
    public record Field(Struct struct, String name, int offset, int sizeBytes) {
        @Override
        public String toString() {
            return struct.name + "." + name;
        }
    }

    /// Creates a struct without fields.
    ///
    /// @param name its name in the kernel's headers
    /// @param sizeBytes its size
    public Struct(String name, int sizeBytes) {
        this.name = name;
        this.sizeBytes = sizeBytes;
    }

    /// Adds a field.
    ///
    /// @param fieldName its name in the kernel's headers
    /// @param offset in bytes
    /// @param bytes its size
    /// @return the field
    public Field field(String fieldName, int offset, int bytes) {
        if (offset < 0 || offset + bytes > sizeBytes) {
            throw new IllegalArgumentException(name + "." + fieldName + " lies outside of " + sizeBytes + " bytes");
        }
        Field field = new Field(this, fieldName, offset, bytes);
        fields.add(field);
        return field;
    }

    /// {@return its name in the kernel's headers}
    public String name() {
        return name;
    }

    /// {@return its size in bytes}
    public int sizeBytes() {
        return sizeBytes;
    }

    /// {@return its fields, in the order of the table}
    public List<Field> fields() {
        return List.copyOf(fields);
    }

    @Override
    public String toString() {
        return name;
    }
}
