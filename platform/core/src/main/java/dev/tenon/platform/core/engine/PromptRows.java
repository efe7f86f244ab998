package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.platform.core.media.EncodedMedia;
import dev.tenon.platform.core.steps.RowBlock;
import dev.tenon.platform.core.steps.TokenSequence;
import java.util.ArrayList;
import java.util.List;

/// Appends prompts to sequences: tokens, and the rows for which those below 0 stand.
final class PromptRows {
    private final List<RowBlock> blocks = new ArrayList<>();

    /// @param media has the rows
    /// @param width elements of a row that the model reads; 0 if it reads none
    /// @param mostTogether most rows that see each other
    /// @throws TenonException (`STATE-002`) if the rows are not for this model
    PromptRows(List<PromptMedia> media, int width, int mostTogether) {
        for (PromptMedia each : media) {
            if (each.rows() == 0) {
                continue;
            }
            if (!(each instanceof EncodedMedia encoded)) {
                throw refused("The prompt", "has a picture or sound that no model of this engine encoded");
            }
            for (RowBlock block : encoded.blocks()) {
                require("The prompt", block, width, mostTogether);
                blocks.add(block);
            }
        }
    }

    /// Refuses rows that a model cannot read.
    ///
    /// @param what has them, for the message
    /// @param block the rows
    /// @param width elements of a row that the model reads; 0 if it reads none
    /// @param mostTogether most rows that see each other
    /// @throws TenonException (`STATE-002`) if these are others, or more
    static void require(String what, RowBlock block, int width, int mostTogether) {
        if (block.width() != width) {
            throw refused(
                    what,
                    "has rows of " + block.width() + " elements; the model reads "
                            + (width == 0
                                    ? "texts alone. Load it with its companion file (--mmproj)"
                                    : "rows of " + width));
        }
        if (block.together() && block.length() > mostTogether) {
            throw refused(
                    what,
                    "has " + block.length() + " rows that are read together; a step has room for " + mostTogether
                            + ". Load the model with larger steps (-b)");
        }
    }

    private static TenonException refused(String what, String why) {
        return new TenonException(ErrorCode.ARGUMENT, what + " " + why + ".");
    }

    /// A block, and where it is in the prompt.
    ///
    /// @param at index of its first row there
    /// @param first which row that is
    private record Found(RowBlock block, int at, int first) {}

    /// Appends a prompt.
    ///
    /// @param tokens its tokens
    /// @param sequence takes them; unchanged if they are refused
    /// @param config of the model
    /// @throws TenonException (`STATE-002`) if a token is none of the model's, or stands for a row that is not here
    void append(int[] tokens, TokenSequence sequence, ModelConfig config) {
        List<Found> found = new ArrayList<>();
        for (int i = 0; i < tokens.length; i++) {
            if (tokens[i] >= config.vocabularySize() || tokens[i] < 0 && blocks.isEmpty()) {
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        "Token id " + tokens[i] + " is not one of the model's; expected 0 to "
                                + (config.vocabularySize() - 1));
            }
            if (tokens[i] < 0) {
                found.add(find(tokens, i, sequence));
                i += found.getLast().block.length() - found.getLast().first - 1;
            }
        }
        int next = 0;
        for (int i = 0; i < tokens.length; i++) {
            if (next < found.size() && found.get(next).at == i) {
                sequence.addRows(found.get(next).block, found.get(next).first);
                next++;
            }
            sequence.append(tokens[i]);
        }
    }

    /// A block is there whole, but for rows that the sequence has already.
    private Found find(int[] tokens, int at, TokenSequence sequence) {
        for (RowBlock block : blocks) {
            int most = at > 0 ? 1 : block.length();
            for (int first = 0; first < most; first++) {
                if (matches(block, first, tokens, at, sequence)) {
                    return new Found(block, at, first);
                }
            }
        }
        throw refused(
                "The prompt",
                "has token " + tokens[at] + " at index " + at
                        + ", which stands for a row that no picture or sound of the prompt has there");
    }

    private static boolean matches(RowBlock block, int first, int[] tokens, int at, TokenSequence sequence) {
        int before = sequence.length() - first;
        if (tokens.length - at < block.length() - first || before < 0) {
            return false;
        }
        for (int i = 0; i < block.length(); i++) {
            int token = i < first ? sequence.token(before + i) : tokens[at + i - first];
            if (token != block.token(i)) {
                return false;
            }
        }
        return true;
    }
}
