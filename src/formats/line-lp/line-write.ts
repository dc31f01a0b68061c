import { DataError } from '../../errors.ts';
import { shown } from '../excerpt.ts';

/** A line in parts. Fields are written already (`fieldString` and plain digits); `time` is digits, or absent. */
export interface LineParts {
  readonly measurement: string;
  readonly tags: readonly (readonly [key: string, value: string])[];
  readonly fields: readonly (readonly [key: string, written: string])[];
  readonly time: string | undefined;
}

/**
 * One line of standard line protocol, without a line end. DataError where there is no spelling: empty names and tag values,
 * control characters in them, a backslash at their end, a measurement that would be a comment, a line without fields.
 */
export function writeLine({ measurement, tags, fields, time }: LineParts): string {
  if (fields.length === 0)
    throw new DataError(`line protocol has no line without fields (table ${shown(measurement)})`);
  let line = lineName(measurement);
  for (const [key, value] of tags) line += `,${lineKey(key)}=${lineKey(value)}`;
  let separator = ' ';
  for (const [key, written] of fields) {
    line += `${separator}${lineKey(key)}=${written}`;
    separator = ',';
  }
  return time === undefined ? line : `${line} ${time}`;
}

/** A measurement as a line spells it; see `writeLine` for the DataError. */
export function lineName(name: string): string {
  if (name.startsWith('#')) throw new DataError(`line protocol would read the table ${shown(name)} as a comment`);
  return checked(name).replace(/[, ]/g, '\\$&');
}

/** A tag or field key, or a tag value, as a line spells it; see `writeLine` for the DataError. */
export function lineKey(key: string): string {
  return checked(key).replace(/[,= ]/g, '\\$&');
}

function checked(text: string): string {
  if (text === '' || text.endsWith('\\') || hasControl(text)) {
    throw new DataError(
      `line protocol cannot spell the name or tag value ${shown(text)}: it must not be empty, hold control characters or end in a backslash`,
    );
  }
  return text;
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 32 || code === 127) return true;
  }
  return false;
}

/** A string field. Line breaks stay as they are: inside of quotes a line may run on. */
export function fieldString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
