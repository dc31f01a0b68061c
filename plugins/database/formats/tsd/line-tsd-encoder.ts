import { DataError } from '../../../../src/errors.ts';
import { shown } from '../message-text.ts';
import type { EncodedTable, RowEncoder } from '../format.ts';
import type { PointEncoderPolicy } from './json-tsd-encoder.ts';
import { isDecimal, pointColumns, pointTime } from './point-columns.ts';

/**
 * Encodes rows as line_tsd (docs/formats.md#records-that-the-source-writes):
 * `<table>.<column> <time> <value> <tagk>=<tagv> …`, one line per numeric data column. The lines of a row are separated
 * by newlines, which do not occur inside lines, so that they can be sent separately. Other columns, NULL, NaN,
 * infinities and empty tags cannot be represented and are omitted; a row without any line becomes `null`. Throws
 * DataError for a table without a time column, for infinite times, for names and tag values with blanks or control
 * characters, and for tag names with an equals sign. With `onUnsupportedColumn`, data columns with such names are
 * omitted instead.
 */
export function createLineTsdEncoder(table: EncodedTable, policy: PointEncoderPolicy = {}): RowEncoder {
  const precision = policy.precision ?? 'ms';
  const { time, data, tags } = pointColumns(table, 'line_tsd');
  supported(table.name.name);
  const lines = data
    .filter(({ value }) => value === 'number')
    .flatMap(({ index, metric }) => {
      const head = supportedMetric(metric, policy);
      return head === undefined ? [] : [{ index, head }];
    });
  const named = tags.map(({ index, name }) => ({ index, key: ` ${supportedKey(name)}=` }));
  const linesOf = (row: readonly (string | null)[]): string => {
    const at = row[time.index] ?? null;
    if (at === null) return '';
    const timestamp = `${pointTime(at, precision, 'line_tsd')} `;
    let tail = '';
    for (const { index, key } of named) {
      const cell = row[index] ?? null;
      if (cell !== null && cell !== '') tail += key + supported(cell);
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

/** Characters that separate parts and lines. */
const UNSUPPORTED = /[\u0000-\u0020\u007f]/;

function supported(text: string): string {
  if (!UNSUPPORTED.test(text)) return text;
  throw new DataError(
    `line_tsd cannot represent the name or tag value ${shown(text)}: it must not contain blanks or control characters`,
  );
}

function supportedMetric(metric: string, { onUnsupportedColumn }: PointEncoderPolicy): string | undefined {
  try {
    return `${supported(metric)} `;
  } catch (error) {
    if (onUnsupportedColumn === undefined || !(error instanceof DataError)) throw error;
    onUnsupportedColumn(error);
    return undefined;
  }
}

function supportedKey(name: string): string {
  if (!name.includes('=')) return supported(name);
  throw new DataError(`line_tsd cannot represent the tag name ${shown(name)}: it must not contain an equals sign`);
}
