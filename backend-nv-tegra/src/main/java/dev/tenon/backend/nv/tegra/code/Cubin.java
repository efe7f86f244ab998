package dev.tenon.backend.nv.tegra.code;

import dev.tenon.backend.nv.tegra.command.Qmd;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Machine code as `nvcc -cubin` writes it: its kernels, and an image of it for any address.
///
/// The image holds all loaded sections (code, constants, device variables), and after them a page
/// that code may be fetched ahead from. Immutable; safe for any thread.
public final class Cubin {
    /// Bytes after everything that stay mapped, because instructions are fetched ahead.
    public static final int PREFETCH_BYTES = 4096;

    private static final int MACHINE_CUDA = 190;
    private static final int NEW_ABI = 8;
    private static final int HOPPER = 90;
    private static final int RESERVED_SHARED = 0x400;

    private static final int FORMAT_PAYLOAD = 4;
    private static final int PARAM_CBANK = 0x0A;
    private static final int KPARAM_INFO = 0x17;
    private static final int CBANK_PARAM_SIZE = 0x19;
    private static final int MIN_STACK_SIZE = 0x12;
    private static final int REGCOUNT = 0x2F;
    private static final int NUM_BARRIERS = 0x4C;

    private static final int RELOCATE_64 = 2;
    private static final int RELOCATE_GENERIC_64 = 4;
    private static final int RELOCATE_LOW = 0x38;
    private static final int RELOCATE_HIGH = 0x39;

    private final Elf elf;
    private final int sm;
    private final Map<String, CubinKernel> kernels = new LinkedHashMap<>();
    private final Map<Integer, Integer> placed = new HashMap<>();
    private final List<Elf.Relocation> relocations;
    private final int imageBytes;

    /// Reads a cubin.
    ///
    /// @param bytes the file; kept, so do not change it
    /// @param name what messages call it
    /// @throws dev.tenon.api.error.BackendException (`NV-003`) if it is broken or holds what is not
    ///     understood
    public Cubin(byte[] bytes, String name) {
        elf = new Elf(bytes, name);
        if (elf.machine() != MACHINE_CUDA) {
            throw elf.refused("it is for machine " + elf.machine() + ", not for CUDA (" + MACHINE_CUDA + ")");
        }
        sm = elf.abiVersion() >= NEW_ABI ? elf.flags() >>> 8 & 0xFF : elf.flags() & 0xFF;
        relocations = elf.relocations();
        relocations.forEach(this::check);
        imageBytes = place();
        readKernels();
        if (kernels.isEmpty()) {
            throw elf.refused("it has no kernel (no section .text.NAME with a symbol NAME)");
        }
    }

    /// {@return the architecture that its code is for, such as 87}
    public int sm() {
        return sm;
    }

    /// Refuses code for another architecture: even one that runs may lack what this one needs.
    ///
    /// @param wanted architecture, such as 87
    public void requireSm(int wanted) {
        if (sm != wanted) {
            throw elf.refused(
                    "its code is for sm_" + sm + ", the device is sm_" + wanted + "; compile with -arch=sm_" + wanted);
        }
    }

    /// {@return its kernels by name; unmodifiable}
    public Map<String, CubinKernel> kernels() {
        return java.util.Collections.unmodifiableMap(kernels);
    }

    /// {@return a kernel}
    ///
    /// @param name its name
    public CubinKernel kernel(String name) {
        CubinKernel kernel = kernels.get(name);
        if (kernel == null) {
            throw elf.refused("it has no kernel " + name + ", only " + kernels.keySet());
        }
        return kernel;
    }

    /// {@return size of an image}
    public int imageBytes() {
        return imageBytes;
    }

    /// {@return where a kernel's code is in an image}
    ///
    /// @param kernel its name
    public int codeOffset(String kernel) {
        kernel(kernel);
        return placed.get(elf.section(".text." + kernel).orElseThrow().index());
    }

    /// {@return where a constant bank of a kernel is in an image}
    ///
    /// @param kernel its name
    /// @param bank one of its banks
    public int constantOffset(String kernel, int bank) {
        return placed.get(constant(kernel, bank).index());
    }

    /// {@return offsets in a kernel's code whose 4 bytes depend on where the image is}
    ///
    /// @param kernel its name
    public List<Integer> relocatedWords(String kernel) {
        int section = elf.section(".text." + kernel).orElseThrow().index();
        List<Integer> offsets = new ArrayList<>();
        for (Elf.Relocation relocation : relocations) {
            if (relocation.target().index() == section) {
                offsets.add(relocation.offset() + 4);
            }
        }
        return offsets;
    }

    /// {@return the image for an address}
    ///
    /// @param va where it will be on the GPU, a multiple of 256
    public byte[] image(long va) {
        if (va % Qmd.ALIGNMENT != 0) {
            throw new IllegalArgumentException("an image at 0x" + Long.toHexString(va) + "; expected 256-aligned");
        }
        ByteBuffer image = ByteBuffer.allocate(imageBytes).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        for (Elf.Section section : elf.sections()) {
            if (placed.containsKey(section.index()) && section.hasBytes()) {
                image.put(placed.get(section.index()), elf.bytes(section), 0, section.size());
            }
        }
        for (Elf.Relocation relocation : relocations) {
            relocate(image, relocation, va);
        }
        return image.array();
    }

    private void check(Elf.Relocation relocation) {
        int last = switch (relocation.type()) {
            case RELOCATE_64, RELOCATE_GENERIC_64 -> relocation.offset() + 8;
            case RELOCATE_LOW, RELOCATE_HIGH -> relocation.offset() + 16;
            default ->
                throw elf.refused("section " + relocation.target().name() + " has a relocation of unknown type "
                        + relocation.type() + " (known: 2, 4, 0x38, 0x39)");
        };
        if (last > relocation.target().size()) {
            throw elf.refused("a relocation lies outside of section "
                    + relocation.target().name());
        }
        Elf.Symbol symbol = elf.symbols().get(relocation.symbol());
        if (symbol.section() == 0 || symbol.section() >= elf.sections().size()) {
            throw elf.refused("symbol " + symbol.name() + " is not defined in it");
        }
    }

    private void relocate(ByteBuffer image, Elf.Relocation relocation, long va) {
        Elf.Symbol symbol = elf.symbols().get(relocation.symbol());
        Integer section = placed.get(symbol.section());
        if (section == null) {
            throw elf.refused("symbol " + symbol.name() + " is in a section that is not loaded");
        }
        int at = placed.get(relocation.target().index()) + relocation.offset();
        long value = va + section + symbol.value() + relocation.addend();
        boolean wide = relocation.type() == RELOCATE_64 || relocation.type() == RELOCATE_GENERIC_64;
        if (!relocation.explicitAddend() && (wide ? image.getLong(at) : image.getInt(at + 4)) != 0) {
            throw elf.refused("a relocation of " + symbol.name() + " has its addend in the place that it changes,"
                    + " which is not understood");
        }
        switch (relocation.type()) {
            case RELOCATE_64, RELOCATE_GENERIC_64 -> image.putLong(at, value);
            case RELOCATE_LOW -> image.putInt(at + 4, (int) value);
            default -> image.putInt(at + 4, (int) (value >>> 32));
        }
    }

    /// Finds a place for every loaded section but bank 0, which each launch has its own of; those
    /// without bytes in the file come last.
    private int place() {
        int end = 0;
        for (boolean bytes : new boolean[] {true, false}) {
            for (Elf.Section section : elf.sections()) {
                boolean wanted = section.isLoaded()
                        && section.hasBytes() == bytes
                        && !section.name().startsWith(".nv.constant0.")
                        && !section.name().startsWith(".nv.shared.");
                if (wanted) {
                    int align = Math.max(section.align(), Qmd.ALIGNMENT);
                    long at = ((long) end + align - 1) / align * align;
                    if (at + section.size() + PREFETCH_BYTES > Integer.MAX_VALUE - align) {
                        throw elf.refused("it is larger than 2 GiB");
                    }
                    placed.put(section.index(), (int) at);
                    end = (int) at + section.size();
                }
            }
        }
        return (end + Qmd.ALIGNMENT - 1) / Qmd.ALIGNMENT * Qmd.ALIGNMENT + PREFETCH_BYTES;
    }

    private Elf.Section constant(String kernel, int bank) {
        return elf.section(".nv.constant" + bank + "." + kernel)
                .or(() -> elf.section(".nv.constant" + bank))
                .orElseThrow(() -> elf.refused("kernel " + kernel + " has no constant bank " + bank));
    }

    private void readKernels() {
        Map<Integer, Integer> registers = new HashMap<>();
        Map<Integer, Integer> stacks = new HashMap<>();
        elf.section(".nv.info")
                .ifPresent(info -> attributes(info).forEach(a -> {
                    if (a.id == REGCOUNT) {
                        registers.put(a.payload.getInt(0), a.payload.getInt(4));
                    } else if (a.id == MIN_STACK_SIZE) {
                        stacks.put(a.payload.getInt(0), a.payload.getInt(4));
                    }
                }));
        for (Elf.Section section : elf.sections()) {
            if (!section.name().startsWith(".text.") || !section.isLoaded()) {
                continue;
            }
            String name = section.name().substring(".text.".length());
            int symbol = symbol(name, section.index());
            if (elf.section(".nv.info." + name).isPresent() && symbol >= 0) {
                if (!registers.containsKey(symbol)) {
                    throw elf.refused("it does not say how many registers kernel " + name + " needs");
                }
                kernels.put(name, kernel(name, section, registers.get(symbol), stacks.getOrDefault(symbol, 0)));
            }
        }
    }

    private int symbol(String name, int section) {
        for (int i = 0; i < elf.symbols().size(); i++) {
            Elf.Symbol symbol = elf.symbols().get(i);
            if (symbol.section() == section && symbol.name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    private CubinKernel kernel(String name, Elf.Section text, int registers, int stack) {
        int base = -1;
        int bytes = 0;
        int barriers = 0;
        Map<Integer, CubinKernel.Parameter> parameters = new TreeMap<>();
        for (Attribute attribute : attributes(elf.section(".nv.info." + name).orElseThrow())) {
            switch (attribute.id) {
                case PARAM_CBANK -> base = attribute.payload.getShort(4) & 0xFFFF;
                case CBANK_PARAM_SIZE -> bytes = attribute.value;
                case NUM_BARRIERS -> barriers = attribute.value;
                case KPARAM_INFO ->
                    parameters.put(
                            attribute.payload.getShort(4) & 0xFFFF,
                            new CubinKernel.Parameter(
                                    attribute.payload.getShort(6) & 0xFFFF, attribute.payload.getInt(8) >>> 18));
                default -> {
                    // Attributes that only debuggers and other loaders need.
                }
            }
        }
        if (base < 0) {
            if (!parameters.isEmpty() || bytes > 0) {
                throw elf.refused("it does not say where the parameters of kernel " + name + " begin");
            }
            base = elf.section(".nv.constant0." + name)
                    .orElseThrow(() -> elf.refused("kernel " + name + " has no constant bank 0"))
                    .size();
        }
        int shared = elf.section(".nv.shared." + name).map(Elf.Section::size).orElse(0);
        // From Hopper on the size contains what the architecture reserves.
        shared = sm >= HOPPER ? Math.max(shared, RESERVED_SHARED) : shared + RESERVED_SHARED;
        Map<Integer, Integer> constants = new TreeMap<>();
        for (int bank = 1; bank < Qmd.BANKS; bank++) {
            String prefix = ".nv.constant" + bank;
            int number = bank;
            elf.section(prefix + "." + name)
                    .or(() -> elf.section(prefix))
                    .ifPresent(s -> constants.put(number, s.size()));
        }
        return new CubinKernel(
                name,
                text.size(),
                registers,
                stack,
                barriers,
                shared,
                base,
                bytes,
                new ArrayList<>(parameters.values()),
                constants);
    }

    /// A record of a `.nv.info` section.
    private record Attribute(int id, int value, ByteBuffer payload) {}

    private List<Attribute> attributes(Elf.Section section) {
        List<Attribute> list = new ArrayList<>();
        ByteBuffer bytes = elf.bytes(section);
        int at = 0;
        while (at < section.size()) {
            if (at + 4 > section.size()) {
                throw elf.refused("section " + section.name() + " ends inside of a record");
            }
            int format = bytes.get(at) & 0xFF;
            int id = bytes.get(at + 1) & 0xFF;
            int value = bytes.getShort(at + 2) & 0xFFFF;
            int size = format == FORMAT_PAYLOAD ? value : 0;
            if (format < 1 || format > FORMAT_PAYLOAD || at + 4 + size > section.size()) {
                throw elf.refused("section " + section.name() + " has a record of format " + format + " with " + size
                        + " bytes at " + at);
            }
            if (size < needed(id)) {
                throw elf.refused("record 0x" + Integer.toHexString(id) + " of section " + section.name() + " has "
                        + size + " bytes; expected " + needed(id));
            }
            list.add(new Attribute(id, value, bytes.slice(at + 4, size).order(java.nio.ByteOrder.LITTLE_ENDIAN)));
            at += 4 + size;
        }
        return list;
    }

    private static int needed(int id) {
        return switch (id) {
            case REGCOUNT, MIN_STACK_SIZE, PARAM_CBANK -> 8;
            case KPARAM_INFO -> 12;
            default -> 0;
        };
    }
}
