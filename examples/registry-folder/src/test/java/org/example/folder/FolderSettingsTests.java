package org.example.folder;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.itest.testkit.BundleSettingsContract;

class FolderSettingsTests extends BundleSettingsContract {
    @Override
    protected BundleSettings settings() {
        return new FolderSettings();
    }
}
