package dev.tenon.models.deepseek;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DeepSeek32ArchitectureTests extends LatentContract {
    @Override
    protected ModelArchitecture architecture() {
        return new DeepSeek32Architecture();
    }

    @Override
    protected TinySource tiny() {
        return indexed(yarn(latent("deepseek32")), "blk.0.", "blk.1.");
    }

    @Override
    protected Set<String> ownKeys() {
        Set<String> keys = super.ownKeys();
        keys.addAll(INDEX_KEYS);
        return keys;
    }

    /// The index rotates halves of its keys, attention neighbouring pairs, and each layer chooses for itself.
    @Test
    void eachLayerChoosesItsPositions() {
        String listing = GraphListing.of(tiny().graph(architecture()));
        holds(listing, """
                    indexer.attn_q_b = linear attn_q_a_norm, indexer.attn_q_b.weight [20, 24]
                    indexer.attn_k = linear attn_norm, indexer.attn_k.weight [32, 8]
                    indexer.k_norm = layer_norm indexer.attn_k, indexer.k_norm.weight [8, 1], indexer.k_norm.bias [8, 1], \
                eps 1.0E-6
                    indexer.proj = linear attn_norm, indexer.proj.weight [32, 3]
                    indexer.q_rope = rope indexer.attn_q_b, HALF_SPLIT, base 10000.0, 4 of heads of 8""");
        holds(listing, "positions = select_positions indexer.q_rope, indexer.weights, indexer.k_rope");
        holds(listing, "q_rope = rope q_pe, INTERLEAVED");
        assertEquals(2, listing.split("= select_positions").length - 1, listing);
        assertEquals(2, listing.split("= selected_attention").length - 1, listing);
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().without("attention.indexer.top_k"), ErrorCode.MODEL_KEY_MISSING, "indexer.top_k");
        refused(tiny().key("attention.q_lora_rank", 0), ErrorCode.MODEL_KEY_VALUE, "q_lora_rank");
    }
}
