package dev.tenon.platform.cli.chat;

import static dev.tenon.api.media.MediaKind.PICTURE;
import static dev.tenon.api.media.MediaKind.SOUND;

import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.media.MediaKind;
import dev.tenon.platform.cli.options.MediaFile;
import dev.tenon.platform.cli.options.TextInput;
import dev.tenon.platform.cli.terminal.EditDistance;
import dev.tenon.platform.core.control.UserFolders;
import dev.tenon.platform.core.files.OutputFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/// What a user can type in a chat besides messages.
final class ChatCommands {
    private static final List<ChatCommands.Entry> TABLE = List.of(
            new Entry("/help", "", "this list (also /?)", (chat, _) -> help(chat), "/?"),
            new Entry("/clear", "", "forget the conversation, keep the system message", (chat, _) -> clear(chat)),
            new Entry("/retry", "", "answer the last message again", (chat, _) -> retry(chat), "/regen"),
            new Entry("/edit", "[TEXT]", "change the last message and answer it", ChatCommands::edit),
            new Entry(
                    "/system",
                    "[TEXT]",
                    "show the system message, or set it (\"\": none) and clear", //
                    ChatCommands::system),
            new Entry(
                    "/image",
                    "FILE",
                    "have a picture go with the next message",
                    (chat, name) -> attach(chat, name, PICTURE)),
            new Entry("/audio", "FILE", "have a sound go with it", (chat, name) -> attach(chat, name, SOUND)),
            new Entry("/set", "NAME VALUE", "change a setting, such as temp 0.6 or predict 200", ChatCommands::set),
            new Entry("/show", "", "model, context and settings", (chat, _) -> show(chat)),
            new Entry(
                    "/save",
                    "[-f] FILE",
                    "write the conversation to a file (Markdown); -f: replace it",
                    ChatCommands::save),
            new Entry("/load", "FILE", "go on with a conversation that was saved", ChatCommands::load),
            new Entry("/stats", "", "counts and speed of the last answer", (chat, _) -> stats(chat)),
            new Entry("/exit", "", "leave (also /quit, Ctrl-D)", (chat, _) -> chat.end(), "/quit", "/bye"));

    private ChatCommands() {}

    /// A command.
    ///
    /// @param name its name
    /// @param argument what may follow
    /// @param help what it does
    /// @param action does it
    /// @param others other names
    private record Entry(
            String name, String argument, String help, BiConsumer<Chat, String> action, List<String> others) {
        Entry(String name, String argument, String help, BiConsumer<Chat, String> action, String... others) {
            this(name, argument, help, action, List.of(others));
        }
    }

    /// {@return the names of all commands, without other names for them}
    static List<String> names() {
        return TABLE.stream().map(Entry::name).toList();
    }

    /// Does what a line says.
    ///
    /// @param chat the chat
    /// @param line a command and what follows it
    static void obey(Chat chat, String line) {
        String[] words = line.split("\\s+", 2);
        String rest = words.length > 1 ? words[1].strip() : "";
        Optional<Entry> entry = TABLE.stream()
                .filter(e -> e.name().equals(words[0]) || e.others().contains(words[0]))
                .findFirst();
        if (entry.isEmpty()) {
            chat.console()
                    .note("Unknown command " + words[0] + "." + EditDistance.suggestion(words[0], names())
                            + " /help lists them.");
        } else if (rest.isEmpty() && entry.get().argument().matches("(\\[-f] )?[A-Z].*")) {
            chat.console()
                    .note("Something is missing: " + entry.get().name() + " "
                            + entry.get().argument());
        } else {
            entry.get().action().accept(chat, rest);
        }
    }

    private static void help(Chat chat) {
        for (Entry entry : TABLE) {
            chat.print("%-16s %s".formatted(entry.name() + " " + entry.argument(), entry.help()));
        }
        chat.print("Ctrl-C           ends an answer");
        chat.print("\"\"\"              begins and ends a message of several lines");
        chat.print("\\                at the end of a line: the message goes on");
        if (chat.interactive()) {
            chat.print("Alt-Enter        begins a new line");
        }
    }

    private static void clear(Chat chat) {
        chat.conversation().clear();
        chat.console().note("The conversation is cleared.");
    }

    private static void retry(Chat chat) {
        Optional<ChatTurn> message = chat.conversation().lastMessage();
        if (message.isEmpty()) {
            chat.console().note("There is no answer yet.");
        } else {
            chat.answerAgain(message.get());
        }
    }

    private static void edit(Chat chat, String text) {
        Optional<ChatTurn> message = chat.conversation().lastMessage();
        if (message.isEmpty()) {
            chat.console().note("There is no message yet.");
            return;
        }
        String edited = text.isEmpty() && chat.interactive() ? chat.edit(MediaFile.marked(message.get())) : text;
        if (edited == null) {
            chat.console().note("Nothing is changed.");
        } else if (edited.isEmpty()) {
            chat.console().note("Something is missing: /edit TEXT");
        } else {
            chat.answerAgain(Prompts.user(edited, message.get().media()));
        }
    }

    private static void attach(Chat chat, String name, MediaKind kind) {
        try {
            chat.attach(new MediaFile(Attachments.path(name), kind));
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.IO, name + " is no path of a file: " + e.getMessage() + ".", e);
        }
    }

    private static void system(Chat chat, String text) {
        if (text.isEmpty()) {
            String message = chat.conversation().system();
            chat.print(message.isEmpty() ? "There is no system message." : message);
            return;
        }
        boolean none = text.equals("\"\"");
        chat.conversation().system(none ? "" : text);
        chat.console().note((none ? "No system message" : "System message set") + "; the conversation is cleared.");
    }

    private static void set(Chat chat, String text) {
        String[] words = text.split("[\\s=]+", 2);
        if (words.length < 2) {
            chat.console().note("Something is missing: /set NAME VALUE; /show lists the settings.");
            return;
        }
        try {
            chat.settings().set(words[0], words[1]);
        } catch (IllegalArgumentException e) {
            chat.console().note(e.getMessage());
        }
    }

    private static void show(Chat chat) {
        chat.describe().forEach((name, value) -> chat.print("%-18s %s".formatted(name, value)));
    }

    private static void save(Chat chat, String name) {
        boolean replace = name.matches("(?s)-f(\\s.*)?");
        String target = replace ? name.substring(2).strip() : name;
        if (target.isEmpty()) {
            chat.console().note("Something is missing: /save [-f] FILE");
            return;
        }
        Path file = file(target);
        if (chat.interactive() && !replace && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            // A question would take the next line, whatever it was meant for.
            chat.console().note(target + " exists and stays as it is. To replace it: /save -f " + target);
            return;
        }
        OutputFile.write(file, replace, Transcript.write(chat.conversation().messages()));
        boolean left = chat.conversation().messages().stream()
                .anyMatch(turn -> !turn.media().isEmpty());
        chat.console().note("Saved to " + target + (left ? ", without pictures and sounds." : "."));
    }

    private static void load(Chat chat, String name) {
        try {
            chat.conversation().replace(Transcript.read(TextInput.file(file(name))));
        } catch (IllegalArgumentException e) {
            throw new TenonException(
                    ErrorCode.IO, name + " is no saved chat: " + e.getMessage() + ". Give a file that /save wrote.", e);
        }
        chat.console().note("Loaded from " + name + ": " + chat.turns() + ".");
    }

    private static Path file(String name) {
        return UserFolders.path(name);
    }

    private static void stats(Chat chat) {
        chat.console().note(chat.stats());
    }
}
