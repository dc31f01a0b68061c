import { arrayOf, objectOf, type JsonSchema } from '../../json/open-api.ts';

const text: JsonSchema = { type: 'string' };
const nullableText: JsonSchema = { type: ['string', 'null'] };
const number: JsonSchema = { type: 'number' };
const nullableNumber: JsonSchema = { type: ['number', 'null'] };

/** The lag of a sink that does not read. */
export const COMMITTED_LAG = {
  ...objectOf({
    connector: text,
    lag: number,
    topics: arrayOf(objectOf({ name: text, partitions: number, lag: nullableNumber })),
  }),
  additionalProperties: true,
};

/** The figures of a task in answers; other workers may be of a later version and send more. */
export const TASK_FIGURES = {
  ...objectOf({
    'connector?': text,
    task: number,
    state: text,
    worker: text,
    thread: { type: ['string', 'integer', 'null'] },
    partitions: arrayOf(objectOf({ topic: text, partition: number, lag: nullableNumber })),
    lag: nullableNumber,
    waiting: number,
    lastDeliveredAt: nullableText,
    waitedMs: number,
    retries: number,
    deadLettersPerMinute: number,
    missingTopics: arrayOf(text),
    'emptyTopics?': arrayOf(text),
    cause: nullableText,
    'failedParts?': objectOf({ count: number, parts: arrayOf(objectOf({ name: text, error: text })) }),
    'throttledMs?': number,
    'lastPutMs?': number,
    'silentMs?': number,
    'withoutPartitionsMs?': number,
    'isInGroup?': { type: 'boolean' },
    'uncommittedMs?': number,
  }),
  additionalProperties: true,
};
