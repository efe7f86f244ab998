package dev.tenon.models.llama;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
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

/// The `voxtral` encoder: means of two tokens of a sound each, of which neighbours make a row.
@Component(service = MediaEncoder.class, property = "media.encoder=voxtral")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class VoxtralEncoder implements MediaEncoder {
    @Override
    public String id() {
        return "voxtral";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        SoundBlocks v = new SoundBlocks(source);
        GraphBuilder g = v.graph();
        int stack = v.shape().keys().integer("audio.projector.stack_factor", 1, SoundBlocks.TOKENS / 2);
        Value x = g.joinRows("joined", v.blocks(v.embedded()), 2 * stack); //                 [L, 2 stack * E]
        x = v.layerNorm(
                "a.post_ln", v.pairs(x, stack), v.shape().width(), v.shape().eps());
        x = g.activate("act", v.linear("mm.a.mlp.1", x), Activation.GELU_ERF);
        x = v.linear("mm.a.mlp.2", x, text.embeddingLength());
        return new EncoderDefinition(g.build(x), SoundBlocks.TOKENS, new Layout(v.bins(), 2 * stack));
    }

    private record Layout(int bins, int join) implements MediaLayout.OfSounds {
        @Override
        public void lay(Sound sound, EncoderTensors tensors, MediaPrompt prompt) {
            prompt.text("[BEGIN_AUDIO]");
            for (float[] piece : new MelSpectrogram(bins).of(sound.resampled(MelSpectrogram.RATE))) {
                EncoderStep step =
                        EncoderStep.of(SoundBlocks.rows(piece, tensors.values("a.position_embd.weight")), join);
                prompt.rows(step, step.results(), false);
            }
        }
    }
}
