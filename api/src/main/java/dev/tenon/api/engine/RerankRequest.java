package dev.tenon.api.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// A query and the documents to compare with it. Immutable; made by [#builder(String)].
public final class RerankRequest {
    private final String query;
    private final List<String> documents;

    private RerankRequest(Builder builder) {
        this.query = builder.query;
        this.documents = List.copyOf(builder.documents);
    }

    /// {@return a builder of a request without documents}
    ///
    /// @param query what is looked for
    public static Builder builder(String query) {
        return new Builder(query);
    }

    /// {@return what is looked for}
    public String query() {
        return query;
    }

    /// {@return the documents; unmodifiable}
    public List<String> documents() {
        return documents;
    }

    /// Builds requests. Not safe for several threads.
    public static final class Builder {
        private final String query;
        private final List<String> documents = new ArrayList<>();

        private Builder(String query) {
            this.query = Objects.requireNonNull(query, "query");
        }

        /// Adds a document.
        ///
        /// @param text the document
        /// @return this
        public Builder document(String text) {
            documents.add(Objects.requireNonNull(text, "text"));
            return this;
        }

        /// {@return the request}
        public RerankRequest build() {
            return new RerankRequest(this);
        }
    }
}
