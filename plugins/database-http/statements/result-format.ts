import type { QueryResult } from '../../database/index.ts';
import type { CellRules } from './cell-json.ts';
import type { Page } from './page.ts';
import { ResultCsv } from './result-csv.ts';
import { ResultJson } from './result-json.ts';
import { ResultNdjson } from './result-ndjson.ts';
import type { ResultWriter } from './result-writer.ts';

export type ResultFormat = 'json' | 'csv' | 'ndjson';

const FORMATS: ReadonlyMap<string, ResultFormat> = new Map([
  ['application/json', 'json'],
  ['*/*', 'json'],
  ['application/*', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
]);

/** The format that an `Accept` header prefers (RFC 9110, 12.5.1); JSON if the header contains no supported format. */
export function acceptedFormat(accept = ''): ResultFormat {
  let best: ResultFormat = 'json';
  let bestQuality = 0;
  for (const entry of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const format = FORMATS.get(type);
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    if (format === undefined || !(quality > bestQuality)) continue;
    best = format;
    bestQuality = quality;
  }
  return best;
}

/** `maxBytes` limits only answers in JSON, which clients read as a whole. The other formats are read line by line. */
export function resultWriter(
  format: ResultFormat,
  fields: QueryResult['fields'],
  rules: CellRules & { readonly maxBytes: number; readonly page: Page },
): ResultWriter {
  if (format === 'csv') return new ResultCsv(fields);
  return format === 'ndjson' ? new ResultNdjson(fields, rules) : new ResultJson(fields, rules);
}
