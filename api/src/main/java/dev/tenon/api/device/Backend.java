package dev.tenon.api.device;

import dev.tenon.api.config.Knob;
import dev.tenon.api.config.Setting;
import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// A kind of device that can run graphs: the entry point of a backend bundle.
///
/// The constructor does nothing costly; hardware is looked for in [#probe()]. Safe for any thread.
@ConsumerType
public interface Backend {
    /// {@return the id used in configuration, such as `cpu-vector` or `cuda`}
    String id();

    /// {@return how much `auto` prefers it; the highest available rank wins. The CPU backend has
    /// 100, GPUs have more; one below 0 is used only when it is named}
    int rank();

    /// Finds out whether it can work here. Cheap enough to be called for a listing; never throws
    /// for missing hardware.
    ///
    /// @return available or not, with the reason
    Probe probe();

    /// {@return the devices, in a stable order; empty when the probe fails}
    List<DeviceInfo> devices();

    /// {@return the settings that it reads from [DeviceOptions#settings()] and
    /// [PlanOptions#settings()], or once in a process; a stable list. The platform lists them,
    /// refuses others in a request, and hands over each one's checked value, or its default unless
    /// that is empty}
    default List<Setting> settings() {
        return List.of();
    }

    /// {@return those among [#settings()] whose best value depends on machine and model, with the
    /// values to try on this machine}
    default List<Knob> knobs() {
        return List.of();
    }

    /// Opens a device. The caller closes it, after all plans made with it.
    ///
    /// @param options which one, and how
    /// @return the open device
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-001`) if it is not available or the
    ///     device is unknown
    Device open(DeviceOptions options);
}
