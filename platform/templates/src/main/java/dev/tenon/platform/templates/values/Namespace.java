package dev.tenon.platform.templates.values;

import java.util.Map;

/// What `namespace()` makes: an object whose attributes `set` may change from inner scopes.
///
/// @param attributes the attributes, changed in place
public record Namespace(Map<Object, Object> attributes) implements TemplateObject {
    @Override
    public String type() {
        return "Namespace";
    }

    @Override
    public Object attribute(String name) {
        return attributes.get(name);
    }
}
