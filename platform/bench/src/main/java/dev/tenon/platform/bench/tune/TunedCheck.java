package dev.tenon.platform.bench.tune;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.cli.DoctorCheck;
import dev.tenon.platform.core.tuned.TunedFolder;
import dev.tenon.platform.core.tuned.TunedSettings;
import java.util.List;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;

/// Tells `tenon doctor` what was tuned.
@Component(service = DoctorCheck.class, configurationPolicy = ConfigurationPolicy.IGNORE)
public final class TunedCheck implements DoctorCheck {
    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Override
    public void run(Findings findings) {
        TunedFolder folder = TuneCommand.folder(engine);
        List<TunedSettings> all = folder.all();
        if (all.isEmpty()) {
            findings.pass("tuned", "nothing; 'tenon tune' searches for faster settings");
        }
        for (TunedSettings each : all) {
            String settings = each.settings().isEmpty() ? "the defaults stay" : TunedSettings.line(each.settings());
            findings.pass(
                    "tuned",
                    each.identity().backend() + " on " + each.identity().device() + ": " + settings + ", "
                            + each.result());
        }
    }
}
