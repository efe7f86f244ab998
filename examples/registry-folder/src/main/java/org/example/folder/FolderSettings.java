package org.example.folder;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.config.Setting;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;

/// What can be set of this bundle. `tenon config` lists it.
@Component(service = BundleSettings.class)
@ServiceProvider(value = BundleSettings.class, resolution = Resolution.OPTIONAL)
public final class FolderSettings implements BundleSettings {
    private static final Setting MODELS = Setting.path("folder.models", "", "The folder of models of `folder:NAME`.");

    private static volatile Map<String, String> told = Map.of();

    /// {@return the folder now; empty if none is set}
    static String models() {
        return MODELS.in(told);
    }

    @Override
    public String owner() {
        return "folder registry";
    }

    @Override
    public List<Setting> settings() {
        return List.of(MODELS);
    }

    @Override
    public void configured(Map<String, String> values) {
        told = values;
    }
}
