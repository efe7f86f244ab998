package dev.tenon;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.hub.ModelFiles;
import dev.tenon.platform.hub.ModelPull;
import dev.tenon.platform.hub.ModelReference;
import dev.tenon.platform.hub.PullListener;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds the files of models by name, and downloads those that are not here.
final class ModelSource {
    private static final Logger LOG = LoggerFactory.getLogger(ModelSource.class);

    private final ModelRegistries registries;
    private final Progress progress;

    /// @param engine knows the registries of models
    /// @param progress hears how far downloads are
    ModelSource(Engine engine, Progress progress) {
        this.registries = ModelRegistries.of(engine);
        this.progress = progress;
    }

    /// {@return the file of a model, or the first one of its parts}
    ///
    /// @param name as [Tenon] takes it
    /// @throws TenonException if it is nowhere
    Path find(String name) {
        ModelFiles files = new ModelFiles(ModelFiles.folder(setting("models")));
        Optional<URI> address = ModelPull.web(name);
        try {
            if (address.isPresent()) {
                return first(pull().pull(address.get(), ModelPull.Target.in(files.folder())));
            }
            if (!files.isMissing(name)) {
                return files.find(name);
            }
            ModelReference reference = ModelReference.of(name).orElseThrow();
            Optional<Path> there = pull().inPlace(reference);
            return there.isPresent() ? there.get() : first(pull().pull(reference, ModelPull.Target.in(files.folder())));
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO,
                    name + " cannot be stored in " + files.folder() + ": " + e.getMessage()
                            + ". Free space, or set TENON_MODELS to another folder.",
                    e);
        }
    }

    private static Path first(List<Path> parts) {
        return parts.getFirst();
    }

    private ModelPull pull() {
        return new ModelPull(registries, ModelSource::setting, new Listener());
    }

    private static Optional<String> setting(String key) {
        return Optional.ofNullable(
                System.getenv("TENON_" + key.toUpperCase(Locale.ROOT).replace('.', '_')));
    }

    private final class Listener implements PullListener {
        @Override
        public Task begin(String name, long bytes) {
            progress.at(name, 0, bytes);
            return (done, total) -> progress.at(name, done, total);
        }

        @Override
        public void note(String text) {
            LOG.info("{}", text);
        }

        @Override
        public void retries(String reason) {
            LOG.warn("A download goes on after a failure: {}", reason);
        }

        @Override
        public void stored(Path file) {
            LOG.info("Stored {}", file);
        }
    }
}
