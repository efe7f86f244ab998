package dev.tenon.platform.server.generation;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ReplyReader;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.TokenRules;
import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.server.fields.AdapterFields;
import dev.tenon.platform.server.fields.RuleFields;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.MediaReader;
import dev.tenon.platform.server.media.MediaUrls;
import dev.tenon.platform.server.models.ChatDefaults;
import dev.tenon.platform.server.models.ServedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/// Answers conversations and continues texts: from a request to its replies. Safe for any thread.
public final class Replies {
    private final Generations generations;
    private final ChatDefaults defaults;
    private final MediaUrls urls;

    /// @param generations runs them
    /// @param defaults holds where conversations say nothing
    /// @param urls which pictures and sounds they may name by URL
    public Replies(Generations generations, ChatDefaults defaults, MediaUrls urls) {
        this.generations = generations;
        this.defaults = defaults;
        this.urls = urls;
    }

    /// {@return what runs the generations}
    public Generations generations() {
        return generations;
    }

    /// Answers a conversation.
    ///
    /// @param exchange whose request it is
    /// @param served which model answers
    /// @param request the conversation
    /// @param settings what is asked of the replies
    /// @param outputs takes each reply, by its index
    /// @return the sum of counts
    /// @throws InterruptedException if the client left
    public Counts answer(
            Exchange exchange,
            ServedModel served,
            ChatRequest request,
            ReplySettings settings,
            IntFunction<ChoiceOutput> outputs)
            throws InterruptedException {
        try (ServedModel.Lease lease = served.lease()) {
            ChatPrompt prompt = prompt(served, lease, request);
            return answer(exchange, served, lease, request, prompt, settings, outputs);
        }
    }

    /// {@return what reads the pictures and sounds of a request}
    public MediaReader media() {
        return new MediaReader(urls);
    }

    /// {@return the prompt of a conversation, after what the model's preset says}
    ///
    /// @param served which model answers
    /// @param lease the model, loaded
    /// @param request the conversation
    public ChatPrompt prompt(ServedModel served, ServedModel.Lease lease, ChatRequest request) {
        requireText(lease.model());
        request.turns().forEach(turn -> MediaPrompts.check(lease.model(), turn.media()));
        ChatRequest complete = defaults.complete(request, lease.model());
        ChatRequest whole = complete.toBuilder()
                .turns(served.spec().preset().before(complete.turns()))
                .build();
        return lease.chat().prompt(whole);
    }

    /// Answers a conversation whose prompt is made.
    ///
    /// @param exchange whose request it is
    /// @param served which model answers
    /// @param lease the model, loaded
    /// @param request the conversation
    /// @param prompt its prompt
    /// @param settings what is asked of the replies
    /// @param outputs takes each reply, by its index
    /// @return the sum of counts
    /// @throws InterruptedException if the client left
    public Counts answer(
            Exchange exchange,
            ServedModel served,
            ServedModel.Lease lease,
            ChatRequest request,
            ChatPrompt prompt,
            ReplySettings settings,
            IntFunction<ChoiceOutput> outputs)
            throws InterruptedException {
        ChatModel chat = lease.chat();
        ChatRequest complete = defaults.complete(request, lease.model());
        TokenConstraint rule = rule(settings, () -> chat.constraint(complete, prompt));
        return run(exchange, served, lease, prompt.tokens(), prompt.media(), rule, settings, index -> {
            ChoiceOutput output = outputs.apply(index);
            return new Heard(chat.reader(request, prompt, output), output);
        });
    }

    /// Continues a text.
    ///
    /// @param exchange whose request it is
    /// @param served the model
    /// @param lease the model, loaded
    /// @param prompt the text
    /// @param format what the continuation has to be
    /// @param settings what is asked of the replies
    /// @param outputs takes each reply, by its index, as text alone
    /// @return the sum of counts
    /// @throws InterruptedException if the client left
    public Counts complete(
            Exchange exchange,
            ServedModel served,
            ServedModel.Lease lease,
            MediaPrompts.Encoded prompt,
            TextFormat format,
            ReplySettings settings,
            IntFunction<ChoiceOutput> outputs)
            throws InterruptedException {
        TokenConstraint rule = rule(settings, () -> lease.chat().constraint(format));
        return run(exchange, served, lease, prompt.tokens(), prompt.media(), rule, settings, index -> {
            ChoiceOutput output = outputs.apply(index);
            return new Heard(new PlainReply(output), output);
        });
    }

    /// Makes a constraint; what is refused of a format is told by the field that has it.
    private static TokenConstraint rule(ReplySettings settings, Supplier<Optional<TokenConstraint>> made) {
        try {
            return made.get().orElse(null);
        } catch (ChatException e) {
            if (e.part() != ChatException.Part.FORMAT) {
                throw e;
            }
            throw RequestException.tooMuch(settings.formatField(), "unsupported_grammar", e.getMessage())
                    .because(e);
        }
    }

    /// Takes a text that is no chat.
    private record PlainReply(ChatEvents events) implements ReplyReader {
        @Override
        public void onText(String text) {
            events.text(text);
        }

        @Override
        public ChatEnd end(Usage usage) {
            return ChatEnd.of(usage.finish(), 0);
        }
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

    private record Heard(ReplyReader reader, ChoiceOutput output) {}

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
            List<PromptMedia> media,
            TokenConstraint rule,
            ReplySettings asked,
            IntFunction<Heard> outputs)
            throws InterruptedException {
        ReplySettings settings = asked.after(served.spec().preset());
        LoadedModel model = lease.model();
        SamplingParams sampling =
                SamplingFields.read(settings.body(), served.spec().sampling(), model);
        ReplyListener.GapObserver gaps = generations.gaps(served)::recordNanos;
        Map<String, Float> adapters =
                AdapterFields.read(settings.body(), served.spec().request(), served.adapters());
        TokenConstraint constraint = RuleFields.constraint(settings.body(), model, rule);
        SamplerProvider sampler = RuleFields.sampler(settings.body(), model, sampling);
        TokenRules rules = RuleFields.tokens(settings.body(), model);
        List<Choice> choices = new ArrayList<>();
        for (int i = 0; i < settings.choices(); i++) {
            Heard heard = outputs.apply(i);
            boolean keeps = settings.logProbabilities() >= 0 || heard.output().keepsTokens();
            ReplyListener listener = new ReplyListener(model.tokenizer(), heard.reader(), keeps, gaps);
            heard.output().begins(listener);
            GenerationRequest request = GenerationRequest.builder()
                    .prompt(tokens)
                    .media(media)
                    .sampling(sampling.toBuilder()
                            .seed((sampling.seed() + i) & Long.MAX_VALUE)
                            .build())
                    .sampler(sampler)
                    .maxNewTokens(settings.maxTokens())
                    .stop(settings.stop())
                    .ignoreEndOfGeneration(settings.ignoreEnd())
                    .logProbabilities(settings.logProbabilities())
                    .sampledProbabilities(settings.body().flag("post_sampling_probs", false))
                    .priority(settings.priority())
                    .group(exchange.principal())
                    .processors(RuleFields.processors(settings.body(), model))
                    .constraint(constraint)
                    .rules(rules)
                    .build();
            heard.output().asks(request);
            choices.add(new Choice(request, adapters, listener, usage -> end(usage, heard, listener, settings.stop())));
        }
        List<Usage> usages = generations.run(exchange, served, model, settings.priority(), choices);
        int cached = usages.stream().mapToInt(Usage::cachedTokens).min().orElse(0);
        int generated = usages.stream().mapToInt(Usage::generatedTokens).sum();
        exchange.note("model=" + served.spec().name() + " prompt=" + tokens.length + " cached=" + cached + " generated="
                + generated);
        return new Counts(tokens.length, cached, generated);
    }

    private static void end(Usage usage, Heard heard, ReplyListener listener, List<String> stop) {
        ChatEnd reason = heard.reader().end(usage);
        boolean byText = usage.finish() == FinishReason.STOP && !listener.endedByToken();
        heard.output().ends(new ChoiceOutput.Ending(usage, reason, byText ? listener.stopText(stop) : null));
    }
}
