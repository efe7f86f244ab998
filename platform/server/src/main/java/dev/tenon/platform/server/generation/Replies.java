package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.chat.ChatInput;
import dev.tenon.platform.chat.ChatPrompt;
import dev.tenon.platform.chat.Enforced;
import dev.tenon.platform.chat.ReplyFormat;
import dev.tenon.platform.chat.ReplyGrammar;
import dev.tenon.platform.chat.ReplyListener;
import dev.tenon.platform.chat.ReplyParser;
import dev.tenon.platform.grammar.Grammar;
import dev.tenon.platform.server.fields.AdapterFields;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.RequestException;
import dev.tenon.platform.server.models.ServedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/// Answers conversations and continues texts: from a request to its replies. Safe for any thread.
public final class Replies {
    private final Generations generations;
    private final ReplyGrammar grammars = new ReplyGrammar();

    /// @param generations runs them
    public Replies(Generations generations) {
        this.generations = generations;
    }

    /// {@return what runs the generations}
    public Generations generations() {
        return generations;
    }

    /// Answers a conversation.
    ///
    /// @param exchange whose request it is
    /// @param served which model answers
    /// @param input the conversation
    /// @param settings what is asked of the replies
    /// @param outputs takes each reply, by its index
    /// @return the sum of counts
    /// @throws InterruptedException if the client left
    public Counts answer(
            Exchange exchange,
            ServedModel served,
            ChatInput input,
            ReplySettings settings,
            IntFunction<ChoiceOutput> outputs)
            throws InterruptedException {
        try (ServedModel.Lease lease = served.lease()) {
            ChatPrompt prompt = prompt(served, lease.model(), input);
            return answer(exchange, served, lease, input, prompt, settings, outputs);
        }
    }

    /// {@return the prompt of a conversation, after what the model's preset says}
    ///
    /// @param served which model answers
    /// @param model the model, loaded
    /// @param input the conversation
    public static ChatPrompt prompt(ServedModel served, LoadedModel model, ChatInput input) {
        requireText(model);
        ChatInput whole = new ChatInput(
                served.spec().preset().before(input.messages()),
                input.tools(),
                input.variables(),
                input.enforced(),
                input.continued());
        return ChatPrompt.of(model, ReplyFormat.of(model), whole);
    }

    /// Answers a conversation whose prompt is made.
    ///
    /// @param exchange whose request it is
    /// @param served which model answers
    /// @param lease the model, loaded
    /// @param input the conversation
    /// @param prompt its prompt
    /// @param settings what is asked of the replies
    /// @param outputs takes each reply, by its index
    /// @return the sum of counts
    /// @throws InterruptedException if the client left
    public Counts answer(
            Exchange exchange,
            ServedModel served,
            ServedModel.Lease lease,
            ChatInput input,
            ChatPrompt prompt,
            ReplySettings settings,
            IntFunction<ChoiceOutput> outputs)
            throws InterruptedException {
        ReplyFormat format = ReplyFormat.of(lease.model());
        Grammar grammar =
                grammars.of(input.enforced(), input.tools(), format, format.thinks(prompt.text()), lease::vocabulary);
        return run(exchange, served, lease, prompt.tokens(), grammar, settings, index -> {
            ChoiceOutput output = outputs.apply(index);
            return new Parsed(ReplyParser.of(format, prompt.text(), input.tools(), output), output);
        });
    }

    /// Continues a text.
    ///
    /// @param exchange whose request it is
    /// @param served the model
    /// @param lease the model, loaded
    /// @param tokens the text
    /// @param enforced what the continuation has to be
    /// @param settings what is asked of the replies
    /// @param outputs takes each reply, by its index, as content alone
    /// @return the sum of counts
    /// @throws InterruptedException if the client left
    public Counts complete(
            Exchange exchange,
            ServedModel served,
            ServedModel.Lease lease,
            int[] tokens,
            Enforced enforced,
            ReplySettings settings,
            IntFunction<ChoiceOutput> outputs)
            throws InterruptedException {
        Grammar grammar = grammars.of(enforced, List.of(), ReplyFormat.PLAIN, false, lease::vocabulary);
        return run(exchange, served, lease, tokens, grammar, settings, index -> new Parsed(null, outputs.apply(index)));
    }

    /// Refuses a model that does not generate text.
    ///
    /// @param model the model
    /// @throws RequestException (501) if it was loaded for something else
    public static void requireText(LoadedModel model) {
        if (!model.outputs().containsKey(Graph.LOGITS)) {
            throw RequestException.unsupported("model", "This model reads texts and generates none.");
        }
    }

    private record Parsed(ReplyParser parser, ChoiceOutput output) {}

    /// Counts of all replies to a request.
    ///
    /// @param prompt tokens of the prompt
    /// @param cached those of them that had been computed
    /// @param generated tokens of all replies
    public record Counts(int prompt, int cached, int generated) {
        /// {@return the sum of two requests' counts}
        ///
        /// @param other the other
        public Counts plus(Counts other) {
            return new Counts(prompt + other.prompt, cached + other.cached, generated + other.generated);
        }
    }

    private Counts run(
            Exchange exchange,
            ServedModel served,
            ServedModel.Lease lease,
            int[] tokens,
            Grammar grammar,
            ReplySettings asked,
            IntFunction<Parsed> outputs)
            throws InterruptedException {
        ReplySettings settings = asked.after(served.spec().preset());
        LoadedModel model = lease.model();
        SamplingParams sampling =
                SamplingFields.read(settings.body(), served.spec().sampling(), model);
        ReplyListener.GapObserver gaps = generations.gaps(served)::recordNanos;
        Map<String, Float> adapters =
                AdapterFields.read(settings.body(), served.spec().request(), served.adapters());
        List<Choice> choices = new ArrayList<>();
        for (int i = 0; i < settings.choices(); i++) {
            Parsed parsed = outputs.apply(i);
            ReplyListener listener = new ReplyListener(
                    model.tokenizer(), parsed.parser(), parsed.output(), settings.logProbabilities() >= 0, gaps);
            parsed.output().begins(listener);
            GenerationRequest request = GenerationRequest.builder()
                    .prompt(tokens)
                    .sampling(sampling.toBuilder()
                            .seed((sampling.seed() + i) & Long.MAX_VALUE)
                            .build())
                    .maxNewTokens(settings.maxTokens())
                    .stop(settings.stop())
                    .ignoreEndOfGeneration(settings.ignoreEnd())
                    .logProbabilities(settings.logProbabilities())
                    .priority(settings.priority())
                    .group(exchange.group())
                    .constraint(grammar == null ? null : grammar.constraint(lease.vocabulary()))
                    .build();
            choices.add(
                    new Choice(request, adapters, listener, usage -> end(usage, parsed, listener, settings.stop())));
        }
        List<Usage> usages = generations.run(exchange, served, model, settings.priority(), choices);
        int cached = usages.stream().mapToInt(Usage::cachedTokens).min().orElse(0);
        int generated = usages.stream().mapToInt(Usage::generatedTokens).sum();
        exchange.note("model=" + served.spec().name() + " prompt=" + tokens.length + " cached=" + cached + " generated="
                + generated);
        return new Counts(tokens.length, cached, generated);
    }

    private static void end(Usage usage, Parsed parsed, ReplyListener listener, List<String> stop) {
        int calls = 0;
        if (parsed.parser() != null) {
            parsed.parser().finish();
            calls = parsed.parser().calls();
        }
        ChoiceOutput.Reason reason = ChoiceOutput.Reason.of(usage.finish(), calls);
        boolean byText = usage.finish() == FinishReason.STOP && !listener.endedByToken();
        parsed.output().ends(new ChoiceOutput.Ending(usage, reason, byText ? listener.stopText(stop) : null));
    }
}
