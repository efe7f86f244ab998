package dev.tenon.backend.nv.tegra.code;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A 64-bit little-endian ELF file, as far as cubins need it. Every offset is checked.
public final class Elf {
    private static final int HEADER_BYTES = 64;
    private static final int SECTION_BYTES = 64;
    private static final int PROGRAM_HEADER_BYTES = 56;
    private static final int SYMBOL_BYTES = 24;
    private static final int TYPE_PROGBITS = 1;
    private static final int TYPE_SYMTAB = 2;
    private static final int TYPE_RELA = 4;
    private static final int TYPE_NOBITS = 8;
    private static final int TYPE_REL = 9;
    private static final int FLAG_ALLOC = 2;

    private final ByteBuffer file;
    private final String name;
    private final List<Section> sections = new ArrayList<>();
    private final List<Symbol> symbols = new ArrayList<>();

    /// A section.
    record Section(int index, String name, int type, long flags, int offset, int size, int link, int info, int align) {
        boolean isLoaded() {
            return (flags & FLAG_ALLOC) != 0 && (type == TYPE_PROGBITS || type == TYPE_NOBITS);
        }

        boolean hasBytes() {
            return type != TYPE_NOBITS;
        }
    }

    /// A symbol.
    record Symbol(String name, int section, long value) {}

    /// A relocation.
    record Relocation(Section target, int offset, int type, int symbol, long addend, boolean explicitAddend) {}

    /// @param bytes the file; kept
    /// @param name what messages call it
    Elf(byte[] bytes, String name) {
        this.file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        this.name = name;
        if (bytes.length < HEADER_BYTES || file.getInt(0) != 0x464C457F) {
            throw refused("it is no ELF file");
        }
        if (file.get(4) != 2 || file.get(5) != 1) {
            throw refused("it is no 64-bit little-endian ELF file");
        }
        // Not needed, but it lies at the end, so that a file that is cut short shows.
        inside(file.getLong(32), (file.getShort(56) & 0xFFFFL) * PROGRAM_HEADER_BYTES, "its table of segments");
        readSections();
        readSymbols();
    }

    BackendException refused(String reason) {
        return new BackendException(NvErrors.CUBIN, "Cubin " + name + " cannot be used: " + reason + ".");
    }

    int machine() {
        return file.getShort(18) & 0xFFFF;
    }

    int flags() {
        return file.getInt(48);
    }

    int abiVersion() {
        return file.get(8) & 0xFF;
    }

    List<Section> sections() {
        return sections;
    }

    Optional<Section> section(String wanted) {
        return sections.stream().filter(s -> s.name.equals(wanted)).findFirst();
    }

    List<Symbol> symbols() {
        return symbols;
    }

    /// {@return the bytes of a section}
    ByteBuffer bytes(Section section) {
        return file.slice(section.offset, section.size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void readSections() {
        long table = file.getLong(40);
        int count = file.getShort(60) & 0xFFFF;
        int names = file.getShort(62) & 0xFFFF;
        if (count == 0 || names >= count) {
            throw refused("it has " + count + " sections, with names in section " + names);
        }
        int start = inside(table, (long) count * SECTION_BYTES, "its table of sections");
        int namesAt = start + names * SECTION_BYTES;
        int namesOffset = inside(file.getLong(namesAt + 24), file.getLong(namesAt + 32), "its section names");
        int namesSize = (int) file.getLong(namesAt + 32);
        for (int i = 0; i < count; i++) {
            int at = start + i * SECTION_BYTES;
            int type = file.getInt(at + 4);
            long size = file.getLong(at + 32);
            String sectionName = text(namesOffset, namesSize, file.getInt(at));
            int offset = type == TYPE_NOBITS || type == 0
                    ? 0
                    : inside(file.getLong(at + 24), size, "section " + sectionName);
            long align = file.getLong(at + 48);
            if (size < 0 || size > Integer.MAX_VALUE || align < 0 || align > 1 << 20 || Long.bitCount(align) > 1) {
                throw refused("section " + sectionName + " has size " + size + " and alignment " + align);
            }
            sections.add(new Section(
                    i,
                    sectionName,
                    type,
                    file.getLong(at + 8),
                    offset,
                    (int) size,
                    file.getInt(at + 40),
                    file.getInt(at + 44),
                    (int) Math.max(1, align)));
        }
    }

    private void readSymbols() {
        for (Section table : sections) {
            if (table.type == TYPE_SYMTAB) {
                if (table.link < 0 || table.link >= sections.size()) {
                    throw refused("the names of its symbols are in section " + table.link);
                }
                Section names = sections.get(table.link);
                for (int at = 0; at + SYMBOL_BYTES <= table.size; at += SYMBOL_BYTES) {
                    int p = table.offset + at;
                    symbols.add(new Symbol(
                            text(names.offset, names.size, file.getInt(p)),
                            file.getShort(p + 6) & 0xFFFF,
                            file.getLong(p + 8)));
                }
            }
        }
    }

    /// {@return the relocations of the sections that are loaded}
    List<Relocation> relocations() {
        List<Relocation> list = new ArrayList<>();
        for (Section section : sections) {
            boolean rela = section.type == TYPE_RELA;
            if (!rela && section.type != TYPE_REL) {
                continue;
            }
            if (section.info < 0 || section.info >= sections.size()) {
                throw refused(section.name + " relocates section " + section.info);
            }
            Section target = sections.get(section.info);
            if (!target.isLoaded()) {
                continue;
            }
            int each = rela ? 24 : 16;
            for (int at = 0; at + each <= section.size; at += each) {
                int p = section.offset + at;
                long offset = file.getLong(p);
                long info = file.getLong(p + 8);
                int symbol = (int) (info >>> 32);
                if (offset < 0 || offset > target.size || symbol < 0 || symbol >= symbols.size()) {
                    throw refused(section.name + " names offset " + offset + " and symbol " + symbol);
                }
                list.add(new Relocation(
                        target, (int) offset, (int) info, symbol, rela ? file.getLong(p + 16) : 0, rela));
            }
        }
        return list;
    }

    private String text(int offset, int size, int index) {
        if (index < 0 || index >= size) {
            throw refused("a name lies outside of its table");
        }
        int end = offset + index;
        while (end < offset + size && file.get(end) != 0) {
            end++;
        }
        return new String(file.array(), offset + index, end - offset - index, StandardCharsets.UTF_8);
    }

    private int inside(long offset, long size, String what) {
        if (offset < 0 || size < 0 || offset > file.capacity() || size > file.capacity() - offset) {
            throw refused(what + " lies at " + offset + " with " + size + " bytes, but the file has " + file.capacity()
                    + ": it is cut short");
        }
        return (int) offset;
    }
}
