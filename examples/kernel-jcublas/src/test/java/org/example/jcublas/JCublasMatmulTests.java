package org.example.jcublas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cuda.CudaMatmul;
import java.util.Random;
import java.util.ServiceLoader;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.Test;

class JCublasMatmulTests {
    private final CudaMatmul product = new JCublasMatmul();

    @Test
    void itIsOfferedForF16ProductsOnCudaDevices() {
        KernelProvider provider = ServiceLoader.load(KernelProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(JCublasKernels.class::isInstance)
                .findFirst()
                .orElseGet(JCublasKernels::new);
        CudaMatmul offered = assertInstanceOf(CudaMatmul.class, provider.kernels().getFirst());
        assertEquals("linear F16 cuda", offered.op() + " " + offered.format() + " " + offered.deviceKind());
    }

    /// Where cuBLAS of CUDA 12 is missing, the backend does not take it, and the reason is one line.
    @Test
    void withoutCublasItSaysWhatIsMissing() {
        product.refusal().ifPresent(reason -> {
            assertEquals(1, reason.lines().count(), reason);
            assertFalse(reason.isBlank());
            System.out.println("jcublas.f16 cannot run here: " + reason);
        });
    }

    /// Compares with sums in double precision.
    @Test
    void itsProductsAreRight() {
        assumeTrue(product.refusal().isEmpty(), () -> product.refusal().orElseThrow());
        JCudaDriver.setExceptionsEnabled(true);
        JCudaDriver.cuInit(0);
        CUdevice device = new CUdevice();
        JCudaDriver.cuDeviceGet(device, 0);
        CUcontext context = new CUcontext();
        JCudaDriver.cuDevicePrimaryCtxRetain(context, device);
        JCudaDriver.cuCtxSetCurrent(context);
        CUstream stream = new CUstream();
        JCudaDriver.cuStreamCreate(stream, 1);
        int rows = 33;
        int inputs = 256;
        int outputs = 96;
        float[] x = new float[rows * inputs];
        float[] weight = new float[outputs * inputs];
        CUdeviceptr deviceX = upload(x, 1);
        CUdeviceptr deviceWeight = upload(weight, 2);
        float[] got = new float[rows * outputs];
        CUdeviceptr deviceOut = new CUdeviceptr();
        JCudaDriver.cuMemAlloc(deviceOut, 4L * got.length);
        CUdeviceptr workspace = new CUdeviceptr();
        JCudaDriver.cuMemAlloc(workspace, product.workspaceBytes());
        try (CudaMatmul.Launcher launcher =
                product.open(Handles.get(context), Handles.get(stream), Handles.get(workspace))) {
            launcher.launch(
                    Handles.get(deviceX), Handles.get(deviceWeight), Handles.get(deviceOut), rows, inputs, outputs);
            JCudaDriver.cuStreamSynchronize(stream);
        }
        JCudaDriver.cuMemcpyDtoH(Pointer.to(got), deviceOut, 4L * got.length);
        for (int r = 0; r < rows; r++) {
            for (int o = 0; o < outputs; o++) {
                double sum = 0;
                for (int i = 0; i < inputs; i++) {
                    sum += (double) x[r * inputs + i] * weight[o * inputs + i];
                }
                assertEquals(sum, got[r * outputs + o], 1e-3, "row " + r + ", output " + o);
            }
        }
        for (CUdeviceptr pointer : new CUdeviceptr[] {deviceX, deviceWeight, deviceOut, workspace}) {
            JCudaDriver.cuMemFree(pointer);
        }
        JCudaDriver.cuStreamDestroy(stream);
        JCudaDriver.cuDevicePrimaryCtxRelease(device);
    }

    /// Fills an array with numbers that float16 holds exactly, and brings them to the device.
    private static CUdeviceptr upload(float[] values, long seed) {
        Random random = new Random(seed);
        short[] f16 = new short[values.length];
        for (int i = 0; i < values.length; i++) {
            f16[i] = Float.floatToFloat16(random.nextFloat() - 0.5f);
            values[i] = Float.float16ToFloat(f16[i]);
        }
        CUdeviceptr pointer = new CUdeviceptr();
        JCudaDriver.cuMemAlloc(pointer, 2L * values.length);
        JCudaDriver.cuMemcpyHtoD(pointer, Pointer.to(f16), 2L * values.length);
        return pointer;
    }
}
