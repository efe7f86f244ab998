package dev.tenon.platform.templates;

import java.util.LinkedHashMap;
import java.util.Map;

/// What `namespace()` makes: an object whose attributes `set` may change from inner scopes.
///
/// @param attributes the attributes, changed in place
record Namespace(Map<Object, Object> attributes) {
    /// Makes an empty namespace.
    Namespace() {
        this(new LinkedHashMap<>());
    }
}
