package dev.tenon;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Methods that a model may call: those of objects that have a [Description].
final class MethodTools {
    private static final Logger LOG = LoggerFactory.getLogger(MethodTools.class);

    private final Map<String, MethodTool> byName = new LinkedHashMap<>();

    private record MethodTool(Object owner, Method method, Tool tool) {}

    private MethodTools() {}

    /// {@return the tools of objects}
    ///
    /// @param owners the objects
    /// @throws IllegalArgumentException if one has none, two have a name in common, one cannot
    ///     be called, or a parameter's type has no schema
    static MethodTools of(List<Object> owners) {
        MethodTools tools = new MethodTools();
        for (Object owner : owners) {
            int before = tools.byName.size();
            for (Class<?> type = owner.getClass(); type != null; type = type.getSuperclass()) {
                for (Method method : type.getDeclaredMethods()) {
                    if (method.isAnnotationPresent(Description.class) && !method.isSynthetic()) {
                        tools.add(owner, method);
                    }
                }
            }
            if (tools.byName.size() == before) {
                throw new IllegalArgumentException(
                        owner.getClass().getName() + " has no tools; expected methods with @Description");
            }
        }
        return tools;
    }

    private void add(Object owner, Method method) {
        Description description = method.getAnnotation(Description.class);
        String name = description.name().isEmpty() ? method.getName() : description.name();
        if (!method.trySetAccessible()) {
            throw new IllegalArgumentException(method + " cannot be called: module "
                    + method.getDeclaringClass().getModule().getName() + " does not open its package to dev.tenon");
        }
        Tool tool = new Tool(name, description.value(), JsonSchema.ofArguments(method));
        if (byName.put(name, new MethodTool(owner, method, tool)) != null) {
            throw new IllegalArgumentException(
                    "There are two tools '" + name + "'; give one another name: @Description(name = …)");
        }
    }

    boolean isEmpty() {
        return byName.isEmpty();
    }

    /// {@return what the model hears of them}
    List<Tool> declared() {
        return byName.values().stream().map(MethodTool::tool).toList();
    }

    /// Calls a tool.
    ///
    /// @param call the model's call
    /// @return the turn that answers it: the method's result, as it is if it is a text, or else
    ///     as JSON; or what was wrong, which the model may mend
    ChatTurn result(ToolCall call) {
        MethodTool tool = byName.get(call.name());
        if (tool == null) {
            return wrong(call, "there is no such tool; there are " + String.join(", ", byName.keySet()));
        }
        Object[] arguments;
        try {
            arguments = arguments(tool.method(), JsonValues.tree(call.arguments()));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            LOG.warn(
                    "A call of the tool {} has wrong arguments, which the model is told: {}",
                    call.name(),
                    e.toString());
            return wrong(call, "the arguments do not fit: " + e.getMessage());
        }
        try {
            Object result = tool.method().invoke(tool.owner(), arguments);
            return ChatTurn.result(
                    call, result == null ? "done" : result instanceof String text ? text : JsonValues.text(result));
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            LOG.warn("The tool {} failed, which the model is told", call.name(), e.getCause());
            return wrong(call, String.valueOf(e.getCause()));
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e); // it was made accessible
        }
    }

    private static Object[] arguments(Method method, JsonNode given) {
        Parameter[] parameters = method.getParameters();
        Object[] arguments = new Object[parameters.length];
        for (int i = 0; i < parameters.length; i++) {
            String name = JsonSchema.name(parameters[i]);
            JsonNode value = given.get(name);
            if (value == null) {
                throw new IllegalArgumentException("'" + name + "' is missing");
            }
            arguments[i] = JsonValues.value(value, parameters[i].getParameterizedType());
        }
        return arguments;
    }

    private static ChatTurn wrong(ToolCall call, String why) {
        return ChatTurn.result(call, JsonValues.text(Map.of("error", why)));
    }
}
