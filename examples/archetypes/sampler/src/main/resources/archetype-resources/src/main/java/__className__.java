package ${package};

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.propertytypes.ServiceRanking;

/// Makes the samplers of all models, as the platform's own has the rank 0. Safe for any thread.
@Component(service = SamplerProvider.class)
@ServiceProvider(value = SamplerProvider.class, resolution = Resolution.OPTIONAL)
@ServiceRanking(10)
public final class ${className} implements SamplerProvider {
    @Override
    public Sampler create(SamplingParams params, int vocabularySize) {
        return new SigmaSampler(params);
    }
}
