package dev.tenon.spark;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/// Functions of SQL over a model, by configuration alone:
///
/// ```properties
/// spark.sql.catalog.tenon=dev.tenon.spark.TenonCatalog
/// spark.sql.catalog.tenon.model=story.gguf
/// ```
///
/// Then there are `tenon.complete(text)`, `tenon.chat(message)`, `tenon.embed(text)` and
/// `tenon.score(query, document)`, which are null for a row that fails, and the same with `try_`
/// before their names, which are structs of `value` and `error`.
public final class TenonCatalog implements FunctionCatalog {
    private static final String TRY = "try_";

    private String name;
    private TenonOptions options;

    /// Makes one without a model; Spark does.
    public TenonCatalog() {}

    @Override
    public void initialize(String catalog, CaseInsensitiveStringMap given) {
        name = catalog;
        options = new TenonOptions(given.asCaseSensitiveMap());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Identifier[] listFunctions(String[] namespace) {
        return Arrays.stream(Work.values())
                .flatMap(work -> Stream.of(work.sqlName(), TRY + work.sqlName()))
                .map(each -> Identifier.of(new String[0], each))
                .toArray(Identifier[]::new);
    }

    @Override
    public UnboundFunction loadFunction(Identifier function) throws NoSuchFunctionException {
        String lower = function.name().toLowerCase(Locale.ROOT);
        boolean tells = lower.startsWith(TRY);
        String bare = tells ? lower.substring(TRY.length()) : lower;
        for (Work work : Work.values()) {
            if (function.namespace().length == 0 && work.sqlName().equals(bare)) {
                return new TenonFunction(
                        name + "." + lower, work, tells, options, TenonMetrics.of(SparkSession.active()));
            }
        }
        throw new NoSuchFunctionException(function);
    }
}
