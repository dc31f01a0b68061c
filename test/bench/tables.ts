import { createHash } from 'node:crypto';
import { category, isoTime, timeMs, value, type TextOf } from './rows.ts';

/** A cell of a binary COPY. */
export type BinaryCell =
  | { readonly type: 'int8'; readonly value: number }
  | { readonly type: 'float8'; readonly value: number }
  | { readonly type: 'timestamptz'; readonly timeMs: number }
  | { readonly type: 'text'; readonly value: string };

/** A table for the rows, and its rows as text for `COPY`. */
export interface TextLayout {
  readonly columns: string;
  /** Sluice's column marks, by column. */
  readonly comments: Readonly<Record<string, string>>;
  /** Returns a row for `COPY … (FORMAT text)`, without a line break. */
  readonly copyLine: TextOf;
}

/** A table for the rows, and its rows as text and as binary cells. */
export interface TableLayout extends TextLayout {
  readonly copyCells: (id: number) => readonly BinaryCell[];
}

/** A time-series table whose primary tag is the category. */
export const seriesTable: TableLayout = {
  columns:
    'k_timestamp timestamptz(3) not null, id int8, value float8, category varchar(64) not null, primary key (k_timestamp, category)',
  comments: { category: 'sluice:primary-tag' },
  copyLine: (id) => `${isoTime(id)}\t${String(id)}\t${String(value(id))}\t${category(id)}`,
  copyCells: (id) => [
    { type: 'timestamptz', timeMs: timeMs(id) },
    { type: 'int8', value: id },
    { type: 'float8', value: value(id) },
    { type: 'text', value: category(id) },
  ],
};

const PRIMARY_TAGS = Array.from({ length: 100 }, (_, id) =>
  createHash('sha256')
    .update(`category=${category(id)}`)
    .digest('hex'),
);

/** A time-series table as `/restapi/linedb` creates it, with a primary tag derived from all tags. */
export const derivedSeriesTable: TableLayout = {
  columns:
    'k_timestamp timestamptz not null, id int8, value float8, primary_tag varchar(64) not null, category varchar(254), primary key (k_timestamp, primary_tag)',
  comments: { primary_tag: 'sluice:primary-tag', category: 'sluice:tag' },
  copyLine: (id) =>
    `${isoTime(id)}\t${String(id)}\t${String(value(id))}\t${PRIMARY_TAGS[id % 100] ?? ''}\t${category(id)}`,
  copyCells: (id) => [
    { type: 'timestamptz', timeMs: timeMs(id) },
    { type: 'int8', value: id },
    { type: 'float8', value: value(id) },
    { type: 'text', value: PRIMARY_TAGS[id % 100] ?? '' },
    { type: 'text', value: category(id) },
  ],
};

/** A relational table with primary key `id`. */
export const keyedTable: TableLayout = {
  columns: 'id int8 primary key, category text, value float8, ts timestamptz(3)',
  comments: {},
  copyLine: (id) => `${String(id)}\t${category(id)}\t${String(value(id))}\t${isoTime(id)}`,
  copyCells: (id) => [
    { type: 'int8', value: id },
    { type: 'text', value: category(id) },
    { type: 'float8', value: value(id) },
    { type: 'timestamptz', timeMs: timeMs(id) },
  ],
};
