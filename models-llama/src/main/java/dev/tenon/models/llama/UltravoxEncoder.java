package dev.tenon.models.llama;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.media.MelSpectrogram;
import dev.tenon.api.media.Sound;
import dev.tenon.api.media.encoder.EncoderDefinition;
import dev.tenon.api.media.encoder.EncoderStep;
import dev.tenon.api.media.encoder.EncoderTensors;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.media.encoder.MediaPrompt;
import dev.tenon.api.media.encoder.SoundBlocks;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import org.osgi.service.component.annotations.Component;

/// The `ultravox` encoder: neighbouring tokens of a sound make a row.
@Component(service = MediaEncoder.class, property = "media.encoder=ultravox")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class UltravoxEncoder implements MediaEncoder {
    private static final float PROJECTOR_EPS = 1e-6f;

    @Override
    public String id() {
        return "ultravox";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        SoundBlocks v = new SoundBlocks(source);
        GraphBuilder g = v.graph();
        int stack = v.shape().keys().integer("audio.projector.stack_factor", 1, SoundBlocks.TOKENS);
        Value x = v.norm("a.post_ln", v.blocks(v.embedded())); //                                     [T, E]
        x = normed(g, "mm.a.norm_pre", g.joinRows("joined", x, stack)); //                      [L, stack * E]
        x = v.linear("mm.a.mlp.1", x);
        int half = x.width() / 2;
        Value gate = g.activate("gate", g.slice("second", x, 1, half, half), Activation.SILU);
        x = normed(g, "mm.a.norm_mid", g.multiply("gated", g.slice("half", x, 1, 0, half), gate));
        x = v.linear("mm.a.mlp.2", x, text.embeddingLength());
        return new EncoderDefinition(g.build(x), SoundBlocks.TOKENS, new Layout(v.bins(), stack));
    }

    private static Value normed(GraphBuilder g, String name, Value x) {
        return g.rmsNorm(name, x, Weight.vector(name + ".weight", x.width()), PROJECTOR_EPS);
    }

    private record Layout(int bins, int stack) implements MediaLayout.OfSounds {
        @Override
        public void lay(Sound sound, EncoderTensors tensors, MediaPrompt prompt) {
            for (float[] piece : new MelSpectrogram(bins).of(sound.resampled(MelSpectrogram.RATE))) {
                EncoderStep step =
                        EncoderStep.of(SoundBlocks.rows(piece, tensors.values("a.position_embd.weight")), stack);
                prompt.rows(step, step.results(), false);
            }
        }
    }
}
