package dev.tenon.platform.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class BenchProfileTests {
    private static String role(String op, String name) {
        return BenchProfile.role(FakeProfiler.step(op, name, "k"));
    }

    @Test
    void rolesLeaveOutTheLayer() {
        assertEquals(
                "attn_q+attn_k+attn_v",
                role("norm_qkv_rope", "blk.3.attn_q.weight, blk.3.attn_k.weight, blk.3.attn_v.weight"));
        assertEquals("ffn_down", role("linear_add", "blk.12.ffn_down.weight"));
        assertEquals("kqv_out", role("attention", "kqv_out-7"));
        assertEquals("output_norm", role("rms_norm", "output_norm.weight"));
        assertEquals("head", role("linear", "output.weight"));
        assertEquals("head", role("linear", "token_embd.weight"));
        assertEquals("token_embd", role("embedding", "token_embd.weight"));
    }

    @Test
    void layersAndRunsAreAddedUpAndTheRestIsNamed() {
        BenchProfile profile = new BenchProfile();
        FakeProfiler profiler = new FakeProfiler();
        for (int i = 0; i < 2; i++) {
            profiler.start();
            profile.add(profiler.stop(), 2000, 1600);
        }
        BenchProfile.Row down = profile.rows().getFirst();
        assertEquals(new BenchProfile.Row("linear_add", "ffn_down", "q6_k.fake", 4, 2000, 16000), down);
        assertEquals(0.5, profile.share(down), 1e-12);
        assertEquals(0.5, down.micros(), 1e-12);
        assertEquals(8, down.gigabytesPerSecond(), 1e-12);
        assertEquals(0.25, profile.overhead(), 1e-12);
        assertEquals(0, profile.overheadDeviation(), 1e-12);
        assertEquals(200, profile.betweenKernelsNanos());
        assertEquals(1600, profile.outsideNanos());
    }
}
