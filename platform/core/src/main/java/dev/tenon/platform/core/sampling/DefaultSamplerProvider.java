package dev.tenon.platform.core.sampling;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Makes the platform's own samplers; see [ChainSampler]. Safe for any thread.
@Component(service = SamplerProvider.class, configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = SamplerProvider.class, resolution = Resolution.OPTIONAL)
public final class DefaultSamplerProvider implements SamplerProvider {
    /// Makes the provider; it has no state.
    public DefaultSamplerProvider() {}

    @Override
    public Sampler create(SamplingParams params, int vocabularySize) {
        return new ChainSampler(params, vocabularySize);
    }
}
