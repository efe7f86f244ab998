package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Namespace;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.Values;
import java.util.List;

/// What a value is assigned to.
sealed interface Target {
    /// Assigns a value in the innermost scope.
    void assign(Frame frame, Object value);

    /// A variable.
    record Variable(String name) implements Target {
        @Override
        public void assign(Frame frame, Object value) {
            frame.set(name, value);
        }
    }

    /// An attribute of a namespace.
    record Attribute(String space, String name) implements Target {
        @Override
        public void assign(Frame frame, Object value) {
            if (!(frame.lookUp(space) instanceof Namespace found)) {
                throw new TemplateFailure("cannot assign attribute on non-namespace object");
            }
            found.attributes().put(name, value);
        }
    }

    /// Several targets for the items of one value.
    record Several(List<Target> targets) implements Target {
        @Override
        public void assign(Frame frame, Object value) {
            List<Object> items = Values.iterate(frame.budget, value);
            if (items.size() != targets.size()) {
                throw new TemplateFailure((items.size() < targets.size() ? "not enough" : "too many")
                        + " values to unpack (expected " + targets.size() + ", got " + items.size() + ")");
            }
            for (int i = 0; i < items.size(); i++) {
                targets.get(i).assign(frame, items.get(i));
            }
        }
    }
}
