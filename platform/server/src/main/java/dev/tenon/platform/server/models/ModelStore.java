package dev.tenon.platform.server.models;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// Where models are that are loaded when they are asked for. One whose models never change implements [#models] alone.
/// Safe for any thread.
@ConsumerType
@FunctionalInterface
public interface ModelStore {
    /// {@return the models that are there now; asked at each look, so it must be quick}
    List<ModelSpec> models();

    /// Finds a model by a name that it has besides those of its description, such as that of its repository.
    ///
    /// @param name what a request calls it
    /// @return the name of one of [#models]
    default Optional<String> find(String name) {
        return Optional.empty();
    }

    /// Keeps a model under a name: the file of another one, with a preset of its own. A kept one of this name is
    /// replaced.
    ///
    /// @param name the name
    /// @param from whose file and sampling it has
    /// @param preset what holds for its requests
    /// @throws TenonException if there is a model of this name that was not kept by this method, or nothing is kept
    default void keep(String name, ModelSpec from, Preset preset) {
        throw unchangeable();
    }

    /// Deletes a model: its file, or what [#keep] made.
    ///
    /// @param name the name of one of [#models]
    /// @param used files that models have which are not of this store
    /// @throws TenonException if another one has the same file, or nothing is deleted here
    default void delete(String name, List<Path> used) {
        throw unchangeable();
    }

    /// Downloads a model. Blocks.
    ///
    /// @param source repository and quantisation
    /// @param progress hears how far it is, on the calling thread
    /// @throws TenonException if it cannot be had, or the thread is interrupted
    default void pull(String source, PullProgress progress) {
        throw unchangeable();
    }

    private static TenonException unchangeable() {
        return new TenonException(
                ErrorCode.ARGUMENT, "The server has no folder of models to change. Name one with --models-dir.");
    }

    /// Hears how far a download is.
    @FunctionalInterface
    interface PullProgress {
        /// Takes a state.
        ///
        /// @param state the state
        void at(PullState state);
    }

    /// How far a download is.
    ///
    /// @param step what is being done
    /// @param file the file that is being read, or null
    /// @param done bytes of it that are there
    /// @param total its size; -1 when unknown
    record PullState(String step, String file, long done, long total) {
        /// {@return a step without a file}
        ///
        /// @param step what is being done
        public static PullState of(String step) {
            return new PullState(step, null, 0, -1);
        }
    }
}
