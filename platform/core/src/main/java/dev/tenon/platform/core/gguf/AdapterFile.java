package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A low-rank adapter (LoRA) in GGUF that fits a model: for some of the model's matrices `W [rows,
/// cols]` it has `A [rank, cols]` in the tensor `NAME.lora_a` and `B [rows, rank]` in `NAME.lora_b`,
/// and changes `W` into `W + scale * factor * B A`. Matrices of experts, slice after slice, have an `A` and a `B` each.
/// Of the table of embeddings both come in the order of a look-up, as llama.cpp writes them. Owns the mapped file. Safe
/// for any thread.
public final class AdapterFile implements AutoCloseable {
    private static final String A = ".lora_a";
    private static final String B = ".lora_b";
    private static final String TABLE = "token_embd.weight";

    private final GgufFile file;
    private final double alpha;
    private final List<Change> changes;

    /// What an adapter changes of one tensor.
    ///
    /// @param tensor its name in the model
    /// @param a `[rank, cols]`, one after the other for each expert; of a table `[rows, rank]`
    /// @param b `[rows, rank]`, one after the other for each expert; of a table `[cols, rank]`
    /// @param factor factor beside the scale: alpha divided by the rank; 1 if the file names no alpha, or
    ///     0
    /// @param isTable whether the tensor is a table whose rows are looked up
    public record Change(String tensor, TensorInfo a, TensorInfo b, float factor, boolean isTable) {
        /// {@return elements of the product between both}
        public int rank() {
            return Math.toIntExact(b.cols());
        }

        /// {@return matrices of the tensor: experts, or 1}
        public int slices() {
            return Math.toIntExact(AdapterFile.slices(b));
        }
    }

    private AdapterFile(GgufFile file, GgufFile model) {
        this.file = file;
        GgufMetadata metadata = file.metadata();
        require("general.type", "adapter");
        require("adapter.type", "lora");
        require("general.architecture", model.metadata().requiredString("general.architecture"));
        if (metadata.has("adapter.alora.invocation_tokens")) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_KEY_VALUE,
                    name() + " changes only what comes after its invocation tokens, which is not supported; use an"
                            + " adapter without adapter.alora.invocation_tokens");
        }
        this.alpha = metadata.number("adapter.lora.alpha").orElse(0);
        if (!Double.isFinite(alpha)) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_KEY_VALUE,
                    name() + " has adapter.lora.alpha " + alpha + "; expected a finite number. Get the file again.");
        }
        this.changes = changes(model);
    }

    /// Opens an adapter, and checks that it is one of the model.
    ///
    /// @param path the file
    /// @param types the tensor types that are known
    /// @param model the model; borrowed for the call
    /// @return the adapter; the caller closes it
    /// @throws dev.tenon.api.error.TenonException as [GgufReader#open]
    /// @throws ModelFormatException (`MODEL-001`, `MODEL-002`) if it is no adapter, or one of another
    ///     architecture
    /// @throws UnsupportedModelException (`MODEL-004`, `MODEL-005`, `MODEL-010`) if it changes tensors
    ///     that the model does not have, or of other shapes; all reasons at once
    public static AdapterFile open(Path path, TensorTypes types, GgufFile model) {
        GgufFile file = GgufReader.open(path, types);
        try {
            return new AdapterFile(file, model);
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    private void require(String key, String expected) {
        String found = file.metadata().requiredString(key);
        if (!found.equals(expected)) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_KEY_VALUE,
                    name() + " has " + key + " '" + found + "'; expected '" + expected
                            + "', as in a LoRA adapter of this model");
        }
    }

    private List<Change> changes(GgufFile model) {
        List<Issue> issues = new ArrayList<>();
        List<Change> found = new ArrayList<>();
        for (TensorInfo tensor : file.tensors()) {
            String name = tensor.name();
            if (name.endsWith(A)) {
                String target = name.substring(0, name.length() - A.length());
                file.tensor(target + B)
                        .ifPresentOrElse(
                                b -> change(model, target, tensor, b, issues).ifPresent(found::add),
                                () -> issues.add(missing(target + B)));
            } else if (!name.endsWith(B)) {
                issues.add(Issue.error(
                        ErrorCode.MODEL_TENSOR_UNUSED,
                        "tensor " + name + " is neither the " + A + " nor the " + B + " of a matrix",
                        name));
            } else {
                String a = name.substring(0, name.length() - B.length()) + A;
                if (file.tensor(a).isEmpty()) {
                    issues.add(missing(a));
                }
            }
        }
        if (found.isEmpty() && issues.isEmpty()) {
            issues.add(missing("any" + A));
        }
        if (!issues.isEmpty()) {
            throw new UnsupportedModelException(
                    name() + " is no adapter for " + model.path().getFileName(), issues);
        }
        return List.copyOf(found);
    }

    private Optional<Change> change(GgufFile model, String target, TensorInfo a, TensorInfo b, List<Issue> issues) {
        Optional<TensorInfo> matrix = model.tensor(target);
        if (matrix.isEmpty()) {
            issues.add(Issue.error(
                    ErrorCode.MODEL_TENSOR_UNUSED,
                    "tensor " + a.name() + " changes " + target + ", which the model does not have",
                    a.name()));
            return Optional.empty();
        }
        TensorInfo w = matrix.get();
        long rank = b.cols();
        boolean isTable = target.equals(TABLE) && a.cols() == rank && a.rows() == w.rows() && b.rows() == w.cols();
        boolean isMatrices = a.cols() == w.cols() && a.rows() == rank * slices(w) && b.rows() == w.rows();
        boolean isSliced = Stream.of(a, b)
                .allMatch(each -> each.shape().size() <= w.shape().size() && slices(each) == slices(w));
        if (w.shape().size() < 2 || w.shape().size() > 3 || !isSliced || !isTable && !isMatrices) {
            issues.add(Issue.error(
                    ErrorCode.MODEL_TENSOR_SHAPE,
                    "tensors " + a.name() + " " + a.shape() + " and " + B + " " + b.shape() + " do not fit the shape "
                            + w.shape() + " of the model's tensor; expected [cols, rank] and [rank, rows] of a matrix,"
                            + " and the number of experts as third dimension where the tensor has one",
                    a.name()));
            return Optional.empty();
        }
        return Optional.of(new Change(target, a, b, alpha == 0 ? 1 : (float) (alpha / rank), isTable && !isMatrices));
    }

    private static long slices(TensorInfo tensor) {
        return tensor.shape().size() > 2 ? tensor.shape().get(2) : 1;
    }

    private static Issue missing(String tensor) {
        return Issue.error(ErrorCode.MODEL_TENSOR_MISSING, "tensor " + tensor + " is missing", tensor);
    }

    private String name() {
        return file.path().getFileName().toString();
    }

    /// {@return the open file; owned by the adapter}
    public GgufFile file() {
        return file;
    }

    /// {@return what it changes, in the order of the file; unmodifiable}
    public List<Change> changes() {
        return changes;
    }

    @Override
    public void close() {
        file.close();
    }
}
