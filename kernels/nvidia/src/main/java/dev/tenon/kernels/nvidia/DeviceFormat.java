package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.api.quant.QuantFormat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    /// Formats whose blocks are rearranged, and meet activations of 8 bits in kernels for few rows.
    private static final Set<String> BLOCKS = Set.of(
            "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "IQ4_NL", "MXFP4", "IQ4_XS", "Q6_K", "Q5_K", "Q4_K", "Q3_K",
            "Q2_K");

    /// Formats that lie as in the file.
    private static final Set<String> FLOATS = Set.of("F16", "BF16", "F32");

    /// Float32, as it is in the file.
    public static final DeviceFormat F32 = asInFile("F32", Float.BYTES);

    /// Bytes of a block whose scales take more room on the device than in the file.
    private static final Map<String, Integer> DEVICE_BYTES =
            Map.of("Q5_K", 180, "Q4_K", 148, "Q3_K", 114, "IQ4_XS", 138);

    private static DeviceFormat asInFile(String id, int bytes) {
        return new DeviceFormat(id, 1, bytes, false, false, false, Optional.empty());
    }

    /// {@return the ids of the formats that have kernels of their own, in alphabetical order}
    public static List<String> nativeIds() {
        return Stream.concat(BLOCKS.stream(), FLOATS.stream()).sorted().toList();
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
        if (FLOATS.contains(format.id())) {
            return asInFile(format.id(), format.blockBytes());
        }
        if (BLOCKS.contains(format.id())) {
            return new DeviceFormat(
                    format.id(), format.blockSize(), format.blockBytes(), true, true, false, Optional.empty());
        }
        return new DeviceFormat("F16", 1, Short.BYTES, false, false, true, Optional.empty());
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
