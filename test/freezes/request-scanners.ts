import { JsonScanner } from '../../src/json/json-tree.ts';
import { classify } from '../../plugins/database/sql/classify.ts';
import { tokenize } from '../../plugins/database/sql/lexer.ts';
import { splitStatements } from '../../plugins/database/sql/split.ts';
import { tablesNeeded, translate, translateRefused } from '../../plugins/database/sql/translate/translate.ts';
import { readTimeZone } from '../../plugins/database-http/time-zone.ts';
import { readCredentials } from '../../plugins/database-http/access/credentials.ts';
import { influxQueryAliases } from '../../plugins/database-http/aliases/influx-query.ts';
import { JsonPieces } from '../../plugins/database-http/ingest/json-pieces.ts';
import { LinePieces } from '../../plugins/database-http/ingest/line-pieces.ts';
import { readStatements } from '../../plugins/database-http/statements/statement-text.ts';
import type { ApiRequest } from '../../plugins/database-http/route.ts';
import { CONTEXT } from '../unit/plugins/database/sql/translate/translation-context.ts';
import { scanner, type Scanner } from './scanner.ts';

/** Statements with functions of the original (M8), which PostgreSQL has refused. */
function withFunctions(text: string): unknown {
  return [
    tablesNeeded(text, 'plant', '42883'),
    translateRefused(text, '42883', CONTEXT),
    translateRefused(text, '42601', CONTEXT),
  ];
}

function translated(text: string): unknown {
  return [
    classify(text),
    tablesNeeded(text, 'plant'),
    translate(text, CONTEXT),
    translateRefused(text, '22008', CONTEXT),
    translateRefused(text, '42703', CONTEXT),
  ];
}

const [influxQuery] = influxQueryAliases();

/** Requests to both APIs: their headers, parameters and bodies. */
export const REQUEST_SCANNERS: readonly Scanner[] = [
  scanner('JSON body', (text) => new JsonScanner(text, (number) => number).readFirst()),
  scanner('Authorization', (authorization) => readCredentials({ authorization }, new URLSearchParams(), 'any')),
  scanner('Authorization with a scheme', (text) =>
    readCredentials({ authorization: `Basic ${text}` }, new URLSearchParams(), 'any'),
  ),
  scanner('InfluxQL', (text) => {
    const request = { method: 'GET', query: new URLSearchParams({ q: text }), text: async () => '' };
    void Promise.resolve(influxQuery?.handle(request as unknown as ApiRequest)).catch(() => undefined);
  }),
  scanner('time zone', readTimeZone),
  scanner('SQL tokens', tokenize),
  scanner('SQL statements', (text) => [...splitStatements(text)].length),
  scanner('SQL statements of a request', (text) => [...readStatements(text, 100_000)].length),
  scanner('SQL statement', translated),
  scanner('SQL query', (text) => translated(`select ${text} from meters`)),
  scanner('SQL conditions', (text) => translated(`select * from meters where ${text}`)),
  scanner('SQL first and last', (text) => withFunctions(`select first(${text}), last_row(${text}) from meters`)),
  scanner('SQL time_bucket', (text) =>
    withFunctions(`select time_bucket(${text}, '2mon'), avg(power) from meters group by ${text}`),
  ),
  scanner('SQL width of a time bucket', (text) => withFunctions(`select time_bucket(ts, '${text}') from meters`)),
  scanner('SQL list with gaps to fill', (text) =>
    withFunctions(`select time_bucket_gapfill(ts, '1h'), ${text} from meters group by 1, ${text} order by ${text}`),
  ),
  scanner('SQL interpolate', (text) =>
    withFunctions(
      `select time_bucket_gapfill(ts, '1h'), interpolate(${text}, ${text}) from meters group by time_bucket_gapfill(ts, '1h')`,
    ),
  ),
  scanner('SQL duration', (text) => withFunctions(`select * from meters where ts > now() - ${text}`)),
  scanner('SQL elements of a table', (text) =>
    withFunctions(`create table t (a int8, ${text}, INDEX (a), FAMILY f (a))`),
  ),
  scanner('SQL rows', (text) => translated(`insert into meters (ts, power) values (${text})`)),
  scanner('SQL columns', (text) => translated(`create table t (${text})`)),
  scanner('SQL tags', (text) =>
    translated(`create table t (ts timestamp not null, a int) tags (${text}) primary tags (x)`),
  ),
  scanner('pieces of a JSON body', (text) => {
    const pieces = new JsonPieces(1_000);
    return [pieces.push(Buffer.from(`[${text}`)), pieces.push(Buffer.from(text)), pieces.last()];
  }),
  scanner('pieces of a body of lines', (text) => {
    const pieces = new LinePieces(1_000);
    pieces.push(Buffer.from(text));
    const piece = pieces.next();
    if (piece !== undefined) pieces.done(piece, undefined);
    return pieces.last();
  }),
];
