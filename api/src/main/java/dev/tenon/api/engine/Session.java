package dev.tenon.api.engine;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import org.osgi.annotation.versioning.ProviderType;

/// One sequence of tokens with its KV cache. It grows with each call, so that a chat only sends
/// what is new.
///
/// One call at a time: others wait for it. [#cancel()] and [#close()] may come from any thread. Whoever
/// opened it closes it.
///
/// Interrupting the thread of a call that computes ends the call when the running step ends, or, while it
/// waits for another call, at once with [dev.tenon.api.error.TenonException] (`STATE-004`). The thread
/// stays interrupted.
@ProviderType
public interface Session extends AutoCloseable {
    /// Appends a prompt and generates until a stop. Blocks; the listener is called on the calling
    /// thread. Interrupting the thread cancels the generation, as [#cancel()] does.
    ///
    /// The session keeps the tokens of the prompt and those of the reply that the listener heard,
    /// and a token that ended the text. The last one has not been run yet; the next call runs it.
    ///
    /// @param request prompt, sampling, limits
    /// @param listener hears text as it comes; must not call this session, but for [#cancel()]
    /// @return counts, times and why it ended
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the prompt does not fit
    ///     the context; the session is unchanged
    /// @throws dev.tenon.api.error.BackendException if the backend failed or was withdrawn
    Usage generate(GenerationRequest request, GenerationListener listener);

    /// Appends a prompt and begins to generate, on no thread of the caller's. Does not block. The
    /// session is busy until the generation ends: other calls wait, and another `submit` fails.
    ///
    /// @param request prompt, sampling, limits
    /// @return the generation, which runs whether or not somebody subscribes
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the prompt does not fit
    ///     the context; the session is unchanged
    /// @throws dev.tenon.api.error.TenonException (`STATE-003`) if the session is busy
    Generation submit(GenerationRequest request);

    /// Appends tokens and computes the default output of the graph, usually the logits, after some or all
    /// of them, without sampling. Blocks.
    ///
    /// @param tokens token ids
    /// @param which for which tokens rows are wanted
    /// @param consumer called on the calling thread, in the order of the tokens
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the tokens do not fit
    ///     the context; the session is unchanged
    /// @throws dev.tenon.api.error.TenonException (`STATE-004`) if the thread is interrupted; the session
    ///     is unchanged
    void evaluate(int[] tokens, Rows which, RowConsumer consumer);

    /// Appends tokens and computes an output of the graph after some or all of them, without sampling.
    /// Blocks.
    ///
    /// @param tokens token ids
    /// @param which for which tokens rows are wanted
    /// @param output one of [LoadedModel#outputs()], such as [dev.tenon.api.graph.Graph#HIDDEN]
    /// @param consumer called on the calling thread, in the order of the tokens
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the tokens do not fit
    ///     the context; the session is unchanged
    /// @throws dev.tenon.api.error.TenonException (`STATE-002`) if the model was loaded without the
    ///     output, (`STATE-004`) if the thread is interrupted; the session is unchanged
    void evaluate(int[] tokens, Rows which, String output, RowConsumer consumer);

    /// Appends a prompt with pictures or sounds and computes the default output as [#evaluate(int[], Rows,
    /// RowConsumer)].
    ///
    /// @param tokens token ids, and [those of rows][PromptMedia#tokens]
    /// @param media has the rows
    /// @param which for which tokens rows of the output are wanted
    /// @param consumer as there
    void evaluate(int[] tokens, List<PromptMedia> media, Rows which, RowConsumer consumer);

    /// For which tokens rows are wanted.
    enum Rows {
        /// None.
        NONE,
        /// Only for the last token.
        LAST,
        /// For each token.
        ALL
    }

    /// Receives rows of an output.
    @FunctionalInterface
    interface RowConsumer {
        /// Takes one row.
        ///
        /// @param index index of the token in the call
        /// @param row `[width]`, of logits `[vocabularySize]`; reused for the next row
        void accept(int index, float[] row);
    }

    /// {@return number of tokens in the session}
    int length();

    /// {@return the tokens of the session, after a running call; owned by the caller}
    int[] tokens();

    /// Forgets all tokens from a position on; their pages are released.
    ///
    /// @param length tokens to keep, 0 to [#length()]
    void truncate(int length);

    /// Chooses the adapters that the following calls use, in place of those before: at first each of
    /// [LoadRequest#adapters()] with its scale. If that is a change, the tokens of the session are run
    /// again by the next call, because what the KV cache holds of them depends on the adapters.
    ///
    /// @param scales the factor on what each adapter adds, by name; adapters that are not named are not
    ///     used
    /// @throws dev.tenon.api.error.TenonException (`STATE-002`) if the model was loaded without one of
    ///     them, or a scale is no finite number; the session is unchanged
    void adapters(Map<String, Float> scales);

    /// Writes the session: its tokens, the rows of pictures and sounds among them, and what the device
    /// computed, so that [#restore] goes on without running them again. Waits for a running call; no
    /// step of the model runs meanwhile.
    ///
    /// @param to takes the bytes; stays open
    /// @throws IOException if it does not take them
    void save(OutputStream to) throws IOException;

    /// Reads a session that [#save] wrote, into this one, which is empty. Logits after its tokens are those that the
    /// saved session would give. Where memory for computed tokens is short, they run again.
    ///
    /// @param from gives the bytes; stays open
    /// @throws IOException if it cannot be read
    /// @throws dev.tenon.api.error.TenonException (`STATE-005`) if the bytes are damaged, or of another model,
    ///     backend or type of cache, (`STATE-002`) if this session has tokens, or the saved one pictures
    ///     or sounds, and the model was loaded without its companion; it is unchanged
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the tokens do not fit the context; the
    ///     session is unchanged
    void restore(InputStream from) throws IOException;

    /// Ends the running generation after its current step, with [FinishReason#CANCELLED]. Nothing
    /// happens when none runs.
    void cancel();

    /// Releases the session's pages; cancels a running generation first. Calling it twice does
    /// nothing.
    @Override
    void close();
}
