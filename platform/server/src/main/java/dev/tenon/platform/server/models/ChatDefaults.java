package dev.tenon.platform.server.models;

import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.engine.LoadedModel;
import java.util.LinkedHashMap;
import java.util.Map;

/// What holds for conversations on all wires where they say nothing themselves.
///
/// @param reasoningBudget most tokens of the reasoning of a reply; 0 for none, -1 for no limit
/// @param reasoningMessage what stands at the end of reasoning that a budget ends
/// @param efforts budgets by values of `reasoning_effort`, for templates that do not read it; unmodifiable
/// @param dropsCallerHeader whether a line in which a client tells about itself leaves the system message
public record ChatDefaults(
        int reasoningBudget, String reasoningMessage, Map<String, Integer> efforts, boolean dropsCallerHeader) {
    /// Those of a server of which nothing else is said.
    public static final ChatDefaults STANDARD =
            new ChatDefaults(-1, "", Map.of("none", 0, "minimal", 512, "low", 1024, "medium", 8192, "high", -1), true);

    private static final String EFFORT = "reasoning_effort";
    private static final String THINKS = "enable_thinking";

    /// Copies.
    public ChatDefaults {
        efforts = Map.copyOf(efforts);
    }

    /// {@return a request with what it leaves open; again the same for what this made}
    ///
    /// @param request the request
    /// @param model answers it
    public ChatRequest complete(ChatRequest request, LoadedModel model) {
        Integer effort = efforts.get(String.valueOf(request.variables().get(EFFORT)));
        boolean mapped =
                effort != null && !model.chatTemplateSource().orElse("").contains(EFFORT);
        int otherwise = mapped ? effort : reasoningBudget;
        int budget = request.reasoningBudget() >= 0 ? request.reasoningBudget() : otherwise;
        Map<String, Object> variables = new LinkedHashMap<>(request.variables());
        if (budget == 0) {
            variables.putIfAbsent(THINKS, false);
        }
        return request.toBuilder()
                .turns(dropsCallerHeader ? CallerHeader.removed(request.turns()) : request.turns())
                .variables(variables)
                .reasoningBudget(budget)
                .reasoningMessage(request.reasoningMessage().isEmpty() ? reasoningMessage : request.reasoningMessage())
                .build();
    }
}
