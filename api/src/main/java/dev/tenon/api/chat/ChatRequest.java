package dev.tenon.api.chat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// What a model is to answer. Immutable; made by [#builder()] or [#of(String)]. What does not fit
/// together is refused where it is used, with a [ChatException].
public final class ChatRequest {
    private final List<ChatTurn> turns;
    private final List<Tool> tools;
    private final ToolChoice toolChoice;
    private final boolean severalCalls;
    private final TextFormat format;
    private final Map<String, Object> variables;
    private final boolean continued;
    private final int reasoningBudget;
    private final String reasoningMessage;

    private ChatRequest(Builder builder) {
        turns = List.copyOf(builder.turns);
        tools = List.copyOf(builder.tools);
        toolChoice = builder.toolChoice;
        severalCalls = builder.severalCalls;
        format = builder.format;
        variables = Collections.unmodifiableMap(new LinkedHashMap<>(builder.variables));
        continued = builder.continued;
        reasoningBudget = builder.reasoningBudget;
        reasoningMessage = builder.reasoningMessage;
    }

    /// {@return a request of one turn of the user}
    ///
    /// @param text what it says
    public static ChatRequest of(String text) {
        return builder().user(text).build();
    }

    /// {@return a builder of a request without turns and tools, whose reply may be anything}
    public static Builder builder() {
        return new Builder();
    }

    /// {@return a builder that begins with what this request says}
    public Builder toBuilder() {
        return builder()
                .turns(turns)
                .tools(tools)
                .toolChoice(toolChoice)
                .severalCalls(severalCalls)
                .format(format)
                .variables(variables)
                .continued(continued)
                .reasoningBudget(reasoningBudget)
                .reasoningMessage(reasoningMessage);
    }

    /// {@return the turns, oldest first; unmodifiable}
    public List<ChatTurn> turns() {
        return turns;
    }

    /// {@return the tools; unmodifiable}
    public List<Tool> tools() {
        return tools;
    }

    /// {@return the tools that the model hears of: none, where the choice says so; unmodifiable}
    public List<Tool> offeredTools() {
        return toolChoice.mode() == ToolChoice.Mode.NONE ? List.of() : tools;
    }

    /// {@return whether the reply calls tools}
    public ToolChoice toolChoice() {
        return toolChoice;
    }

    /// {@return whether the reply may have more than one call}
    public boolean severalCalls() {
        return severalCalls;
    }

    /// {@return what the answer has to be}
    public TextFormat format() {
        return format;
    }

    /// {@return further variables of the model's template; unmodifiable}
    public Map<String, Object> variables() {
        return variables;
    }

    /// {@return whether the reply continues the last turn, which is the assistant's}
    public boolean continued() {
        return continued;
    }

    /// {@return most tokens of the reply's reasoning; -1 for no limit}
    public int reasoningBudget() {
        return reasoningBudget;
    }

    /// {@return what stands at the end of reasoning that the limit ends}
    public String reasoningMessage() {
        return reasoningMessage;
    }

    /// Builds requests. For one thread.
    public static final class Builder {
        private final List<ChatTurn> turns = new ArrayList<>();
        private List<Tool> tools = List.of();
        private ToolChoice toolChoice = ToolChoice.AUTO;
        private boolean severalCalls = true;
        private TextFormat format = TextFormat.any();
        private Map<String, Object> variables = Map.of();
        private boolean continued;
        private int reasoningBudget = -1;
        private String reasoningMessage = "";

        private Builder() {}

        /// Adds a turn that says how the model is to behave.
        ///
        /// @param text what it says
        /// @return this
        public Builder system(String text) {
            return turn(ChatTurn.system(text));
        }

        /// Adds a turn of the user.
        ///
        /// @param text what it says
        /// @return this
        public Builder user(String text) {
            return turn(ChatTurn.user(text));
        }

        /// Adds a turn.
        ///
        /// @param turn the turn
        /// @return this
        public Builder turn(ChatTurn turn) {
            turns.add(Objects.requireNonNull(turn, "turn"));
            return this;
        }

        /// Replaces all turns.
        ///
        /// @param list the turns, oldest first; copied
        /// @return this
        public Builder turns(List<ChatTurn> list) {
            turns.clear();
            turns.addAll(List.copyOf(list));
            return this;
        }

        /// Sets the tools; none by default.
        ///
        /// @param list the tools; copied
        /// @return this
        public Builder tools(List<Tool> list) {
            tools = List.copyOf(list);
            return this;
        }

        /// Sets whether the reply calls tools; [ToolChoice#AUTO] by default.
        ///
        /// @param choice whether
        /// @return this
        public Builder toolChoice(ToolChoice choice) {
            toolChoice = Objects.requireNonNull(choice, "choice");
            return this;
        }

        /// Sets whether the reply may have more than one call; true by default.
        ///
        /// @param several whether
        /// @return this
        public Builder severalCalls(boolean several) {
            severalCalls = several;
            return this;
        }

        /// Sets what the answer has to be; any text by default. Reasoning before it is free.
        ///
        /// @param what what
        /// @return this
        public Builder format(TextFormat what) {
            format = Objects.requireNonNull(what, "format");
            return this;
        }

        /// Sets further variables of the model's template, such as `enable_thinking`; none by default.
        ///
        /// @param values strings, numbers, booleans, null, lists and maps with string keys, whose order is
        ///     kept; copied
        /// @return this
        public Builder variables(Map<String, Object> values) {
            variables = new LinkedHashMap<>(values);
            return this;
        }

        /// Sets whether the reply continues the last turn, which is the assistant's; false by default.
        ///
        /// @param goesOn whether
        /// @return this
        public Builder continued(boolean goesOn) {
            continued = goesOn;
            return this;
        }

        /// Sets the most tokens of the reply's reasoning; no limit by default. After them the message and the mark
        /// that ends reasoning follow in any case, and the model goes on with its answer.
        ///
        /// @param tokens how many; 0 for no reasoning, -1 for no limit
        /// @return this
        public Builder reasoningBudget(int tokens) {
            if (tokens < -1) {
                throw new IllegalArgumentException("reasoningBudget is " + tokens + "; expected -1 or more");
            }
            reasoningBudget = tokens;
            return this;
        }

        /// Sets what stands at the end of reasoning that the limit ends; nothing by default.
        ///
        /// @param text such as a sentence by which the model comes to its answer
        /// @return this
        public Builder reasoningMessage(String text) {
            reasoningMessage = Objects.requireNonNull(text, "text");
            return this;
        }

        /// {@return the request}
        public ChatRequest build() {
            return new ChatRequest(this);
        }
    }
}
