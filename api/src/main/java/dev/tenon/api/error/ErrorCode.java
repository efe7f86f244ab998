package dev.tenon.api.error;

/// The codes that Tenon's own modules use; `docs/errors.md` has a paragraph on each. A bundle of a
/// third party uses a prefix of its own.
public final class ErrorCode {
    private ErrorCode() {}

    // --- environment, command line, configuration
    // -------------------------------------------------------------------
    /// No JDK 25 was found (raised by the launcher script).
    public static final String ENV_JDK = "ENV-001";
    /// A JVM flag is missing or the JIT compiler is not C2, so that kernels would be slow or cannot run.
    public static final String ENV_JVM = "ENV-002";
    /// The platform did not start: a bundle of the distribution is missing or does not resolve.
    public static final String ENV_PLATFORM = "ENV-003";
    /// A limit of the system on files, processes or address space is too low.
    public static final String ENV_LIMIT = "ENV-004";
    /// A command was used wrongly: unknown option, missing or bad value.
    public static final String USAGE = "CLI-001";
    /// Standard input or a prompt is not valid UTF-8.
    public static final String INPUT_UTF8 = "CLI-002";
    /// Something failed that should not: a fault of the program.
    public static final String UNEXPECTED = "CLI-003";
    /// A configuration value is not understood.
    public static final String CONFIG = "CFG-001";
    /// Two services offer the same id and no setting names one.
    public static final String DUPLICATE_ID = "CFG-002";

    // --- bundles
    // ------------------------------------------------------------------------------------------------------
    /// A jar is incomplete, damaged or no bundle.
    public static final String BUNDLE_FILE = "BUNDLE-001";
    /// A bundle does not resolve, does not start, or fails its self-check; what it was to replace serves on.
    public static final String BUNDLE_REJECTED = "BUNDLE-002";
    /// A bundle that was named is not there, or cannot be changed while the platform runs.
    public static final String BUNDLE_FIXED = "BUNDLE-003";
    /// A running platform could not be asked.
    public static final String CONTROL = "BUNDLE-004";
    /// A bundle may not run by the platform's policy of trust.
    public static final String BUNDLE_TRUST = "BUNDLE-005";
    /// No repository has a bundle that was asked for.
    public static final String BUNDLE_NOT_FOUND = "BUNDLE-006";
    /// A new version of a bundle would change the logits of a loaded model.
    public static final String BUNDLE_RESULTS = "BUNDLE-007";

    // --- contracts
    // ----------------------------------------------------------------------------------------------------
    /// A bundle offers nothing that a contract covers.
    public static final String ITEST_NOTHING = "ITEST-001";
    /// The contract's tiny model does not do for an architecture.
    public static final String ITEST_MODEL = "ITEST-002";
    /// A file of golden logits cannot be read.
    public static final String ITEST_GOLDEN = "ITEST-003";

    // --- files
    // --------------------------------------------------------------------------------------------------------
    /// A file is missing, is a directory, or cannot be read or written.
    public static final String IO = "IO-001";
    /// A download failed or its checksum differs.
    public static final String DOWNLOAD = "IO-002";

    // --- GGUF container
    // -----------------------------------------------------------------------------------------------
    /// Not a GGUF file: the magic is missing.
    public static final String GGUF_MAGIC = "GGUF-001";
    /// A GGUF version that is not read (2 and 3 are).
    public static final String GGUF_VERSION = "GGUF-002";
    /// The file ends before what its header promises.
    public static final String GGUF_TRUNCATED = "GGUF-003";
    /// A count, length, type or nesting in the header is impossible.
    public static final String GGUF_HEADER = "GGUF-004";
    /// A key or tensor name appears twice, is not UTF-8, or holds a control character.
    public static final String GGUF_NAME = "GGUF-005";
    /// A tensor's shape or size is impossible.
    public static final String GGUF_SHAPE = "GGUF-006";
    /// A tensor's data lies outside the file or is misaligned.
    public static final String GGUF_OFFSET = "GGUF-007";
    /// The parts of a split file are missing or do not fit together.
    public static final String GGUF_SPLIT = "GGUF-008";
    /// A tensor type that nothing installed knows.
    public static final String GGUF_TENSOR_TYPE = "GGUF-009";
    /// A file was changed while it was in use.
    public static final String GGUF_CHANGED = "GGUF-010";

    // --- model: metadata, tensors, architecture
    // -----------------------------------------------------------------------
    /// A metadata key that is needed is missing.
    public static final String MODEL_KEY_MISSING = "MODEL-001";
    /// A metadata value has the wrong type or an impossible value.
    public static final String MODEL_KEY_VALUE = "MODEL-002";
    /// No installed bundle offers the architecture.
    public static final String MODEL_ARCHITECTURE = "MODEL-003";
    /// A tensor that the architecture needs is missing.
    public static final String MODEL_TENSOR_MISSING = "MODEL-004";
    /// A tensor has another shape than the architecture expects.
    public static final String MODEL_TENSOR_SHAPE = "MODEL-005";
    /// No installed format decodes a tensor's type.
    public static final String MODEL_TENSOR_FORMAT = "MODEL-006";
    /// Weights hold NaN or infinity.
    public static final String MODEL_DATA = "MODEL-007";
    /// The vocabulary is missing, broken, or of an unknown kind.
    public static final String MODEL_TOKENIZER = "MODEL-008";
    /// The chat template is missing, broken, or refused the conversation.
    public static final String MODEL_TEMPLATE = "MODEL-009";
    /// The file has tensors that the architecture does not use.
    public static final String MODEL_TENSOR_UNUSED = "MODEL-010";
    /// The architecture makes a graph that is not sound, or fails: a fault of its bundle.
    public static final String MODEL_GRAPH = "MODEL-011";

    // --- grammars
    // -----------------------------------------------------------------------------------------------------
    /// A JSON Schema, grammar or regular expression does not parse.
    public static final String GRAMMAR_SYNTAX = "GRAMMAR-001";
    /// A grammar asks for something that masks cannot enforce.
    public static final String GRAMMAR_UNSUPPORTED = "GRAMMAR-002";
    /// A grammar exceeds a limit of size, nesting or states.
    public static final String GRAMMAR_LIMIT = "GRAMMAR-003";

    // --- backends
    // -----------------------------------------------------------------------------------------------------
    /// The backend that was asked for is not installed or not available here.
    public static final String BACKEND_UNAVAILABLE = "BACKEND-001";
    /// The backend does not support an op or format of the model.
    public static final String BACKEND_UNSUPPORTED = "BACKEND-002";
    /// The backend failed while it ran.
    public static final String BACKEND_FAILED = "BACKEND-003";
    /// The backend's bundle was withdrawn and nothing can take over.
    public static final String BACKEND_WITHDRAWN = "BACKEND-004";

    // --- limits and life cycle
    // ----------------------------------------------------------------------------------------
    /// The prompt, or prompt and reply, do not fit the context.
    public static final String CONTEXT_LENGTH = "LIMIT-001";
    /// All sequences of a model are taken, or a sequence needs more KV cache pages than there are.
    public static final String KV_PAGES = "LIMIT-002";
    /// Device or host memory is exhausted.
    public static final String MEMORY = "LIMIT-003";
    /// A session, model, plan or file was used after it was closed.
    public static final String CLOSED = "STATE-001";
    /// An argument of an api call is out of its range.
    public static final String ARGUMENT = "STATE-002";
    /// A session was asked for something while it generates.
    public static final String BUSY = "STATE-003";
    /// The thread of a blocking call was interrupted.
    public static final String INTERRUPTED = "STATE-004";
    /// A saved session is damaged, or of another model or backend.
    public static final String SAVED_SESSION = "STATE-005";
}
