package dev.tenon.platform.core.control;

import dev.tenon.api.http.EndpointProvider;
import java.util.List;
import java.util.function.Consumer;
import org.osgi.annotation.versioning.ProviderType;

/// The end points that are installed, for servers. Safe for any thread.
@ProviderType
public interface EndpointSource {
    /// {@return the providers that are used now, those of the highest rank first; the same list
    /// until something changes}
    List<Offered> endpoints();

    /// Registers a listener that ends the use of a removed service before it returns; it is not
    /// offered any more when the listener is called.
    ///
    /// @param listener gets the service, of any kind
    void onServiceRemoval(Consumer<Object> listener);

    /// Takes back [#onServiceRemoval].
    ///
    /// @param listener the listener
    void offServiceRemoval(Consumer<Object> listener);

    /// A provider.
    ///
    /// @param provider the provider
    /// @param origin name and version of its bundle, or else of its jar or module
    /// @param preferred whether the setting `prefer.endpoint.ID` names it, so that it may have
    ///     paths of the server
    record Offered(EndpointProvider provider, String origin, boolean preferred) {}
}
