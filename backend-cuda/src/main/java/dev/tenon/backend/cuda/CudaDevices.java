package dev.tenon.backend.cuda;

import dev.tenon.api.device.DeviceInfo;
import dev.tenon.backend.cuda.ffm.FfmBinding;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// The devices that the driver knows, without opening them.
final class CudaDevices {
    private static final int ATTRIBUTE_MULTIPROCESSORS = 16;
    private static final int ATTRIBUTE_L2_BYTES = 38;
    private static final int ATTRIBUTE_MAJOR = 75;
    private static final int ATTRIBUTE_MINOR = 76;
    private static final int ATTRIBUTE_SHARED_BYTES_OPTIN = 97;

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

        /// {@return the description of an open device, with its binding}
        ///
        /// @param binding makes the driver's calls
        DeviceInfo openedWith(CudaBinding binding) {
            Map<String, String> details = new LinkedHashMap<>(info.details());
            details.put("binding", binding.name());
            return new DeviceInfo(info.id(), info.name(), info.kind(), info.memoryBytes(), details);
        }

        private static String bare(String uuid) {
            return uuid.replaceFirst("(?i)^(GPU|MIG)-", "");
        }
    }

    /// {@return all devices, in the driver's order}
    static List<Found> list() {
        CudaBinding driver = FfmBinding.get();
        int version = driver.driverVersion();
        return IntStream.range(0, driver.deviceCount())
                .mapToObj(i -> describe(driver, i, version))
                .toList();
    }

    private static Found describe(CudaBinding driver, int ordinal, int version) {
        int device = driver.device(ordinal);
        DeviceTraits traits = new DeviceTraits(
                driver.deviceAttribute(ATTRIBUTE_MAJOR, device),
                driver.deviceAttribute(ATTRIBUTE_MINOR, device),
                driver.deviceAttribute(ATTRIBUTE_MULTIPROCESSORS, device),
                driver.deviceAttribute(ATTRIBUTE_SHARED_BYTES_OPTIN, device));
        String uuid = uuid(driver.deviceUuid(device));
        Map<String, String> details = new LinkedHashMap<>();
        details.put("uuid", uuid);
        details.put("compute-capability", traits.major() + "." + traits.minor());
        details.put("multiprocessors", Integer.toString(traits.multiprocessors()));
        details.put("l2-bytes", Integer.toString(driver.deviceAttribute(ATTRIBUTE_L2_BYTES, device)));
        details.put("driver", "CUDA " + version / 1000 + "." + version % 1000 / 10);
        DeviceInfo info = new DeviceInfo(
                Integer.toString(ordinal),
                driver.deviceName(device),
                CudaBackend.KIND,
                driver.deviceMemory(device),
                details);
        return new Found(ordinal, uuid, info, traits);
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
