package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Converts a model to other weight formats.
///
/// The outcome is laid out as llama-quantize does it (tensors by layer and name, file type and
/// quantisation version as the last keys, split files joined), so that equal encoders give equal
/// files.
public final class Requantizer {
    private static final Pattern SPLIT = Pattern.compile("(.*-)\\d{5}(-of-(\\d{5})\\.gguf)");
    private static final String FILE_TYPE = "general.file_type";
    private static final String QUANTIZATION_VERSION = "general.quantization_version";
    /// The version of ggml's block layouts that the formats have.
    private static final long LAYOUT_VERSION = 2;

    private Requantizer() {}

    /// Quantises every weight matrix of a model; norms, biases and routers are copied as they are.
    ///
    /// A matrix that has the wanted type already is copied; any other is decoded to float32 and
    /// encoded. Going from one quantised format to another loses more than going from F16.
    ///
    /// @param in the model; borrowed
    /// @param out where the model goes; nothing has been put into it
    /// @param mix what [QuantMix#of(String)] understands
    /// @param formats installed formats
    /// @return bytes written
    /// @throws UnsupportedModelException (`MODEL-006`) if a format is needed that is not installed
    /// @throws ModelFormatException (`MODEL-007`) if a weight is NaN or infinite
    /// @throws dev.tenon.api.error.TenonException (`IO-001`) if `out` cannot be written
    ///     or is a file of the model
    public static long quantize(GgufFile in, GgufWriter out, String mix, Collection<? extends QuantFormat> formats) {
        return quantize(in, Merge.nothing(), out, mix, formats);
    }

    /// Quantises a model as above, after adapters have been merged into it. A matrix that they change is
    /// always decoded and encoded.
    ///
    /// @param in the model; borrowed
    /// @param merge adapters of this model; borrowed
    /// @param out as above
    /// @param mix as above
    /// @param formats as above
    /// @return bytes written
    public static long quantize(
            GgufFile in, Merge merge, GgufWriter out, String mix, Collection<? extends QuantFormat> formats) {
        QuantMix choice = QuantMix.of(mix);
        FormatSet installed = new FormatSet(formats);
        QuantMix.Model model = model(in);
        out.version(3)
                .reading(Stream.concat(parts(in.path()).stream(), merge.files()).toList());
        putMetadata(out, in.metadata(), choice);
        List<TensorInfo> tensors =
                in.tensors().stream().sorted(byLayerAndName()).toList();
        TensorTypes types = TensorTypes.of(formats);
        for (TensorInfo tensor : tensors) {
            TensorType source =
                    types.require(tensor.ggmlType(), tensor.name(), in.path().toString());
            TensorType type = QuantMix.quantizes(tensor.name(), tensor.shape())
                    ? choice.choose(tensor.name(), tensor.shape(), model, installed::writable)
                    : source;
            GgufWriter.TensorWriter rows = rows(in, merge, tensor, source, type, installed);
            out.tensor(tensor.name(), type, tensor.shape(), (target, firstRow, count) -> {
                try {
                    rows.write(target, firstRow, count);
                } finally {
                    merge.requireUnchanged();
                    in.requireUnchanged(); // else what was read is not the model's, whatever came of it
                }
            });
        }
        return out.write();
    }

    /// {@return the files of a model: all parts of a split one}
    ///
    /// @param path its first file
    public static List<Path> parts(Path path) {
        Matcher split = SPLIT.matcher(path.getFileName().toString());
        if (!split.matches()) {
            return List.of(path);
        }
        return IntStream.rangeClosed(1, Integer.parseInt(split.group(3)))
                .mapToObj(part ->
                        path.resolveSibling(split.group(1) + String.format(Locale.ROOT, "%05d", part) + split.group(2)))
                .toList();
    }

    /// {@return the order in which tensors are written: those outside layers first, then layer by
    /// layer, by name}
    static Comparator<TensorInfo> byLayerAndName() {
        return Comparator.comparingInt((TensorInfo tensor) -> QuantMix.layer(tensor.name()))
                .thenComparing(TensorInfo::name);
    }

    static void putFileType(GgufWriter writer, QuantMix mix) {
        writer.put(QUANTIZATION_VERSION, GgufValue.ofUint32(LAYOUT_VERSION));
        mix.fileType().ifPresent(number -> writer.put(FILE_TYPE, GgufValue.ofUint32(number)));
    }

    private static void putMetadata(GgufWriter writer, GgufMetadata metadata, QuantMix mix) {
        for (Map.Entry<String, GgufValue> entry : metadata.values().entrySet()) {
            String key = entry.getKey();
            if (key.equals(FILE_TYPE) || key.equals(QUANTIZATION_VERSION) || key.startsWith("split.")) {
                continue;
            }
            GgufValue value = entry.getValue();
            if (key.equals(GgufWriter.ALIGNMENT_KEY)) {
                value = new GgufValue(GgufType.UINT32, null, value.value());
            }
            writer.put(key, value);
        }
        putFileType(writer, mix);
    }

    private static QuantMix.Model model(GgufFile in) {
        GgufMetadata metadata = in.metadata();
        String architecture = metadata.string("general.architecture").orElse("");
        int highest = in.tensors().stream()
                .mapToInt(tensor -> QuantMix.layer(tensor.name()))
                .max()
                .orElse(-1);
        return new QuantMix.Model(
                architecture,
                metadata.integer(architecture + ".block_count").orElse(highest + 1),
                heads(metadata, architecture + ".attention.head_count"),
                heads(metadata, architecture + ".attention.head_count_kv"),
                metadata.integer(architecture + ".expert_count").orElse(0),
                in.tensor("output.weight").isPresent());
    }

    /// The head count, which some architectures give layer by layer; then that of the first layer.
    private static int heads(GgufMetadata metadata, String key) {
        GgufValue value = metadata.values().get(key);
        if (value != null && value.value() instanceof long[] perLayer) {
            return perLayer.length == 0 ? 0 : Math.clamp(perLayer[0], 0, Integer.MAX_VALUE);
        }
        return metadata.integer(key).orElse(0);
    }

    private static GgufWriter.TensorWriter rows(
            GgufFile in, Merge merge, TensorInfo tensor, TensorType source, TensorType type, FormatSet installed) {
        MemorySegment data = in.data(tensor);
        long sourceRow = source.bytesFor(tensor.cols());
        if (source.equals(type) && !merge.changes(tensor.name())) {
            return (target, firstRow, rows) ->
                    MemorySegment.copy(data, firstRow * sourceRow, target, 0, rows * sourceRow);
        }
        QuantFormat decoder =
                installed.decoder(tensor.ggmlType(), tensor.name(), in.path().toString());
        Quantizer encoder = installed
                .writable(type.name())
                .map(installed::quantizer)
                .orElseThrow(() -> new UnsupportedModelException(
                        ErrorCode.MODEL_TENSOR_FORMAT,
                        "An adapter changes tensor " + tensor.name() + ", and no installed format writes its type "
                                + type.name() + ". Start from a model in F16."));
        long targetRow = type.bytesFor(tensor.cols());
        int cols = Math.toIntExact(tensor.cols());
        return (target, firstRow, rows) -> {
            float[] values = new float[cols];
            Merge.Rows changed = merge.rows(tensor.name(), installed);
            for (long row = 0; row < rows; row++) {
                decoder.dequantize(data, (firstRow + row) * sourceRow, values, 0, cols);
                changed.addTo(values, firstRow + row);
                checkFinite(values, tensor, firstRow + row, in.path());
                encoder.quantize(values, 0, target, row * targetRow, cols);
            }
        };
    }

    private static void checkFinite(float[] values, TensorInfo tensor, long row, Path file) {
        float sum = 0;
        for (float value : values) {
            sum += value * 0f;
        }
        if (sum == 0) {
            return;
        }
        for (int col = 0; col < values.length; col++) {
            if (!Float.isFinite(values[col])) {
                throw new ModelFormatException(
                        ErrorCode.MODEL_DATA,
                        "Tensor " + tensor.name() + " in " + file + " holds " + values[col] + " (row " + row
                                + ", column " + col
                                + "); expected finite numbers. The file is broken: download it again.");
            }
        }
    }
}
