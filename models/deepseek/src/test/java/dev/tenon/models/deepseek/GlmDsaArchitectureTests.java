package dev.tenon.models.deepseek;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GlmDsaArchitectureTests extends LatentContract {
    @Override
    protected ModelArchitecture architecture() {
        return new GlmDsaArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return indexed(latent("glm-dsa"), "blk.0.").key("attention.indexer.types", new long[] {1, 0});
    }

    @Override
    protected Set<String> ownKeys() {
        Set<String> keys = super.ownKeys();
        keys.addAll(INDEX_KEYS);
        return keys;
    }

    /// Both kinds of keys are rotated in neighbouring pairs; the second layer takes the positions of the first.
    @Test
    void aLayerAttendsToThePositionsOfTheLastIndex() {
        String listing = GraphListing.of(tiny().graph(architecture()));
        holds(listing, """
                    indexer.attn_q_b = linear attn_q_a_norm, indexer.attn_q_b.weight [20, 24]
                    indexer.attn_k = linear attn_norm, indexer.attn_k.weight [32, 8]
                    indexer.k_norm = layer_norm indexer.attn_k, indexer.k_norm.weight [8, 1], indexer.k_norm.bias [8, 1], \
                eps 1.0E-6
                    indexer.proj = linear attn_norm, indexer.proj.weight [32, 3]
                    indexer.q_rope = rope indexer.attn_q_b, INTERLEAVED, base 10000.0, 4 of heads of 8""");
        holds(listing, "positions = select_positions indexer.q_rope, indexer.weights, indexer.k_rope");
        holds(listing, "values in keys true, blk.0.positions");
        assertEquals(1, listing.split("= select_positions").length - 1, listing);
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("attention.indexer.types", new long[] {0, 1}), ErrorCode.MODEL_KEY_VALUE, "indexer.types");
        refused(
                tiny().without("attention.indexer.types").key("context_length", 1_048_576),
                ErrorCode.MODEL_KEY_MISSING,
                "indexer.types");
        refused(tiny().key("attention.indexer.key_length", 3), ErrorCode.MODEL_KEY_VALUE, "indexer.key_length");
    }
}
