package dev.tenon.platform.hub;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HubReferenceTests {
    @Test
    void quantisationIsNotFoundInsideOtherNames() {
        HubReference reference = HubReference.parse("hf:a/b:Q4_K");
        assertEquals(List.of(), reference.choose(List.of("m-Q4_K_M.gguf", "m-IQ4_K.gguf")));
        assertEquals(List.of(List.of("m.Q4_K.gguf")), reference.choose(List.of("m-Q4_K_M.gguf", "m.Q4_K.gguf")));
        assertEquals(List.of(List.of("only.gguf")), HubReference.parse("hf:a/b").choose(List.of("x.txt", "only.gguf")));
    }

    @Test
    void theNameThatEndsWithTheQuantisationIsTakenAndNeverAFileBesideTheModel() {
        HubReference reference = HubReference.parse("hf:a/b:Q4_K_M");
        List<List<String>> model = List.of(List.of("m-Q4_K_M.gguf"));
        for (String beside : List.of(
                "m-Q4_K_M-imatrix.gguf",
                "imatrix-Q4_K_M.gguf",
                "mmproj-Q4_K_M.gguf",
                "m.MTP-Q4_K_M.gguf",
                "a-draft-Q4_K_M.gguf",
                "m-projector.Q4_K_M.gguf")) {
            assertEquals(model, reference.choose(List.of(beside, "m-Q4_K_M.gguf")), beside);
            assertEquals(List.of(), reference.choose(List.of(beside)), beside);
        }
        assertEquals(model, reference.choose(List.of("m-Q4_K_M-00.gguf", "m-Q4_K_M.gguf")));
        assertEquals(List.of(List.of("m-Q4_K_M.i1.gguf")), reference.choose(List.of("m-Q4_K_M.i1.gguf")));
        assertEquals(
                List.of(List.of("Q4_K_M/m-00001-of-00002.gguf", "Q4_K_M/m-00002-of-00002.gguf")),
                reference.choose(List.of("Q4_K_M/m-00002-of-00002.gguf", "Q4_K_M/m-00001-of-00002.gguf")));
        assertEquals(
                List.of(List.of("m-draft-Q4_K_M.gguf")),
                HubReference.parse("hf:a/m-draft-GGUF:Q4_K_M").choose(List.of("m-draft-Q4_K_M.gguf")));
    }

    /// Names as repositories have them; the first one is to be taken.
    @ParameterizedTest
    @CsvSource({
        "m-Q4_K_M.gguf, mmproj-Q8_0.gguf, mmproj-BF16.gguf mmproj-F16.gguf mmproj-F32.gguf",
        "m-BF16.gguf, mmproj-F16.gguf, mmproj-BF16.gguf mmproj-Q8_0.gguf",
        "m-Q4_K_M.gguf, mmproj-F16.gguf, mmproj-BF16.gguf mmproj-F32.gguf mmproj.gguf.part mmprojector-Q8_0.gguf",
        "m-4b-it-Q4_K_M.gguf, mmproj-m-4b-it-f16.gguf, mmproj-m-12b-it-Q8_0.gguf mmproj-F16.gguf",
        "m-4b.Q4_K_M.gguf, m-4b.mmproj-f16.gguf, m-12b.mmproj-Q8_0.gguf",
        "m-4b-Q4_K_M.gguf, mmproj-model-f16.gguf, readme.md",
        "Q4/m-Q4-00001-of-00002.gguf, Q4/mmproj-F32.gguf, mmproj-Q8_0.gguf",
        "Q4/m-Q4-00001-of-00002.gguf, mmproj-F32.gguf, Q8/mmproj-Q8_0.gguf ../mmproj-F16.gguf",
    })
    void theCompanionIsTheNearest(String model, String companion, String others) {
        List<String> names = new ArrayList<>(List.of(others.split(" ")));
        names.addAll(List.of(model, companion));
        assertEquals(Optional.of(companion), HubReference.companion(model, names));
        assertEquals(Optional.of(companion), HubReference.companion(model, names.reversed()));
    }

    @Test
    void aModelMayHaveNoCompanion() {
        assertEquals(Optional.empty(), HubReference.companion("m.gguf", List.of("m.gguf", "Q8/mmproj.gguf")));
        assertEquals(List.of(), HubReference.parse("hf:a/mmproj").choose(List.of("mmproj-Q4_K_M.gguf")));
    }
}
