package org.example.telemetry;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.itest.testkit.BundleSettingsContract;

class TelemetrySettingsTests extends BundleSettingsContract {
    @Override
    protected BundleSettings settings() {
        return new TelemetrySettings();
    }
}
