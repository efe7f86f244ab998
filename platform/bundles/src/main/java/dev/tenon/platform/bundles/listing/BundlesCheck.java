package dev.tenon.platform.bundles.listing;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.platform.cli.DoctorCheck;
import java.util.List;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Tells `tenon doctor` which bundles do not run, and which jars were ignored.
@Component(service = DoctorCheck.class, configurationPolicy = ConfigurationPolicy.IGNORE)
public final class BundlesCheck implements DoctorCheck {
    @Override
    public void run(Findings findings) {
        List<OsgiBundles.Info> bundles = OsgiBundles.all();
        boolean wrong = false;
        for (OsgiBundles.Info bundle : bundles) {
            String problems = String.join("; ", bundle.problems());
            wrong |= !problems.isEmpty();
            if (bundle.id() < 0) {
                findings.warn(
                        "jar " + bundle.name(), coded(problems, ErrorCode.BUNDLE_FILE), "Replace it, or delete it.");
            } else if (!problems.isEmpty()) {
                findings.warn(
                        "bundle " + bundle.name(),
                        coded(bundle.version() + " is " + bundle.state() + ": " + problems, ErrorCode.ENV_PLATFORM),
                        "Install what it needs, or remove it.");
            }
        }
        if (!wrong) {
            findings.pass("bundles", bundles.size() + " installed, all running");
        }
    }

    /// Problems may have the code of an error.
    private static String coded(String problems, String code) {
        return problems.endsWith("]") ? problems : problems + " [" + code + "]";
    }
}
