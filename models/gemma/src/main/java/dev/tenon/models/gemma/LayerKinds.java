package dev.tenon.models.gemma;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.RopeKeys;

/// Which layers of Gemma 3 and its encoder see a window, and how they rotate: the last of each `period` layers
/// sees everything.
///
/// @param window positions that the other layers see; 0 for all
/// @param period layers from one that sees everything to the next
/// @param ropeOfAll rotation of layers that see everything
/// @param ropeOfWindow rotation of the others
record LayerKinds(int window, int period, RopeParams ropeOfAll, RopeParams ropeOfWindow) {
    static final float DEFAULT_FREQ_BASE = 1_000_000;
    private static final float DEFAULT_FREQ_BASE_OF_WINDOWS = 10_000;
    private static final double MAX_FREQ_BASE = 1e15;
    private static final int DEFAULT_PERIOD = 6;

    static LayerKinds read(ModelKeys keys, ModelConfig c, int defaultWindow) {
        float base = keys.numberOr("rope.freq_base_swa", DEFAULT_FREQ_BASE_OF_WINDOWS, 1, MAX_FREQ_BASE);
        return new LayerKinds(
                keys.integerOr("attention.sliding_window", defaultWindow, 0, GemmaBlocks.MAX_WINDOW),
                keys.integerOr("attention.sliding_window_pattern", DEFAULT_PERIOD, 1, Integer.MAX_VALUE),
                RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build(),
                RopeKeys.plain(keys, c, Pairing.HALF_SPLIT, base).build());
    }

    private boolean seesAll(int layer) {
        return window == 0 || layer % period == period - 1;
    }

    int window(int layer) {
        return seesAll(layer) ? 0 : window;
    }

    RopeParams rope(int layer) {
        return seesAll(layer) ? ropeOfAll : ropeOfWindow;
    }
}
