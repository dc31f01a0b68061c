import {
  arrayOf,
  BOOLEAN,
  component,
  described,
  enumOf,
  INTEGER,
  limited,
  nullable,
  objectOf,
  TEXT,
  type ShapeOf,
  type Typed,
} from '../../json/open-api.ts';
import { DECODED_RECORD, MESSAGE_PLACE, PREVIEW_FAULT, PREVIEWED_WRITES } from '../preview/preview-answers.ts';

const PLACE = { partition: INTEGER, offset: INTEGER, timestamp: INTEGER };
const DEAD_LETTER_FAULT = objectOf({
  stage: TEXT,
  'class?': TEXT,
  'exception?': TEXT,
  'message?': TEXT,
  'sqlstate?': TEXT,
  'table?': TEXT,
  'column?': TEXT,
});
const DEAD_LETTER = {
  ...PLACE,
  'origin?': objectOf({ topic: TEXT, partition: INTEGER, offset: INTEGER }),
  'task?': INTEGER,
  attempt: INTEGER,
  'replay?': described(INTEGER, 'the newest replay that has sent it'),
  fault: DEAD_LETTER_FAULT,
};

/**
 * A dead-letter record with the decoded original record. Only the answer about a single record has the last three
 * members.
 */
export const WHOLE_DEAD_LETTER = objectOf({
  ...DEAD_LETTER,
  record: DECODED_RECORD,
  keyHex: nullable(TEXT),
  valueHex: nullable(TEXT),
  headers: arrayOf(objectOf({ key: TEXT, value: nullable(TEXT) })),
  'topic?': TEXT,
  'keyBytes?': nullable(INTEGER),
  'valueBytes?': nullable(INTEGER),
});
export type WholeDeadLetter = ShapeOf<typeof WHOLE_DEAD_LETTER>;

export const RECENT_FAULT = component(
  'RecentFault',
  objectOf({
    task: INTEGER,
    at: INTEGER,
    stage: TEXT,
    className: TEXT,
    exception: TEXT,
    message: TEXT,
    'sqlstate?': TEXT,
    'table?': TEXT,
    'column?': TEXT,
    record: objectOf({
      topic: TEXT,
      ...PLACE,
      keyHex: described(nullable(TEXT), 'the first bytes, hexadecimal'),
      valueHex: nullable(TEXT),
    }),
  }),
);
const DEAD_LETTER_GROUP = component(
  'LetterGroup',
  objectOf({
    id: TEXT,
    stage: TEXT,
    'class?': TEXT,
    'sqlstate?': TEXT,
    'table?': TEXT,
    'column?': TEXT,
    'message?': TEXT,
    count: INTEGER,
    replayed: described(INTEGER, 'number of these records that a replay has sent'),
    first: objectOf(PLACE),
    last: objectOf(PLACE),
    'histogram?': objectOf({
      from: described(INTEGER, 'milliseconds since the epoch'),
      bucketMs: INTEGER,
      counts: arrayOf(INTEGER),
    }),
    examples: arrayOf(WHOLE_DEAD_LETTER),
    source: TEXT,
  }),
);
export const DEAD_LETTERS = component(
  'DeadLetters',
  objectOf({
    topic: nullable(TEXT),
    scanned: INTEGER,
    'letters?': INTEGER,
    hasMore: BOOLEAN,
    partitions: arrayOf(objectOf({ partition: INTEGER, next: INTEGER, end: INTEGER })),
    ungrouped: INTEGER,
    groups: arrayOf(DEAD_LETTER_GROUP),
    faults: objectOf({ unanswered: arrayOf(INTEGER), recent: arrayOf(RECENT_FAULT) }),
  }),
);
export type DeadLettersAnswer = ShapeOf<typeof DEAD_LETTERS>;
export const PREVIEWED_DEAD_LETTERS = component(
  'PreviewedLetters',
  objectOf({
    topic: TEXT,
    scanned: INTEGER,
    hasMore: BOOLEAN,
    records: arrayOf(
      objectOf({
        letter: objectOf(DEAD_LETTER),
        outcome: enumOf(['stored', 'dropped', 'fails with the same fault', 'fails with another fault']),
        'message?': MESSAGE_PLACE,
        'record?': DECODED_RECORD,
        'dropped?': BOOLEAN,
        ...PREVIEWED_WRITES,
        faults: arrayOf(PREVIEW_FAULT),
      }),
    ),
  }),
);
export type PreviewedDeadLettersAnswer = ShapeOf<typeof PREVIEWED_DEAD_LETTERS>;
export type PreviewedDeadLetter = PreviewedDeadLettersAnswer['records'][number];

const WHOLE_NUMBER: Typed<number> = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const NAME: Typed<string> = { type: 'string', maxLength: 1000 };
const GROUP_ID: Typed<string> = { type: 'string', maxLength: 64 };

/** A selection of records: in requests for a preview or a replay, and in answers about replays. */
export const DEAD_LETTER_SELECTION = objectOf({
  'group?': GROUP_ID,
  'offsets?': limited(arrayOf(objectOf({ partition: WHOLE_NUMBER, 'from?': WHOLE_NUMBER, 'to?': WHOLE_NUMBER })), 1000),
  'time?': objectOf({ 'from?': WHOLE_NUMBER, 'to?': WHOLE_NUMBER }),
  'filter?': objectOf({
    'stage?': NAME,
    'class?': NAME,
    'sqlstate?': NAME,
    'table?': NAME,
    'column?': NAME,
    'topic?': NAME,
    'message?': NAME,
  }),
});
export const REPLAY = component(
  'Replay',
  objectOf({
    id: INTEGER,
    state: enumOf(['RUNNING', 'STOPPED', 'DONE', 'FAILED']),
    topic: TEXT,
    group: TEXT,
    selection: DEAD_LETTER_SELECTION,
    transforms: nullable(TEXT),
    rate: INTEGER,
    read: INTEGER,
    selected: INTEGER,
    delivered: INTEGER,
    dropped: INTEGER,
    failed: INTEGER,
    partitions: arrayOf(objectOf({ partition: INTEGER, from: INTEGER, next: INTEGER, end: INTEGER })),
    startedAt: TEXT,
    startedBy: TEXT,
    endedAt: nullable(TEXT),
    reason: nullable(TEXT),
  }),
);
export type ReplayAnswer = ShapeOf<typeof REPLAY>;
export const REPLAYS = objectOf({ replays: arrayOf(REPLAY) });
export type ReplaysAnswer = ShapeOf<typeof REPLAYS>;
