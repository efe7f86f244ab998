package dev.tenon.backend.nv.tegra.emulator.launch;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// A cubin that stands for a kernel of which there is no machine code: an ELF file as `nvcc -cubin`
/// writes it, with the kernel's parameters, but code that only spells its name. An emulated GPU
/// recognises it; a real one would stop at the first instruction.
public final class StandIn {
    private static final int HEADER = 64;
    private static final int PARAMETER_BASE = 0x160;
    private static final int REGISTERS = 32;
    private static final int CODE_UNIT = 128;
    private static final int SM_87_FLAGS = 0x06005704;

    private final ByteArrayOutputStream file = new ByteArrayOutputStream();
    private final ByteArrayOutputStream names = new ByteArrayOutputStream();
    private final List<ByteBuffer> headers = new ArrayList<>();

    private StandIn() {
        file.writeBytes(new byte[HEADER]);
        names.write(0);
        headers.add(buffer(64));
    }

    /// {@return the file}
    ///
    /// @param kernel the kernel's name
    /// @param parameterBytes sizes of its parameters, each aligned to its size
    public static byte[] cubin(String kernel, List<Integer> parameterBytes) {
        StandIn made = new StandIn();
        byte[] name = kernel.getBytes(StandardCharsets.UTF_8);
        // Symbol 1 is the kernel, in section 1.
        made.section(".text." + kernel, 1, 6, code(kernel), 0, 0);
        ByteBuffer info = buffer(12).put((byte) 4).put((byte) 0x2F).putShort((short) 8);
        made.section(".nv.info", 0x70000000, 0, info.putInt(1).putInt(REGISTERS).array(), 3, 0);
        ByteBuffer symbols = buffer(48).position(24);
        symbols.putInt(1)
                .put((byte) 0x12)
                .put((byte) 0x10)
                .putShort((short) 1)
                .putLong(0)
                .putLong(CODE_UNIT);
        made.section(".symtab", 2, 0, symbols.array(), 4, 1);
        made.section(
                ".strtab",
                3,
                0,
                ByteBuffer.allocate(name.length + 2).put(1, name).array(),
                0,
                0);
        int end = 0;
        ByteArrayOutputStream own = new ByteArrayOutputStream();
        for (int i = 0; i < parameterBytes.size(); i++) {
            int size = parameterBytes.get(i);
            int at = (end + size - 1) / size * size;
            own.writeBytes(buffer(16)
                    .put((byte) 4)
                    .put((byte) 0x17)
                    .putShort((short) 12)
                    .putInt(0)
                    .putShort((short) i)
                    .putShort((short) at)
                    .putInt(size << 18)
                    .array());
            end = at + size;
        }
        own.writeBytes(
                buffer(4).put((byte) 3).put((byte) 0x19).putShort((short) end).array());
        own.writeBytes(buffer(12)
                .put((byte) 4)
                .put((byte) 0x0A)
                .putShort((short) 8)
                .putInt(1)
                .putShort((short) PARAMETER_BASE)
                .putShort((short) end)
                .array());
        made.section(".nv.info." + kernel, 0x70000000, 0x40, own.toByteArray(), 3, 1);
        made.section(".nv.constant0." + kernel, 1, 0x42, new byte[PARAMETER_BASE + end], 0, 1);
        return made.finish();
    }

    private static byte[] code(String kernel) {
        byte[] text = ("stand-in for kernel " + kernel).getBytes(StandardCharsets.UTF_8);
        return java.util.Arrays.copyOf(text, text.length / CODE_UNIT * CODE_UNIT + CODE_UNIT);
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void section(String name, int type, long flags, byte[] bytes, int link, int info) {
        int nameAt = names.size();
        names.writeBytes(name.getBytes(StandardCharsets.UTF_8));
        names.write(0);
        int at = file.size();
        file.writeBytes(bytes);
        file.writeBytes(new byte[(8 - file.size() % 8) % 8]);
        headers.add(buffer(64)
                .putInt(nameAt)
                .putInt(type)
                .putLong(flags)
                .putLong(0)
                .putLong(at)
                .putLong(bytes.length)
                .putInt(link)
                .putInt(info)
                .putLong(type == 1 ? CODE_UNIT : 4)
                .putLong(type == 2 ? 24 : 0));
    }

    private byte[] finish() {
        section(".shstrtab", 3, 0, new byte[0], 0, 0);
        int namesAt = file.size();
        file.writeBytes(names.toByteArray());
        file.writeBytes(new byte[(8 - file.size() % 8) % 8]);
        headers.getLast().putLong(24, namesAt).putLong(32, names.size());
        int table = file.size();
        headers.forEach(h -> file.writeBytes(h.array()));
        byte[] bytes = file.toByteArray();
        ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(0, 0x464C457F)
                .put(4, (byte) 2)
                .put(5, (byte) 1)
                .put(6, (byte) 1)
                .put(7, (byte) 0x41)
                .put(8, (byte) 8)
                .putShort(16, (short) 2)
                .putShort(18, (short) 190)
                .putInt(20, 1)
                .putLong(40, table)
                .putInt(48, SM_87_FLAGS)
                .putShort(52, (short) HEADER)
                .putShort(58, (short) 64)
                .putShort(60, (short) headers.size())
                .putShort(62, (short) (headers.size() - 1));
        return bytes;
    }
}
