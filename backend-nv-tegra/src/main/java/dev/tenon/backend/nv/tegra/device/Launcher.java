package dev.tenon.backend.nv.tegra.device;

import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.LoadedKernel;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.Launch;
import java.util.List;

/// Turns planned launches into command lists and single launches of a device.
///
/// @param device where they run
/// @param code has their kernels
/// @param memory addresses of their buffers
record Launcher(GpuDevice device, KernelCode code, PlanMemory memory) {
    /// {@return launches as a list, each after the one before; the caller closes it}
    ///
    /// @param launches at least one
    CommandList list(List<Launch> launches) {
        // All kernels of the bundle wait for their inputs by themselves.
        CommandList list = new CommandList(device, true);
        boolean done = false;
        try {
            for (Launch launch : launches) {
                LoadedKernel kernel = code.kernel(launch);
                list.add(kernel, geometry(launch), launch.blocks().sharedBytes(), arguments(kernel, launch), true);
            }
            list.build();
            done = true;
            return list;
        } finally {
            if (!done) {
                list.close();
            }
        }
    }

    /// Launches one kernel.
    ///
    /// @param launch the launch
    /// @return what the device's timeline reaches when it is through
    long launch(Launch launch) {
        LoadedKernel kernel = code.kernel(launch);
        return device.launch(kernel, geometry(launch), launch.blocks().sharedBytes(), arguments(kernel, launch));
    }

    private static Geometry geometry(Launch launch) {
        Blocks blocks = launch.blocks();
        return new Geometry(blocks.x(), blocks.y(), blocks.z(), blocks.threads(), 1, 1);
    }

    private Arguments arguments(LoadedKernel kernel, Launch launch) {
        Arguments arguments = new Arguments(kernel.kernel());
        List<Argument> given = launch.arguments();
        for (int i = 0; i < given.size(); i++) {
            switch (given.get(i)) {
                case Argument.Address a -> arguments.set(i, memory.address(a));
                case Argument.Int n -> arguments.set(i, n.value());
                case Argument.Long n -> arguments.set(i, n.value());
                case Argument.Float f -> arguments.set(i, f.value());
            }
        }
        return arguments;
    }
}
