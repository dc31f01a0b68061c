import { CDC_DB } from './cdc-db.ts';
import { DAMAGED_RECORDS } from './damaged-records.ts';
import { JSON_DB } from './json-db.ts';
import { JSON_TSD } from './json-tsd.ts';
import { LINE_LP } from './line-lp.ts';
import { LINE_TSD } from './line-tsd.ts';
import type { ParserProperty } from './parser-property.ts';
import { SCANNER_TEXTS } from './scanner-texts.ts';
import { CONNECTION_URLS, PROPERTIES_FILES } from './settings-text.ts';
import { SQL_QUOTING } from './sql-quoting.ts';
import { SQL_TEXT } from './sql-text.ts';
import { VALUE_TEXTS } from './value-texts.ts';

/** Promises about the results of the parsers, by format. */
const RESULTS: Readonly<Record<string, readonly ParserProperty[]>> = {
  line_lp: LINE_LP,
  line_tsd: LINE_TSD,
  json_db: JSON_DB,
  json_tsd: JSON_TSD,
  cdc_db: CDC_DB,
  SQL: [...SQL_TEXT, ...SQL_QUOTING],
  values: VALUE_TEXTS,
  'properties files': PROPERTIES_FILES,
  'connection URLs': CONNECTION_URLS,
  'record batches': DAMAGED_RECORDS,
};

/** Every promise about what the parsers do with texts of any kind. */
export const PARSER_PROPERTIES: readonly ParserProperty[] = Object.values(RESULTS).flat();

/** The same, and that every scanner reads or refuses any text: by format. */
export const PARSER_FORMATS: ReadonlyMap<string, readonly ParserProperty[]> = new Map(
  [...new Set([...Object.keys(RESULTS), ...SCANNER_TEXTS.keys()])].map((format) => [
    format,
    [...(RESULTS[format] ?? []), ...(SCANNER_TEXTS.get(format) ?? [])],
  ]),
);
