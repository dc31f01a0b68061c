import { ajv } from '../../rest/request-body.ts';

const NUMBER = { type: 'number' };
const STRING = { type: 'string' };
const BOOLEAN = { type: 'boolean' };
const objectsOf = (properties: Readonly<Record<string, object>>) => ({
  type: 'array',
  maxItems: 10_000,
  items: { type: 'object', properties, required: Object.keys(properties) },
});
const strings = { type: 'array', maxItems: 10_000, items: STRING };

/** What another worker says of itself, before it goes to a browser. Newer workers may say more. */
export const isWorkerDetail = ajv.compile<object>(
  objectsOf({
    worker: STRING,
    version: STRING,
    startedAt: NUMBER,
    memoryBytes: NUMBER,
    cpuCores: { type: ['number', 'null'] },
    loopDelayMs: NUMBER,
    isRebalancing: BOOLEAN,
    threads: objectsOf({
      thread: { type: ['string', 'integer'] },
      purpose: STRING,
      loopDelayMs: NUMBER,
      taskCount: NUMBER,
      tasks: strings,
    }),
    rebalances: objectsOf({
      at: NUMBER,
      generation: NUMBER,
      led: BOOLEAN,
      reason: STRING,
      durationMs: NUMBER,
      delayMs: NUMBER,
      assigned: strings,
      assignedCount: NUMBER,
      revoked: strings,
      revokedCount: NUMBER,
    }),
  }).items,
);
