import { CDC_DB } from './cdc-db.ts';
import { DAMAGED_RECORDS } from './damaged-records.ts';
import { JSON_DB } from './json-db.ts';
import { JSON_TSD } from './json-tsd.ts';
import { LINE_LP } from './line-lp.ts';
import { LINE_TSD } from './line-tsd.ts';
import type { ParserProperty } from './parser-property.ts';
import { SETTINGS_TEXT } from './settings-text.ts';
import { SQL_QUOTING } from './sql-quoting.ts';
import { SQL_TEXT } from './sql-text.ts';
import { VALUE_TEXTS } from './value-texts.ts';

/** Every promise about what the parsers do with texts of any kind. */
export const PARSER_PROPERTIES: readonly ParserProperty[] = [
  ...[...LINE_LP, ...LINE_TSD, ...JSON_DB, ...JSON_TSD, ...CDC_DB],
  ...[...SQL_TEXT, ...SQL_QUOTING, ...VALUE_TEXTS, ...SETTINGS_TEXT],
  ...DAMAGED_RECORDS,
];
