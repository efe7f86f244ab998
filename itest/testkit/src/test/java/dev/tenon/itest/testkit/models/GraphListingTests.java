package dev.tenon.itest.testkit.models;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GraphListingTests {
    private final GraphBuilder b = new GraphBuilder("listed");

    private Value layer(Value x, Value keys, int layer, int cache, int window) {
        String blk = "blk." + layer + ".";
        RopeParams rope = RopeParams.builder(4, Pairing.HALF_SPLIT, 500)
                .ropeDim(2)
                .yarn(Optional.of(new Yarn(8, 64, 32, 1)))
                .attentionFactor(1.5f)
                .build();
        Weight weight = new Weight(blk + "attn_q.weight", 4, 4);
        Value q = b.linear(blk + "attn_q", x, weight, Optional.of(Weight.vector(blk + "attn_q.bias", 4)));
        q = b.rope(blk + "q_rope", q, rope);
        AttentionParams params =
                AttentionParams.builder(1, 1, 0.5f).slidingWindow(window).build();
        return b.add(blk + "residual", x, b.attention(blk + "attn", q, keys, keys, cache, params));
    }

    @Test
    void layersThatDoTheSameAreListedOnce() {
        Value x = b.embedding("embd", new Weight("token_embd.weight", 4, 9));
        x = layer(x, x, 0, 0, 0);
        Value keys = x;
        x = layer(x, keys, 1, 1, 0);
        x = layer(x, keys, 2, 1, 16);
        Value rows = b.selectRows("rows", x);
        b.output("hidden", rows);
        Graph graph = b.build(b.scale("logits", rows, 0.25f));
        assertEquals("""
                embd = embedding token_embd.weight [4, 9]
                blk.0, blk.1
                    attn_q = linear x, attn_q.weight [4, 4], attn_q.bias [4, 1]
                    q_rope = rope attn_q, HALF_SPLIT, base 500.0, 2 of heads of 4, Yarn[factor=8.0, \
                originalContextLength=64, betaFast=32.0, betaSlow=1.0], attention factor 1.5
                    attn = attention q_rope, x, x, heads 1/1, scale 0.5
                    residual = add x, attn
                blk.2
                    attn_q = linear x, attn_q.weight [4, 4], attn_q.bias [4, 1]
                    q_rope = rope attn_q, HALF_SPLIT, base 500.0, 2 of heads of 4, Yarn[factor=8.0, \
                originalContextLength=64, betaFast=32.0, betaSlow=1.0], attention factor 1.5
                    attn = attention q_rope, blk.0.residual, blk.0.residual, layer 1, heads 1/1, scale 0.5, window 16
                    residual = add x, attn
                rows = select_rows blk.2.residual
                logits = scale rows, factor 0.25
                output logits, named {hidden=rows}""", GraphListing.of(graph));
    }
}
