package dev.tenon.api.chat;

/// A conversation as a model takes it.
///
/// @param text what the model's template wrote; never null
/// @param borders ascending indices of chars of the text: no control token spans one, so that texts of users
///     make none; as [dev.tenon.api.text.Tokenizer#encode(String, boolean, int[])] takes them; never null
/// @param tokens the tokens of the text, with those that the vocabulary adds; never null
public record ChatPrompt(String text, int[] borders, int[] tokens) {}
