import {
  arrayOf,
  BOOLEAN,
  described,
  enumOf,
  INTEGER,
  limited,
  mapOf,
  nullable,
  NUMBER,
  objectOf,
  TEXT,
  withMore,
  type ShapeOf,
} from '../../json/open-api.ts';
import { CONNECTOR_TYPE } from '../../rest/answers.ts';
import { VERDICTS } from '../health/verdicts.ts';

/**
 * Maximum number of items of each list in the answer of another worker. Objects may have more members, because the
 * other worker may be of a later version.
 */
const MAX_ITEMS = 1000;
const POINTS = limited(arrayOf(nullable(NUMBER)), MAX_ITEMS);

/** A connector as a row of the console. */
export const FLEET_ROW = objectOf({
  name: TEXT,
  type: CONNECTOR_TYPE,
  className: TEXT,
  verdict: described(
    enumOf([...VERDICTS, 'SILENT']),
    'SILENT: the verdict would be RUNNING, but the worker of a task does not answer',
  ),
  sentence: TEXT,
  since: described(TEXT, 'ISO 8601'),
  tasks: described(mapOf(INTEGER), 'number of tasks by state; SILENT: their worker does not answer'),
  workers: arrayOf(TEXT),
  topics: described(TEXT, 'topics or topics.regex of a sink; topics that a source has written'),
  tables: described(
    TEXT,
    'table of a sink, if its configuration determines it; query.name, table.include or table.include.list of a source',
  ),
  rate: described(nullable(NUMBER), 'records a second in the last five seconds; null: no task is running'),
  lag: described(nullable(NUMBER), 'records that are not delivered; null: unknown'),
  deadLettersPerMinute: NUMBER,
  spark: described(arrayOf(nullable(NUMBER)), 'mean rate of each minute of the last hour, the oldest first'),
});
export type FleetRow = ShapeOf<typeof FLEET_ROW>;

/** Rates of the tasks that run on one worker, by connector. */
export const OWN_RATES = arrayOf(withMore(objectOf({ name: TEXT, rate: nullable(NUMBER), spark: POINTS })));
export type OwnRate = ShapeOf<typeof OWN_RATES>[number];

/**
 * The last hour of a connector on one worker, the oldest point first; `null`: there was no value, for example because
 * no task ran there at that time.
 */
export const WORKER_HISTORY = withMore(
  objectOf({
    worker: TEXT,
    at: described(limited(arrayOf(NUMBER), MAX_ITEMS), 'milliseconds since the epoch'),
    rate: POINTS,
    lag: POINTS,
    letters: POINTS,
    batchMs: POINTS,
    batchSize: POINTS,
    retries: POINTS,
  }),
);
export type WorkerHistory = ShapeOf<typeof WORKER_HISTORY>;
export type ConnectorHistory = Omit<WorkerHistory, 'worker'>;

const STAGE = withMore(
  objectOf({
    name: described(TEXT, 'converter, or the alias of a transform'),
    className: TEXT,
    samples: INTEGER,
    microseconds: described(NUMBER, 'recent mean time for one record'),
    passed: described(NUMBER, 'share of the records that pass, from 0 to 1'),
    errors: INTEGER,
  }),
);

/** The figures of a connector's tasks on one worker, by stage. Rates are per second, over the window of the metrics. */
export const WORKER_FLOW = withMore(
  objectOf({
    worker: TEXT,
    type: CONNECTOR_TYPE,
    tasks: INTEGER,
    readRate: described(NUMBER, 'records that were read from topics or polled'),
    sentRate: described(NUMBER, 'records that were put, or written to topics'),
    'deliveredRate?': described(NUMBER, 'records that are stored; absent: the worker is of an earlier version'),
    taskMicroseconds: described(nullable(NUMBER), 'mean time of put or poll for one record; null: there was no record'),
    stages: limited(arrayOf(STAGE), MAX_ITEMS),
    'areStagesInPut?': described(BOOLEAN, 'the task converts and transforms records within put'),
    errors: described(INTEGER, 'records that have failed in any stage'),
    topics: limited(arrayOf(withMore(objectOf({ name: TEXT, partitions: INTEGER, lag: nullable(NUMBER) }))), MAX_ITEMS),
    tables: described(
      limited(arrayOf(withMore(objectOf({ name: TEXT, rows: NUMBER }))), MAX_ITEMS),
      'tables that a sink has written',
    ),
    'writeMicroseconds?': described(nullable(NUMBER), 'mean time that a sink takes to write one row'),
    parts: described(
      limited(
        arrayOf(withMore(objectOf({ name: TEXT, state: TEXT, 'error?': TEXT, counts: mapOf(NUMBER) }))),
        MAX_ITEMS,
      ),
      'tables that a source reads, or missing topics that a sink waits for',
    ),
  }),
);
export type WorkerFlow = ShapeOf<typeof WORKER_FLOW>;
export type ConnectorFlow = Omit<WorkerFlow, 'worker'>;
