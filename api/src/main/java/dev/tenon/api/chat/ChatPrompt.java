package dev.tenon.api.chat;

import dev.tenon.api.engine.PromptMedia;
import java.util.List;

/// A conversation as a model takes it.
///
/// @param text what the model's template wrote, with a [place][MediaPart#PLACE] for each picture and sound; never null
/// @param borders ascending indices of chars of the text: no control token spans one, so that texts of users
///     make none; as [dev.tenon.api.text.Tokenizer#encode(String, boolean, int[])] takes them; never null
/// @param tokens the tokens of the text, with those that the vocabulary adds, and of what stands in its places; never
///     null
/// @param media has the rows for which [tokens below 0][PromptMedia#tokens] stand; never null; copied
public record ChatPrompt(String text, int[] borders, int[] tokens, List<PromptMedia> media) {
    /// Copies.
    public ChatPrompt {
        media = List.copyOf(media);
    }
}
