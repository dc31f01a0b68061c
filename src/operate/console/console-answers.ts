import {
  anyOf,
  arrayOf,
  BOOLEAN,
  described,
  enumOf,
  INTEGER,
  limited,
  nullable,
  NUMBER,
  objectOf,
  TEXT,
  withMore,
  type ShapeOf,
  type Typed,
} from '../../json/open-api.ts';
import { CONFIG_KEY_INFO } from '../../rest/answers.ts';
import { FLEET_ROW } from '../fleet/fleet-answers.ts';
import { KEY_DIFFERENCE } from '../history/history-answers.ts';

/**
 * The answers below `/ui` are not in the OpenAPI description: they serve the worker's own console, and may change with
 * it.
 */

/**
 * Maximum number of items of each list in the `WORKER_DETAIL` of another worker. Objects may have more members, because
 * the other worker may be of a later version.
 */
const MAX_ITEMS = 10_000;

/** The connector that was created or changed. */
export const NAMED = objectOf({ name: TEXT });
export const NOTHING = objectOf({});

export const FLEET_SNAPSHOT = objectOf({
  at: described(NUMBER, 'milliseconds since the epoch'),
  worker: objectOf({
    id: TEXT,
    version: TEXT,
    readOnly: BOOLEAN,
    title: described(TEXT, 'name of the environment; may be empty'),
    'adminListeners?': described(
      arrayOf(TEXT),
      'listeners that accept changes of log levels; absent: those of the API; empty: none',
    ),
    lostWorkWaitsMs: described(nullable(NUMBER), 'maximum delay before the work of a lost worker is reassigned'),
  }),
  rows: arrayOf(FLEET_ROW),
  total: described(INTEGER, 'number of connectors; a console with a different number requests all rows again'),
  silent: described(
    arrayOf(objectOf({ worker: TEXT, since: NUMBER })),
    'workers that have tasks but do not answer; since: milliseconds since the epoch',
  ),
});
export type FleetSnapshot = ShapeOf<typeof FLEET_SNAPSHOT>;

/**
 * The data of an event: all rows of the fleet, or only new and changed rows. `gone`: connectors that no longer exist.
 */
export type FleetNews = Omit<FleetSnapshot, 'worker'> & { readonly gone: readonly string[] };

const ENTRY: Typed<readonly [key: string, value: string | null]> = {
  type: 'array',
  prefixItems: [TEXT, nullable(TEXT)],
  items: false,
};
export const STORED_CONFIG = objectOf({
  name: TEXT,
  entries: arrayOf(ENTRY),
  version: TEXT,
  mark: described(TEXT, 'replaces each secret'),
  secrets: described(arrayOf(TEXT), 'keys whose values are secrets'),
});
export type StoredConfig = ShapeOf<typeof STORED_CONFIG>;

export const CONSOLE_VALIDATION = objectOf({
  groups: arrayOf(TEXT),
  configs: arrayOf(
    objectOf({
      definition: nullable(CONFIG_KEY_INFO),
      value: objectOf({
        name: TEXT,
        recommended_values: arrayOf(nullable(TEXT)),
        errors: arrayOf(TEXT),
        visible: BOOLEAN,
      }),
    }),
  ),
  unknown: described(
    arrayOf(objectOf({ key: TEXT, nearest: TEXT })),
    'keys that are probably misspelt, with the options that were probably meant',
  ),
  secrets: described(arrayOf(TEXT), 'keys whose values are secrets'),
  withheld: described(
    objectOf({ keys: arrayOf(TEXT), because: arrayOf(TEXT) }),
    'keys: secrets that were not sent; because: the changed addresses and classes, which are the reason',
  ),
  restarts: described(BOOLEAN, 'saving the configuration restarts the tasks'),
});
export type ConsoleValidation = ShapeOf<typeof CONSOLE_VALIDATION>;

/** The findings of a connector about the systems that its configuration names. */
export const CONNECTION_FINDINGS = objectOf({
  findings: arrayOf(
    objectOf({
      level: enumOf(['ok', 'warn', 'fail']),
      about: TEXT,
      message: TEXT,
      'remedy?': described(TEXT, 'a command or setting that fixes the problem'),
    }),
  ),
});
export type ConnectionFindings = ShapeOf<typeof CONNECTION_FINDINGS>;

/** The tables among which the user of the console selects those that a source reads. */
export const SOURCE_TABLES = objectOf({
  tables: arrayOf(
    objectOf({
      name: TEXT,
      rows: described(nullable(NUMBER), 'null: unknown'),
      precision: enumOf(['exact', 'estimate', 'atLeast']),
      problem: described(nullable(TEXT), 'why the table is not read with this configuration; null: it is'),
    }),
  ),
  total: INTEGER,
});
export type SourceTables = ShapeOf<typeof SOURCE_TABLES>;

export const TOPICS = objectOf({ topics: arrayOf(TEXT), total: INTEGER });
export type Topics = ShapeOf<typeof TOPICS>;

/** The topics that a source would write. */
export const WRITTEN_TOPICS = objectOf({
  topics: described(
    arrayOf(objectOf({ name: TEXT, state: enumOf(['exists', 'missing', 'denied']) })),
    'empty: unknown; denied: it does not exist, or the worker may not see it',
  ),
  total: INTEGER,
  creation: described(enumOf(['source', 'brokers', 'nobody', 'unknown']), 'who creates the missing topics'),
  'problem?': described(TEXT, 'why the source could not create a missing topic'),
  isCreationEnabled: described(BOOLEAN, 'topic.creation.enable of the worker'),
});
export type WrittenTopicsAnswer = ShapeOf<typeof WRITTEN_TOPICS>;

/** The changes that a restore would make. */
export const RESTORE_PREVIEW = objectOf({
  difference: arrayOf(KEY_DIFFERENCE),
  newest: described(INTEGER, 'number of the newest change'),
  exists: BOOLEAN,
  restarts: BOOLEAN,
});
export type RestorePreview = ShapeOf<typeof RESTORE_PREVIEW>;

export const DELETED_CONNECTORS = objectOf({
  connectors: arrayOf(
    objectOf({
      name: TEXT,
      at: described(NUMBER, 'milliseconds since the epoch'),
      restores: described(nullable(INTEGER), 'number of the newest change that can be restored'),
    }),
  ),
  total: INTEGER,
});
export type DeletedConnectors = ShapeOf<typeof DELETED_CONNECTORS>;

export const LOG_PART = withMore(
  objectOf({
    lines: limited(
      arrayOf(
        withMore(
          objectOf({
            number: INTEGER,
            at: NUMBER,
            level: TEXT,
            task: nullable(INTEGER),
            thread: nullable(INTEGER),
            logger: TEXT,
            text: TEXT,
          }),
        ),
      ),
      1000,
    ),
    isCut: described(BOOLEAN, 'some of the requested lines are no longer kept'),
  }),
);
export type LogPart = ShapeOf<typeof LOG_PART>;

export const CONNECTOR_LEVEL = objectOf({
  level: described(nullable(TEXT), 'null: the levels of its loggers apply'),
  remainingMs: NUMBER,
  'unreached?': arrayOf(objectOf({ worker: TEXT, reason: TEXT })),
});
export type ConnectorLevel = ShapeOf<typeof CONNECTOR_LEVEL>;

const NAMES = limited(arrayOf(TEXT), MAX_ITEMS);
export const WORKER_DETAIL = withMore(
  objectOf({
    worker: TEXT,
    version: TEXT,
    startedAt: NUMBER,
    memoryBytes: described(NUMBER, 'resident memory of the process'),
    'memoryLimitBytes?': described(NUMBER, 'limit of the container, or the memory of the machine'),
    cpuCores: nullable(NUMBER),
    loopDelayMs: NUMBER,
    isRebalancing: BOOLEAN,
    threads: limited(
      arrayOf(
        withMore(
          objectOf({
            thread: anyOf(TEXT, INTEGER),
            purpose: TEXT,
            loopDelayMs: NUMBER,
            taskCount: NUMBER,
            tasks: NAMES,
          }),
        ),
      ),
      MAX_ITEMS,
    ),
    rebalances: limited(
      arrayOf(
        withMore(
          objectOf({
            at: NUMBER,
            generation: NUMBER,
            led: BOOLEAN,
            reason: TEXT,
            durationMs: NUMBER,
            delayMs: NUMBER,
            assigned: NAMES,
            assignedCount: NUMBER,
            revoked: NAMES,
            revokedCount: NUMBER,
            'joined?': described(NAMES, 'workers that joined since the last rebalance; known only to the leader'),
            'left?': NAMES,
          }),
        ),
      ),
      MAX_ITEMS,
    ),
  }),
);
export type WorkerDetail = ShapeOf<typeof WORKER_DETAIL>;

export const INTERNAL_TOPICS = objectOf({
  brokers: INTEGER,
  topics: arrayOf(
    objectOf({
      name: TEXT,
      property: described(TEXT, 'the worker property that names it'),
      state: enumOf(['exists', 'missing', 'denied']),
      partitions: INTEGER,
      replicas: described(INTEGER, 'replicas of the partition with the fewest'),
      leaderless: INTEGER,
      singlePartition: described(
        BOOLEAN,
        'it must have one partition, because the order of records with different keys matters',
      ),
      cleanupPolicy: nullable(TEXT),
      minInsyncReplicas: nullable(INTEGER),
      bytes: nullable(NUMBER),
    }),
  ),
});
export type InternalTopicsAnswer = ShapeOf<typeof INTERNAL_TOPICS>;

/** Where a connector reads or writes tables, for links to the SQL page. */
export const CONNECTOR_DATABASE = objectOf({
  place: described(
    nullable(
      objectOf({
        server: TEXT,
        database: TEXT,
        schema: described(nullable(TEXT), 'schema of tables without one; null: the default of the SQL page'),
      }),
    ),
    'null: the connector uses no database, or its configuration leaves open which one',
  ),
  isOfSql: described(BOOLEAN, 'the SQL page runs statements on the same server'),
});
export type ConnectorDatabase = ShapeOf<typeof CONNECTOR_DATABASE>;

export const SQL_AVAILABLE = objectOf({ available: BOOLEAN });

/** Why a statement or a login has failed. */
const SQL_FAILURE = objectOf({
  status: INTEGER,
  message: TEXT,
  'sqlstate?': TEXT,
  'position?': described(INTEGER, 'position of a character in the statement, from 1'),
});
export type SqlFailure = ShapeOf<typeof SQL_FAILURE>;
const SQL_FAILED = objectOf({ failure: SQL_FAILURE });
export const SQL_LOGIN = anyOf(objectOf({ token: TEXT }), SQL_FAILED);

const COLUMN: Typed<readonly [name: string, type: string, length: unknown]> = {
  type: 'array',
  prefixItems: [TEXT, TEXT, {}],
  items: false,
};
/** A result as the database's HTTP API sends it; statements without rows have no columns. */
export const SQL_RESULT = anyOf(
  withMore(
    objectOf({
      'column_meta?': nullable(arrayOf(COLUMN)),
      'data?': nullable(arrayOf(arrayOf(nullable(anyOf(TEXT, NUMBER, BOOLEAN))))),
      'truncated?': BOOLEAN,
      'continuation?': nullable(TEXT),
    }),
  ),
  SQL_FAILED,
);
