import { DataError } from '../../../../src/errors.ts';
import { shown } from '../message-text.ts';
import type { EncodedTable, RowEncoder } from '../format.ts';
import type { PointEncoderPolicy } from './json-tsd-encoder.ts';
import { isDecimal, pointColumns, pointTime } from './point-columns.ts';

/**
 * Writes rows as line_tsd (docs/formats.md#records-that-the-source-writes): `<table>.<column> <time> <value> <tagk>=<tagv> …`, one line per numeric
 * data column, the lines of a row separated by newlines (no line holds one, so that they can be sent apart). Other columns,
 * NULL, NaN and infinities have no spelling and are left out, as are empty tags; a row that has no line then is `null`.
 *
 * DataError for a table without a time, for names with blanks or control characters, which the format cannot spell, and
 * for such tag values.
 */
export function createLineTsdEncoder(table: EncodedTable, policy: PointEncoderPolicy = {}): RowEncoder {
  const precision = policy.precision ?? 'ms';
  const { time, data, tags } = pointColumns(table, 'line_tsd');
  const lines = data
    .filter(({ value }) => value === 'number')
    .flatMap(({ index, metric }) => {
      const head = spelledMetric(metric, policy);
      return head === undefined ? [] : [{ index, head }];
    });
  const named = tags.map(({ index, name }) => ({ index, key: ` ${spelledKey(name)}=` }));
  const linesOf = (row: readonly (string | null)[]): string => {
    const at = row[time.index] ?? null;
    if (at === null) return '';
    const timestamp = `${pointTime(at, precision, 'line_tsd')} `;
    let tail = '';
    for (const { index, key } of named) {
      const cell = row[index] ?? null;
      if (cell !== null && cell !== '') tail += key + spelled(cell);
    }
    let text = '';
    for (const { index, head } of lines) {
      const cell = row[index] ?? null;
      if (cell !== null && isDecimal(cell)) text += `${text === '' ? '' : '\n'}${head}${timestamp}${cell}${tail}`;
    }
    return text;
  };
  const message = (text: string) => (text === '' ? null : text);
  return {
    encode: (row) => message(linesOf(row)),
    rowText: linesOf,
    separator: '\n',
    message,
  };
}

/** What separates parts and lines. */
const UNSPELLABLE = /[\u0000-\u0020\u007f]/;

function spelled(text: string): string {
  if (!UNSPELLABLE.test(text)) return text;
  throw new DataError(
    `line_tsd cannot spell the name or tag value ${shown(text)}: it must not hold blanks or control characters`,
  );
}

function spelledMetric(metric: string, { onUnspelledColumn }: PointEncoderPolicy): string | undefined {
  try {
    return `${spelled(metric)} `;
  } catch (error) {
    if (onUnspelledColumn === undefined || !(error instanceof DataError)) throw error;
    onUnspelledColumn(error);
    return undefined;
  }
}

function spelledKey(name: string): string {
  if (!name.includes('=')) return spelled(name);
  throw new DataError(`line_tsd cannot spell the tag name ${shown(name)}: it must not hold an equals sign`);
}
