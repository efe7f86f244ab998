package ${package};

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import org.osgi.service.component.annotations.Component;

/// Makes samplers for requests that choose them by name: `${id}`, or `${id}=DEVIATIONS`. Without a name, and with a
/// service ranking above 0, it would make those of all requests that name none. Safe for any thread.
@Component(service = SamplerProvider.class)
@ServiceProvider(value = SamplerProvider.class, resolution = Resolution.OPTIONAL)
public final class ${className} implements SamplerProvider {
    @Override
    public String id() {
        return "${id}";
    }

    @Override
    public Sampler create(SamplingParams params, int vocabularySize) {
        return new SigmaSampler(params, 1);
    }

    @Override
    public Sampler create(SamplingParams params, int vocabularySize, String argument, Tokenizer tokenizer) {
        if (argument.isEmpty()) {
            return create(params, vocabularySize);
        }
        if (!argument.matches("[0-9]{1,3}([.][0-9]{1,9})?")) {
            throw new IllegalArgumentException("'" + argument + "' is no number of standard deviations, such as 1.5");
        }
        return new SigmaSampler(params, Double.parseDouble(argument));
    }
}
