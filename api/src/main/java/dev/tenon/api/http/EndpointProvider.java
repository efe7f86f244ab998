package dev.tenon.api.http;

import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// Adds end points and filters to every server of the process.
///
/// Of several providers with one id that of the highest service ranking is used, of equal ones the
/// first; the setting `prefer.endpoint.ID` names another one. A path that the server has itself, or
/// that a provider before this one has, stays theirs, unless that setting names this provider; the
/// server lists what is not reached.
///
/// A server asks for end points and filters once, and calls them on many threads. A request keeps
/// the provider that it began with: before its bundle stops, the running ones are let finish.
/// Neither an engine nor a server can be injected into a provider, which may be there before them:
/// each exchange has them.
@ConsumerType
public interface EndpointProvider {
    /// {@return its id: lower-case letters, digits and `-`; always the same}
    String id();

    /// {@return its end points; always the same}
    default List<HttpEndpoint> endpoints() {
        return List.of();
    }

    /// {@return its filters, in the order in which they are called; always the same}
    default List<HttpFilter> filters() {
        return List.of();
    }
}
