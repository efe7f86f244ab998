package dev.tenon.backend.nv.rm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.abi.Struct;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Layouts of the RM and UVM interface. Oracle H: the golden table was printed by a C program from
/// the headers of driver 580.142. What is not in it was read off calls of CUDA on an H200 (L).
class RmAbiTests {
    private static final Pattern STRUCT = Pattern.compile("(\\w+) size=(\\d+)");
    private static final Pattern FIELD = Pattern.compile("   (\\w+)\\s+@(\\d+)\\s+size (\\d+)");
    private static final Pattern REQUEST = Pattern.compile("ESC (\\w+)\\s+nr=\\w+ size=(\\d+) req=0x(\\w+)");
    private static final Pattern CONSTANT = Pattern.compile("(?:CONST )?(\\w+)\\s+0x(\\w+)");

    private final Map<String, Integer> sizes = new HashMap<>();
    private final Map<String, String> fields = new HashMap<>();
    private final Map<String, Long> requests = new HashMap<>();
    private final Map<String, Long> constants = new HashMap<>();

    RmAbiTests() {
        String struct = "";
        for (String line : Golden.text("/golden/nv/abi-rm.txt").lines().toList()) {
            Matcher start = STRUCT.matcher(line);
            Matcher field = FIELD.matcher(line);
            Matcher request = REQUEST.matcher(line);
            Matcher constant = CONSTANT.matcher(line);
            if (start.matches()) {
                struct = start.group(1);
                sizes.put(struct, Integer.parseInt(start.group(2)));
            } else if (field.matches()) {
                fields.put(struct + "." + field.group(1), field.group(2) + "+" + field.group(3));
            } else if (request.matches()) {
                requests.put(request.group(1) + "." + request.group(2), Long.parseLong(request.group(3), 16));
            } else if (constant.matches()) {
                constants.put(constant.group(1), Long.parseLong(constant.group(2), 16));
            }
        }
    }

    @Test
    void structsAndFieldsAreThoseOfTheHeaders() {
        List<Struct> structs = Stream.concat(
                        RmAbi.structs().stream(), UvmAbi.commands().stream().map(UvmAbi.Command::struct))
                .toList();
        int compared = 0;
        for (Struct struct : structs) {
            if (sizes.containsKey(struct.name())) {
                assertEquals(sizes.get(struct.name()), struct.sizeBytes(), struct.name());
            }
            for (Struct.Field field : struct.fields()) {
                String golden = fields.get(field.toString());
                if (golden != null) {
                    assertEquals(golden, field.offset() + "+" + field.sizeBytes(), field.toString());
                    compared++;
                }
            }
        }
        assertTrue(compared > 60, "fields found in the golden table: " + compared);
    }

    @Test
    void requestsCommandsAndClassesAreThoseOfTheHeaders() {
        for (var request : List.of(RmAbi.ALLOC, RmAbi.CONTROL, RmAbi.FREE, RmAbi.MAP_MEMORY, RmAbi.REGISTER_FD)) {
            assertEquals(requests.get(request.name() + "." + request.sizeBytes()), request.request(), request.name());
        }
        UvmAbi.commands().forEach(c -> assertEquals(constants.get(c.name()), c.number(), c.name()));
        Map<String, Integer> table = Map.ofEntries(
                Map.entry("NV01_DEVICE_0", RmAbi.DEVICE),
                Map.entry("NV20_SUBDEVICE_0", RmAbi.SUBDEVICE),
                Map.entry("NV01_MEMORY_LOCAL_USER", RmAbi.MEMORY_LOCAL),
                Map.entry("NV01_MEMORY_SYSTEM", RmAbi.MEMORY_SYSTEM),
                Map.entry("FERMI_VASPACE_A", RmAbi.VASPACE),
                Map.entry("FERMI_CONTEXT_SHARE_A", RmAbi.CONTEXT_SHARE),
                Map.entry("KEPLER_CHANNEL_GROUP_A", RmAbi.CHANNEL_GROUP),
                Map.entry("HOPPER_CHANNEL_GPFIFO_A", RmAbi.CHANNEL),
                Map.entry("HOPPER_DMA_COPY_A", RmAbi.COPY),
                Map.entry("HOPPER_COMPUTE_A", RmAbi.COMPUTE),
                Map.entry("HOPPER_USERMODE_A", RmAbi.USERMODE),
                Map.entry("NV0000_CTRL_CMD_SYSTEM_GET_BUILD_VERSION_V2", RmAbi.GET_BUILD_VERSION),
                Map.entry("NV0000_CTRL_CMD_GPU_GET_ID_INFO_V2", RmAbi.GET_ID_INFO),
                Map.entry("NV0080_CTRL_CMD_GPU_GET_CLASSLIST_V2", RmAbi.GET_CLASSLIST),
                Map.entry("NV2080_CTRL_CMD_GPU_GET_GID_INFO", RmAbi.GET_GID_INFO),
                Map.entry("NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN", RmAbi.GET_WORK_SUBMIT_TOKEN),
                Map.entry("NVA06C_CTRL_CMD_GPFIFO_SCHEDULE", RmAbi.SCHEDULE));
        table.forEach((name, value) -> assertEquals(constants.get(name), Integer.toUnsignedLong(value), name));
    }
}
