package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.api.quant.QuantFormat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// How a weight lies in device memory.
///
/// @param id what entry names call it: a GGUF format id, with `Third_` in front where a third party
///     decodes it
/// @param blockSize elements of a block
/// @param blockBytes bytes of a block in the file
/// @param repacked whether a kernel rearranges the file's bytes into planes at upload
/// @param integer whether kernels for few rows quantise activations to 8 bits for it
/// @param transcoded whether the host decodes the file's format into this one at upload
/// @param fragment a third party's decoder, or empty
public record DeviceFormat(
        String id,
        int blockSize,
        int blockBytes,
        boolean repacked,
        boolean integer,
        boolean transcoded,
        Optional<CudaFragment> fragment) {
    private static final Map<String, DeviceFormat> NATIVE = Stream.of(
                    of("Q8_0", 32, 34, true, true),
                    of("Q4_0", 32, 18, true, true),
                    of("Q4_1", 32, 20, true, true),
                    of("Q5_0", 32, 22, true, true),
                    of("Q5_1", 32, 24, true, true),
                    of("IQ4_NL", 32, 18, true, true),
                    of("MXFP4", 32, 17, true, true),
                    of("IQ4_XS", 256, 136, true, true),
                    of("Q6_K", 256, 210, true, true),
                    of("Q5_K", 256, 176, true, true),
                    of("Q4_K", 256, 144, true, true),
                    of("Q3_K", 256, 110, true, true),
                    of("Q2_K", 256, 84, true, true),
                    of("F16", 1, 2, false, false),
                    of("BF16", 1, 2, false, false),
                    of("F32", 1, 4, false, false))
            .collect(Collectors.toUnmodifiableMap(DeviceFormat::id, format -> format));

    /// Float32, as it is in the file.
    public static final DeviceFormat F32 = NATIVE.get("F32");

    /// Bytes of a block whose scales take more room on the device than in the file.
    private static final Map<String, Integer> DEVICE_BYTES =
            Map.of("Q5_K", 180, "Q4_K", 148, "Q3_K", 114, "IQ4_XS", 138);

    private static DeviceFormat of(String id, int blockSize, int blockBytes, boolean repacked, boolean integer) {
        return new DeviceFormat(id, blockSize, blockBytes, repacked, integer, false, Optional.empty());
    }

    /// {@return the ids of the formats that have kernels of their own, in alphabetical order}
    public static List<String> nativeIds() {
        return NATIVE.keySet().stream().sorted().toList();
    }

    /// Chooses how a format lies on the device: as it is if there are kernels for it, through a
    /// third party's decoder if there is one, else decoded to F16.
    ///
    /// @param format the file's format
    /// @param fragments decoders by format id
    /// @return the choice
    public static DeviceFormat of(QuantFormat format, Map<String, CudaFragment> fragments) {
        CudaFragment fragment = fragments.get(format.id());
        if (fragment != null && FragmentHeader.fits(format.blockSize())) {
            String id = "Third_" + format.id().replaceAll("[^A-Za-z0-9_]", "_");
            return new DeviceFormat(
                    id, format.blockSize(), format.blockBytes(), false, false, false, Optional.of(fragment));
        }
        DeviceFormat known = NATIVE.get(format.id());
        if (known != null) {
            return known;
        }
        return new DeviceFormat("F16", 1, 2, false, false, true, Optional.empty());
    }

    /// {@return the name by which the sources include a third party's decoder}
    public String headerName() {
        return FragmentHeader.name(id);
    }

    /// {@return the header around a third party's decoder; there is one}
    public String header() {
        return FragmentHeader.text(this);
    }

    /// {@return the macros by which the sources are compiled for it; to be changed by the caller}
    public Map<String, String> macros() {
        Map<String, String> macros = new HashMap<>();
        macros.put("TENON_FORMAT", id);
        fragment.ifPresent(f -> macros.put("TENON_FORMAT_FILE", "\"" + headerName() + "\""));
        return macros;
    }

    /// {@return the bytes of so many elements on the device}
    ///
    /// @param elements a multiple of the block size
    public long bytes(long elements) {
        return elements / blockSize * deviceBlockBytes();
    }

    /// {@return bytes of a block on the device}
    public int deviceBlockBytes() {
        return DEVICE_BYTES.getOrDefault(id, blockBytes);
    }
}
