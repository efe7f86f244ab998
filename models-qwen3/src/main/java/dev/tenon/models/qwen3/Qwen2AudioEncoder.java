package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
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

/// The `qwen2a` encoder of Qwen 2 Audio and Qwen 2.5 Omni: two tokens of a sound make a row.
@Component(service = MediaEncoder.class, property = "media.encoder=qwen2a")
@ServiceProvider(value = MediaEncoder.class, resolution = Resolution.OPTIONAL)
public final class Qwen2AudioEncoder implements MediaEncoder {
    @Override
    public String id() {
        return "qwen2a";
    }

    @Override
    public EncoderDefinition define(ModelSource source, ModelConfig text) {
        SoundBlocks v = new SoundBlocks(source);
        GraphBuilder g = v.graph();
        Value x = g.joinRows("joined", v.blocks(v.embedded()), 2); //                               [L, 2 E]
        x = v.norm("a.post_ln", v.pairs(x, 1)); //                                                    [L, E]
        x = v.linear("mm.a.fc", x, text.embeddingLength());
        return new EncoderDefinition(g.build(x), SoundBlocks.TOKENS, new Layout(v.bins()));
    }

    private record Layout(int bins) implements MediaLayout.OfSounds {
        @Override
        public void lay(Sound sound, EncoderTensors tensors, MediaPrompt prompt) {
            prompt.text("<|audio_bos|>");
            for (float[] piece : new MelSpectrogram(bins).of(sound.resampled(MelSpectrogram.RATE))) {
                EncoderStep step = EncoderStep.of(SoundBlocks.rows(piece, tensors.values("a.position_embd.weight")), 2);
                prompt.rows(step, step.results(), false);
            }
            prompt.text("<|audio_eos|>");
        }
    }
}
