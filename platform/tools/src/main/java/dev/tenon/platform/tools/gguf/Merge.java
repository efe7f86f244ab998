package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.gguf.AdapterFile;
import dev.tenon.platform.core.gguf.AdapterFile.Change;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Low-rank adapters that are merged into the matrices of a model. Owns their files. Safe for any
/// thread.
public final class Merge implements AutoCloseable {
    private final List<Scaled> adapters = new ArrayList<>();

    private record Scaled(AdapterFile file, float scale) {}

    private Merge() {}

    /// Opens adapters.
    ///
    /// @param scales the factor on what each file adds
    /// @param types the tensor types that are known
    /// @param model the model; borrowed for the call
    /// @return what is merged; the caller closes it
    /// @throws TenonException (`STATE-002`) if a scale is no finite number, or as [AdapterFile#open]
    public static Merge open(Map<Path, Float> scales, TensorTypes types, GgufFile model) {
        Merge merge = new Merge();
        try {
            scales.forEach((path, scale) -> {
                if (!Float.isFinite(scale)) {
                    throw new TenonException(
                            ErrorCode.ARGUMENT, "Adapter " + path + " has scale " + scale + "; give a finite number.");
                }
                merge.adapters.add(new Scaled(AdapterFile.open(path, types, model), scale));
            });
            return merge;
        } catch (RuntimeException | Error e) {
            merge.close();
            throw e;
        }
    }

    /// {@return no adapters}
    static Merge nothing() {
        return new Merge();
    }

    /// {@return the files}
    Stream<Path> files() {
        return adapters.stream().map(adapter -> adapter.file().file().path());
    }

    /// {@return whether a tensor of the model is changed}
    boolean changes(String tensor) {
        return adapters.stream()
                .flatMap(adapter -> adapter.file().changes().stream())
                .anyMatch(change -> change.tensor().equals(tensor));
    }

    /// Checks that the files are what they were.
    ///
    /// @throws dev.tenon.api.error.TenonException (`GGUF-010`) if one was changed
    void requireUnchanged() {
        adapters.forEach(adapter -> adapter.file().file().requireUnchanged());
    }

    /// Adds what the adapters change of a tensor.
    interface Rows {
        /// @param values the row, changed in place; the sum is float64 until it is complete
        /// @param row which one
        void addTo(float[] values, long row);
    }

    /// {@return what is added to a tensor; nothing if no adapter changes it}
    Rows rows(String tensor, FormatSet formats) {
        List<Product> products = new ArrayList<>();
        for (Scaled adapter : adapters) {
            for (Change change : adapter.file().changes()) {
                if (change.tensor().equals(tensor)) {
                    products.add(Product.of(adapter, change, formats));
                }
            }
        }
        return (values, row) -> {
            if (products.isEmpty()) {
                return;
            }
            double[] sums = new double[values.length];
            for (int i = 0; i < sums.length; i++) {
                sums[i] = values[i];
            }
            products.forEach(product -> product.addTo(sums, row));
            for (int i = 0; i < sums.length; i++) {
                values[i] = (float) sums[i];
            }
        };
    }

    /// A factor times `B A`, decoded.
    ///
    /// @param rows rows of a slice
    /// @param isTable whether `a` holds the rows' factors, and `b` those of the columns
    private record Product(float[] a, float[] b, int rank, long rows, boolean isTable, double factor) {
        static Product of(Scaled adapter, Change change, FormatSet formats) {
            return new Product(
                    decoded(adapter, change.a(), formats),
                    decoded(adapter, change.b(), formats),
                    change.rank(),
                    change.b().rows() / change.slices(),
                    change.isTable(),
                    (double) adapter.scale() * change.factor());
        }

        private static float[] decoded(Scaled adapter, TensorInfo tensor, FormatSet formats) {
            GgufFile file = adapter.file().file();
            QuantFormat format = formats.decoder(
                    tensor.ggmlType(), tensor.name(), file.path().toString());
            float[] values = new float[Math.toIntExact(tensor.elements())];
            format.dequantize(file.data(tensor), 0, values, 0, values.length);
            return values;
        }

        void addTo(double[] sums, long row) {
            int first = Math.toIntExact(row * rank);
            int slice = isTable ? 0 : Math.toIntExact(row / rows * rank);
            for (int k = 0; k < rank; k++) {
                double weight = factor * (isTable ? a : b)[first + k];
                for (int i = 0; i < sums.length; i++) {
                    sums[i] += weight * (isTable ? b[i * rank + k] : a[(slice + k) * sums.length + i]);
                }
            }
        }
    }

    @Override
    public void close() {
        adapters.forEach(adapter -> adapter.file().close());
    }
}
