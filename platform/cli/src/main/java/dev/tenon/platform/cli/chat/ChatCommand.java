package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelDefaults;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.cli.options.RuleOptions;
import dev.tenon.platform.cli.options.SamplingOptions;
import dev.tenon.platform.cli.options.SpeculationOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon chat`: a conversation.
@Command(
        name = "chat",
        sortOptions = false,
        description = {
            "Starts a chat with a model. Ctrl-C stops an answer, Ctrl-D exits; /help lists the commands.",
            "If standard input is not a terminal, each line is one message;"
                    + " \"\"\" begins and ends one of several lines.",
            "With an encoder (--mmproj) it takes pictures and sounds: /image and /audio, or a path alone on its line.",
            "What a model thinks before its answer is shown on a terminal, in grey; elsewhere only answers are written."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon chat",
            "  tenon chat -m model.gguf -sys \"You are a pirate.\" --temp 0.6",
            "  printf 'Tell me a story about a fox.\\nGo on.\\n' | tenon chat",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=chat",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class ChatCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    Talk.Opener terminal = TerminalChatInput::system;

    @Option(
            names = {"-sys", "--system-prompt"},
            paramLabel = "TEXT",
            description = "System message.")
    private String system = "";

    @Option(
            names = {"-n", "--predict", "--n-predict"},
            paramLabel = "N",
            defaultValue = "-1",
            description = "Maximum tokens per answer; -1: until the context is full (default: ${DEFAULT-VALUE}).")
    @Range(min = -1)
    private int predict;

    @Option(
            names = {"-r", "--reverse-prompt"},
            paramLabel = "TEXT",
            description = "Stop an answer at this text; may be repeated.")
    private List<String> stop = new ArrayList<>();

    @Mixin
    private ModelOptions model;

    @Mixin
    private SpeculationOptions speculation;

    @Mixin
    private SamplingOptions sampling;

    @Mixin
    private RuleOptions rules;

    @Override
    public Integer call() throws IOException {
        LoadRequest request = speculation.in(model.request(console, model.name(), false), console);
        ModelDefaults defaults = ModelDefaults.of(request.path());
        SamplingParams given = sampling.params(defaults);
        try (LoadedModel loaded = console.load(engine, request);
                Session session = loaded.newSession()) {
            SamplingParams params = sampling.of(given, loaded);
            Prompts.noteWhatAnswers(console, loaded, defaults);
            ChatSettings settings = new ChatSettings(loaded, params, predict, stop, rules);
            return Talk.run(console, loaded, session, settings, system, List.of(), terminal);
        }
    }
}
