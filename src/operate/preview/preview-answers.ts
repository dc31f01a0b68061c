import {
  ANY,
  arrayOf,
  BOOLEAN,
  component,
  enumOf,
  INTEGER,
  nullable,
  objectOf,
  TEXT,
  withMore,
  type ShapeOf,
} from '../../json/open-api.ts';

/** Keys and values are as the JSON converter writes them; `null`: the record was dropped or cannot be decoded. */
export const DECODED_RECORD = nullable(withMore(objectOf({ 'key?': ANY, 'value?': ANY })));

const PREVIEWED_ROW = objectOf({
  table: TEXT,
  operation: enumOf(['store', 'delete']),
  columns: arrayOf(TEXT),
  values: arrayOf(ANY),
});

/** Rows, lines and statements that a sink would write. */
export const PREVIEWED_WRITES = {
  'rows?': arrayOf(PREVIEWED_ROW),
  'lines?': arrayOf(TEXT),
  'statements?': arrayOf(TEXT),
};

export const PREVIEW_FAULT = objectOf({
  stage: TEXT,
  'class?': TEXT,
  'message?': TEXT,
  'sqlstate?': TEXT,
  'table?': TEXT,
  'column?': TEXT,
});

export const MESSAGE_PLACE = objectOf({ topic: TEXT, partition: INTEGER, offset: INTEGER, timestamp: INTEGER });

const PREVIEWED_RECORD = component(
  'PreviewedRecord',
  objectOf({
    message: MESSAGE_PLACE,
    record: DECODED_RECORD,
    dropped: BOOLEAN,
    ...PREVIEWED_WRITES,
    faults: arrayOf(PREVIEW_FAULT),
  }),
);
export type PreviewedRecord = ShapeOf<typeof PREVIEWED_RECORD>;
export const PREVIEW = component('Preview', objectOf({ name: TEXT, records: arrayOf(PREVIEWED_RECORD) }));
export type PreviewAnswer = ShapeOf<typeof PREVIEW>;
