package dev.tenon.platform.contracts.project;

import dev.tenon.api.device.Backend;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.cli.TenonCommand;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Locale;

/// What a bundle can offer, and there is an archetype for.
public enum ProjectKind {
    FORMAT(QuantFormat.class),
    MODEL(ModelArchitecture.class),
    ENCODER(MediaEncoder.class),
    BACKEND(Backend.class),
    TOKENIZER(TokenizerProvider.class),
    SAMPLER(SamplerProvider.class),
    COMMAND(TenonCommand.class),
    ENDPOINT(EndpointProvider.class);

    private final Class<?> service;

    ProjectKind(Class<?> service) {
        this.service = service;
    }

    /// {@return the interface of the service that the bundle offers}
    public Class<?> service() {
        return service;
    }

    /// {@return the name of its archetype's folder, which commands use too}
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// {@return the kind of a name}
    ///
    /// @param word see [#word()]
    /// @throws TenonException (`CLI-001`) if there is none
    public static ProjectKind of(String word) {
        return Arrays.stream(values())
                .filter(kind -> kind.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.USAGE,
                        "There is no project of the kind '" + word + "', only " + String.join(", ", new Words())
                                + ": tenon new format my-format"));
    }

    /// The names of all kinds, for help and completion.
    public static final class Words extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        /// Lists them.
        public Words() {
            super(Arrays.stream(values()).map(ProjectKind::word).toList());
        }
    }
}
