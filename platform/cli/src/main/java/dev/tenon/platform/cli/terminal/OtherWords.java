package dev.tenon.platform.cli.terminal;

import java.util.Collection;
import java.util.Map;

/// What people type who know other programs.
public final class OtherWords {
    /// What is obeyed.
    private static final Map<String, String> SAME = Map.of("ls", "list", "version", "--version");
    /// What a command of ours is for.
    private static final Map<String, String> MEANT = Map.ofEntries(
            Map.entry("remove", "rm"),
            Map.entry("delete", "rm"),
            Map.entry("del", "rm"),
            Map.entry("uninstall", "rm"),
            Map.entry("copy", "cp"),
            Map.entry("download", "pull"),
            Map.entry("get", "pull"),
            Map.entry("install", "pull"),
            Map.entry("models", "list"),
            Map.entry("info", "show"),
            Map.entry("start", "serve"),
            Map.entry("server", "serve"),
            Map.entry("ask", "run"),
            Map.entry("generate", "run"));
    /// What is done without a command.
    private static final Map<String, String> OTHERWISE = Map.of(
            "ps", " 'tenon list' lists the models here; GET /api/ps of a server those that it has loaded.",
            "stop", " Ctrl-C ends a command; POST /models/unload of a server unloads a model.",
            "create", " POST /api/create of a server keeps a model with settings of its own; 'tenon cp' copies one.",
            "exit", " Every command ends by itself; Ctrl-D ends a chat.");

    private OtherWords() {}

    /// {@return the arguments with our word for the command}
    ///
    /// @param args arguments of the process; not changed
    public static String[] ours(String... args) {
        String same = args.length == 0 ? null : SAME.get(args[0]);
        if (same == null) {
            return args;
        }
        String[] changed = args.clone();
        changed[0] = same;
        return changed;
    }

    /// {@return what to do instead of a command that is not there, with a space before it; empty if nobody knows}
    ///
    /// @param word what was typed
    /// @param first whether it stands for a command of `tenon` itself
    /// @param names the commands that are there
    static String suggestion(String word, boolean first, Collection<String> names) {
        String meant = MEANT.get(word);
        if (first && meant != null && names.contains(meant)) {
            return " Did you mean " + meant + "?";
        }
        return first && OTHERWISE.containsKey(word) ? OTHERWISE.get(word) : EditDistance.suggestion(word, names);
    }
}
