//! The variants whose verdict is not yet that of their case.

/// By transform, `*` for any. A variant that is judged right has to leave the list.
pub(super) const KNOWN: &[(&str, &[&str])] = &[
    ("arc-owned", &["own-descriptor-read-spins"]),
    ("loop-match", &["own-fleet-unordered-noted"]),
    (
        "alias",
        &[
            "own-adapter-logs-and-ends",
            "own-blocking-for-leaves",
            "own-blocking-iter-leaves",
            "own-paho-event-receiver-param",
            "own-shape-iterator-impl",
        ],
    ),
    ("extract", &["own-bells-ring-forwarded", "own-lobby-start-forwarded"]),
    (
        "extract-file",
        &["own-adapter-given-to-generic", "own-lobby-start-forwarded", "own-shape-shared-boxed"],
    ),
    (
        "extract-twice",
        &[
            "own-bells-ring-forwarded",
            "own-command-returns-to-main",
            "own-lobby-start-forwarded",
            "own-relay-panic-joined",
            "own-voter-task-by-builder",
        ],
    ),
    // What a derive or a generic names is not renamed with it.
    ("rename", &["own-topic-flow-of-a-client", "own-voter-task-by-builder"]),
    ("full-path", &["own-adapter-logs-and-ends"]),
    (
        "half-file",
        &[
            "own-cams-field-aborted",
            "own-cams-field-logs",
            "own-cams-field-nested",
            "own-cams-list-aborted",
            "own-cams-set-field-logs",
            "own-held-field-iter",
        ],
    ),
    (
        "half-file-names",
        &[
            "own-cams-field-aborted",
            "own-cams-field-logs",
            "own-cams-field-nested",
            "own-cams-list-aborted",
            "own-cams-set-field-logs",
        ],
    ),
    (
        "half-module",
        &[
            "own-cams-field-aborted",
            "own-cams-field-logs",
            "own-cams-field-nested",
            "own-cams-list-aborted",
            "own-cams-set-field-logs",
        ],
    ),
    (
        "half-module-names",
        &[
            "own-cams-field-aborted",
            "own-cams-field-logs",
            "own-cams-field-nested",
            "own-cams-list-aborted",
            "own-cams-set-field-logs",
        ],
    ),
    ("local-result", &["own-cart-pause-named"]),
    ("loop-match", &["own-fleet-unordered-noted"]),
    (
        "macro-alias",
        &[
            "br-replica-some-branch",
            "ch-backon-session",
            "ch-book-trystream",
            "cp-lease-lost-cancels",
            "own-adapter-given-to-generic",
            "own-adapter-in-select",
            "own-adapter-let-else-none",
            "own-adapter-logs-and-ends",
            "own-adapter-returned-as-impl",
            "own-generator-raises",
            "own-generator-try-raises",
            "own-printer-lease-regrant",
            "own-quotes-generator-question",
            "own-quotes-generator-try",
            "own-quotes-generator-while-ok",
            "own-relayers-join-logged",
            "own-score-ws-futures-select",
            "own-shape-adapter-mapped",
            "own-shape-adapter-of-adapter",
            "own-shape-generic-adapter",
            "own-stops-poll-message-loop",
            "own-ticket-recovery-wait",
            "own-volume-stream-hot",
        ],
    ),
    (
        "opener-block",
        &[
            "own-book-joined-future",
            "own-poll-in-async-block",
            "own-ticks-counted",
            "own-wait-until-connected",
        ],
    ),
    (
        "opener-closure",
        &[
            "own-book-joined-future",
            "own-carried-tuple-helper",
            "own-poll-in-async-block",
            "own-ticks-counted",
            "own-wait-until-connected",
        ],
    ),
    ("question-match", &["br-replica-some-branch", "own-book-join-checked"]),
    (
        "types-file",
        &[
            "own-cams-field-aborted",
            "own-cams-field-logs",
            "own-cams-field-nested",
            "own-cams-list-aborted",
            "own-cams-set-field-logs",
        ],
    ),
    (
        "types-module",
        &[
            "own-cams-field-aborted",
            "own-cams-field-logs",
            "own-cams-field-nested",
            "own-cams-list-aborted",
            "own-cams-set-field-logs",
            "own-fleet-unordered-noted",
        ],
    ),
];
