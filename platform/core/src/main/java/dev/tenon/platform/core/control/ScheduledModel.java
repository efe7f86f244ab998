package dev.tenon.platform.core.control;

import dev.tenon.api.chat.ChatProvider;
import dev.tenon.api.error.TenonException;
import java.util.List;
import java.util.Optional;
import org.osgi.annotation.versioning.ProviderType;

/// What the platform asks of a loaded model beyond the api. Safe for any thread.
@ProviderType
public interface ScheduledModel {
    /// {@return how the sequences of the model share its memory now}
    SchedulingStatus scheduling();

    /// {@return bytes that it takes: weights, KV cache and work memory, with those of the smaller model that proposes
    ///     tokens to it, if there is one}
    long memoryBytes();

    /// {@return why every step fails from now on: a file that it reads in place was changed (`GGUF-010`); empty while
    /// it
    ///     can be used. Takes microseconds}
    Optional<TenonException> failure();

    /// {@return what makes models chat now, of what is installed; empty if nothing is}
    Optional<ChatProvider> chatProvider();

    /// {@return a service that is chosen by its id, of those that are installed now}
    ///
    /// @param type interface of a kind with ids, see [ServiceKind]
    /// @param id the id
    /// @throws TenonException (`CFG-002`) if several have it and no preference names one
    <S> Optional<S> service(Class<S> type, String id);

    /// {@return the ids of the services of a kind, sorted}
    ///
    /// @param type interface of a kind with ids
    List<String> ids(Class<?> type);
}
