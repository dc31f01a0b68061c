import {
  anyOf,
  arrayOf,
  described,
  enumOf,
  INTEGER,
  nullable,
  objectOf,
  TEXT,
  type ShapeOf,
} from '../../json/open-api.ts';

/** A key, value or header in a form that people can read. */
const SHOWN_PART = anyOf(
  objectOf({ kind: enumOf(['null']) }),
  objectOf({
    kind: enumOf(['text', 'json']),
    text: TEXT,
    'cut?': described(INTEGER, 'number of characters of the whole text; absent: the text is not shortened'),
  }),
  objectOf({
    kind: enumOf(['hex']),
    text: TEXT,
    bytes: described(INTEGER, 'number of bytes'),
    'fault?': described(TEXT, 'why the converter could not read them'),
  }),
);
export type ShownPart = ShapeOf<typeof SHOWN_PART>;

const SHOWN_MESSAGE = objectOf({
  topic: TEXT,
  partition: INTEGER,
  offset: INTEGER,
  timestamp: described(nullable(INTEGER), 'milliseconds since the epoch; null: the record has none'),
  timestampType: enumOf(['CreateTime', 'LogAppendTime']),
  bytes: INTEGER,
  key: SHOWN_PART,
  value: SHOWN_PART,
  headers: arrayOf(objectOf({ key: TEXT, value: SHOWN_PART })),
});
export type ShownMessage = ShapeOf<typeof SHOWN_MESSAGE>;

const POSITIONS = arrayOf(objectOf({ topic: TEXT, partition: INTEGER, offset: INTEGER }));

export const MESSAGE_PAGE = objectOf({
  topics: arrayOf(objectOf({ topic: TEXT, partitions: INTEGER })),
  searched: INTEGER,
  next: described(POSITIONS, 'where the next page begins; empty: everything was searched'),
  ends: described(POSITIONS, 'the offsets after the newest messages; newer messages are read with them as `after`'),
  messages: arrayOf(SHOWN_MESSAGE),
});
export type MessagePage = ShapeOf<typeof MESSAGE_PAGE>;
