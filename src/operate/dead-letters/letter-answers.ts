import {
  ANY_OBJECT,
  arrayOf,
  BOOLEAN,
  component,
  enumOf,
  INTEGER,
  nullable,
  objectOf,
  TEXT,
} from '../../json/open-api.ts';

const PLACE = objectOf({ partition: INTEGER, offset: INTEGER, timestamp: INTEGER });

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
    record: ANY_OBJECT,
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
    groups: arrayOf(
      objectOf({
        id: TEXT,
        stage: TEXT,
        'class?': TEXT,
        'sqlstate?': TEXT,
        'table?': TEXT,
        'column?': TEXT,
        'message?': TEXT,
        count: INTEGER,
        replayed: INTEGER,
        first: PLACE,
        last: PLACE,
        'histogram?': objectOf({ from: INTEGER, bucketMs: INTEGER, counts: arrayOf(INTEGER) }),
        examples: arrayOf(ANY_OBJECT),
        source: TEXT,
      }),
    ),
    faults: objectOf({ unanswered: arrayOf(INTEGER), recent: arrayOf(RECENT_FAULT) }),
  }),
);
export const PREVIEWED_LETTERS = component(
  'PreviewedLetters',
  objectOf({ topic: TEXT, scanned: INTEGER, hasMore: BOOLEAN, records: arrayOf(ANY_OBJECT) }),
);
export const REPLAY = component(
  'Replay',
  objectOf({
    id: INTEGER,
    state: enumOf(['RUNNING', 'STOPPED', 'DONE', 'FAILED']),
    topic: TEXT,
    group: TEXT,
    selection: ANY_OBJECT,
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
