package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.options.MediaFile;
import dev.tenon.platform.cli.terminal.CliErrors;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// One chat: reads messages and commands, and answers them. For one thread.
final class Chat {
    private final Console console;
    private final LoadedModel model;
    private final Session session;
    private final ChatInput input;
    private final ChatSettings settings;
    private final Conversation conversation;
    private final Attachments attached;
    private final boolean interactive;
    private Usage last;
    private boolean ended;

    /// Creates a chat.
    ///
    /// @param console where answers go
    /// @param model what answers
    /// @param session holds the conversation; the caller closes it
    /// @param input where messages come from; the caller closes it
    /// @param settings how to answer
    /// @param system the system message, or an empty string
    /// @param attached what goes with the first message
    /// @param interactive whether a person sits at a terminal
    Chat(
            Console console,
            LoadedModel model,
            Session session,
            ChatInput input,
            ChatSettings settings,
            String system,
            Attachments attached,
            boolean interactive) {
        this.console = console;
        this.model = model;
        this.session = session;
        this.input = input;
        this.settings = settings;
        this.attached = attached;
        this.interactive = interactive;
        conversation = new Conversation(model, session, settings::limited);
        conversation.system(system);
    }

    /// Answers until there are no more messages.
    ///
    /// @return exit status
    /// @throws IOException if reading fails
    int talk() throws IOException {
        int failures = 0;
        String kept = null;
        for (String typed = input.read(); typed != null; typed = ended ? null : next(kept)) {
            kept = null;
            try {
                take(typed);
            } catch (TenonException e) {
                boolean tooLong = e.code().equals(ErrorCode.CONTEXT_LENGTH);
                // A message that is too long is no reason to lose those that follow.
                if (!interactive && !tooLong) {
                    throw e;
                }
                boolean message = !isCommand(typed);
                failures += message || !interactive ? 1 : 0;
                kept = message && tooLong && interactive ? typed : null;
                CliErrors.failure(e, console.err(), false);
            }
        }
        if (failures > 0 && interactive) {
            console.note(failures == 1 ? "1 message failed." : failures + " messages failed.");
        }
        return failures > 0 && !interactive ? CliErrors.FAILED : 0;
    }

    /// @param kept a message to be made shorter, or null
    private String next(String kept) throws IOException {
        String shorter = kept == null ? null : input.edit(kept);
        return shorter == null ? input.read() : shorter;
    }

    private static boolean isCommand(String typed) {
        return MultiLine.text(typed).startsWith("/") && !MultiLine.quoted(typed);
    }

    private void take(String typed) {
        String text = MultiLine.text(typed);
        Optional<MediaFile> dropped = attached.dropped(text);
        if (dropped.isPresent()) {
            attach(dropped.get());
        } else if (isCommand(typed)) {
            ChatCommands.obey(this, text);
        } else if (!text.isEmpty()) {
            answer(Prompts.user(text, attached.parts()));
            attached.sent();
        }
    }

    /// Has a picture or sound go with the next message.
    ///
    /// @param file its file
    void attach(MediaFile file) {
        console.note("Goes with the next message: " + attached.attach(file) + ".");
    }

    private void answer(ChatTurn message) {
        int heard;
        boolean cut;
        try (Console.Interrupt interrupt = console.onInterrupt(session::cancel);
                AnswerPrinter printer = new AnswerPrinter(console, model, session, interrupt, input.width())) {
            last = conversation.send(message, settings.next(), printer, printer);
            heard = printer.heard();
            cut = interrupt.happened() && last.finish() == FinishReason.CANCELLED;
        }
        console.out().println();
        console.out().flush();
        if (cut) {
            console.note("(cut short)");
        }
        int left = conversation.turnsLeft();
        if (left > 0) {
            console.note("(the context is full: the oldest " + (left == 1 ? "turn" : left + " turns")
                    + " left the conversation)");
        }
        StopNote.of(last, settings.predict(), model.contextLength(), settings.stop(), heard)
                .ifPresent(console::note);
        if (interactive) {
            console.note(
                    String.format(Locale.ROOT, "%.1f tok/s, context %s", last.decodeTokensPerSecond(), contextUse()));
        }
    }

    /// Answers a message in place of the last one. If that fails, the conversation is unchanged.
    ///
    /// @param message the message
    void answerAgain(ChatTurn message) {
        List<ChatTurn> former = conversation.messages();
        conversation.takeBack();
        boolean answered = false;
        try {
            answer(message);
            answered = true;
        } finally {
            if (!answered) {
                conversation.replace(former);
            }
        }
    }

    /// Ends the chat after the running command.
    void end() {
        ended = true;
    }

    /// Writes a line to standard output.
    ///
    /// @param line the line
    void print(String line) {
        console.out().println(line.stripTrailing());
        console.out().flush();
    }

    /// Lets the user change a message.
    ///
    /// @param message the message
    /// @return the changed one, or null if that was given up
    String edit(String message) {
        String typed = input.edit(message);
        return typed == null ? null : MultiLine.text(typed);
    }

    /// {@return what runs, how full the context is, and the settings, by name}
    Map<String, String> describe() {
        Map<String, String> about = new LinkedHashMap<>();
        about.put("model", model.config().name() + ", " + model.file().path());
        about.put("backend", model.backend() + ", " + model.device().name());
        about.put("context", contextUse() + " tokens, " + turns());
        if (!settings.stop().isEmpty()) {
            about.put("stop", String.join(", ", settings.stop()));
        }
        about.putAll(settings.values());
        return about;
    }

    private String contextUse() {
        return session.length() + " of " + model.contextLength();
    }

    /// {@return how many turns there are, in words}
    String turns() {
        int turns = conversation.turns();
        return turns == 1 ? "1 turn" : turns + " turns";
    }

    /// {@return counts and speed of the last answer}
    String stats() {
        return last == null ? "No answer yet." : RunMetrics.summary(last, model);
    }

    Console console() {
        return console;
    }

    Conversation conversation() {
        return conversation;
    }

    ChatSettings settings() {
        return settings;
    }

    boolean interactive() {
        return interactive;
    }
}
