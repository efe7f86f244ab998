package dev.tenon.backend.cuda;

import dev.tenon.api.device.DeviceInfo;
import dev.tenon.kernels.nvidia.DeviceTraits;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The devices that the driver knows, without opening them.
final class CudaDevices {
    private static final int ATTRIBUTE_MULTIPROCESSORS = 16;
    private static final int ATTRIBUTE_L2_BYTES = 38;
    private static final int ATTRIBUTE_MAJOR = 75;
    private static final int ATTRIBUTE_MINOR = 76;
    private static final int ATTRIBUTE_SHARED_BYTES_OPTIN = 97;
    private static final int NAME_BYTES = 256;
    private static final int UUID_BYTES = 16;

    private CudaDevices() {}

    /// A device.
    ///
    /// @param ordinal the driver's number
    /// @param uuid what the driver's tools call it, such as `GPU-6f0b...`
    /// @param info for listings
    /// @param traits for planning
    record Found(int ordinal, String uuid, DeviceInfo info, DeviceTraits traits) {
        /// {@return whether a device id means this one: its index, or its UUID with or without `GPU-` or `MIG-`}
        ///
        /// @param id what the user gave
        boolean isCalled(String id) {
            return id.equals(info.id()) || bare(id).equalsIgnoreCase(bare(uuid));
        }

        private static String bare(String uuid) {
            return uuid.replaceFirst("(?i)^(GPU|MIG)-", "");
        }
    }

    /// {@return all devices, in the driver's order}
    static List<Found> list() {
        CudaDriver driver = CudaDriver.get();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(ValueLayout.JAVA_LONG);
            driver.call(DriverCall.cuDriverGetVersion, number);
            int version = number.get(ValueLayout.JAVA_INT, 0);
            driver.call(DriverCall.cuDeviceGetCount, number);
            int count = number.get(ValueLayout.JAVA_INT, 0);
            List<Found> found = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                found.add(describe(driver, arena, i, version));
            }
            return found;
        }
    }

    private static Found describe(CudaDriver driver, Arena arena, int ordinal, int version) {
        MemorySegment number = arena.allocate(ValueLayout.JAVA_LONG);
        driver.call(DriverCall.cuDeviceGet, number, ordinal);
        int device = number.get(ValueLayout.JAVA_INT, 0);
        MemorySegment name = arena.allocate(NAME_BYTES);
        driver.call(DriverCall.cuDeviceGetName, name, NAME_BYTES, device);
        MemorySegment uuidBytes = arena.allocate(UUID_BYTES);
        driver.call(DriverCall.cuDeviceGetUuid_v2, uuidBytes, device);
        driver.call(DriverCall.cuDeviceTotalMem_v2, number, device);
        long memory = number.get(ValueLayout.JAVA_LONG, 0);
        DeviceTraits traits = new DeviceTraits(
                attribute(driver, number, ATTRIBUTE_MAJOR, device),
                attribute(driver, number, ATTRIBUTE_MINOR, device),
                attribute(driver, number, ATTRIBUTE_MULTIPROCESSORS, device),
                attribute(driver, number, ATTRIBUTE_SHARED_BYTES_OPTIN, device));
        String uuid = uuid(uuidBytes.toArray(ValueLayout.JAVA_BYTE));
        Map<String, String> details = new LinkedHashMap<>();
        details.put("uuid", uuid);
        details.put("compute-capability", traits.major() + "." + traits.minor());
        details.put("multiprocessors", Integer.toString(traits.multiprocessors()));
        details.put("l2-bytes", Integer.toString(attribute(driver, number, ATTRIBUTE_L2_BYTES, device)));
        details.put("driver", "CUDA " + version / 1000 + "." + version % 1000 / 10);
        DeviceInfo info =
                new DeviceInfo(Integer.toString(ordinal), name.getString(0), CudaBackend.KIND, memory, details);
        return new Found(ordinal, uuid, info, traits);
    }

    private static int attribute(CudaDriver driver, MemorySegment out, int attribute, int device) {
        driver.call(DriverCall.cuDeviceGetAttribute, out, attribute, device);
        return out.get(ValueLayout.JAVA_INT, 0);
    }

    /// {@return a UUID as NVIDIA's tools print it}
    ///
    /// @param bytes 16 bytes
    static String uuid(byte[] bytes) {
        String hex = HexFormat.of().formatHex(bytes);
        return "GPU-" + hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20) + "-" + hex.substring(20);
    }
}
