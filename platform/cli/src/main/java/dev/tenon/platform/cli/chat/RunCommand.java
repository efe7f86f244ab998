package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.GrammarOptions;
import dev.tenon.platform.cli.options.MediaOptions;
import dev.tenon.platform.cli.options.ModelDefaults;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.cli.options.RuleOptions;
import dev.tenon.platform.cli.options.SamplingOptions;
import dev.tenon.platform.cli.options.SpeculationOptions;
import dev.tenon.platform.cli.options.TextInput;
import dev.tenon.platform.cli.options.TextLength;
import dev.tenon.platform.cli.terminal.CliErrors;
import dev.tenon.platform.cli.terminal.Terminals;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon run`: continues a text, or answers one message.
@Command(
        name = "run",
        sortOptions = false,
        description = {
            "Answers a question, or continues a prompt (-p, -f); with --chat it answers that, too.",
            "Without any of them the prompt is read from standard input; on a terminal a chat starts, or, where the model",
            "only continues texts, as the one of the distribution does, its own prompt is continued."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon run",
            "  tenon run owner/repo",
            "  tenon run \"Once upon a time\"",
            "  tenon run owner/repo \"What is a tenon?\"",
            "  tenon run -p \"The fox said\" -n 100",
            "  tenon run -m model.gguf --chat -sys \"Be brief.\" -p \"What is a tenon?\"",
            "  tenon run -m model.gguf -p \"2+2=\" -n 8 --temp 0",
            "  tenon run -m model.gguf --image fox.jpg \"What is this?\"",
            "  cat letter.txt | tenon run -m model.gguf --chat",
            "  tenon run -p \"Once\" --json-metrics=metrics.json",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=run",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class RunCommand implements TenonCommand {
    private static final String DEFAULT_PROMPT = "Once upon a time";

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    Talk.Opener terminal = TerminalChatInput::system;
    IntSupplier columns = Terminals::columns;

    @Mixin
    private RunArguments arguments;

    @Option(
            names = {"-p", "--prompt"},
            paramLabel = "TEXT",
            description = "The prompt.")
    private String prompt;

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "Read the prompt from a file.")
    private Path file;

    @Option(
            names = {"-sys", "--system-prompt"},
            paramLabel = "TEXT",
            description = "System message; implies --chat.")
    private String system;

    @ArgGroup(exclusive = true)
    private Mode mode = new Mode();

    @Option(
            names = {"-n", "--predict", "--n-predict"},
            paramLabel = "N",
            description = "Maximum tokens to generate; -1: until the context is full (default: the model's, else -1).")
    @Range(min = -1)
    private Integer predict;

    @Option(
            names = {"-r", "--reverse-prompt"},
            paramLabel = "TEXT",
            description = "Stop at this text; may be repeated.")
    private List<String> stop = new ArrayList<>();

    @Option(names = "--ignore-eos", description = "Continue after the model's end-of-text token.")
    private boolean ignoreEos;

    @Option(names = "--no-display-prompt", description = "Do not print the prompt before its continuation.")
    private boolean noDisplayPrompt;

    @Option(
            names = "--json-metrics",
            arity = "0..1",
            paramLabel = "FILE",
            fallbackValue = "-",
            description = "Write counts and times as one line of JSON to a file (replaced if it exists), or to standard"
                    + " error.")
    private String jsonMetrics;

    @Option(
            names = "--context-shift",
            arity = "0..1",
            paramLabel = "N",
            fallbackValue = "0",
            description = "When the context is full, keep its first N tokens (0 if not given), drop half of the others"
                    + " and go on. Otherwise the text ends there.")
    @Range(max = Integer.MAX_VALUE)
    private Integer contextShift;

    @Option(
            names = {"--session", "--prompt-cache"},
            paramLabel = "FILE",
            description = "Keep what was computed in a file (made if it is missing), and run of a prompt only what"
                    + " does not begin like the one before. The text is the same without.")
    private Path kept;

    @Mixin
    private MediaOptions media;

    @Mixin
    private ModelOptions model;

    @Mixin
    private SpeculationOptions speculation;

    @Mixin
    private SamplingOptions sampling;

    @Mixin
    private GrammarOptions grammar;

    @Mixin
    private RuleOptions rules;

    /// The two ways to read a prompt.
    static final class Mode {
        @Option(
                names = {"--chat", "-st", "--single-turn"},
                description = "Treat the prompt as a chat message and apply the model's chat template.")
        boolean chat;

        @Option(names = "--raw", description = "Continue the prompt as it is (the default of -p, -f and input).")
        boolean raw;
    }

    @Override
    public Integer call() throws IOException {
        RunArguments.Given given = arguments.read(console, model.name(), prompt != null || file != null);
        LoadRequest request = speculation.in(model.request(console, given.model(), media.given()), console);
        Path[] inputs = file == null ? media.inputs(request.path()) : media.inputs(request.path(), file);
        if (jsonMetrics != null && !jsonMetrics.equals("-")) {
            OutputFile.checkStream(Path.of(jsonMetrics), true, inputs);
        }
        ModelDefaults defaults = ModelDefaults.of(request.path());
        boolean talks = given.question() == null && talks(defaults);
        String text = given.question() != null || talks ? given.question() : promptText(defaults);
        KeptSession keptSession = new KeptSession(kept, inputs);
        SamplingParams asked = sampling.params(defaults);
        grammar.compile();
        List<MediaPart> parts = media.parts();
        int limit = predict != null ? predict : defaults.integer("predict", -1);
        try (LoadedModel loaded = console.load(engine, request);
                Session session = loaded.newSession()) {
            SamplingParams params = sampling.of(asked, loaded);
            if (talks) {
                Prompts.requireChat(loaded, given.model(), defaults.answers() || mode.chat || system != null);
                Prompts.noteWhatAnswers(console, loaded, defaults);
                ChatSettings settings = new ChatSettings(loaded, params, limit, stop, rules);
                return Talk.run(console, loaded, session, settings, system == null ? "" : system, parts, terminal);
            }
            TextLength.check(loaded, text);
            boolean answers = given.question() != null
                    && defaults.answers()
                    && loaded.chatTemplate().isPresent();
            boolean chat = mode.chat || (system != null || answers) && !mode.raw;
            Question question =
                    chat ? question(loaded, defaults, text, parts) : Question.toContinue(loaded, text, parts);
            int[] tokens = question.prompt().tokens();
            int width = console.outIsTerminal() ? columns.getAsInt() : 0;
            StyledText wrapped = width > 0 ? StyledText.plain(width, console.outHasColor()) : null;
            boolean shown = !chat && !noDisplayPrompt && tokens.length <= loaded.contextLength();
            TokenConstraint rule = rules.constraint(loaded, grammar.constraint(loaded));
            GenerationRequest generation = GenerationRequest.builder()
                    .prompt(keptSession.restore(session, tokens))
                    .media(question.prompt().media())
                    .sampling(params)
                    .sampler(rules.sampler(loaded, params))
                    .maxNewTokens(limit)
                    .stop(stop)
                    .ignoreEndOfGeneration(ignoreEos)
                    .contextShift(contextShift == null ? -1 : contextShift)
                    .processors(rules.processors(loaded))
                    .constraint(rule == null ? question.constraint() : rule)
                    .build();
            Console.Interrupt interrupt = console.onInterrupt(session::cancel);
            RunOutput output =
                    new RunOutput(console, loaded, session, interrupt, ignoreEos, wrapped, shown ? text : "");
            question.readTo(output);
            Usage usage;
            try (interrupt;
                    output) {
                usage = session.generate(generation, output);
                output.end(usage);
            }
            console.out().println();
            console.out().flush();
            keptSession.keep(session);
            StopNote.of(usage, limit, loaded.contextLength(), stop, output.heard())
                    .ifPresent(console::note);
            report(loaded, usage, params, output.firstToken(), inputs);
            return interrupt.happened() && usage.finish() == FinishReason.CANCELLED ? CliErrors.INTERRUPTED : 0;
        }
    }

    /// Whether a chat starts, as nothing says what to answer or to continue, and a person can be asked.
    private boolean talks(ModelDefaults defaults) {
        boolean chat = mode.chat || system != null;
        return prompt == null
                && file == null
                && (chat || !mode.raw && defaults.text("prompt").isEmpty())
                && !ignoreEos
                && !grammar.given()
                && jsonMetrics == null
                && kept == null
                && console.inIsTerminal()
                && console.outIsTerminal();
    }

    private String promptText(ModelDefaults defaults) throws IOException {
        if (prompt != null) {
            return prompt;
        }
        if (file != null) {
            return TextInput.promptFile(file);
        }
        String piped = console.inIsTerminal() ? "" : TextInput.all(console.in(), "standard input");
        piped = piped.endsWith("\n") ? piped.substring(0, piped.length() - 1) : piped;
        return piped.isEmpty() ? defaults.text("prompt").orElse(DEFAULT_PROMPT) : piped;
    }

    private Question question(LoadedModel loaded, ModelDefaults defaults, String text, List<MediaPart> parts) {
        ChatTurn user = Prompts.user(text, parts);
        ChatRequest request = rules.limited(ChatRequest.builder()
                .turns(system == null ? List.of(user) : List.of(ChatTurn.system(system), user))
                .build());
        Question question = Question.toAnswer(loaded, request);
        Prompts.noteWhatAnswers(console, loaded, defaults);
        return question;
    }

    private void report(LoadedModel loaded, Usage usage, SamplingParams params, Instant firstToken, Path... inputs) {
        if (jsonMetrics != null) {
            String line = RunMetrics.line(loaded, usage, params.seed(), firstToken);
            RunMetrics.write(jsonMetrics, line, console.err(), inputs);
        }
        if (console.errIsTerminal()) {
            console.note(RunMetrics.summary(usage, loaded));
        }
    }
}
