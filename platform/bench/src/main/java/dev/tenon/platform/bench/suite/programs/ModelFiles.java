package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.tools.gguf.GgufWriter;
import dev.tenon.platform.tools.gguf.Synth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// Finds the file of a model, or makes one of the same shape with random weights.
///
/// Files that were made stay for the programs after this one if they are small, or else go with
/// [#drop].
final class ModelFiles {
    /// Larger files are deleted after use.
    private static final long KEPT_BYTES = 3L << 29;
    /// How much space is left alone.
    private static final long SPARE_BYTES = 1L << 30;

    private final ProgramOptions options;
    private final Engine engine;
    private final Console console;

    ModelFiles(ProgramOptions options, Engine engine, Console console) {
        this.options = options;
        this.engine = engine;
        this.console = console;
    }

    /// {@return bytes of the model's weights}
    long bytes(ModelSpec spec) {
        return Synth.weightBytes(spec.shape(), spec.type(), engine.architectures(), TensorTypes.of(engine.formats()));
    }

    /// {@return a file that need not be made: a real one, or one that was made before}
    Optional<Path> there(ModelSpec spec) {
        Path made = options.madeModels().resolve(spec.fileName());
        return (spec.layers() == 0 ? real(spec) : Optional.<Path>empty())
                .or(() -> Files.exists(made) ? Optional.of(made) : Optional.empty());
    }

    /// {@return the model's file}
    ///
    /// @throws SkipException if the disk has no space for it
    Path file(ModelSpec spec) {
        Optional<Path> there = there(spec);
        if (there.isPresent()) {
            return there.get();
        }
        Path file = options.madeModels().resolve(spec.fileName());
        try {
            Files.createDirectories(options.madeModels());
            long needed = bytes(spec);
            long free = Files.getFileStore(options.madeModels()).getUsableSpace();
            if (needed + SPARE_BYTES > free) {
                throw new SkipException("needs " + Sizes.bytes(needed) + " in " + options.madeModels() + " and another "
                        + Sizes.bytes(SPARE_BYTES) + " to spare; " + Sizes.bytes(free) + " are free");
            }
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO, options.madeModels() + " cannot be used for models: " + e.getMessage(), e);
        }
        try (Progress bar = console.progress("make " + spec.label(), -1, "bytes")) {
            Synth.write(
                    GgufWriter.to(file).threads(options.team()).progress(bar::to),
                    spec.shape(),
                    spec.type(),
                    engine.architectures(),
                    engine.formats());
        }
        return file;
    }

    /// {@return the file of a trained model: the configured one, at first the story model of the distribution}
    ///
    /// @throws SkipException if there is none
    Path trained() {
        try {
            Path file = console.model(null);
            if (Files.isRegularFile(file)) {
                return file;
            }
            throw new SkipException("needs a trained model, and " + file + " is not there; set TENON_MODEL");
        } catch (TenonException e) {
            throw new SkipException("needs a trained model: " + e.getMessage());
        }
    }

    /// Deletes a file that was made, if it is large.
    void drop(ModelSpec spec) {
        Path file = options.madeModels().resolve(spec.fileName());
        try {
            if (Files.exists(file) && Files.size(file) > KEPT_BYTES) {
                Files.delete(file);
            }
        } catch (IOException e) {
            console.note(file + " is left behind: " + e.getMessage());
        }
    }

    private Optional<Path> real(ModelSpec spec) {
        if (!Files.isDirectory(options.realModels())) {
            return Optional.empty();
        }
        try (Stream<Path> files = Files.walk(options.realModels(), 2)) {
            return files.filter(file -> isReal(file.getFileName().toString(), spec))
                    .min(java.util.Comparator.naturalOrder());
        } catch (IOException | java.io.UncheckedIOException e) {
            console.note(options.realModels() + " is not searched: " + e.getMessage());
            return Optional.empty();
        }
    }

    /// {@return whether a file's name says that it is the model: such as
    ///     Llama-3.2-1B-Instruct-Q6_K.gguf}
    static boolean isReal(String fileName, ModelSpec spec) {
        String name = fileName.toLowerCase(Locale.ROOT);
        return name.startsWith(spec.preset() + "-")
                && name.endsWith("-" + spec.type().toLowerCase(Locale.ROOT) + ".gguf");
    }
}
