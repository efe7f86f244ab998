package dev.tenon.platform.templates;

import com.hubspot.jinjava.tree.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A macro, or the body of a `call` block.
///
/// @param name its name
/// @param parameters its parameters
/// @param body the engine's nodes
/// @param scope where it was defined
/// @param usesVarargs whether the body reads `varargs`
/// @param usesKwargs whether the body reads `kwargs`
record Macro(
        String name,
        List<Parameter> parameters,
        List<Node> body,
        Frame.Scope scope,
        boolean usesVarargs,
        boolean usesKwargs)
        implements Callable {

    /// One parameter.
    ///
    /// @param name its name
    /// @param otherwise its default, or null
    record Parameter(String name, Eval otherwise) {}

    @Override
    public Object call(Frame frame, Args args) {
        Map<String, Object> names = new HashMap<>();
        Map<String, Object> named = new LinkedHashMap<>(args.named());
        List<Object> positional = args.positional();
        Object caller = named.remove("caller");
        for (int i = 0; i < parameters.size(); i++) {
            String parameter = parameters.get(i).name();
            if (i < positional.size()) {
                names.put(parameter, positional.get(i));
            } else if (named.containsKey(parameter)) {
                names.put(parameter, named.remove(parameter));
            }
        }
        List<Object> rest =
                new ArrayList<>(positional.subList(Math.min(parameters.size(), positional.size()), positional.size()));
        if (!rest.isEmpty() && !usesVarargs) {
            throw new TemplateFailure("macro '" + name + "' takes not more than " + parameters.size() + " argument(s)");
        }
        if (!named.isEmpty() && !usesKwargs) {
            throw new TemplateFailure("macro '" + name + "' takes no keyword argument '"
                    + named.keySet().iterator().next() + "'");
        }
        names.put("varargs", new PyTuple(rest));
        names.put("kwargs", new LinkedHashMap<Object, Object>(named));
        names.put("caller", caller == null ? new Undefined("No caller defined") : caller);
        return frame.capture(() -> frame.inScope(scope, names, () -> {
            for (Parameter parameter : parameters) {
                if (!names.containsKey(parameter.name())) {
                    names.put(
                            parameter.name(),
                            parameter.otherwise() == null
                                    ? new Undefined("parameter '" + parameter.name() + "' was not provided")
                                    : parameter.otherwise().eval(frame));
                }
            }
            frame.render(body);
        }));
    }
}
