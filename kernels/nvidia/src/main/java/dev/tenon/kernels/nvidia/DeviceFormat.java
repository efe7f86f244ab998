package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.layout.DeviceLayout;
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
/// @param layout how it lies if its kernels are made of the format's layout, or empty
public record DeviceFormat(
        String id,
        int blockSize,
        int blockBytes,
        boolean repacked,
        boolean integer,
        boolean transcoded,
        Optional<CudaFragment> fragment,
        Optional<DeviceLayout> layout) {
    /// Formats with kernels written by hand whose blocks are rearranged, and meet activations of 8 bits in kernels for
    /// few rows.
    private static final Set<String> BLOCKS =
            Set.of("Q8_0", "Q5_0", "Q5_1", "MXFP4", "IQ4_XS", "Q6_K", "Q5_K", "Q4_K", "Q3_K", "Q2_K");

    /// Formats whose kernels are made of their layouts, and shipped as those that are written by hand.
    static final Set<String> SHIPPED_LAYOUTS = Set.of("Q4_0", "Q4_1", "IQ4_NL");

    /// Formats that lie as in the file.
    private static final Set<String> FLOATS = Set.of("F16", "BF16", "F32");

    /// Float32, as it is in the file.
    public static final DeviceFormat F32 = asInFile("F32", Float.BYTES);

    /// Bytes of a block whose scales take more room on the device than in the file.
    private static final Map<String, Integer> DEVICE_BYTES =
            Map.of("Q5_K", 180, "Q4_K", 148, "Q3_K", 114, "IQ4_XS", 138);

    private static DeviceFormat asInFile(String id, int bytes) {
        return new DeviceFormat(id, 1, bytes, false, false, false, Optional.empty(), Optional.empty());
    }

    /// {@return the ids of the formats whose kernels are shipped, in alphabetical order}
    public static List<String> nativeIds() {
        return Stream.of(BLOCKS, SHIPPED_LAYOUTS, FLOATS)
                .flatMap(Set::stream)
                .sorted()
                .toList();
    }

    /// Chooses how a format whose kernels are shipped lies on the device.
    ///
    /// @param format the file's format
    /// @return the choice, or empty
    static Optional<DeviceFormat> ofOwn(QuantFormat format) {
        if (FLOATS.contains(format.id())) {
            return Optional.of(asInFile(format.id(), format.blockBytes()));
        }
        if (SHIPPED_LAYOUTS.contains(format.id())) {
            return format.layout()
                    .flatMap(DeviceLayout::of)
                    .map(layout -> of(format, format.id(), true, Optional.empty(), Optional.of(layout)));
        }
        return BLOCKS.contains(format.id())
                ? Optional.of(of(format, format.id(), true, Optional.empty(), Optional.empty()))
                : Optional.empty();
    }

    /// {@return how a format with a third party's decoder lies}
    static DeviceFormat of(QuantFormat format, CudaFragment fragment) {
        return of(format, third(format), false, Optional.of(fragment), Optional.empty());
    }

    /// {@return how a format lies whose kernels are made of its layout}
    static DeviceFormat of(QuantFormat format, DeviceLayout layout) {
        return of(format, third(format), true, Optional.empty(), Optional.of(layout));
    }

    /// {@return how any other format lies: decoded to F16}
    static DeviceFormat decoded() {
        return new DeviceFormat("F16", 1, Short.BYTES, false, false, true, Optional.empty(), Optional.empty());
    }

    private static String third(QuantFormat format) {
        return "Third_" + format.id().replaceAll("[^A-Za-z0-9_]", "_");
    }

    private static DeviceFormat of(
            QuantFormat format,
            String id,
            boolean integer,
            Optional<CudaFragment> fragment,
            Optional<DeviceLayout> layout) {
        return new DeviceFormat(id, format.blockSize(), format.blockBytes(), integer, integer, false, fragment, layout);
    }

    /// {@return the name by which the sources include what others say of the format}
    public String headerName() {
        return "format_" + id + ".cuh";
    }

    /// {@return whether the sources have to be told what the format is}
    public boolean hasHeader() {
        return fragment.isPresent() || layout.isPresent() && !SHIPPED_LAYOUTS.contains(id);
    }

    /// {@return the text of that header: a third party's decoder or the format's layout; empty for formats with
    ///     kernels written by hand}
    public Optional<String> header() {
        return layout.map(made -> made.source(id))
                .or(() -> fragment.map(decoder -> FragmentHeader.text(this, decoder)));
    }

    /// {@return the macros by which the sources are compiled for it; to be changed by the caller}
    public Map<String, String> macros() {
        Map<String, String> macros = new HashMap<>();
        macros.put("TENON_FORMAT", id);
        if (hasHeader()) {
            macros.put("TENON_FORMAT_FILE", "\"" + headerName() + "\"");
        }
        return macros;
    }

    /// {@return the bytes of so many elements on the device}
    ///
    /// @param elements a multiple of the block size
    public long bytes(long elements) {
        return layout.map(made -> made.bytes(elements))
                .orElseGet(() -> elements / blockSize * DEVICE_BYTES.getOrDefault(id, blockBytes));
    }
}
