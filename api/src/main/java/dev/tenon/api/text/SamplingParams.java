package dev.tenon.api.text;

import java.util.Map;

/// How the next token is chosen from the logits. The order of the steps is llama.cpp's: logit bias,
/// penalties, top-k,
/// typical-p, top-p, min-p, temperature, draw.
///
/// @param temperature 0 takes the best token (greedy); 1 leaves the model's distribution
/// @param topK keep this many best tokens; 0 keeps all
/// @param topP keep the smallest set whose probability reaches this; 1 keeps all
/// @param minP drop tokens below this share of the best token's probability; 0 keeps all
/// @param typicalP locally typical sampling; 1 keeps all
/// @param repeatPenalty divides (multiplies, if negative) the logits of recent tokens; 1 changes nothing
/// @param presencePenalty subtracted from the logits of recent tokens; 0 changes nothing
/// @param frequencyPenalty subtracted once for each recent occurrence; 0 changes nothing
/// @param repeatLastN how many recent tokens the penalties look at; 0 none, -1 all
/// @param logitBias added to the logits of token ids; unmodifiable
/// @param seed start of the random sequence; the same seed gives the same text; -1 takes a random one
public record SamplingParams(
        float temperature,
        int topK,
        float topP,
        float minP,
        float typicalP,
        float repeatPenalty,
        float presencePenalty,
        float frequencyPenalty,
        int repeatLastN,
        Map<Integer, Float> logitBias,
        long seed) {
    /// Copies the bias and checks the ranges.
    public SamplingParams {
        logitBias = Map.copyOf(logitBias);
        require(temperature >= 0, "temperature", temperature, "0 or more");
        require(topK >= 0, "topK", topK, "0 or more");
        require(topP > 0 && topP <= 1, "topP", topP, "above 0, at most 1");
        require(minP >= 0 && minP <= 1, "minP", minP, "0 to 1");
        require(typicalP > 0 && typicalP <= 1, "typicalP", typicalP, "above 0, at most 1");
        require(repeatPenalty > 0, "repeatPenalty", repeatPenalty, "above 0");
        require(Float.isFinite(presencePenalty), "presencePenalty", presencePenalty, "a finite number");
        require(Float.isFinite(frequencyPenalty), "frequencyPenalty", frequencyPenalty, "a finite number");
        require(repeatLastN >= -1, "repeatLastN", repeatLastN, "-1 or more");
    }

    /// {@return greedy choice: temperature 0, nothing else}
    public static SamplingParams greedy() {
        return new SamplingParams(0, 0, 1, 0, 1, 1, 0, 0, 64, Map.of(), 0);
    }

    /// {@return llama.cpp's defaults: temperature 0.8, top-k 40, top-p 0.95, min-p 0.05}
    public static SamplingParams defaults() {
        return new SamplingParams(0.8f, 40, 0.95f, 0.05f, 1, 1, 0, 0, 64, Map.of(), -1);
    }

    private static void require(boolean ok, String name, float value, String expected) {
        if (!ok) {
            throw new IllegalArgumentException(name + " is " + value + "; expected " + expected);
        }
    }
}
