package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Arguments;
import dev.tenon.platform.templates.values.Budget;
import dev.tenon.platform.templates.values.Callable;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.TemplateObject;
import dev.tenon.platform.templates.values.Tuple;
import dev.tenon.platform.templates.values.Undefined;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A macro, or the body of a `call` block, in a rendering.
///
/// @param signature what was parsed
/// @param frame the rendering
/// @param scope where it was defined
record Macro(Signature signature, Frame frame, Frame.Scope scope) implements Callable, TemplateObject {
    /// A macro as it was parsed.
    ///
    /// @param parameters names
    /// @param defaults for each parameter its default or null
    /// @param takesMore whether the body reads `varargs` or `kwargs`
    record Signature(
            String name,
            List<String> parameters,
            List<Expression> defaults,
            List<Statement> body,
            boolean takesMore) {}

    @Override
    public String type() {
        return "Macro";
    }

    @Override
    public Object attribute(String name) {
        return name.equals("name") ? signature.name : null;
    }

    @Override
    public Object call(Budget budget, Arguments args) {
        Map<String, Object> named = new LinkedHashMap<>(args.named());
        List<Object> positional = args.positional();
        Object caller = named.remove("caller");
        int n = signature.parameters.size();
        StringBuilder text = frame.capture();
        Frame.Scope before = frame.enter(scope);
        for (int i = 0; i < n; i++) {
            Object value = i < positional.size() ? positional.get(i) : named.remove(signature.parameters.get(i));
            if (value != null) {
                frame.set(signature.parameters.get(i), value);
            }
        }
        checkRest(positional.size(), named);
        for (int i = positional.size(); i < n; i++) {
            String parameter = signature.parameters.get(i);
            if (!frame.scope().names().containsKey(parameter)) {
                Expression otherwise = signature.defaults.get(i);
                frame.set(
                        parameter,
                        otherwise == null
                                ? new Undefined("parameter '" + parameter + "' was not provided")
                                : otherwise.eval(frame));
            }
        }
        frame.set("varargs", new Tuple(positional.subList(Math.min(n, positional.size()), positional.size())));
        frame.set("kwargs", named);
        frame.set("caller", caller == null ? new Undefined("No caller defined") : caller);
        Statement.renderAll(signature.body, frame);
        frame.leave(before);
        return frame.captured(text);
    }

    private void checkRest(int given, Map<String, Object> named) {
        if (!signature.takesMore && given > signature.parameters.size()) {
            throw new TemplateFailure("macro '" + signature.name + "' takes not more than "
                    + signature.parameters.size() + " argument(s)");
        }
        if (!signature.takesMore && !named.isEmpty()) {
            throw new TemplateFailure("macro '" + signature.name + "' takes no keyword argument '"
                    + named.keySet().iterator().next() + "'");
        }
    }
}
