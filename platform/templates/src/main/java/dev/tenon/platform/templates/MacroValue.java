package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Arguments;
import dev.tenon.platform.templates.values.Budget;
import dev.tenon.platform.templates.values.Callable;
import dev.tenon.platform.templates.values.Text;
import dev.tenon.platform.templates.values.Tuple;
import java.util.ArrayList;

/// A macro as a value.
///
/// @param renderer runs it
/// @param macro what it is
/// @param outer what its body sees
record MacroValue(Renderer renderer, Statement.Macro macro, Renderer.Scope outer) implements Callable {
    @Override
    public Object call(Budget budget, Arguments arguments) {
        return renderer.callMacro(macro, outer, arguments);
    }

    @Override
    public Object attribute(String name) {
        return switch (name) {
            case "name" -> Text.of(macro.name());
            case "arguments" -> {
                var names = new ArrayList<Object>();
                macro.parameters().keySet().forEach(parameter -> names.add(Text.of(parameter)));
                yield new Tuple(names);
            }
            case "caller" -> macro.uses().contains("caller");
            case "catch_kwargs" -> macro.uses().contains("kwargs");
            case "catch_varargs" -> macro.uses().contains("varargs");
            default -> null;
        };
    }
}
