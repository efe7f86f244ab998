package dev.tenon.itest.framework;

import dev.tenon.api.text.SamplerProvider;
import dev.tenon.itest.testkit.SamplerContract;
import java.util.ServiceLoader;

/// The platform's sampler, found by `ServiceLoader` in the finished jar, keeps the contract of samplers.
class OurSamplersIT extends SamplerContract {
    @Override
    protected SamplerProvider provider() {
        return ServiceLoader.load(SamplerProvider.class).findFirst().orElseThrow();
    }
}
