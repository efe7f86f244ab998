package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.ReplyReader;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.ToolChoice;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.grammar.mask.LongWork;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A model that chats by a template of its file: the one that is named for tools where there are some.
final class TemplateChat implements ChatModel {
    private static final String DEFAULT = "";
    private static final String FOR_TOOLS = "tool_use";

    private final LoadedModel model;
    private final ReplyGrammar grammars = new ReplyGrammar();
    private final Map<String, ModelTemplate> templates = new HashMap<>();
    /// Held while [#vocabulary] is prepared, and guards it.
    private final Object preparing = new Object();

    private TokenVocabulary vocabulary;

    TemplateChat(LoadedModel model) {
        this.model = model;
    }

    @Override
    public LoadedModel model() {
        return model;
    }

    @Override
    public ChatPrompt prompt(ChatRequest request) {
        check(request);
        request.turns().forEach(turn -> MediaPrompts.check(model, turn.media()));
        return new PromptWriter(model, template(request)).write(request);
    }

    @Override
    public Optional<TokenConstraint> constraint(ChatRequest request, ChatPrompt prompt) {
        int budget = request.reasoningBudget();
        if (isFree(request) && budget < 0) {
            return Optional.empty();
        }
        TemplateFormat format = template(request).format();
        boolean thinking = thinks(request, format, prompt);
        Optional<TokenConstraint> rule = isFree(request) ? Optional.empty() : constraint(request, format, thinking);
        return budget < 0
                ? rule
                : Optional.of(ReasoningBudget.of(
                        budget, request.reasoningMessage(), format, thinking, model.tokenizer(), rule.orElse(null)));
    }

    @Override
    public Optional<TokenConstraint> constraint(TextFormat format) {
        if (format instanceof TextFormat.Any) {
            return Optional.empty();
        }
        ChatRequest request = ChatRequest.builder().format(format).build();
        return constraint(request, TemplateFormat.PLAIN, false);
    }

    private Optional<TokenConstraint> constraint(ChatRequest request, TemplateFormat format, boolean thinking) {
        TokenVocabulary tokens = LongWork.call(this::vocabulary);
        return Optional.of(grammars.of(request, format, thinking, tokens).constraint(tokens));
    }

    @Override
    public ReplyReader reader(ChatRequest request, ChatPrompt prompt, ChatEvents events) {
        ModelTemplate template = template(request);
        // What the reply begins with is told by the end of the prompt, or by a turn that opened its thoughts.
        String before =
                thinks(request, template.format(), prompt) ? template.format().think() : prompt.text();
        return new ParsedReply(model.tokenizer(), template, before, request, events);
    }

    private static boolean thinks(ChatRequest request, TemplateFormat format, ChatPrompt prompt) {
        if (!request.continued()) {
            return format.thinks(prompt.text());
        }
        ChatTurn last = request.turns().getLast();
        int open = last.text().lastIndexOf(format.think());
        return last.text().isEmpty() || open >= 0 && open > last.text().lastIndexOf(format.thought());
    }

    private static boolean isFree(ChatRequest request) {
        return request.toolChoice().mode() != ToolChoice.Mode.REQUIRED && request.format() instanceof TextFormat.Any;
    }

    private static void check(ChatRequest request) {
        List<ChatTurn> turns = request.turns();
        if (turns.isEmpty()) {
            throw ChatException.invalid(
                    ChatException.Part.TURNS, "There are no turns; expected at least one message to answer.");
        }
        boolean called = request.toolChoice().mode() == ToolChoice.Mode.REQUIRED;
        if (called && request.tools().isEmpty()) {
            throw ChatException.invalid(
                    ChatException.Part.TOOL_CHOICE, "A call is asked for, and there are no tools. Give some.");
        }
        if (called && !(request.format() instanceof TextFormat.Any)) {
            throw ChatException.invalid(
                    ChatException.Part.TOOL_CHOICE, "A reply cannot be both a call and of a format. Leave one out.");
        }
        if (request.continued()) {
            if (!isFree(request)) {
                throw ChatException.invalid(
                        ChatException.Part.CONTINUED, "A turn that is continued cannot have a format, or be a call.");
            }
            if (!turns.getLast().role().equals(ChatTurn.ASSISTANT)
                    || !turns.getLast().calls().isEmpty()) {
                throw ChatException.invalid(
                        ChatException.Part.CONTINUED,
                        "The last message is not a text of the assistant's; it cannot be continued.");
            }
        }
    }

    private synchronized ModelTemplate template(ChatRequest request) {
        if (!request.offeredTools().isEmpty()) {
            Optional<ChatTemplate> named = model.chatTemplate(FOR_TOOLS);
            if (named.isPresent()) {
                return template(FOR_TOOLS, named.get());
            }
        }
        return template(
                DEFAULT,
                model.chatTemplate()
                        .orElseThrow(() -> new ChatException(
                                ErrorCode.MODEL_TEMPLATE,
                                ChatException.Part.TURNS,
                                "The model has no chat template and does not chat. Have it continue a text.",
                                null)));
    }

    /// The template of a name; another one once a bundle has been replaced that compiles it.
    private ModelTemplate template(String name, ChatTemplate compiled) {
        ModelTemplate known = templates.get(name);
        if (known == null || known.compiled() != compiled) {
            Optional<String> source = name.equals(DEFAULT)
                    ? model.chatTemplateSource()
                    : model.file().metadata().string(Definitions.TEMPLATE + "." + name);
            known = ModelTemplate.of(model, compiled, source.orElse(""), name.equals(FOR_TOOLS));
            templates.put(name, known);
        }
        return known;
    }

    private TokenVocabulary vocabulary() {
        synchronized (preparing) {
            Tokenizer tokenizer = model.tokenizer();
            if (vocabulary == null || vocabulary.tokenizer() != tokenizer) {
                vocabulary = new TokenVocabulary(tokenizer);
            }
            return vocabulary;
        }
    }
}
