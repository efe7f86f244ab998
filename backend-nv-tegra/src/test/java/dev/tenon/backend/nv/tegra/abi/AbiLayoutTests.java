package dev.tenon.backend.nv.tegra.abi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.Golden;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// abi_layout. Oracle: header; the golden table was printed by a C program from the headers of L4T
/// r36.
class AbiLayoutTests {
    private static final Pattern STRUCT = Pattern.compile("STRUCT (\\w+)\\s+sizeof=(\\d+) align=(\\d+)");
    private static final Pattern FIELD = Pattern.compile("  (\\w+)\\s+off=(\\d+)\\s+size=(\\d+)");
    private static final Pattern IOCTL =
            Pattern.compile("IOCTL (\\w+)\\s+0x([0-9A-F]{8}) dir=(\\d) size=(\\d+) type='(.)' nr=(\\d+)");

    private static List<Struct> structs() {
        return Stream.of(
                        NvmapAbi.structs(),
                        CtrlAbi.structs(),
                        AddressSpaceAbi.structs(),
                        GroupAbi.structs(),
                        ChannelAbi.structs())
                .flatMap(List::stream)
                .toList();
    }

    private static List<Ioctl> ioctls() {
        return Stream.of(
                        NvmapAbi.ioctls(),
                        CtrlAbi.ioctls(),
                        AddressSpaceAbi.ioctls(),
                        GroupAbi.ioctls(),
                        ChannelAbi.ioctls())
                .flatMap(List::stream)
                .toList();
    }

    @Test
    void everyStructHasTheSizeAndTheFieldsOfTheHeaders() {
        Map<String, String> golden = new TreeMap<>();
        String struct = "";
        for (String line : Golden.lines("abi-tegra.txt")) {
            Matcher start = STRUCT.matcher(line);
            Matcher field = FIELD.matcher(line);
            if (start.matches()) {
                struct = start.group(1);
                golden.put(struct, "size " + start.group(2));
            } else if (field.matches()) {
                golden.put(struct + "." + field.group(1), field.group(2) + "+" + field.group(3));
            }
        }
        Map<String, String> table = new TreeMap<>();
        for (Struct s : structs()) {
            table.put(s.name(), "size " + s.sizeBytes());
            s.fields().forEach(f -> table.put(s.name() + "." + f.name(), f.offset() + "+" + f.sizeBytes()));
        }
        assertTrue(golden.size() > 200, "the golden table was not read: " + golden.size());
        assertEquals(golden, table);
    }

    @Test
    void everyRequestNumberIsThatOfTheHeaders() {
        Map<String, String> golden = new LinkedHashMap<>();
        for (String line : Golden.lines("abi-tegra.txt")) {
            Matcher ioctl = IOCTL.matcher(line);
            if (ioctl.lookingAt()) {
                golden.put(ioctl.group(1), ioctl.group(2));
            }
        }
        Map<String, String> table = new LinkedHashMap<>();
        ioctls().forEach(i -> table.put(i.name(), String.format("%08X", i.request())));
        assertTrue(golden.size() > 50, "the golden table was not read: " + golden.size());
        assertEquals(new TreeMap<>(golden), new TreeMap<>(table));
    }

    @Test
    void lastNumbersAreThoseOfTheHeaders() {
        List<String> lines = Golden.lines("abi-tegra.txt");
        assertTrue(lines.contains("GPU_IOCTL_LAST=" + CtrlAbi.LAST_NR + " MAX_ARG=" + CtrlAbi.MAX_ARGUMENT_BYTES));
        assertTrue(lines.contains(
                "AS_LAST=" + AddressSpaceAbi.LAST_NR + " MAX_ARG=" + AddressSpaceAbi.MAX_ARGUMENT_BYTES));
        assertTrue(lines.contains("TSG_LAST=" + GroupAbi.LAST_NR + " MAX_ARG=" + GroupAbi.MAX_ARGUMENT_BYTES));
        assertTrue(lines.contains("CH_LAST=" + ChannelAbi.LAST_NR + " MAX_ARG=" + ChannelAbi.MAX_ARGUMENT_BYTES));
    }

    @Test
    void aRecordIsZeroAlignedAndLittleEndian() {
        try (Record record = new Record(AddressSpaceAbi.MapBufferEx.STRUCT)) {
            assertEquals(0, record.address() % 8);
            assertEquals(0, record.get(AddressSpaceAbi.MapBufferEx.OFFSET));
            record.set(AddressSpaceAbi.MapBufferEx.COMPR_KIND, -1).set(AddressSpaceAbi.MapBufferEx.OFFSET, -2);
            MemorySegment raw = MemorySegment.ofAddress(record.address()).reinterpret(40);
            assertEquals((short) -1, raw.get(ValueLayout.JAVA_SHORT, 4));
            assertEquals(0, raw.get(ValueLayout.JAVA_SHORT, 6));
            assertEquals((byte) 0xFE, raw.get(ValueLayout.JAVA_BYTE, 32));
            assertEquals(0xFFFF, record.get(AddressSpaceAbi.MapBufferEx.COMPR_KIND));
            assertThrows(
                    IllegalArgumentException.class, () -> record.get(ChannelAbi.SetupBind.FLAGS), "another struct");
        }
    }

    @Test
    void aWriteOutsideOfARecordShows() {
        try (Record record = new Record(CtrlAbi.NumVsms.STRUCT)) {
            assertTrue(record.isIntact());
            MemorySegment.ofAddress(record.address()).reinterpret(12).set(ValueLayout.JAVA_INT, 8, 1);
            assertFalse(record.isIntact());
        }
        try (Record record = new Record(CtrlAbi.NumVsms.STRUCT)) {
            MemorySegment.ofAddress(record.address() - 1).reinterpret(1).set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            assertFalse(record.isIntact());
        }
    }
}
