package dev.tenon.api.http;

import org.jspecify.annotations.Nullable;
import org.osgi.annotation.versioning.ProviderType;

/// A request before its answer, without its body. For the thread of the request.
@ProviderType
public interface HttpCall {
    /// {@return its method}
    String method();

    /// {@return its path, without the query}
    String path();

    /// {@return the path of the end point that it goes to, such as `/example/*`}
    String endpoint();

    /// {@return whether that needs no key, as what tells whether the server is alive}
    boolean open();

    /// {@return the value of a header, or null}
    ///
    /// @param name its name, in any case
    @Nullable
    String header(String name);

    /// {@return the value of a parameter of the query, or null}
    ///
    /// @param name its name
    @Nullable
    String parameter(String name);

    /// {@return an id of the request, as the server's log has it}
    String id();

    /// {@return whose request it is: one text for each key, which is not the key, or what a filter
    /// has set; empty where that is not known}
    String principal();

    /// Sets a header of the answer, also of a refusal.
    ///
    /// @param name its name
    /// @param value its value
    /// @throws IllegalStateException if the answer has begun
    void answerHeader(String name, String value);
}
