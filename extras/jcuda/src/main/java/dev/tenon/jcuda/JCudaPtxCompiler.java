package dev.tenon.jcuda;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.kernels.nvidia.compile.PtxCompiler;
import java.nio.charset.StandardCharsets;
import jcuda.nvptxcompiler.JNvPTXCompiler;
import jcuda.nvptxcompiler.nvPTXCompileResult;
import jcuda.nvptxcompiler.nvPTXCompilerHandle;
import org.osgi.service.component.annotations.Component;

/// NVIDIA's PTX compiler, which JCuda's natives contain: needs no toolkit, driver or device.
@Component(service = PtxCompiler.class)
@ServiceProvider(value = PtxCompiler.class, resolution = Resolution.OPTIONAL)
public final class JCudaPtxCompiler implements PtxCompiler {
    /// Creates the compiler; nothing is loaded yet.
    public JCudaPtxCompiler() {}

    @Override
    public String name() {
        try {
            JNvPTXCompiler.setExceptionsEnabled(false);
            int[] major = new int[1];
            int[] minor = new int[1];
            check(JNvPTXCompiler.nvPTXCompilerGetVersion(major, minor), "nvPTXCompilerGetVersion");
            return "nvPTXCompiler " + major[0] + "." + minor[0];
        } catch (LinkageError e) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "JCuda's PTX compiler cannot be loaded: " + Natives.reason("JNvPTXCompiler", e)
                            + ". It needs Linux on x86-64 with glibc 2.29 or newer",
                    0,
                    e);
        }
    }

    @Override
    public byte[] compile(String name, String ptx, String architecture) {
        String compiler = name();
        byte[] text = (ptx + '\0').getBytes(StandardCharsets.US_ASCII);
        nvPTXCompilerHandle handle = new nvPTXCompilerHandle();
        check(JNvPTXCompiler.nvPTXCompilerCreate(handle, text.length, text), "nvPTXCompilerCreate");
        try {
            String[] options = {"--gpu-name=" + architecture};
            int result = JNvPTXCompiler.nvPTXCompilerCompile(handle, options.length, options);
            if (result != nvPTXCompileResult.NVPTXCOMPILE_SUCCESS) {
                throw new BackendException(
                        ErrorCode.BACKEND_FAILED,
                        compiler + " did not compile " + name + " for " + architecture + ": "
                                + nvPTXCompileResult.stringFor(result) + "\n" + log(handle),
                        result,
                        null);
            }
            long[] size = new long[1];
            check(
                    JNvPTXCompiler.nvPTXCompilerGetCompiledProgramSize(handle, size),
                    "nvPTXCompilerGetCompiledProgramSize");
            byte[] cubin = new byte[Math.toIntExact(size[0])];
            check(JNvPTXCompiler.nvPTXCompilerGetCompiledProgram(handle, cubin), "nvPTXCompilerGetCompiledProgram");
            return cubin;
        } finally {
            check(JNvPTXCompiler.nvPTXCompilerDestroy(handle), "nvPTXCompilerDestroy");
        }
    }

    private static String log(nvPTXCompilerHandle handle) {
        long[] size = new long[1];
        check(JNvPTXCompiler.nvPTXCompilerGetErrorLogSize(handle, size), "nvPTXCompilerGetErrorLogSize");
        byte[] log = new byte[Math.toIntExact(size[0]) + 1];
        check(JNvPTXCompiler.nvPTXCompilerGetErrorLog(handle, log), "nvPTXCompilerGetErrorLog");
        return new String(log, StandardCharsets.UTF_8).replace("\0", "").strip();
    }

    private static void check(int result, String call) {
        if (result != nvPTXCompileResult.NVPTXCOMPILE_SUCCESS) {
            throw new BackendException(
                    ErrorCode.BACKEND_FAILED, call + " failed: " + nvPTXCompileResult.stringFor(result), result, null);
        }
    }
}
