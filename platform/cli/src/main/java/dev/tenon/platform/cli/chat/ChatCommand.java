package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.ChatMessage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.files.OutputFile;
import dev.tenon.platform.cli.options.ModelDefaults;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.cli.options.SamplingOptions;
import dev.tenon.platform.cli.terminal.CliErrors;
import java.io.IOException;
import java.nio.file.Path;
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
            "If standard input is not a terminal, each line is one message."
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
    private static final List<String> COMMANDS =
            List.of("/help", "/clear", "/regen", "/save", "/system", "/stats", "/exit");

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

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
    private SamplingOptions sampling;

    private boolean interactive;
    private Usage last;

    @Override
    public Integer call() throws IOException {
        LoadRequest request = model.request(console);
        SamplingParams params = sampling.params(ModelDefaults.of(request.path()));
        interactive = console.inIsTerminal() && console.outIsTerminal();
        try (LoadedModel loaded = console.load(engine, request);
                Session session = loaded.newSession();
                ChatInput input = interactive
                        ? new TerminalChatInput(historyFile(), COMMANDS, "> ", console.errIsTerminal())
                        : new PlainChatInput(console.in())) {
            Conversation conversation = new Conversation(loaded, session);
            conversation.system(system);
            if (interactive) {
                console.note(loaded.config().name() + " on " + loaded.backend() + ", context " + loaded.contextLength()
                        + ". /help lists the commands, Ctrl-D exits.");
            }
            return talk(loaded, session, input, conversation, params);
        }
    }

    private int talk(
            LoadedModel loaded, Session session, ChatInput input, Conversation conversation, SamplingParams params)
            throws IOException {
        int turn = 0;
        int failures = 0;
        for (String line = input.read(); line != null; line = input.read()) {
            String text = line.strip();
            if (text.isEmpty()) {
                continue;
            }
            if (text.equals("/exit") || text.equals("/quit") || text.equals("/bye")) {
                break;
            }
            try {
                if (text.equals("/regen")) {
                    text = conversation.takeBack();
                    if (text == null) {
                        console.note("There is no answer yet.");
                        continue;
                    }
                } else if (text.startsWith("/")) {
                    obey(text, conversation, loaded);
                    continue;
                }
                answer(loaded, session, conversation, text, withSeed(params, params.seed() + turn++));
            } catch (TenonException e) {
                // A message that is too long is no reason to lose those that follow.
                if (!interactive && !e.code().equals(ErrorCode.CONTEXT_LENGTH)) {
                    throw e;
                }
                failures++;
                CliErrors.failure(e, console.err(), false);
            }
        }
        if (failures > 0 && interactive) {
            console.note(failures == 1 ? "1 message failed." : failures + " messages failed.");
        }
        return failures > 0 && !interactive ? CliErrors.FAILED : 0;
    }

    private void answer(
            LoadedModel loaded, Session session, Conversation conversation, String text, SamplingParams params) {
        int heard;
        try (Console.Interrupt interrupt = console.onInterrupt(session::cancel);
                Printer printer = new Printer(loaded, session, interrupt)) {
            last = conversation.send(text, params, predict, stop, printer);
            heard = printer.heard;
            console.out().println();
            console.out().flush();
            if (interrupt.happened() && last.finish() == FinishReason.CANCELLED) {
                console.note("(cut short)");
            }
        }
        int left = conversation.turnsLeft();
        if (left > 0) {
            console.note("(the context is full: the oldest " + (left == 1 ? "turn" : left + " turns")
                    + " left the conversation)");
        }
        StopNote.of(last, predict, loaded.contextLength(), stop, heard).ifPresent(console::note);
    }

    private void obey(String text, Conversation conversation, LoadedModel loaded) {
        String[] words = text.split("\\s+", 2);
        String rest = words.length > 1 ? words[1] : "";
        switch (words[0]) {
            case "/help" -> help();
            case "/clear" -> {
                conversation.clear();
                console.note("The conversation is cleared.");
            }
            case "/system" -> {
                conversation.system(rest);
                console.note(rest.isEmpty() ? "No system message; cleared." : "System message set; cleared.");
            }
            case "/save" -> save(rest, conversation);
            case "/stats" -> console.note(last == null ? "No answer yet." : RunCommand.summary(last, loaded));
            default -> console.note("Unknown command " + words[0] + "; /help lists them.");
        }
    }

    private void help() {
        console.out().println("""
                /help          this list
                /clear         forget the conversation, keep the system message
                /regen         answer the last message again
                /system TEXT   set the system message and start again; without TEXT: none
                /save FILE     write the conversation to a file (Markdown)
                /stats         counts and speed of the last answer
                /exit          leave (also /quit, Ctrl-D)
                Ctrl-C         ends an answer""");
        console.out().flush();
    }

    private void save(String name, Conversation conversation) {
        if (name.isEmpty()) {
            console.note("A file name is missing: /save FILE");
            return;
        }
        StringBuilder text = new StringBuilder();
        for (ChatMessage message : conversation.messages()) {
            text.append("## ")
                    .append(message.role())
                    .append("\n\n")
                    .append(message.content().strip())
                    .append("\n\n");
        }
        Path file = Path.of(name);
        OutputFile.write(file, interactive && console.mayReplace(file, false), text);
        console.note("Saved to " + name + ".");
    }

    private Path historyFile() {
        return console.setting("chat.history")
                .map(Path::of)
                .orElseGet(() -> Path.of(System.getProperty("user.home"), ".cache", "tenon", "history"));
    }

    private static SamplingParams withSeed(SamplingParams p, long seed) {
        return p.toBuilder().seed(seed).build();
    }

    /// Prints an answer as it comes.
    private final class Printer implements GenerationListener, AutoCloseable {
        private final Session session;
        private final Console.Interrupt interrupt;
        private final LoadedModel loaded;
        private final Progress bar = console.progress("prompt", -1, "tokens");
        private int heard;

        Printer(LoadedModel loaded, Session session, Console.Interrupt interrupt) {
            this.loaded = loaded;
            this.session = session;
            this.interrupt = interrupt;
        }

        @Override
        public void onToken(GeneratedToken token) {
            heard += loaded.tokenizer().isEndOfGeneration(token.id()) ? 0 : 1;
        }

        @Override
        public void onText(String text) {
            bar.close();
            console.out().print(text);
            console.out().flush();
        }

        @Override
        public void onPrefill(int done, int total) {
            if (interrupt.happened()) {
                session.cancel(); // it came before there was anything to cancel
            }
            bar.to(done, total);
        }

        @Override
        public void onMoved(String reason) {
            console.note(reason);
        }

        @Override
        public void close() {
            bar.close();
        }
    }
}
