package dev.tenon.platform.cli;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.core.control.ModelRegistries;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import org.osgi.annotation.versioning.ProviderType;

/// A command's access to streams, terminal, settings and model names.
///
/// A command gets it through a field with picocli's `@ParentCommand`. Valid while the command runs;
/// not for several threads unless a method says so.
@ProviderType
public interface Console {
    /// {@return standard output as UTF-8 text; flush it to show text at once. A terminal gets control characters as
    /// escapes}
    PrintWriter out();

    /// {@return standard output as [#out()], for escape sequences of the command's own: other parts of the text have to
    /// be harmless, see [dev.tenon.api.error.OneLine]}
    default PrintWriter styledOut() {
        return out();
    }

    /// {@return standard output as bytes; flush [#out()] before use}
    OutputStream outBytes();

    /// {@return standard error as UTF-8 text, flushed at each line end. A terminal gets control characters as escapes}
    PrintWriter err();

    /// {@return standard input}
    InputStream in();

    /// {@return whether standard input is a terminal}
    boolean inIsTerminal();

    /// {@return whether standard output is a terminal}
    boolean outIsTerminal();

    /// {@return whether standard error is a terminal}
    boolean errIsTerminal();

    /// {@return whether standard output is to have colours}
    default boolean outHasColor() {
        return false;
    }

    /// {@return whether `--quiet` was given: only results and errors are wanted}
    boolean quiet();

    /// Marks text for standard error as dim, where colour is wanted.
    ///
    /// @param text plain text
    /// @return the text with or without escape sequences
    String dim(String text);

    /// Writes a remark to standard error, unless `--quiet` was given.
    ///
    /// @param text one line
    void note(String text);

    /// Asks on the terminal whether a file that is there is to be replaced.
    ///
    /// @param file the file
    /// @param allowed whether that was allowed beforehand, as with `-y`; then nothing is asked
    /// @return whether it may be replaced; no, where nobody can be asked
    /// @throws UncheckedIOException if standard input cannot be read
    default boolean mayReplace(Path file, boolean allowed) {
        if (allowed || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return allowed;
        }
        return agrees(file + " exists. Replace it?");
    }

    /// Asks a question on the terminal.
    ///
    /// @param question without the answers
    /// @return whether the answer is yes; no, where nobody can be asked
    /// @throws UncheckedIOException if standard input cannot be read
    default boolean agrees(String question) {
        if (!inIsTerminal() || !errIsTerminal()) {
            return false;
        }
        err().print(question + " [y/N] ");
        err().flush();
        StringBuilder answer = new StringBuilder();
        try {
            InputStream in = in();
            for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
                answer.append((char) c);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return answer.toString().strip().toLowerCase(Locale.ROOT).matches("y|yes");
    }

    /// Starts a progress bar on standard error. It appears only if the task takes long, and only on
    /// a terminal without `--quiet`; otherwise nothing is shown.
    ///
    /// @param task what is being done, such as `quantize`
    /// @param total how much there is to do; -1 when unknown
    /// @param unit what is counted: `bytes` are shown as MiB; anything else is shown as it is
    /// @return the bar; the caller closes it
    Progress progress(String task, long total, String unit);

    /// Calls an action at Ctrl-C instead of ending the process, until closed. A second Ctrl-C ends
    /// the process.
    ///
    /// @param action called on a thread of the JVM; must be quick
    /// @return closes the watch
    Interrupt onInterrupt(Runnable action);

    /// Calls an action when the process is told to end (SIGTERM), until closed; the process then ends with the
    /// command's
    /// status. A second signal ends it.
    ///
    /// @param action called on a thread of the JVM; must be quick
    /// @return closes the watch
    default Interrupt onTermination(Runnable action) {
        return Interrupt.NONE;
    }

    /// Calls an action whenever the process is told to read its settings again (SIGHUP), until closed.
    ///
    /// @param action called on a thread of the JVM; must be quick
    /// @return closes the watch
    default Interrupt onReload(Runnable action) {
        return Interrupt.NONE;
    }

    /// Tells that the command does its work, and offers what it has to another version of it: when
    /// the command's bundle is replaced, the new bundle's command runs beside this one with the
    /// same arguments. If that fails before it calls this method, this one goes on, and the bundle
    /// stays; else this one's bundle stops. Where this command has itself taken the place of
    /// another one, that one's bundle stops now. For any thread.
    ///
    /// @param things called when the other one begins; gives objects of classes that outlive the
    ///     bundle
    default void offer(Supplier<List<Object>> things) {}

    /// {@return what the command whose place this one takes offers now; else an empty list}
    default List<Object> offered() {
        return List.of();
    }

    /// {@return whether another run of the command does its work, so that this one has only to end
    /// what it has begun}
    default boolean isSucceeded() {
        return false;
    }

    /// Looks up a setting: environment `TENON_<KEY>`, then configuration, then property
    /// `tenon.<key>`.
    ///
    /// @param key such as `model`; dots and dashes become underscores in the environment's name
    /// @return the value, if there is one that is not blank
    Optional<String> setting(String key);

    /// {@return the registries of models that there are now}
    default ModelRegistries registries() {
        return ModelRegistries.of(null);
    }

    /// Finds the model file that a user means.
    ///
    /// @param name a path, the name of a pulled model, a model of a registry, or null for the configured model
    /// @return the file's path; it may be missing, which loading reports
    /// @throws dev.tenon.api.error.TenonException if nothing is given and nothing is configured, a pulled model is
    ///     meant that is not there, or there is no such registry or it has no such model
    Path model(String name);

    /// Loads a model through the engine, with a progress bar while it takes long.
    ///
    /// @param engine the engine, or null when there is none
    /// @param request what to load
    /// @return the model; the caller closes it
    /// @throws dev.tenon.api.error.TenonException if there is no engine (`ENV-003`), or loading
    ///     fails
    LoadedModel load(Engine engine, LoadRequest request);

    /// A watch for a signal, such as Ctrl-C.
    @ProviderType
    interface Interrupt extends AutoCloseable {
        /// A watch where nothing is watched.
        Interrupt NONE = new Interrupt() {
            @Override
            public boolean happened() {
                return false;
            }

            @Override
            public void close() {
                // nothing is watched
            }
        };

        /// {@return whether the signal came}
        boolean happened();

        /// Ends the watch. Calling it twice does nothing.
        @Override
        void close();
    }
}
