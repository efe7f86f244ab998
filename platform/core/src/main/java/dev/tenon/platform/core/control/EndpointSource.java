package dev.tenon.platform.core.control;

import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.api.metrics.MetricsSource;
import java.util.List;
import java.util.function.Consumer;
import org.osgi.annotation.versioning.ProviderType;

/// The end points and exporters that are installed, for servers. Safe for any thread.
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

    /// Tells exporters of a request, later and on a thread of their own.
    ///
    /// @param request the request
    /// @param metrics counters of the server
    void tell(FinishedRequest request, MetricsSource metrics);

    /// {@return how many requests exporters were not told of, because too many waited}
    long untold();

    /// A provider.
    ///
    /// @param provider the provider
    /// @param origin name and version of its bundle, or else of its jar or module
    /// @param preferred whether the setting `prefer.endpoint.ID` names it, so that it may have
    ///     paths of the server
    record Offered(EndpointProvider provider, String origin, boolean preferred) {}
}
