package dev.tenon.spark;

import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.Future;

/// What tasks ask of the engine, which needs a newer Java than this package. Found as a service.
/// Safe for any thread.
public interface RowEngine {
    /// The Java that the engine needs.
    int JAVA = 25;

    /// Which model answers, and where it runs. Equal ones are one model in a JVM.
    ///
    /// @param name as the front door takes it
    /// @param backend which backend, or empty for the best one
    /// @param device which of its devices, or empty for the first
    /// @param threads how many compute on the CPU; 0 for one for each core
    /// @param sequences how many rows run at once
    /// @param contextLength how many tokens a row and its answer may have, or 0 for the default
    /// @param embeds whether a model that generates makes vectors, too
    /// @param settings settings of the backend or the engine
    record Place(
            String name,
            String backend,
            String device,
            int threads,
            int sequences,
            int contextLength,
            boolean embeds,
            Map<String, String> settings) {}

    /// What is asked for a row.
    ///
    /// @param text the text, message or document
    /// @param query what a document is scored for; null for other work
    /// @param seed where the random sequence of its answer begins
    record Question(String text, String query, long seed) {}

    /// What a row got.
    ///
    /// @param value a text, a `float[]` or a `Float`; null if it failed
    /// @param error code and text; null if it did not fail
    /// @param inputTokens tokens of the row that were run
    /// @param cachedTokens tokens of the row that had been run for another one
    /// @param outputTokens tokens of the answer
    /// @param end why the answer ended; null where nothing is generated
    record Answer(Object value, String error, int inputTokens, int cachedTokens, int outputTokens, String end) {}

    /// Answers the rows of one task.
    interface Answering extends AutoCloseable {
        /// {@return whether this task was the one that loaded the model}
        boolean hasLoaded();

        /// Begins to answer a row. Rows that were asked for earlier begin earlier.
        ///
        /// @param question what is asked
        /// @return the answer, also where the row is at fault; fails where the machine is
        Future<Answer> ask(Question question);

        /// Ends what runs after its step, and waits for that.
        @Override
        void close();
    }

    /// Loads the model, if this JVM does not have it, and begins to answer rows with it. Blocks.
    ///
    /// @param place which model
    /// @param work what is made of rows
    /// @param options how
    /// @return for one task, which closes it; the model stays until the JVM ends
    Answering begin(Place place, Work work, TenonOptions options);

    /// {@return the engine of this JVM}
    ///
    /// @throws IllegalStateException if there is none
    static RowEngine find() {
        int java = Runtime.version().feature();
        if (java < JAVA) {
            throw new IllegalStateException("Models run on Java " + JAVA + " or newer, and this JVM is Java " + java
                    + ". Set spark.executorEnv.JAVA_HOME to a newer one, and see that rows are not evaluated by the"
                    + " driver.");
        }
        return ServiceLoader.load(RowEngine.class, RowEngine.class.getClassLoader())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No engine is in the jar of " + RowEngine.class));
    }
}
