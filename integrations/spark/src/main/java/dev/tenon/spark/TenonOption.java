package dev.tenon.spark;

/// An option of [TenonTransform] and [TenonCatalog].
enum TenonOption {
    MODEL(
            "model",
            "",
            "The model: a file on each host, an https address, `owner/repo:Q8_0` of the hub, or what else the front door takes; also a file of `spark.files` by its name"),
    BACKEND("backend", "", "Backend that runs it, such as cuda; the best one by default"),
    THREADS("threads", "", "Threads that compute on the CPU; as many as the executor has cores by default"),
    SEQUENCES("sequences", "8", "Rows that an executor runs at once, each with room for a whole context"),
    CONTEXT_LENGTH("contextLength", "", "Most tokens that a row and its answer have together"),
    INPUT("inputCol", "text", "Column with the text, the message, or the document that is scored"),
    QUERY("queryCol", "query", "Column with the query that it is scored for"),
    KEY("keyCol", "", "Column that tells rows with the same text apart, whose answers would be the same otherwise"),
    OUTPUT("outputCol", "output", "Column that gets the text, vector, score, or struct of the schema"),
    ERROR("errorCol", "error", "Column that gets why a row has no output; null if it has one"),
    USAGE(
            "usageCol",
            "",
            "Column that gets a struct of inputTokens, cachedTokens, outputTokens and end; none by default"),
    SYSTEM("system", "", "What a chat is told first"),
    SCHEMA("schema", "", "Fields of the answer of a chat, such as `name STRING, age INT`; any text by default"),
    MAX_TOKENS("maxTokens", "256", "Most tokens of an answer"),
    TEMPERATURE("temperature", "0.8", "0 takes the best token"),
    TOP_P("topP", "", "Least probability that the tokens to choose from have together"),
    TOP_K("topK", "", "How many tokens there are to choose from"),
    SEED("seed", "0", "Where the random sequences begin, each row's by its text"),
    STOP("stop", "", "Texts that end an answer, with vertical bars between them"),
    TIMEOUT("timeout", "", "Seconds that a row may take, with the wait for its turn");

    private final String key;
    private final String value;
    private final String meaning;

    TenonOption(String key, String value, String meaning) {
        this.key = key;
        this.value = value;
        this.meaning = meaning;
    }

    /// {@return what it is called}
    String key() {
        return key;
    }

    /// {@return its default; empty for none}
    String value() {
        return value;
    }

    /// {@return what it means}
    String meaning() {
        return meaning;
    }
}
