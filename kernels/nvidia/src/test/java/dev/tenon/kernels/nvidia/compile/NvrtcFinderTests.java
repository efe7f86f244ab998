package dev.tenon.kernels.nvidia.compile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NvrtcFinderTests {
    @TempDir
    Path root;

    private String put(String file) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        return Files.createFile(path).toString();
    }

    @Test
    void toolkitsPipFoldersAndTheLoadersPathAreTried() throws IOException {
        String toolkit = put("usr/local/cuda-13.0/lib64/libnvrtc.so.13");
        String older = put("usr/local/cuda-12.6/lib64/libnvrtc.so.12");
        String pip = put("usr/local/lib/python3.12/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        String pip13 = put("home/me/.local/lib/python3.13/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
        String venv = put("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2");
        String home = put("opt/mine/lib64/libnvrtc.so.13");
        NvrtcFinder finder = new NvrtcFinder(
                root,
                Map.of(
                        "HOME", root.resolve("home/me").toString(),
                        "VIRTUAL_ENV", root.resolve("venv").toString(),
                        "CUDA_HOME", root.resolve("opt/mine").toString()));
        List<String> expected = new java.util.ArrayList<>(NvrtcFinder.NAMES);
        expected.addAll(List.of(home, toolkit, older, venv, pip13, pip));
        assertEquals(expected, finder.candidates(""));
    }

    @Test
    void aConfiguredPlaceIsTheOnlyOne() throws IOException {
        put("usr/local/cuda/lib64/libnvrtc.so.13");
        String mine = put("mine/libnvrtc.so.12");
        NvrtcFinder finder = new NvrtcFinder(root, Map.of());
        assertEquals(List.of(mine), finder.candidates(root.resolve("mine").toString()));
        assertEquals(List.of(mine), finder.candidates(mine));
    }

    @Test
    void aCompilerThatIsNotThereIsReportedWithWhatWasTried() {
        NvrtcFinder finder = new NvrtcFinder(root, Map.of());
        String wanted = root.resolve("nothing.so").toString();
        BackendException e = assertThrows(BackendException.class, () -> Nvrtc.open(finder, wanted));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains(wanted), e.getMessage());
        assertTrue(e.getMessage().contains("cuda.nvrtc"), e.getMessage());
    }
}
