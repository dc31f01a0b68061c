import {
  ANY,
  anyOf,
  arrayOf,
  BOOLEAN,
  component,
  enumOf,
  INTEGER,
  mapOf,
  nullable,
  NUMBER,
  objectOf,
  TEXT,
  type ShapeOf,
} from '../../json/open-api.ts';

export const CLUSTER = component(
  'Cluster',
  objectOf({
    group: TEXT,
    worker_id: TEXT,
    leader_url: nullable(TEXT),
    is_leader: BOOLEAN,
    generation: INTEGER,
    protocol: nullable(TEXT),
    rebalancing: BOOLEAN,
    draining: BOOLEAN,
    connectors: arrayOf(TEXT),
    tasks: arrayOf(TEXT),
    threads: arrayOf(
      objectOf({
        thread: anyOf(TEXT, INTEGER),
        purpose: TEXT,
        tasks: arrayOf(TEXT),
        event_loop_delay_seconds: NUMBER,
      }),
    ),
    completed_rebalances: INTEGER,
    'last_rebalance?': mapOf(ANY),
  }),
);
export const GROUP_WORKER = component(
  'GroupWorker',
  objectOf({
    worker_id: TEXT,
    url: TEXT,
    is_leader: BOOLEAN,
    state: enumOf(['running', 'draining', 'drained']),
    connectors: INTEGER,
    tasks: INTEGER,
  }),
);
export type GroupWorkerAnswer = ShapeOf<typeof GROUP_WORKER>;
